"""Random calls: JSON, named, items, Python-like, in a dialect; in sections, arrays and on their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hypothesis import strategies as st

from analyzer.spec import model, parts
from tests.generated.markers import Palette, spaces

NAME: Final = parts.NameSlot()
KEY: Final = parts.KeySlot()
VALUE: Final = parts.ValueSlot()


def literal_parts(*given: Any) -> tuple[Any, ...]:
    """Parts with neighbouring literals joined and empty ones left out."""
    out: list[Any] = []
    for part in given:
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        elif part != "":
            out.append(part)
    return tuple(out)


# ------------------------------------------------------------------------------------------------------------- calls

CODECS: Final[dict[str, dict[str, Any]]] = {
    "raw": {"string": "raw"},
    "json": {"string": "json"},
    "python": dict.fromkeys(parts.JSON_TYPES, "python"),
    "raw_python": {**dict.fromkeys(parts.JSON_TYPES, "python"), "string": "raw"},
    "quoted": {"string": {"kind": "quoted", "open": "'", "close": "'"}},
    "cdata": {"string": {"kind": "cdata"}},
    "escaped": {
        "string": {
            "kind": "escaped",
            "escapes": {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"},
        }
    },
}
"""The codecs of items by name."""


@st.composite
def json_calls(draw: st.DrawFn, palette: Palette) -> model.JsonLayout:
    """A call as a JSON object: keys of any name and order, nested or not, an id or none, arguments as text or not."""
    open_, close = palette.pair("call")
    as_key = draw(st.integers(0, 5)) == 0
    codec = draw(st.sampled_from(["json", "json", "json", "json_text"]))
    colon, comma = draw(st.sampled_from([(": ", ", "), (":", ","), (": ", ",\n  ")]))
    slot = parts.ArgumentsSlot(codec=parts.JsonTextCodec() if codec == "json_text" else parts.JsonCodec())
    before, after = draw(spaces()), draw(spaces())
    markers = {"open": open_ + before, "close": after + close}
    if as_key:
        body = literal_parts('{"', NAME, f'"{colon}', slot, "}")
        return model.JsonLayout(name="key", arguments_codec=codec, parts=body, **markers)
    name_key = draw(st.sampled_from(["name", "tool_name", "function", "action"]))
    arguments_key = draw(st.sampled_from(["arguments", "parameters", "args", "input"]))
    fields: list[tuple[str, tuple[Any, ...]]] = [
        (name_key, ('"', NAME, '"')),
        (arguments_key, (slot,)),
    ]
    if draw(st.integers(0, 4)) == 0:
        fields.reverse()
    path: tuple[str, ...] = ()
    constants: list[tuple[str, tuple[Any, ...]]] = []
    if draw(st.integers(0, 3)) == 0:
        constants = [("type", ('"function"',))]
    id_key = draw(st.sampled_from(["", "", "", "id", "call_id"]))
    ids = [(id_key, ('"', parts.IdSlot(), '"'))] if id_key else []
    inner = [*fields]
    if draw(st.integers(0, 4)) == 0 and name_key != "function":
        path = ("function",)
        nested = literal_parts("{", *_members(inner, colon, comma), "}")
        members = [*ids, *constants, ("function", nested)]
    else:
        at = draw(st.integers(0, len(fields)))
        members = [*fields[:at], *ids, *fields[at:]]
        members = [*constants, *members]
    body = literal_parts("{", *_members(members, colon, comma), "}")
    return model.JsonLayout(
        name=(*path, name_key),
        arguments=(*path, arguments_key),
        arguments_codec=codec,
        id=(id_key,) if id_key else None,
        parts=body,
        **markers,
    )


def _members(fields: Sequence[tuple[str, tuple[Any, ...]]], colon: str, comma: str) -> list[Any]:
    out: list[Any] = []
    for number, (key, value) in enumerate(fields):
        out += [comma if number else "", f'"{key}"{colon}', *value]
    return out


@st.composite
def named_calls(draw: st.DrawFn, palette: Palette) -> model.SequenceLayout:
    """Name and JSON arguments between literals, with an id, a counter or a made-up id before or after the name."""
    open_, close = palette.pair("call")
    middle = draw(st.sampled_from(palette.pair("middle")))
    style = draw(
        st.sampled_from(["plain", "id", "id_first", "counter", "counter_first", "made_id", "fenced"])
    )
    slot = parts.ArgumentsSlot(codec=parts.JsonCodec())
    start = draw(st.integers(0, 1))
    between = draw(spaces()) + middle + draw(spaces())
    last = draw(spaces()) + close
    bodies: dict[str, tuple[Any, ...]] = {
        "plain": (NAME, between, slot),
        "id": (NAME, "[CALL_ID]", parts.IdSlot(), between, slot),
        "id_first": (parts.IdSlot(), "|", NAME, between, slot),
        "counter": (NAME, " #", parts.IndexSlot(start=start), between, slot),
        "counter_first": (parts.IndexSlot(start=start), ". ", NAME, between, slot),
        "made_id": (parts.IdSlot(pattern="functions.{name}:{index}", start=start), between, slot),
        "fenced": (NAME, "\n```json\n", slot, "\n```"),
    }
    return model.SequenceLayout(parts=literal_parts(open_, draw(spaces()), *bodies[style], last))


ITEM_STYLES: Final = (
    "attribute",
    "equals",
    "tag",
    "pairs",
    "typed",
    "typed_words",
    "typed_elements",
    "typed_closers",
    "line",
)
"""How one argument is written."""


@st.composite
def item_calls(draw: st.DrawFn, palette: Palette) -> model.SequenceLayout:
    """Arguments one by one: attributes, tags named by the key, marked keys and values, typed words."""
    open_, close = palette.pair("call")
    style = draw(st.sampled_from(ITEM_STYLES))
    around = draw(spaces())
    after = draw(spaces())
    words: dict[Any, str] = dict.fromkeys(parts.JSON_TYPES, "false")
    words["string"] = "true"
    kinds: dict[Any, str] = {kind: kind for kind in parts.JSON_TYPES}
    closers: dict[Any, str] = {kind: f"</{kind}></a>" for kind in parts.JSON_TYPES}
    escaped = draw(st.sets(st.sampled_from(parts.JSON_TYPES), min_size=1, max_size=6))
    either: dict[Any, str] = {kind: "&lt;/a&gt;" if kind in escaped else "</a>" for kind in parts.JSON_TYPES}
    item_open, item_close = palette.pair("item")
    key_open, key_close = palette.pair("key")
    value_open, value_close = palette.pair("value")
    items: dict[str, tuple[Any, ...]] = {
        "attribute": ('<parameter name="', KEY, '">', around, VALUE, around, "</parameter>", after),
        "equals": ("<parameter=", KEY, ">", around, VALUE, around, "</parameter>", after),
        "tag": ("<", KEY, ">", VALUE, "</", KEY, ">", after),
        "pairs": (key_open, KEY, key_close, around, value_open, VALUE, value_close, after),
        "typed": (
            '<param name="',
            KEY,
            '" type="',
            parts.TypeSlot(words=kinds),
            '">',
            VALUE,
            "</param>",
            after,
        ),
        "typed_words": (
            '<param name="',
            KEY,
            '" string="',
            parts.TypeSlot(words=words),
            '">',
            VALUE,
            "</param>",
            after,
        ),
        "typed_elements": (
            '<a n="',
            KEY,
            '"><',
            parts.TypeSlot(words=kinds),
            ">",
            VALUE,
            parts.TypeSlot(words=closers),
            after,
        ),
        "typed_closers": ('<a n="', KEY, '">', around, VALUE, around, parts.TypeSlot(words=either), after),
        "line": (item_open, KEY, "=", VALUE, item_close, after),
    }
    codec = draw(st.sampled_from(["raw", "raw", "raw", "json", "python", "raw_python", "cdata", "escaped"]))
    if style == "tag" and draw(st.booleans()):
        codec = "nested"
    table = CODECS.get(codec) or {
        "string": "raw", "array": {"kind": "nested", "array_key": "item"}, "object": {"kind": "nested", "array_key": "item"}
    }  # fmt: skip
    slot = parts.ArgumentsSlot(item=literal_parts(*items[style]), codecs=parts.Codecs(**table))
    head = draw(st.sampled_from(["attribute", "equals", "separate", "bare"]))
    lead = draw(spaces())
    begin: dict[str, tuple[Any, ...]] = {
        "attribute": ('<invoke name="', NAME, '">', lead),
        "equals": ("<function=", NAME, ">", lead),
        "separate": (open_, NAME, draw(st.sampled_from(palette.pair("middle"))), lead),
        "bare": (open_, NAME, "\n"),
    }
    ends = {"attribute": "</invoke>", "equals": "</function>", "separate": close, "bare": close}
    wrap = draw(st.booleans()) and head in ("attribute", "equals")
    outer_open, outer_close = (open_ + lead, lead + close) if wrap else ("", "")
    body = literal_parts(outer_open, *begin[head], slot, ends[head], outer_close)
    return model.SequenceLayout(parts=body)


@st.composite
def python_calls(draw: st.DrawFn, palette: Palette) -> model.SequenceLayout:
    """A call as Python writes it: `name(key=value, key=value)`."""
    open_, close = draw(st.sampled_from([("", ""), palette.pair("call")]))
    codec = draw(st.sampled_from(["python", "json", "quoted"]))
    slot = parts.ArgumentsSlot(
        item=(KEY, "=", VALUE),
        separator=draw(st.sampled_from([", ", ","])),
        codecs=parts.Codecs(**CODECS[codec]),
    )
    return model.SequenceLayout(parts=literal_parts(open_, NAME, "(", slot, ")", close))


@st.composite
def dialect_calls(draw: st.DrawFn, palette: Palette) -> model.SequenceLayout:
    """A call in a JSON dialect: bare keys, strings in quotes of their own."""
    open_, close = palette.pair("call")
    quote = draw(st.sampled_from(['<|"|>', "<escape>", "<q>", "``"]))
    bare = draw(st.sampled_from([True, True, False]))
    word = draw(st.sampled_from(["call:", "", "fn "]))
    slot = parts.ArgumentsSlot(codec=parts.DialectCodec(quote=quote, bare_keys=bare))
    return model.SequenceLayout(parts=literal_parts(open_, word, NAME, slot, close))


KINDS: Final = {
    "json": json_calls,
    "named": named_calls,
    "items": item_calls,
    "python": python_calls,
    "dialect": dialect_calls,
}


@st.composite
def calls_segments(
    draw: st.DrawFn, palette: Palette, end: model.End | None
) -> tuple[model.CallsSegment, str]:
    """A section of calls, and the kind of its layout."""
    kind = draw(st.sampled_from(["json", "json", "named", "items", "items", "items", "python", "dialect"]))
    layout = draw(KINDS[kind](palette))
    separator = draw(st.sampled_from(["", "\n", "\n", "\n\n", ", ", "<|sep|>"]))
    array = kind == "json" and draw(st.integers(0, 2)) == 0
    open_, close = draw(st.sampled_from([("", ""), palette.pair("section")]))
    inner = draw(spaces()) if open_ else ""
    open_, close = open_ + inner, (draw(spaces()) if open_ else "") + close
    if array:
        layout = layout.model_copy(update={"open": "", "close": ""})
        separator = draw(st.sampled_from([", ", ",", ",\n"]))
        marker = open_ or palette.openers["section"]
        open_, close = marker + "[", "]" + close
    elif kind == "python" and not layout_is_marked(layout):
        separator = draw(st.sampled_from([", ", "\n"]))
        if separator == ", ":
            open_, close = open_ + "[", "]" + close
        elif not open_:
            open_, close = palette.pair("section")
    return (
        model.CallsSegment(
            open=open_, close=close, separator=separator, array=array, layouts=(layout,), end=end
        ),
        f"{kind} array" if array else kind,
    )


def layout_is_marked(layout: model.Layout) -> bool:
    """Whether a call begins with a literal."""
    if layout.kind == "json":
        return bool(layout.open.strip())
    return isinstance(layout.parts[0], str) and bool(layout.parts[0].strip())
