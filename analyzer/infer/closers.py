"""V1 and V2, behind the value: what closes an argument where that depends on the type of what it closes.

The parts of an item are cut from texts, so its closer is the one that stands behind a text.  Behind a value of another type
another one may stand: `</text>` and `</number>`, or a closer that is escaped behind some types and not behind others.  What
follows the closer is the call's and the same for all types; what stands between it and the value's own spelling closes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, get_args

from analyzer.observe.lexemes import common_prefix, common_suffix
from analyzer.spec.parts import JsonType


class TypedClosers(NamedTuple):
    """The closers, and the texts as they would be if what closes a string closed every value."""

    words: dict[JsonType, str]
    alike: dict[JsonType, tuple[Any, str]]


def closers_by_type(
    typed: Mapping[JsonType, tuple[Any, str]], middle: str, close: str, tail: str
) -> TypedClosers | None:
    """Return the closer of each type, None when all have one or it cannot be told.

    `typed` holds probe values and the texts from the key on; a string stands between `middle` and `tail`, which begins with
    its closer `close`, quotes included.
    """
    value, text = typed.get("integer", (None, ""))
    before, found, after = text.partition(str(value))
    rest = tail[len(close) :]
    if not found or not tail.startswith(close) or not after.endswith(rest):
        return None
    bare = _without_quotes(middle, before, close, after[: len(after) - len(rest)])
    if bare is None:
        return None
    middle, own = bare
    words: dict[JsonType, str] = {"string": own}
    alike = dict(typed)
    for json_type, (value, text) in typed.items():
        at = _end_of_value(value, text.removesuffix(rest), middle, before) if text.endswith(rest) else None
        if at is not None:
            words[json_type] = text[at : len(text) - len(rest)]
            alike[json_type] = (value, text[:at] + own + rest)
    if len(set(words.values())) == 1:
        return None
    kinds: tuple[JsonType, ...] = get_args(JsonType)
    return TypedClosers({kind: words.get(kind, words["integer"]) for kind in kinds}, alike)


def _without_quotes(middle: str, before: str, close: str, other: str) -> tuple[str, str] | None:
    """Return what stands before and after a string without quotes; `before` and `other` stand around an integer."""
    if middle == before:
        return middle, close
    quote = close.removesuffix(other) if close.endswith(other) else ""
    if quote and middle.startswith(before):
        return before, other  # but for quotes, of any kind, the two are closed alike
    if middle.startswith(before):
        quote = middle[len(before) :]
        return (before, close.removeprefix(quote)) if close.startswith(quote) else None
    if not quote or not middle.endswith(quote):
        quote = close[:1] if close[:1] in {"'", '"'} else ""
    if not middle.endswith(quote) or before.endswith(quote):
        quote = ""
    return middle.removesuffix(quote), close.removeprefix(quote)


def _end_of_value(value: Any, text: str, middle: str, before: str) -> int | None:
    """Return where the value ends in `text`, which goes on with its closer; None when its spelling is not known."""
    lead, end = around_word(middle, before)
    for start, spelling in _spelt(value, text):
        begins = text[:start]
        worded = bool(end) and begins.startswith(lead) and begins[len(lead) :].endswith(end)
        if begins == before or (worded and not middle.startswith(before)):
            return start + len(spelling)
    return None


def around_word(one: str, other: str) -> tuple[str, str]:
    """Return what two texts share before and after the one word they differ in, in whole lexemes where they share any there."""
    lead = common_prefix(one, other)
    end = common_suffix(one[len(lead) :], other[len(lead) :])
    if not end:  # the word is a part of a marker: `<text>` and `<number>`
        lead = _shared_start(one, other)
        end = _shared_start(one[len(lead) :][::-1], other[len(lead) :][::-1])[::-1]
    return lead, end


def _shared_start(one: str, other: str) -> str:
    """Return the longest common beginning, character by character."""
    differs = (at for at, (mine, yours) in enumerate(zip(one, other, strict=False)) if mine != yours)
    return one[: next(differs, min(len(one), len(other)))]


def _spelt(value: Any, text: str) -> Iterator[tuple[int, str]]:
    """Yield where the value stands in `text` in a usual spelling, JSON or Python."""
    spellings = {json.dumps(value), json.dumps(value, separators=(",", ":")), repr(value)}
    for spelling in sorted(spellings):
        at = text.find(spelling)
        while at >= 0:
            yield at, spelling
            at = text.find(spelling, at + 1)
