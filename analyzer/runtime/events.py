"""What the parser reports: immutable events with their place in the model's text.

`start` and `end` count characters of the model's text, from 0 at its first character. The spans of all events of one
parse stand in order and tile the text exactly; text that the parser makes up (the braces of an argument object that
the model wrote as tags) has an empty span. Events are tuples below, because making one must cost next to nothing; two
events are equal when type and fields are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["info", "warning", "error"]
Status: TypeAlias = Literal["complete", "truncated", "malformed"]


class _Text(NamedTuple):
    text: str
    start: int
    end: int


class _Start(NamedTuple):
    index: int  # type: ignore[assignment]
    id: str | None
    name: str
    start: int
    end: int


class _Arguments(NamedTuple):
    index: int  # type: ignore[assignment]
    text: str
    start: int
    end: int


class _CallEnd(NamedTuple):
    index: int  # type: ignore[assignment]
    status: Status
    native_id: str | None
    start: int
    end: int


class _Problem(NamedTuple):
    kind: str
    severity: Severity
    message: str
    raw: str
    start: int
    end: int


class _End(NamedTuple):
    finish_reason: str
    start: int
    end: int


class _Same:
    """Equality by type and fields; tuples alone would compare two events of different types by their fields."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and bool(tuple.__eq__(self, other))  # type: ignore[operator]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self).__name__, *self))  # type: ignore[misc]


class TextDelta(_Same, _Text):
    """More text for the user."""

    __slots__ = ()
    kind: ClassVar[str] = "text"


class ReasoningDelta(_Same, _Text):
    """More of the model's reasoning."""

    __slots__ = ()
    kind: ClassVar[str] = "reasoning"


class CallStart(_Same, _Start):
    """A tool call begins: its index in the turn, its whole name, and its id if the model wrote one before the arguments."""

    __slots__ = ()
    kind: ClassVar[str] = "call_start"


class ArgumentsDelta(_Same, _Arguments):
    """More of a call's arguments, as JSON text; the pieces of a complete call join to valid JSON."""

    __slots__ = ()
    kind: ClassVar[str] = "arguments"


class CallEnd(_Same, _CallEnd):
    """A call ends. Only `complete` calls are to be run; `native_id` is an id that came after the arguments began."""

    __slots__ = ()
    kind: ClassVar[str] = "call_end"


class Problem(_Same, _Problem):
    """Something that the format does not allow. `kind` is of the closed list in `analyzer.runtime.problems`."""

    __slots__ = ()


class Markup(_Same, _Text):
    """Text that belongs to the format: markers and the white space around them."""

    __slots__ = ()
    kind: ClassVar[str] = "markup"


class EndOfMessage(_Same, _End):
    """The turn is over."""

    __slots__ = ()
    kind: ClassVar[str] = "end"


Event: TypeAlias = (
    TextDelta | ReasoningDelta | CallStart | ArgumentsDelta | CallEnd | Problem | Markup | EndOfMessage
)

EVENTS: tuple[type, ...] = (
    TextDelta,
    ReasoningDelta,
    CallStart,
    ArgumentsDelta,
    CallEnd,
    Problem,
    Markup,
    EndOfMessage,
)
"""Every event type, in the order of the documentation."""


def coalesce(events: Iterable[Event]) -> list[Event]:
    """Merge neighbouring deltas of one kind: what is left does not depend on how the text was cut into chunks."""
    out: list[Event] = []
    texts: list[str] = []
    for event in events:
        last = out[-1] if out else None
        if isinstance(event, (TextDelta, ReasoningDelta, Markup)):
            if type(last) is type(event):
                texts.append(event.text)
                out[-1] = type(event)("", last.start, event.end)
                continue
        elif (
            isinstance(event, ArgumentsDelta)
            and isinstance(last, ArgumentsDelta)
            and last.index == event.index
        ):
            texts.append(event.text)
            out[-1] = ArgumentsDelta(event.index, "", last.start, event.end)
            continue
        _close(out, texts)
        out.append(event)
        if isinstance(event, (TextDelta, ReasoningDelta, Markup, ArgumentsDelta)):
            texts = [event.text]
    _close(out, texts)
    return [event for event in out if not _empty(event)]


def _close(out: list[Event], texts: list[str]) -> None:
    if len(texts) > 1:
        out[-1] = out[-1]._replace(text="".join(texts))  # type: ignore[call-arg]
    texts.clear()


def _empty(event: Event) -> bool:
    deltas = (TextDelta, ReasoningDelta, Markup, ArgumentsDelta)
    return isinstance(event, deltas) and not event.text and event.start == event.end
