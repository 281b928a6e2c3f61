"""C-comparisons: how calls are written.

C1  decode JSON before the name needle (locate)
C2  slots of a call that is no JSON value (slots)
C3  counters, from three calls (slots)
C4  two calls against one: openers, closers, separator of calls, and of the section
C5  with and without text beside the calls: what joins text and calls
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from analyzer.infer.items import ItemsCut, cut_items
from analyzer.infer.locate import JsonBody, Span, argument_span, at_path, json_bodies, leaves, occurrences, path_to
from analyzer.infer.slots import SlottedCall, counted_literal, slot_call
from analyzer.infer.turn import Frame, Regions
from analyzer.observe.alignment import Cut, align
from analyzer.observe.lexemes import common_prefix, common_suffix, is_marker, lexemes
from analyzer.observe.session import Session
from analyzer.observe.variants import Variants
from analyzer.spec.parts import ArgumentsSlot, IdSlot, JsonCodec, JsonTextCodec, NameSlot, Part, PythonCodec


@dataclass(frozen=True, slots=True)
class Bodies:
    """The calls of one render: where each body begins and ends in `text`, and its parts."""

    text: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CallsFinding:
    """What was found of the calls."""

    kind: str
    """`json` or `sequence`."""
    parts: tuple[Part, ...]
    """The body: from its first slot or brace to the end of its last."""
    open: str
    close: str
    section_open: str
    section_close: str
    separator: str
    array: bool
    parallel: bool
    lead: str
    """C5: what stands between text and calls and is not there without text."""
    before_text: str
    """What stands between the header and the text of a turn of text and calls."""
    before: str
    """What stands between the header and the calls of a turn without text: what other segments write when empty."""
    tail: str
    """What follows the calls section in a last turn."""
    content_position: str
    """`before`, `after` or `lost`."""
    name: tuple[str, ...] | str = ()
    arguments: tuple[str, ...] = ()
    arguments_codec: str = "json"
    id: tuple[str, ...] | None = None
    items: ItemsCut | None = None
    ambiguous: bool = False
    notes: tuple[str, ...] = field(default=())


def find_calls(session: Session, seen: Variants, regions: Regions, frame: Frame) -> CallsFinding | None:
    """Find the layout of calls; None when one call's name (or id) and arguments are not found in its turn."""
    one = regions.cut(seen["c1a2"])
    if one is None:
        return None
    needles = session.needles
    two = _several(regions.cut(seen["c2a2"]), needles.calls[1].name, needles.calls[1].id)
    three = _several(regions.cut(seen["c3a2"]), needles.calls[2].name, needles.calls[2].id)
    found = _find_json(session, one, two, three) or _find_sequence(session, seen, regions, one, two, three)
    if found is None:
        return None
    body, details = found
    return _frame_calls(session, seen, regions, frame, body, details)


def _several(region: str | None, name: str, call_id: str) -> str | None:
    return region if region is not None and (name in region or call_id in region) else None


@dataclass(frozen=True, slots=True)
class _Body:
    """Bodies in the render of one call and of two, and how to find the body elsewhere."""

    one: Bodies
    two: Bodies | None


# -------------------------------------------------------------------------------------------------------------- JSON


def _find_json(session: Session, one: str, two: str | None, three: str | None) -> tuple[_Body, dict[str, object]] | None:
    calls = session.needles.calls
    single = json_bodies(one, 0, calls[:1], 2)
    if single is None:
        return None
    pair = json_bodies(two, 0, calls[:2], 2) if two is not None else None
    if two is not None and pair is None:
        return None
    triple = json_bodies(three, 0, calls[:3], 2) if three is not None and pair is not None else None
    value, call = single[0].value, calls[0]
    arguments = call.arguments(2)
    name: tuple[str, ...] | str | None = path_to(value, call.name)
    path = path_to(value, arguments)
    codec = "json"
    if path is None:
        path = next((at for at, leaf in leaves(value) if isinstance(leaf, str) and _encodes(leaf, arguments)), None)
        codec = "json_text"
    if name is None and path == (call.name,):
        name, path = "key", ()
    if name is None or path is None:
        return None
    bodies = triple or pair or single
    text = three if triple else two if pair else one
    assert text is not None  # noqa: S101  (one of the three)
    id_path = path_to(value, call.id)
    if id_path is None and len(bodies) > 1:
        id_path = _counter_path(bodies)
    parts = _json_parts(session, text, bodies)
    if parts is None:
        return None
    body = _Body(
        Bodies(one, tuple((b.start, b.end) for b in single)),
        Bodies(two, tuple((b.start, b.end) for b in pair)) if pair is not None and two is not None else None,
    )
    details: dict[str, object] = {
        "kind": "json",
        "parts": tuple(parts),
        "name": name,
        "arguments": path,
        "arguments_codec": codec,
        "id": id_path,
    }
    return body, details


