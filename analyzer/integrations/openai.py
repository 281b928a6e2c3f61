"""Runtime events as a Chat Completions stream, and parsed turns as a whole completion.

    response = ChatResponse("my-model")
    choice = response.choice(spec)               # one for each of `n`
    for text in generated:
        for chunk in choice.feed(parser.feed(text)):
            send(sse.encode(chunk))
    for chunk in choice.feed(parser.finish("stop")):
        send(sse.encode(chunk))

Everything is plain data; no client package is needed. The first delta of a choice says the role, the first one of a call
its index, id, type and whole name; arguments come after it, in pieces that join to JSON. `finish_reason` is `tool_calls`
only when a complete call was returned. Reasoning goes under `reasoning_content`, the key that most servers use.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from analyzer.agent.ids import ALPHANUMERIC, CallIds
from analyzer.integrations.returned import ReturnedCalls
from analyzer.runtime.events import (
    ArgumentsDelta,
    CallStart,
    EndOfMessage,
    Event,
    Problem,
    ReasoningDelta,
    TextDelta,
)

if TYPE_CHECKING:
    from analyzer.runtime.assemble import Parsed
    from analyzer.spec.model import Spec

Json: TypeAlias = dict[str, Any]

REASONING_KEY: Final = "reasoning_content"
FINISH_REASONS: Final = ("stop", "length", "tool_calls", "content_filter", "function_call")
"""The reasons that the API knows; any other of a server's own is told as `stop`."""


def delta(event: Event, reasoning_key: str = REASONING_KEY) -> Json | None:
    """Return what stands under `choices[0].delta` for one event; None for an event that says nothing to a client."""
    match event:
        case TextDelta(text=text) if text:
            return {"content": text}
        case ReasoningDelta(text=text) if text:
            return {reasoning_key: text}
        case CallStart():
            function = {"name": event.name, "arguments": ""}
            return {
                "tool_calls": [
                    {"index": event.index, "id": event.id, "type": "function", "function": function}
                ]
            }
        case ArgumentsDelta(text=text) if text:
            return {"tool_calls": [{"index": event.index, "function": {"arguments": text}}]}
        case _:
            return None


class ChatResponse:
    """What all chunks of one response share."""

    def __init__(
        self,
        model: str,
        *,
        ident: str | None = None,
        created: int | None = None,
        reasoning_key: str = REASONING_KEY,
    ) -> None:
        self.model = model
        self.id = ident or "chatcmpl-" + "".join(secrets.choice(ALPHANUMERIC) for _ in range(24))
        self.created = int(time.time()) if created is None else created
        """Seconds since 1970."""
        self.reasoning_key = reasoning_key

    def choice(
        self,
        spec: Spec | None = None,
        index: int = 0,
        *,
        whole_calls: bool = False,
        taken: Iterable[str] = (),
    ) -> ChoiceStream:
        """Return the stream of one choice.

        `spec` says which form ids have, `taken` which ones earlier turns use. `whole_calls` sends each call when it is
        complete, so that a client never sees one that breaks off.
        """
        ids = CallIds(None if spec is None else spec.input.ids, taken)
        return ChoiceStream(self, index, ReturnedCalls(ids, whole=whole_calls))

    def chunk(self, index: int, delta: Mapping[str, Any], finish_reason: str | None = None) -> Json:
        """Return one chunk of a choice."""
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def usage(self, prompt_tokens: int, completion_tokens: int) -> Json:
        """Return the chunk that ends a stream whose request said `stream_options: {include_usage: true}`."""
        head = self._head("chat.completion.chunk")
        return {**head, "choices": [], "usage": usage(prompt_tokens, completion_tokens)}

    def completion(
        self,
        turns: Sequence[Parsed],
        spec: Spec | None = None,
        *,
        taken: Iterable[str] = (),
        tokens: tuple[int, int] | None = None,
    ) -> Json:
        """Return a whole completion, one choice for each turn. `tokens` are those of the prompt and of all turns."""
        taken = tuple(taken)
        choices = []
        for index, turn in enumerate(turns):
            stream = self.choice(spec, index, whole_calls=True, taken=taken)
            choices.append(_whole(index, stream.feed(turn.events), self.reasoning_key))
        counted = {} if tokens is None else {"usage": usage(*tokens)}
        return {**self._head("chat.completion"), "choices": choices, **counted}

    def _head(self, kind: str) -> Json:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


class ChoiceStream:
    """One choice of a response: events in, chunks out."""

    def __init__(self, response: ChatResponse, index: int, calls: ReturnedCalls) -> None:
        self._response = response
        self._index = index
        self._calls = calls
        self._begun = False
        self._reasoned = False
        self._apart = False
        self.problems: list[Problem] = []
        """What the parser complained of; the API has no place for it."""
        self.finish_reason: str | None = None
        """Why the turn ended, once it has."""

    def feed(self, events: Iterable[Event]) -> list[Json]:
        """Return the chunks for some events, those of the role and of the end included."""
        return list(self._chunks(events))

    def _chunks(self, events: Iterable[Event]) -> Iterator[Json]:
        if not self._begun:
            self._begun = True
            yield self._response.chunk(self._index, {"role": "assistant"})
        for event in self._calls(map(self._joined, events)):
            if isinstance(event, Problem):
                self.problems.append(event)
            elif isinstance(event, EndOfMessage):
                self.finish_reason = event.finish_reason if event.finish_reason in FINISH_REASONS else "stop"
                yield self._response.chunk(self._index, {}, self.finish_reason)
            else:
                said = delta(event, self._response.reasoning_key)
                if said is not None:
                    yield self._response.chunk(self._index, said)

    def _joined(self, event: Event) -> Event:
        """The event; several blocks of reasoning are joined by line breaks, as in an assembled message."""
        if isinstance(event, (TextDelta, CallStart)):
            self._apart = self._reasoned
        elif isinstance(event, ReasoningDelta) and event.text:
            self._reasoned = True
            if self._apart:
                self._apart = False
                return event._replace(text=f"\n{event.text}")
        return event


def usage(prompt_tokens: int, completion_tokens: int) -> Json:
    """Return a usage object."""
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }


def _whole(index: int, chunks: Iterable[Json], reasoning_key: str) -> Json:
    """One choice of a whole completion, from the chunks of its stream."""
    texts: dict[str, list[str]] = {}
    calls: list[Json] = []
    reason = "stop"
    for chunk in chunks:
        [choice] = chunk["choices"]
        reason = choice["finish_reason"] or reason
        for key in ("content", reasoning_key):
            if key in choice["delta"]:
                texts.setdefault(key, []).append(choice["delta"][key])
        for piece in choice["delta"].get("tool_calls", ()):
            if "id" in piece:
                function = dict(piece["function"])
                calls.append({"id": piece["id"], "type": "function", "function": function})
            else:
                calls[-1]["function"]["arguments"] += piece["function"]["arguments"]
    message: Json = {
        "role": "assistant",
        "content": "".join(texts["content"]) if "content" in texts else None,
    }
    if reasoning_key in texts:
        message[reasoning_key] = "".join(texts[reasoning_key])
    if calls:
        message["tool_calls"] = calls
    return {"index": index, "message": message, "logprobs": None, "finish_reason": reason}
