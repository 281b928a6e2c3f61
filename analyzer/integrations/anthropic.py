"""Runtime events as a Messages stream (content blocks), and a parsed turn as a whole message.

    stream = MessageStream("my-model", input_tokens=counted)
    for text in generated:
        for event in stream.feed(parser.feed(text)):
            send(sse.encode(event, event["type"]))
    for event in stream.feed(parser.finish("stop")):
        send(sse.encode(event, event["type"]))

Reasoning becomes `thinking` blocks (with an empty signature: nobody signed it), text `text` blocks, a call a `tool_use`
block whose `input` comes as `input_json_delta` pieces. Blocks follow each other in the order in which the model wrote.
Everything is plain data; no client package is needed.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from analyzer.agent.ids import ALPHANUMERIC, ANTHROPIC, CallIds
from analyzer.integrations.returned import ReturnedCalls
from analyzer.runtime.events import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    EndOfMessage,
    Event,
    Problem,
    ReasoningDelta,
    TextDelta,
)

if TYPE_CHECKING:
    from analyzer.runtime.assemble import Parsed

Json: TypeAlias = dict[str, Any]

STOP_REASONS: Final = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
"""The runtime's finish reasons in the API's words; any other is `end_turn`."""


class MessageStream:
    """One message: runtime events in, stream events out.

    `whole_calls` sends each call when it is complete, so that a client never sees one that breaks off. `taken` are ids of
    earlier turns. `stop_sequence` may be set before the end, when one of the request's stop sequences ended the turn.
    """

    def __init__(
        self,
        model: str,
        *,
        ident: str | None = None,
        input_tokens: int = 0,
        whole_calls: bool = False,
        taken: Iterable[str] = (),
    ) -> None:
        self.model = model
        self.id = ident or "msg_" + "".join(secrets.choice(ALPHANUMERIC) for _ in range(24))
        self.stop_sequence: str | None = None
        self.output_tokens = 0
        """Told with the end of the message; set it before."""
        self.problems: list[Problem] = []
        """What the parser complained of; the API has no place for it."""
        self._input_tokens = input_tokens
        self._calls = ReturnedCalls(CallIds(ANTHROPIC, taken), whole=whole_calls)
        self._begun = False
        self._index = -1
        self._open = ""
        """The type of the block that is open, empty when none is."""

    def feed(self, events: Iterable[Event]) -> list[Json]:
        """Return the stream events for some runtime events, the first and the last ones included."""
        return list(self._events(events))

    def _events(self, events: Iterable[Event]) -> Iterator[Json]:
        if not self._begun:
            self._begun = True
            yield {"type": "message_start", "message": self._message()}
        for event in events:
            if isinstance(event, (TextDelta, CallStart)) and self._open == "thinking":
                yield from self._end()  # also by a call that is not told: reasoning behind it is a block of its own
            for told in self._calls((event,)):
                yield from self._told(told)

    def _told(self, event: Event) -> Iterator[Json]:
        match event:
            case ReasoningDelta(text=text) if text:
                yield from self._begin("thinking", {"thinking": "", "signature": ""})
                yield self._delta({"type": "thinking_delta", "thinking": text})
            case TextDelta(text=text) if text:
                yield from self._begin("text", {"text": ""})
                yield self._delta({"type": "text_delta", "text": text})
            case CallStart():
                yield from self._end()
                yield from self._begin("tool_use", {"id": event.id, "name": event.name, "input": {}})
            case ArgumentsDelta(text=text):
                yield self._delta({"type": "input_json_delta", "partial_json": text})
            case CallEnd():
                yield from self._end()
            case Problem():
                self.problems.append(event)
            case EndOfMessage():
                yield from self._end()
                yield from self._finish(event.finish_reason)

    def _begin(self, kind: str, block: Json) -> Iterator[Json]:
        """Open a block of this type, unless one is open."""
        if self._open == kind:
            return
        yield from self._end()
        self._open = kind
        self._index += 1
        yield {
            "type": "content_block_start",
            "index": self._index,
            "content_block": {"type": kind, **block},
        }

    def _delta(self, delta: Json) -> Json:
        return {"type": "content_block_delta", "index": self._index, "delta": delta}

    def _end(self) -> Iterator[Json]:
        if self._open:
            self._open = ""
            yield {"type": "content_block_stop", "index": self._index}

    def _finish(self, reason: str) -> Iterator[Json]:
        stopped = STOP_REASONS.get(reason, "end_turn")
        if self.stop_sequence is not None and stopped == "end_turn":
            stopped = "stop_sequence"
        sequence = self.stop_sequence if stopped == "stop_sequence" else None
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": stopped, "stop_sequence": sequence},
            "usage": {"output_tokens": self.output_tokens},
        }
        yield {"type": "message_stop"}

    def _message(self) -> Json:
        return {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": self._input_tokens, "output_tokens": 0},
        }


def message(
    turn: Parsed,
    model: str,
    *,
    ident: str | None = None,
    taken: Iterable[str] = (),
    tokens: tuple[int, int] = (0, 0),
    stop_sequence: str | None = None,
) -> Json:
    """Return a parsed turn as a whole message. `tokens` are those of the prompt and of the turn."""
    stream = MessageStream(model, ident=ident, input_tokens=tokens[0], whole_calls=True, taken=taken)
    stream.stop_sequence, stream.output_tokens = stop_sequence, tokens[1]
    return _whole(stream.feed(turn.events))


def _whole(events: Iterable[Json]) -> Json:
    """The message that a client makes of a stream."""
    found: Json = {}
    pieces: list[str] = []
    for event in events:
        match event["type"]:
            case "message_start":
                found = event["message"]
            case "content_block_start":
                found["content"].append(dict(event["content_block"]))
                pieces = []
            case "content_block_delta":
                pieces.append(_text(event["delta"]))
            case "content_block_stop":
                block = found["content"][-1]
                key = {"text": "text", "thinking": "thinking", "tool_use": "input"}[block["type"]]
                text = "".join(pieces)
                block[key] = json.loads(text) if key == "input" else text
            case "message_delta":
                found |= event["delta"]
                found["usage"] |= event["usage"]
    return found


def _text(delta: Json) -> str:
    text: str = next(value for key, value in delta.items() if key != "type")
    return text