def _encodes(text: str, arguments: dict[str, object]) -> bool:
    try:
        return bool(json.loads(text) == arguments)
    except ValueError:
        return False


def _counter_path(bodies: Sequence[JsonBody]) -> tuple[str, ...] | None:
    for path, leaf in leaves(bodies[0].value):
        if not isinstance(leaf, str) or not leaf.isdigit():
            continue
        values = [at_path(body.value, path) for body in bodies]
        if all(isinstance(v, str) and v.isdigit() for v in values):
            numbers = [int(v) for v in values]
            if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
                return path
    return None


def _json_parts(session: Session, text: str, bodies: Sequence[JsonBody]) -> list[Part] | None:
    slotted = []
    for call, body in zip(session.needles.calls, bodies, strict=False):
        found = slot_call(text, body.start, body.end, call, 2, None)
        if found is None:
            return None
        slotted.append(found)
    openings = [text[body.start : call.start] for body, call in zip(bodies, slotted, strict=True)]
    opening = counted_literal(openings)
    parts = _parts_of(slotted)
    if parts is None or opening is None:
        return None
    last = text[slotted[0].end : bodies[0].end]
    return [*opening, *parts, *([last] if last else [])]


# ---------------------------------------------------------------------------------------------------------- sequences


def _find_sequence(
    session: Session, seen: Variants, regions: Regions, one: str, two: str | None, three: str | None
) -> tuple[_Body, dict[str, object]] | None:
    calls = session.needles.calls
    whole = argument_span(one, 0, len(one), calls[0].arguments(2))
    items = None if whole is not None else _items(session, seen, regions, one)
    if whole is None and items is None:
        return None
    single = _slotted(one, calls[:1], items)
    pair = _slotted(two, calls[:2], items)
    triple = _slotted(three, calls[:3], items)
    if single is None:
        return None
    chosen = triple or pair or single
    parts = _parts_of(chosen) or _parts_of(single)
    if parts is None:
        return None
    body = _Body(
        Bodies(one, tuple((c.start, c.end) for c in single)),
        Bodies(two, tuple((c.start, c.end) for c in pair)) if pair is not None and two is not None else None,
    )
    details: dict[str, object] = {"kind": "sequence", "parts": tuple(parts), "items": items}
    if whole is not None:
        details["arguments_codec"] = whole.detail
    return body, details


def _items(session: Session, seen: Variants, regions: Regions, one: str) -> ItemsCut | None:
    call = session.needles.calls[0]
    single, zero = regions.cut(seen["c1a1"]), regions.cut(seen["c1a0"])
    texts = [_after_name(text, call.name, call.id, call.keys[0]) for text in (zero, single, one)]
    if texts[1] is None or texts[2] is None:
        return None
    return cut_items(texts[0], texts[1], texts[2], call)


def _after_name(text: str | None, name: str, call_id: str, key: str) -> str | None:
    """Return what follows the last name or id before the first key."""
    if text is None:
        return None
    limit = text.find(key)
    limit = len(text) if limit < 0 else limit
    ends = [at + len(needle) for needle in (name, call_id) for at in occurrences(text, needle, 0, limit)]
    return text[max(ends) :] if ends else None


def _slotted(text: str | None, calls: Sequence[object], items: ItemsCut | None) -> list[SlottedCall] | None:
    """Find the slots of all `calls` in `text`, each between the end of the call before and the first needle of the next."""
    if text is None:
        return None
    out: list[SlottedCall] = []
    at = 0
    for index, call in enumerate(calls):
        limit = len(text)
        if index + 1 < len(calls):
            following = calls[index + 1]
            starts = [text.find(n, at) for n in (following.name, following.id)]  # type: ignore[attr-defined]
            starts = [start for start in starts if start >= 0]
            if not starts:
                return None
            limit = min(starts)
        found = slot_call(text, at, limit, call, 2, items)  # type: ignore[arg-type]
        if found is None:
            return None
        out.append(found)
        at = found.end
    return out


def _parts_of(calls: Sequence[SlottedCall]) -> list[Part] | None:
    """Turn slotted calls, which must agree but for counters, into parts."""
    if len({tuple((s.what, s.detail) for s in call.spans) for call in calls}) != 1:
        return None
    parts: list[Part] = []
    columns = zip(*(call.literals() for call in calls), strict=True)
    literals = [counted_literal(column) for column in columns]
    for number, span in enumerate(calls[0].spans):
        parts.append(_part(span))
        if number < len(literals):
            literal = literals[number]
            if literal is None:
                return None
            parts += literal
    return parts


def _part(span: Span) -> Part:
    if span.what == "name":
        return NameSlot()
    if span.what == "id":
        return IdSlot()
    codecs = {"json": JsonCodec(), "json_text": JsonTextCodec(), "python": PythonCodec(), "items": JsonCodec()}
    return ArgumentsSlot(codec=codecs[span.detail])


