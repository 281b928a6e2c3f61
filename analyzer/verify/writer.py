"""The writer: an assistant's message as text, by the spec alone.

The opposite of the runtime, and as exact: a turn is a list of *pieces*, each a literal of the spec or the value of a
slot, so that a render can be held against it character by character (`mismatch`).  Only the white space inside JSON
is free there, as a spec does not say how a template spaces its JSON; `write_turn` spaces as ``json.dumps`` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from analyzer.chat import Message, ToolCall
from analyzer.spec.model import (
    CallsSegment,
    ContentSegment,
    JsonLayout,
    Layout,
    ReasoningSegment,
    Segment,
    Spec,
    TextSegment,
)
from analyzer.spec.parts import ArgumentsSlot, IdSlot, IndexSlot, JsonCodec, KeySlot, NameSlot, Part, TypeSlot
from analyzer.verify.cases import json_type
from analyzer.verify.pieces import Piece, write_value

Thought: TypeAlias = Literal["empty", "marked", "none"]
"""A turn without reasoning has the segment's `empty`, its opener and closer with nothing between, or nothing at all."""


def write_turn(spec: Spec, message: Message, *, prompt: str = "", layout: int = 0) -> str:
    """The assistant's turn as the template would write it, end included.

    ``prompt`` is the generation prompt that stands already: it is left out of the text where the turn begins with it.
    """
    text = "".join(piece.text for piece in turn_pieces(spec, message, layout=layout))
    return text.removeprefix(prompt)


def write_call(spec: Spec, call: ToolCall, index: int = 0, *, layout: int = 0) -> str:
    """One call in one of the spec's layouts, the section's own markers left out.  The spec must have calls."""
    segment = spec.calls
    if segment is None:
        raise ValueError("the spec has no calls segment")
    return "".join(piece.text for piece in call_pieces(segment.layouts[layout], call, index))


def turn_pieces(spec: Spec, message: Message, *, layout: int = 0, thought: Thought = "empty") -> list[Piece]:
    """The pieces of a turn, from the header on.

    ``thought``: how reasoning that the message has none of is written.
    """
    turn = spec.turn
    pieces = [Piece.literal(turn.header, "turn.header")]
    segments = applicable(spec, message)
    started = False
    for number, segment in segments:
        path = f"turn.segments[{number}]"
        written = list(_segment_pieces(segment, message, path, layout, thought=thought))
        present = is_written(segment, message)
        if present and started and turn.header_repeats:
            pieces.append(Piece.literal(turn.header, "turn.header"))
        pieces += written
        started = started or present
        last = (number, segment) == segments[-1]
        if segment.end is not None and (
            (present and turn.header_repeats) or (last and not turn.header_repeats)
        ):
            pieces.append(Piece.literal(segment.end.literal, f"{path}.end.literal"))
    return [piece for piece in pieces if piece.text or piece.codec is not None]


def applicable(spec: Spec, message: Message) -> list[tuple[int, Segment]]:
    """The segments, with their numbers, that a turn of this kind is made of: the first of each kind whose `when` fits."""
    when = "beside_calls" if message.tool_calls else "alone"
    found: dict[str, tuple[int, Segment]] = {}
    for number, segment in enumerate(spec.turn.segments):
        if isinstance(segment, CallsSegment):
            fits = bool(message.tool_calls)
        else:
            fits = segment.when in ("any", when) and _fits_thought(segment, message)
        if fits and (segment.kind not in found or not is_written(found[segment.kind][1], message)):
            found[segment.kind] = (number, segment)
    return sorted(found.values(), key=lambda item: item[0])


def _fits_thought(segment: TextSegment, message: Message) -> bool:
    wanted = segment.reasoning if isinstance(segment, ContentSegment) else "any"
    return wanted == "any" or (wanted == "present") == bool(message.reasoning_content)


def is_written(segment: Segment, message: Message) -> bool:
    """Whether the message has what the segment holds."""
    if isinstance(segment, CallsSegment):
        return bool(message.tool_calls)
    if isinstance(segment, ContentSegment):
        return bool(message.content)
    return bool(message.reasoning_content)


def _segment_pieces(
    segment: Segment, message: Message, path: str, layout: int, *, thought: Thought
) -> Iterator[Piece]:
    if isinstance(segment, CallsSegment):
        yield from _calls_pieces(segment, message.tool_calls, path, layout)
        return
    value = message.reasoning_content if isinstance(segment, ReasoningSegment) else message.content
    if not value and isinstance(segment, ReasoningSegment) and thought != "empty":
        if thought == "marked":
            yield Piece.literal(segment.open, f"{path}.open")
            yield Piece.literal(segment.close, f"{path}.close")
        return
    if not value:
        yield Piece.literal(segment.empty, f"{path}.empty")
        return
    yield Piece.literal(segment.open, f"{path}.open")
    yield Piece.raw(value, segment.kind)
    yield Piece.literal(segment.close, f"{path}.close")


