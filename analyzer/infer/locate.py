"""C1: where one call stands in a render, and which of its text is slot.

JSON is found by decoding: from each `{` or `[` before the needle a decoder is started; if the needles come back as values, the body is
JSON. What is no JSON is a sequence of literals and slots.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.observe.needles import CallNeedles

_DECODER = json.JSONDecoder()
_LONGEST_LITERAL = 20_000


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text that is a slot: `what` is name, id, index, key, value or arguments."""

    start: int
    end: int
    what: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class JsonBody:
    """A call that is one JSON value: where it stands, and the decoded value."""

    start: int
    end: int
    value: Any


def occurrences(text: str, needle: str, start: int, end: int) -> list[int]:
    """Return the offsets at which `needle` stands as a whole word in `text[start:end]`."""
    found = []
    at = text.find(needle, start, end)
    while at >= 0:
        found.append(at)
        at = text.find(needle, at + len(needle), end)
    return found


def contains(value: Any, needle: str) -> bool:
    """Tell whether `needle` is a value, a key, or inside a text of the decoded JSON `value`."""
    if isinstance(value, str):
        return needle in value
    if isinstance(value, dict):
        return any(needle in key or contains(item, needle) for key, item in value.items())
    if isinstance(value, list):
        return any(contains(item, needle) for item in value)
    return False


def decode_at(text: str, start: int) -> tuple[Any, int] | None:
    """Decode one JSON value that begins at `start`; return it and its end, None when there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def json_bodies(text: str, start: int, calls: Sequence[CallNeedles], arguments: int) -> list[JsonBody] | None:
    """Find one JSON body for each of `calls` in `text[start:]`; None when the calls are not JSON values.

    The calls may be separate values or the elements of one array.
    """
    bodies: list[JsonBody] = []
    at = start
    for index, call in enumerate(calls):
        body = _body(text, at, call, calls[index + 1 :], arguments)
        if body is None:
            return None
        bodies.append(body)
        at = body.end
    return bodies


def _body(
    text: str, at: int, call: CallNeedles, others: Sequence[CallNeedles], arguments: int
) -> JsonBody | None:
    name_at = text.find(call.name, at)
    if name_at < 0:
        return None
    for value_at in range(at, name_at):
        if text[value_at] != "{":
            continue
        decoded = decode_at(text, value_at)
        if decoded is None or decoded[1] <= name_at:
            continue
        value, end = decoded
        if any(contains(value, other.name) for other in others):
            continue
        if all(contains(value, needle) for needle in (call.name, *call.values[:arguments])):
            return JsonBody(value_at, end, value)
    return None


def path_to(value: Any, wanted: Any) -> tuple[str, ...] | None:
    """Return the path of keys to the first value equal to `wanted` (exactly, types included)."""
    if type(value) is type(wanted) and value == wanted:
        return ()
    if isinstance(value, dict):
        for key, item in value.items():
            found = path_to(item, wanted)
            if found is not None:
                return (key, *found)
    return None


def at_path(value: Any, path: Sequence[str]) -> Any:
    """Return the value at `path`, None when it is absent."""
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield path and value of every leaf that is not inside a list."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    else:
        yield path, value


def argument_span(text: str, start: int, end: int, arguments: Mapping[str, Any]) -> Span | None:
    """Find all arguments as one value in `text[start:end]`: JSON, JSON in a string, or a Python literal."""
    first = text.find(next(iter(arguments)), start, end) if arguments else end
    if first < 0:
        return None
    for at in range(first - 1, start - 1, -1):
        if text[at] not in '{"':
            continue
        decoded = decode_at(text, at)
        if decoded is not None:
            value, stop = decoded
            if value == arguments and isinstance(value, dict):
                return Span(at, stop, "arguments", "json")
            if isinstance(value, str) and _text_of(value, arguments):
                return Span(at, stop, "arguments", "json_text")
        if text[at] == "{":
            ended = _python_end(text, at, min(end, at + _LONGEST_LITERAL), arguments)
            if ended is not None:
                return Span(at, ended, "arguments", "python")
    return None


def empty_argument_span(text: str, start: int, end: int) -> Span | None:
    """Find `{}` or `"{}"` in `text[start:end]`."""
    for spelling, codec in (('"{}"', "json_text"), ("{}", "json"), ("{ }", "json")):
        at = text.find(spelling, start, end)
        if at >= 0:
            return Span(at, at + len(spelling), "arguments", codec)
    return None


def _text_of(value: str, arguments: Mapping[str, Any]) -> bool:
    try:
        decoded: Any = json.loads(value)
    except (ValueError, RecursionError):
        return False
    return isinstance(decoded, dict) and decoded == arguments


def _python_end(text: str, at: int, end: int, arguments: Mapping[str, Any]) -> int | None:
    stop = at
    while True:
        stop = text.find("}", stop, end) + 1
        if stop == 0:
            return None
        try:
            value = ast.literal_eval(text[at:stop])
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
        return stop if value == arguments else None
