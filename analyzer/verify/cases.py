"""Cases: the abstract conversations that a spec is tried on, before any template has seen them.

A case says what the assistant is to say (`Reply`) and where in a conversation (`Place`); it holds nothing of a
template.  ``adapt`` turns it into messages.  Strings carry *needles*, made-up words that no template writes by
itself, so that a value's absence from a render can be proved.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from analyzer.chat import Tool

Place: TypeAlias = Literal["first", "system", "dialogue", "result"]
"""What stands before the turn: a user message, a system and a user message, a whole exchange, or a tool result."""

PLACES: Final[tuple[Place, ...]] = ("first", "system", "dialogue", "result")

OWN_LITERAL: Final = "\ue000"
"""Stands in a string for a literal of the format under test; ``adapt`` puts one in where the codec can carry it."""

_ONSETS: Final = "bdfgjkmnprvwz"
_VOWELS: Final = "aeiou"


def needle(number: int) -> str:
    """The made-up word with this number: eight letters, different for different numbers below 270,000."""
    word = ""
    for _ in range(3):
        number, onset = divmod(number, len(_ONSETS))
        number, vowel = divmod(number, len(_VOWELS))
        word += _ONSETS[onset] + _VOWELS[vowel]
    return f"q{word}x"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a reply, its arguments as values."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the assistant is to say; ``None`` for what is absent."""

    content: str | None = None
    reasoning: str | None = None
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A reply at a place of a conversation, with the tools that are declared in it."""

    name: str
    reply: Reply
    tools: tuple[Tool, ...]
    place: Place = "first"

    def with_reply(self, reply: Reply) -> Case:
        """The same case with another reply."""
        return replace(self, reply=reply)


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from strings(item)


def needles_in(text: str) -> list[str]:
    """The needles that a text holds, in order."""
    return [
        text[at : at + 8]
        for at in range(len(text) - 7)
        if text[at] == "q"
        and text[at + 7] == "x"
        and text[at : at + 8].isalpha()
        and _is_needle(text[at : at + 8])
    ]


def _is_needle(word: str) -> bool:
    return all(word[at] in _ONSETS and word[at + 1] in _VOWELS for at in (1, 3, 5))


def needles_of(call: Call) -> list[str]:
    """The needles of a call: those in its arguments."""
    return [found for text in strings(call.arguments) for found in needles_in(text)]


def json_type(value: Any) -> str:
    """The JSON type of a value, one of `analyzer.spec.parts.JSON_TYPES`."""
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "object" if isinstance(value, Mapping) else "array"


def looks_typed(text: str) -> bool:
    """Whether a string reads like a value of another type: `3`, `true`, `None`, `{}`."""
    if text in ("True", "False", "None"):
        return True
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
