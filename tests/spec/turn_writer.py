"""Writes a turn from a spec: the plainest reading of what each field means, to check specs and texts against each other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.spec import model, parts


def write_turn(spec: model.Spec, message: Mapping[str, Any], layout: int = 0) -> str:
    """Return the turn of the history that `message` makes: header, segments in order, and the end of each message."""
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls") or ()
    written = [_segment(segment, message, calls, layout) for segment in spec.turn.segments]
    present = [
        (segment, text) for segment, text in zip(spec.turn.segments, written, strict=True) if text is not None
    ]
    out = spec.turn.header
    for number, (segment, text) in enumerate(present):
        last = number == len(present) - 1
        out += text
        if segment.end is not None and (last or spec.turn.header_repeats):
            out += segment.end.literal
        if not last and spec.turn.header_repeats:
            out += spec.turn.header
    return out


def _segment(
    segment: Any, message: Mapping[str, Any], calls: Sequence[Mapping[str, Any]], layout: int
) -> str | None:
    """Return the segment's text without its end, None when nothing is written."""
    if segment.kind == "calls":
        if not calls:
            return None
        written = [_call(segment.layouts[layout], call, index) for index, call in enumerate(calls)]
        return segment.open + segment.separator.join(written) + segment.close
    if (segment.when == "alone" and calls) or (segment.when == "beside_calls" and not calls):
        return None
    value = message.get("reasoning_content" if segment.kind == "reasoning" else "content")
    if value:
        return segment.open + value + segment.close
    return segment.empty or None


def _call(layout: Any, call: Mapping[str, Any], index: int) -> str:
    text = "".join(part if isinstance(part, str) else _slot(part, call, index) for part in layout.parts)
    return layout.open + text + layout.close if layout.kind == "json" else text


def _slot(slot: Any, call: Mapping[str, Any], index: int) -> str:
    if slot.slot == "name":
        return str(call["name"])
    if slot.slot == "id":
        return str(call["id"])
    if slot.slot == "index":
        return str(index + slot.start)
    if slot.codec is not None:
        return encode(slot.codec, call["arguments"], slot)
    return slot.separator.join(_item(slot, key, value) for key, value in call["arguments"].items())


def _item(slot: parts.ArgumentsSlot, key: str, value: Any) -> str:
    assert slot.item is not None
    assert slot.codecs is not None
    kind = json_type(value)
    out = ""
    for part in slot.item:
        if isinstance(part, str):
            out += part
        elif part.slot == "key":
            out += key
        elif part.slot == "type":
            out += part.words[kind]
        else:
            out += encode(slot.codecs.of(kind), value, slot)
    return out


def encode(codec: parts.Codec, value: Any, slot: parts.ArgumentsSlot) -> str:
    """Return `value` as `codec` writes it."""
    match codec:
        case parts.RawCodec():
            return str(value)
        case parts.JsonCodec():
            return json.dumps(value, ensure_ascii=False)
        case parts.JsonTextCodec():
            return json.dumps(json.dumps(value))
        case parts.PythonCodec():
            return repr(value)
        case parts.QuotedCodec():
            return f"{codec.open}{value}{codec.close}"
        case parts.DialectCodec():
            return _dialect(codec, value)
        case parts.NestedCodec():
            items = value.items() if isinstance(value, dict) else [(codec.array_key, item) for item in value]
            return slot.separator.join(_item(slot, key, item) for key, item in items)
    raise NotImplementedError(codec.kind)


def _dialect(codec: parts.DialectCodec, value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{_dialect(codec, item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_dialect(codec, item) for item in value) + "]"
    return f"{codec.quote}{value}{codec.quote}" if isinstance(value, str) else json.dumps(value)


def json_type(value: Any) -> parts.JsonType:
    """Return the JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, dict) else "array"
