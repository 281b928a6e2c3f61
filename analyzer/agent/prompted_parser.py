"""The parser for prompt-based calling: feed and finish, with the events of the spec-driven runtime.

A reply is read when it is whole, since only then it is known to be a call. Until then its text is held; what the `inner`
parser (that of the template's own spec) says of reasoning before it is passed on at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from analyzer.agent.prompted import Answer, Call, JsonReplies, Replies, Span, Step, Unparsed
from analyzer.agent.turns import CUT
from analyzer.chat import Tool
from analyzer.runtime.events import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    EndOfMessage,
    Event,
    Markup,
    Problem,
    TextDelta,
)
from analyzer.runtime.problems import KINDS

if TYPE_CHECKING:
    from analyzer.runtime.parser import Parser


class PromptedParser:
    """Reads a model's turn in a form of reply that the prompt asked for."""

    def __init__(
        self, replies: Replies | None = None, tools: Sequence[Tool] = (), *, inner: Parser | None = None
    ) -> None:
        self._replies: Replies = replies if replies is not None else JsonReplies()
        self._names = frozenset(tool.name for tool in tools)
        self._inner = inner
        self._held: list[Event] = []
        self._size = 0
        self.finish_reason = ""
        self.steps: tuple[Step, ...] = ()
        """What the reply was; there after `finish`."""

    def feed(self, text: str) -> list[Event]:
        """Take more text of the model; return what can be said already."""
        if self._inner is None:
            if text:
                self._held.append(TextDelta(text, self._size, self._size + len(text)))
            self._size += len(text)
            return []
        return self._take(self._inner.feed(text))

    def finish(self, finish_reason: str = "stop") -> list[Event]:
        """Say that the turn is over; return the last events, `EndOfMessage` at the end."""
        if self.finish_reason:
            return []
        self.finish_reason = finish_reason
        out: list[Event] = []
        end = self._size
        if self._inner is not None:
            *events, last = self._inner.finish(finish_reason)
            out += self._take(events)
            end = last.end
        out += self._read(finish_reason)
        has_call = any(isinstance(step, Call) for step in self.steps)
        reason = "tool_calls" if has_call and finish_reason != "length" else finish_reason
        out.append(EndOfMessage(reason, end, end))
        return out

    def _take(self, events: Iterable[Event]) -> list[Event]:
        """Pass on what comes before the reply's text; hold the rest."""
        out: list[Event] = []
        for event in events:
            if self._held or isinstance(event, TextDelta):
                self._held.append(event)
            else:
                out.append(event)
        return out

    def _read(self, finish_reason: str) -> list[Event]:
        reply = "".join(event.text for event in self._held if isinstance(event, TextDelta))
        if not reply.strip():
            return [event if not isinstance(event, TextDelta) else _as_markup(event) for event in self._held]
        self.steps = tuple(self._replies.read(reply))
        out: list[Event] = []
        source = _Source(self._held, out)
        if isinstance(self.steps[0], Call):
            self._calls(source, [step for step in self.steps if isinstance(step, Call)])
        elif isinstance(self.steps[0], Answer):
            self._answer(source, self.steps[0])
        else:
            self._unparsed(source, self.steps[0], finish_reason)
        source.rest()
        return out

    def _calls(self, source: _Source, calls: Sequence[Call]) -> None:
        before = [span for span in calls[0].around if span[1] <= calls[0].span[0]]
        for span in before:
            source.text(span)
        for index, call in enumerate(calls):
            source.markup(call.span[0])
            start = source.at(call.span[0])
            source.out.append(CallStart(index, None, call.tool, start, start))
            if self._names and call.tool not in self._names:
                kind = KINDS["unknown_tool"]
                source.out.append(
                    Problem(
                        "unknown_tool", kind.severity, kind.message.format(call.tool), call.tool, start, start
                    )
                )
            a, b = call.arguments_span
            source.markup(a)
            source.whole(ArgumentsDelta(index, call.arguments, 0, 0), (a, b))
            source.markup(call.span[1])
            end = source.at(call.span[1])
            source.out.append(CallEnd(index, "complete", None, end, end))
        after = [span for span in calls[0].around if span not in before]
        for span in after:
            source.text(span)

    @staticmethod
    def _answer(source: _Source, answer: Answer) -> None:
        source.markup(answer.span[0])
        source.whole(TextDelta(answer.text, 0, 0), answer.span)

    @staticmethod
    def _unparsed(source: _Source, step: Unparsed, finish_reason: str) -> None:
        kind = (
            "unterminated_call" if finish_reason in CUT and step.span[0] < step.span[1] else "malformed_call"
        )
        said = f"The reply could not be read: {step.reason}. Write it again as the system text says."
        raw = source.reply[step.span[0] : step.span[1]] or source.reply
        if step.span[0] < step.span[1]:
            source.markup(step.span[0])
            source.whole(Problem(kind, KINDS[kind].severity, said, raw, 0, 0), step.span)
        else:
            source.text((0, len(source.reply)))
            end = source.at(len(source.reply))
            source.out.append(Problem(kind, KINDS[kind].severity, said, raw, end, end))


