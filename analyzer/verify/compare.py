"""Comparing what was sent with what came out, slot by slot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from analyzer.chat import Message, ToolCall
from analyzer.verify.pieces import same

SameId: TypeAlias = Callable[[ToolCall, ToolCall], bool]


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = _Missing()
"""Stands for a value that did not come out, or was not sent."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One slot whose value did not come out as it was sent.

    ``slot`` is `content`, `reasoning`, `call`, `name`, `id` or `argument`; ``call`` the number of the call sent, ``path``
    the keys below the arguments.
    """

    slot: str
    sent: Any
    got: Any
    call: int | None = None
    path: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        place = self.slot
        if self.call is not None and self.slot != "call":
            place = f"calls[{self.call}].{self.slot}" + "".join(f"[{key!r}]" for key in self.path)
        return f"{place}: sent {_short(self.sent)}, got {_short(self.got)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:80]}...{text[-30:]}"  # noqa: PLR2004  (a line for people)


def differences(sent: Message, got: Message, same_id: SameId | None) -> list[Difference]:
    """Every difference; ``same_id`` says whether an id came out, None when ids are not written."""
    found: list[Difference] = []
    if (sent.content or None) != (got.content or None):
        found.append(Difference("content", sent.content, got.content))
    if (sent.reasoning_content or None) != (got.reasoning_content or None):
        found.append(Difference("reasoning", sent.reasoning_content, got.reasoning_content))
    for number, one, other in _pairs(sent.tool_calls, got.tool_calls):
        found += _call_differences(number, one, other, same_id)
    return found


def _pairs(
    sent: Sequence[ToolCall], got: Sequence[ToolCall]
) -> Iterator[tuple[int | None, ToolCall | None, ToolCall | None]]:
    """Calls by their place; when some are missing, by the longest run of equal names from the start."""
    if len(sent) == len(got):
        yield from zip(range(len(sent)), sent, got, strict=True)
        return
    left = list(got)
    for number, call in enumerate(sent):
        fewer = len(sent) - number > len(left)
        if left and (not fewer or _alike(call, left[0])):
            yield number, call, left.pop(0)
        else:
            yield number, call, None
    for extra in left:
        yield None, None, extra


def _alike(one: ToolCall, other: ToolCall) -> bool:
    return one.name == other.name and decoded(one).keys() == decoded(other).keys()


def decoded(call: ToolCall) -> Mapping[str, Any]:
    """The arguments of a call as a mapping, empty when they are none."""
    try:
        value = call.decoded()
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, Mapping) else {}


def _call_differences(
    number: int | None, sent: ToolCall | None, got: ToolCall | None, same_id: SameId | None
) -> Iterator[Difference]:
    if sent is None or got is None:
        yield Difference("call", sent or MISSING, got or MISSING, number)
        return
    if sent.name != got.name:
        yield Difference("name", sent.name, got.name, number)
    if same_id is not None and not same_id(sent, got):
        yield Difference("id", sent.id, got.id, number)
    if sent.arguments != got.arguments:
        for path, one, other in _value_differences(sent.decoded(), _loaded(got.arguments), ()):
            yield Difference("argument", one, other, number, path)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _value_differences(
    sent: Any, got: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Any, Any]]:
    if isinstance(sent, Mapping) and isinstance(got, Mapping):
        for key in {**sent, **got}:
            yield from _value_differences(sent.get(key, MISSING), got.get(key, MISSING), (*path, key))
    elif isinstance(sent, list) and isinstance(got, list) and len(sent) == len(got):
        for number, (one, other) in enumerate(zip(sent, got, strict=True)):
            yield from _value_differences(one, other, (*path, number))
    elif not same(sent, got):
        yield path, sent, got