def _calls_pieces(
    segment: CallsSegment, calls: Sequence[ToolCall], path: str, layout: int
) -> Iterator[Piece]:
    if not calls:
        return
    yield Piece.literal(segment.open, f"{path}.open")
    for index, call in enumerate(calls):
        if index:
            yield Piece.literal(segment.separator, f"{path}.separator")
        yield from call_pieces(segment.layouts[layout], call, index, f"{path}.layouts[{layout}]")
    yield Piece.literal(segment.close, f"{path}.close")


def call_pieces(layout: Layout, call: ToolCall, index: int, path: str = "layout") -> Iterator[Piece]:
    """The pieces of one call."""
    arguments = call.decoded()
    if isinstance(layout, JsonLayout):
        yield Piece.literal(layout.open, f"{path}.open")
        if layout.parts:
            yield from _parts_pieces(layout.parts, call, arguments, index, f"{path}.parts", in_json=True)
        else:
            yield Piece.value(_json_body(layout, call, arguments), JsonCodec(), "call")
        yield Piece.literal(layout.close, f"{path}.close")
    else:
        yield from _parts_pieces(layout.parts, call, arguments, index, f"{path}.parts", in_json=False)


def _json_body(layout: JsonLayout, call: ToolCall, arguments: Any) -> Any:
    """The object that the paths of a layout describe."""
    written: Any = (
        arguments if layout.arguments_codec == "json" else json.dumps(arguments, ensure_ascii=False)
    )
    if layout.name == "key":
        return {call.name: written}
    body: dict[str, Any] = {}
    if layout.id is not None and call.id is not None:
        _put(body, layout.id, call.id)
    _put(body, layout.name, call.name)
    _put(body, layout.arguments, written)
    return body


def _put(body: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for key in path[:-1]:
        body = body.setdefault(key, {})
    body[path[-1]] = value


def _parts_pieces(
    parts: Sequence[Part], call: ToolCall, arguments: Any, index: int, path: str, *, in_json: bool
) -> Iterator[Piece]:
    for number, part in enumerate(parts):
        if isinstance(part, str):
            yield Piece.literal(part, f"{path}[{number}]")
        elif isinstance(part, NameSlot):
            yield Piece.raw(_inside(call.name) if in_json else call.name, "name")
        elif isinstance(part, IdSlot):
            text = identity(part, call, index)
            yield Piece.raw(_inside(text) if in_json else text, "id")
        elif isinstance(part, IndexSlot):
            yield Piece.number(part.start + index)
        elif part.item is None:
            codec = part.codec or JsonCodec()
            before = parts[number - 1] if number else ""
            quoted = isinstance(before, str) and before.endswith('"')
            yield Piece.value(arguments, codec, "arguments", inside=in_json and quoted)
        else:
            yield from _items_pieces(part, arguments, f"{path}[{number}]")


def identity(slot: IdSlot, call: ToolCall, index: int) -> str:
    """The id of a call: its own, or made by the slot's pattern where its own is not of that pattern."""
    own = call.id or ""
    if slot.pattern is None or re.fullmatch(_id_expression(slot.pattern, call.name), own):
        return own
    return slot.pattern.replace("{name}", call.name).replace("{index}", str(slot.start + index))


def _id_expression(pattern: str, name: str) -> str:
    escaped = re.escape(pattern).replace(re.escape("{index}"), r"\d+")
    return escaped.replace(re.escape("{name}"), re.escape(name))


def _inside(text: str) -> str:
    """A text as it stands inside the quotes of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _items_pieces(slot: ArgumentsSlot, arguments: Mapping[str, Any], path: str) -> Iterator[Piece]:
    for number, (key, value) in enumerate(arguments.items()):
        if number:
            yield Piece.literal(slot.separator, f"{path}.separator")
        yield from item_pieces(slot, key, value, path)


def item_pieces(slot: ArgumentsSlot, key: str, value: Any, path: str = "item") -> Iterator[Piece]:
    """The pieces of one argument of an arguments slot that is a run of items."""
    kind = json_type(value)
    for number, part in enumerate(slot.item or ()):
        if isinstance(part, str):
            yield Piece.literal(part, f"{path}.item[{number}]")
        elif isinstance(part, KeySlot):
            yield Piece.raw(key, "key")
        elif isinstance(part, TypeSlot):
            yield Piece.literal(part.words.get(kind, ""), f"{path}.item[{number}].words")  # type: ignore[call-overload]
        elif slot.codecs is not None:
            codec = slot.codecs.of(kind)  # type: ignore[arg-type]
            if codec.kind == "nested":
                yield Piece.raw(_nested(slot, value, codec.array_key), "value")
            else:
                yield Piece.value(value, codec, "value")


def _nested(slot: ArgumentsSlot, value: Any, array_key: str) -> str:
    if isinstance(value, Mapping):
        items = list(value.items())
    elif isinstance(value, list):
        items = [(array_key, item) for item in value]
    else:
        return write_value(value, slot.codecs.of(json_type(value))) if slot.codecs else ""  # type: ignore[arg-type]
    texts = ["".join(piece.text for piece in item_pieces(slot, key, item)) for key, item in items]
    return slot.separator.join(texts)
