"""The calls that a client is told of: numbered without gaps, each with an id of its own.

A parser's calls may break off. Clients cannot be told to forget a call, so there are two ways to pass them on:

    as they come    names and arguments at once; one that breaks off stays with the client, its arguments no whole JSON
    whole           each call when it is complete, in one piece; what breaks off is never seen
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzer.agent.ids import CallIds
from analyzer.integrations.surrogates import Paired
from analyzer.runtime.events import ArgumentsDelta, CallEnd, CallStart, EndOfMessage, Event


class ReturnedCalls:
    """Passes the events of one turn on; calls get indexes without gaps, and ids."""

    def __init__(self, ids: CallIds, *, whole: bool = False) -> None:
        self._ids = ids
        self._whole = whole
        self._held: CallStart | None = None
        self._pieces: list[str] = []
        self._text = Paired()
        self.started = 0
        """How many calls the client was told of."""
        self.complete = 0
        """How many of them are complete."""

    def __call__(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield what is to be told; every `CallStart` has an id, and the end its reason by the calls returned."""
        for event in events:
            if isinstance(event, (CallStart, ArgumentsDelta, CallEnd)):
                yield from self._of_call(event)
            elif isinstance(event, EndOfMessage):
                yield event._replace(finish_reason=self._reason(event.finish_reason))
            else:
                yield event

    def _of_call(self, event: CallStart | ArgumentsDelta | CallEnd) -> Iterator[Event]:
        if isinstance(event, CallStart):
            self._pieces, self._text = [], Paired()
            self._held = event if self._whole else None
            if not self._whole:
                yield self._start(event, event.id)
        elif isinstance(event, ArgumentsDelta):
            text = self._text.feed(event.text)
            if self._whole:
                self._pieces.append(text)
            elif text:
                yield event._replace(index=self.started - 1, text=text)
        else:
            yield from self._end(event)

    def _end(self, event: CallEnd) -> Iterator[Event]:
        left = self._text.finish()
        if self._held is not None:
            if event.status != "complete":
                return
            yield self._start(self._held, self._held.id if self._held.id is not None else event.native_id)
            left = "".join([*self._pieces, left])
        if left:
            yield ArgumentsDelta(self.started - 1, left, event.start, event.start)
        self.complete += event.status == "complete"
        yield event._replace(index=self.started - 1)

    def _start(self, event: CallStart, own: str | None) -> CallStart:
        self.started += 1
        return event._replace(index=self.started - 1, id=self._ids(own))

    def _reason(self, given: str) -> str:
        if given == "stop" and self.complete:
            return "tool_calls"
        return "stop" if given == "tool_calls" and not self.complete else given