# -------------------------------------------------------------------------------------------------------------- frame


def _frame_calls(
    session: Session, seen: Variants, regions: Regions, frame: Frame, body: _Body, details: dict[str, object]
) -> CallsFinding:
    """C4 and C5: cut the text around the bodies into call, section and turn."""
    bodies = body.two or body.one
    text, spans = bodies.text, bodies.spans
    before, after = text[: spans[0][0]], text[spans[-1][1] :].partition(session.needles.results[0])[0]
    before = before[len(frame.header) :] if before.startswith(frame.header) else before
    content_in_shape = session.shape.empty_content == "text"
    empties = frame.before_content if before.startswith(frame.before_content) and not content_in_shape else ""
    before = before[len(empties) :]
    between = text[spans[0][1] : spans[1][0]] if len(spans) > 1 else None
    array = between is not None and between.strip() == "," and before.rstrip().endswith("[") and after.lstrip().startswith("]")
    beside, position, before_text = _beside(session, seen, regions, details)
    before_text = before_text[len(frame.header) :] if before_text.startswith(frame.header) else before_text
    if array:
        assert between is not None  # noqa: S101
        cut = Cut(before, "", "", between, after)
    else:
        cut = align(before, between, after)
    if between is None:
        cut = Cut(before, "", "", "", after)
    opened, lead, more = _section_open(session, cut, beside, frame, empties)
    wrapper = before_text[len(empties) :] if before_text.startswith(empties) else ""
    if opened and wrapper.strip() and more.startswith(wrapper):
        opened, lead, more = "", opened, more + opened  # a wrapper of the text that is written without text too
    close, tail = split_tail(cut.outer_close, opened, frame)
    if between is None:  # nothing tells the section from its only call
        cut, opened, close = Cut("", opened, close, "", ""), "", ""
    found = CallsFinding(
        open=cut.open,
        close=cut.close,
        section_open=opened,
        section_close=close,
        separator=cut.separator,
        array=array,
        parallel=between is not None,
        lead=lead,
        before_text=before_text,
        before=empties + more,
        tail=tail,
        content_position=position,
        ambiguous=cut.ambiguous,
        **details,  # type: ignore[arg-type]
    )
    return found


def _beside(
    session: Session, seen: Variants, regions: Regions, details: dict[str, object]
) -> tuple[str | None, str, str]:
    """C5: return the text between content and the first body of a turn that has both, where the content stands, and what is before it."""
    region = regions.cut(seen["c1a2+t"])
    content = session.needles.content
    if region is None or content not in region:
        return None, "lost", ""
    at = region.find(content)
    if details["kind"] == "json":
        bodies = json_bodies(region, 0, session.needles.calls[:1], 2)
        start = bodies[0].start if bodies else None
    else:
        slotted = _slotted(region, session.needles.calls[:1], details["items"])  # type: ignore[arg-type]
        start = slotted[0].start if slotted else None
    if start is None:
        return None, "lost", ""
    if at > start:
        return None, "after", ""
    return region[at + len(content) : start], "before", region[:at]


def _section_open(
    session: Session, cut: Cut, beside: str | None, frame: Frame, empties: str
) -> tuple[str, str, str]:
    """Split what stands before the first call into section opener, lead and what else empty segments write."""
    rest = cut.outer_open
    content = session.needles.content
    if session.shape.empty_content == "text" and content in rest:
        rest = rest.partition(content)[2]
    if beside is not None and beside.endswith(cut.open):
        with_text = beside[: len(beside) - len(cut.open)]
        opened = common_suffix(rest, with_text)
        if not opened.strip() and not empties and rest.strip():
            opened = ""  # white space that ends what an empty segment writes
        return opened, with_text[: len(with_text) - len(opened)], rest[: len(rest) - len(opened)]
    more = common_prefix(rest, frame.before_content)
    return rest[len(more) :], "", more


def split_tail(text: str, opened: str, frame: Frame) -> tuple[str, str]:
    """Split what follows the last call into the section's close and the turn's tail.

    The tail is what turns of text end with too; where they share nothing, the last marker ends the turn unless it closes what the
    section's opener opened.
    """
    for end in (frame.tail, frame.end):
        shared = common_suffix(text, end)
        if any(is_marker(piece) for piece in lexemes(shared)):
            return text[: len(text) - len(shared)], shared
        if end.strip() and end.strip() in text:
            at = text.rfind(end.strip())
            return text[:at], text[at:]
    pieces = lexemes(text)
    marks = [at for at, piece in enumerate(pieces) if is_marker(piece)]
    opened_marks = [piece for piece in lexemes(opened) if is_marker(piece)]
    if marks and len(marks) > len(opened_marks):
        return "".join(pieces[: marks[-1]]), "".join(pieces[marks[-1] :])
    return text, ""