class _Source:
    """The held events, given out again as the reply is read: places in the reply become places in the model's text."""

    def __init__(self, held: Sequence[Event], out: list[Event]) -> None:
        self.out = out
        self._held = list(held)
        self._next = 0
        self._done = 0
        self._begins: list[int] = []
        self._places: list[int] = []
        self.reply = ""
        texts = []
        size = 0
        for event in held:
            if isinstance(event, TextDelta):
                self._begins.append(size)
                self._places.append(event.start)
                texts.append(event.text)
                size += len(event.text)
        self.reply = "".join(texts)

    def at(self, place: int) -> int:
        """The place in the model's text up to which everything is told once the reply is told up to `place`."""
        if self.out:
            return self.out[-1].end
        return self._place(place)

    def markup(self, end: int) -> None:
        """Tell the reply up to `end` as part of the format."""
        for event in self._to(end):
            self.out.append(_as_markup(event) if isinstance(event, TextDelta) else event)

    def text(self, span: Span) -> None:
        """Tell a part of the reply as text, what is before it as part of the format."""
        self.markup(span[0])
        self.out.extend(self._to(span[1]))

    def whole(self, event: Event, span: Span) -> None:
        """Tell a part of the reply as one event; other events inside it come after it, with their places emptied."""
        self.markup(span[0])
        start = self.at(span[0])
        inside = list(self._to(span[1]))
        end = inside[-1].end if inside else start
        self.out.append(event._replace(start=start, end=end))
        self.out += [
            other._replace(start=end, end=end)
            for other in inside
            if not isinstance(other, (TextDelta, Markup))
        ]

    def rest(self) -> None:
        """Tell what is left as part of the format."""
        self.markup(len(self.reply))
        self.out += self._held[self._next :]
        self._next = len(self._held)

    def _place(self, place: int) -> int:
        piece = bisect_right(self._begins, place) - 1
        return self._places[piece] + place - self._begins[piece] if piece >= 0 else 0

    def _to(self, end: int) -> Iterator[Event]:
        """Take the events up to a place in the reply, cutting the text that reaches beyond it."""
        while self._done < end and self._next < len(self._held):
            event = self._held[self._next]
            if not isinstance(event, TextDelta):
                self._next += 1
                yield event
                continue
            room = end - self._done
            if len(event.text) <= room:
                self._next += 1
                self._done += len(event.text)
                yield event
                continue
            cut = event.start + room
            self._held[self._next] = TextDelta(event.text[room:], cut, event.end)
            self._done = end
            yield TextDelta(event.text[:room], event.start, cut)


def _as_markup(event: TextDelta) -> Markup:
    return Markup(event.text, event.start, event.end)
