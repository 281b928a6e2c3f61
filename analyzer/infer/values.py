"""V-comparisons: the renders that codecs are learnt from, and the arguments slot that comes out."""

from __future__ import annotations

from typing import Any

from analyzer.infer.codecs import (
    NASTY_QUOTES,
    NASTY_TAGS,
    SCHEMAS,
    ValueCut,
    ValueTexts,
    cut_values,
    typed_values,
)
from analyzer.infer.items import ItemsCut
from analyzer.infer.turn import Regions
from analyzer.observe import probes
from analyzer.observe.session import Ask, Session
from analyzer.observe.variants import head
from analyzer.spec.parts import ArgumentsSlot, JsonType, KeySlot, TypeSlot, ValueSlot


def items_slot(session: Session, regions: Regions, items: ItemsCut) -> ArgumentsSlot:
    """Return the arguments slot of calls whose arguments are items, with one codec for each JSON type."""
    call = session.needles.calls[0]
    texts = _value_texts(session, regions)
    cut = (
        cut_values(texts, items.middle, items.close, items.open, one_closer=items.close_key is not None)
        if texts is not None
        else ValueCut((items.middle,), items.close, _default_codecs())
    )
    close: list[Any] = [cut.close] if cut.close else []
    if cut.closers:
        close = [TypeSlot(words=dict(cut.closers))]
    if items.close_key is not None:
        head_text, tail_text = items.close_key
        shortened = head_text[len(items.close) - len(cut.close) :] if cut.close != items.close else head_text
        close = [part for part in (shortened, KeySlot(), tail_text) if part != ""]
    item = [part for part in (items.open, KeySlot(), *cut.middle, ValueSlot(), *close) if part != ""]
    del call
    return ArgumentsSlot(item=tuple(item), separator=items.separator, codecs=cut.codecs)


def _default_codecs() -> Any:
    from analyzer.spec.parts import Codecs, RawCodec  # noqa: PLC0415

    return Codecs(string=RawCodec())


def _value_texts(session: Session, regions: Regions) -> ValueTexts | None:
    """Render one argument with each probe value (V1 to V3)."""
    call, other = session.needles.calls[0], session.needles.calls[1]
    key, plain = call.keys[0], call.values[0]
    typed = typed_values(other.keys[0], other.values[0])
    probes_made: list[tuple[str, Any]] = [("string", plain), *typed.items()]
    probes_made += [("string", text) for text in (NASTY_QUOTES, NASTY_TAGS)]

    def ask(value: Any, schema: dict[str, Any]) -> Ask:
        turn = probes.assistant(_text(session), [probes.call(call, {key: value})])
        return Ask([*head(session), turn], tools=probes.tools(session.needles, {key: schema}))

    asks = [ask(value, SCHEMAS[json_type]) for json_type, value in probes_made]
    after = [_after_key(regions.cut(text), key) for text in session.render(asks, "V")]
    if after[0] is None or plain not in after[0]:
        return None
    kinds: list[JsonType] = list(typed)
    null = 1 + kinds.index("null")
    if after[null] is None:  # a template that joins a property's type to a text takes no list of types
        [text] = session.render([ask(None, {"type": "null"})], "V")
        after[null] = _after_key(regions.cut(text), key)
    rendered = {
        kind: (typed[kind], text)
        for kind, text in zip(kinds, after[1 : 1 + len(kinds)], strict=True)
        if text is not None
    }
    nasty = tuple(
        (value, text)
        for (_, value), text in zip(probes_made[1 + len(kinds) :], after[1 + len(kinds) :], strict=True)
        if text is not None
    )
    return ValueTexts(after[0], plain, rendered, nasty)


def _text(session: Session) -> str:
    return session.needles.content if session.shape.empty_content == "text" else ""


def _after_key(region: str | None, key: str) -> str | None:
    if region is None or key not in region:
        return None
    return region[region.find(key) + len(key) :]
