"""Puts the chunks of a streamed chat completion together, from any server.

    stream = ChatStream(tools)
    for line in response:                # `data: {...}` lines, or decoded chunks
        stream.feed(line)
    turn = stream.finish()               # a ModelTurn, for `check` and `dispatch`

Pieces of one call belong together by `index`; ids come once, arguments are JSON only when the last piece is there, so
they are not looked at before `finish`. What servers get wrong is put right where one reading is left, and noted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from analyzer.agent.texts import paired
from analyzer.agent.turns import ModelTurn, argument_text, ended
from analyzer.chat import Tool, ToolCall

NOTES: Final[Mapping[str, str]] = {
    "no_index": "A piece has no index; it belongs to a new call if it brings an id of its own, else to the last one.",
    "index_reused": (
        "A piece with a new id and a name comes under the index of an earlier call, or, without ids, one with another "
        "name after the arguments have begun; it begins a new call."
    ),
    "index_gap": "The indexes leave out a number; the calls keep their order.",
    "id_changed": "A later piece of the same call has another id; the first id counts.",
    "name_repeated": "The name comes again with later pieces; it counts once.",
    "name_in_pieces": "The name comes in pieces; they are joined.",
    "no_name": "A call has no name at all.",
    "arguments_repeated": "The arguments come a second time, whole, after the pieces; they count once.",
    "ended_early": "The stream ended without a finish reason; the last call may be cut.",
    "server_error": "The server sent an error in the stream.",
    "unreadable_chunk": "A line of the stream is not JSON.",
}
"""What may be noted of a stream, and what is done about it."""
_LINE_ENDS: Final = re.compile(r"\r\n|\n|\r")
"""Those of event streams; JSON may hold all other ones."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a server did its own way."""

    kind: str
    """One of `NOTES`."""
    call: int | None = None
    """Which call, by its place in the turn; None when the stream is meant."""
    detail: str = ""
    """What came."""


@dataclass(slots=True)
class _Growing:
    """A call whose pieces still come."""

    index: int
    id: str = ""
    names: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)


class ChatStream:
    """Accumulates one choice of a stream of `chat.completion.chunk` objects."""

    def __init__(self, tools: Sequence[Tool] = (), *, choice: int = 0) -> None:
        self._declared = {tool.name for tool in tools}
        self._choice = choice
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Growing] = []
        self._latest: dict[int, _Growing] = {}
        self._finish: str | None = None
        self._notes: list[Note] = []
        self._turn: ModelTurn | None = None
        self.chunks = 0
        """How many chunks have come."""
        self.usage: Mapping[str, Any] | None = None
        """The usage, when the server sent it."""
        self.done = False
        """Whether `[DONE]` has come."""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls as far as they are known; the arguments may be half of something."""
        return tuple(
            ToolCall(self._name(call), "".join(call.pieces), call.id or None) for call in self._calls
        )

    @property
    def pieces(self) -> tuple[int, ...]:
        """How many pieces each call's arguments came in."""
        return tuple(len(call.pieces) for call in self._calls)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the server did its own way; whole after `finish`."""
        return tuple(self._notes)

    def feed(self, chunk: Mapping[str, Any] | str | bytes) -> None:
        """Take a chunk, or a line or more of the event stream; lines that carry no data are nothing."""
        if not isinstance(chunk, (str, bytes)):
            self._chunk(chunk)
            return
        text = chunk.decode("utf-8", "replace") if isinstance(chunk, bytes) else chunk
        for line in [text] if text.lstrip().startswith("{") else _LINE_ENDS.split(text):
            self._line(line)

    def _line(self, line: str) -> None:
        data = _data_of(line)
        if data is None or self.done:
            return
        if data == "[DONE]":
            self.done = True
            return
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            self._notes.append(Note("unreadable_chunk", detail=data[:200]))
            return
        self._chunk(chunk)

    def _chunk(self, chunk: Any) -> None:
        if not isinstance(chunk, Mapping):
            self._notes.append(Note("unreadable_chunk", detail=str(chunk)[:200]))
            return
        self.chunks += 1
        if chunk.get("error"):
            self._notes.append(Note("server_error", detail=str(chunk["error"])[:1000]))
        if isinstance(chunk.get("usage"), Mapping):
            self.usage = chunk["usage"]
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping) and (choice.get("index") or 0) == self._choice:
                self._take(choice)

    def finish(self) -> ModelTurn:
        """Say that the stream is over; return the turn, the same one when it is asked for again."""
        if self._turn is None:
            self._turn = self._finished()
        return self._turn

    def _finished(self) -> ModelTurn:
        calls = []
        for place, growing in enumerate(self._calls):
            name, arguments = self._name(growing), self._arguments(growing)
            if not name:
                growing.notes.setdefault("no_name", "")
            elif len(growing.names) > 1:
                kind = "name_in_pieces" if name == "".join(growing.names) else "name_repeated"
                growing.notes.setdefault(kind, "".join(growing.names))
            self._notes += [Note(kind, place, detail) for kind, detail in growing.notes.items()]
            growing.notes = {}
            calls.append(ToolCall(name, paired(arguments), growing.id))
        indexes = sorted({call.index for call in self._calls})
        if indexes and indexes != list(range(len(indexes))):
            self._notes.append(Note("index_gap", detail=str(indexes)))
        if self._finish is None:
            self._notes.append(Note("ended_early"))
        reason = "incomplete" if self._finish is None else ended(self._finish, calls)
        content, reasoning = paired("".join(self._content)), paired("".join(self._reasoning))
        return ModelTurn(tuple(calls), content or None, reasoning or None, reason)

    def _take(self, choice: Mapping[str, Any]) -> None:
        if isinstance(choice.get("finish_reason"), str) and choice["finish_reason"]:
            self._finish = choice["finish_reason"]
        delta = choice.get("delta")
        if "delta" not in choice and not self._content and not self._calls:
            delta = choice.get("message")  # a server that does not stream, after all
        if not isinstance(delta, Mapping):
            return
        if isinstance(delta.get("content"), str):
            self._content.append(delta["content"])
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str):
            self._reasoning.append(thought)
        items = delta.get("tool_calls")
        if items is None and isinstance(delta.get("function_call"), Mapping):
            items = [{"index": 0, "function": delta["function_call"]}]
        for item in items if isinstance(items, list) else ():
            if isinstance(item, Mapping):
                self._take_call(item)

    def _take_call(self, item: Mapping[str, Any]) -> None:
        function = item.get("function")
        function = function if isinstance(function, Mapping) else {}
        ident = item["id"] if isinstance(item.get("id"), str) else ""
        name = function["name"] if isinstance(function.get("name"), str) else ""
        call = self._call_for(item.get("index"), ident, name)
        if ident and not call.id:
            call.id = ident
        elif ident and ident != call.id:
            call.notes.setdefault("id_changed", ident)
        if name:
            call.names.append(name)
        if function.get("arguments") is not None:
            call.pieces.append(argument_text(function["arguments"]))

    def _call_for(self, index: Any, ident: str, name: str) -> _Growing:
        """The call that a piece belongs to, a new one when it begins one."""
        if isinstance(index, float) and index.is_integer():
            index = int(index)
        elif isinstance(index, str) and index.isdecimal():
            index = int(index[:9])
        if not isinstance(index, int) or isinstance(index, bool):
            last = self._calls[-1] if self._calls else None
            begins = (
                last is None
                or (bool(ident) and ident != last.id and bool(last.id))
                or (bool(name) and bool(last.pieces) and not ident)
            )
            call = self._new(len(self._calls)) if last is None or begins else last
            call.notes.setdefault("no_index", "")
            return call
        call_here = self._latest.get(index)
        if call_here is None:
            return self._new(index)
        if _begins(call_here, ident, name):
            call = self._new(index)
            call.notes.setdefault("index_reused", str(index))
            return call
        return call_here

    def _new(self, index: int) -> _Growing:
        call = _Growing(index)
        self._latest[index] = call
        at = next((at for at, other in enumerate(self._calls) if other.index > index), len(self._calls))
        self._calls.insert(at, call)
        return call

    def _name(self, call: _Growing) -> str:
        """The name, from pieces that are either parts of it or the whole again; a declared one settles it."""
        names = call.names
        if not names:
            return ""
        joined, last = "".join(names), names[-1]
        readings = [joined, names[0], last]
        for reading in readings:
            if reading in self._declared:
                return reading
        if all(name == names[0] for name in names):
            return names[0]
        grows = all(later.startswith(earlier) for earlier, later in pairwise(names))
        return last if grows else joined

    @staticmethod
    def _arguments(call: _Growing) -> str:
        """The arguments; an object that comes a second time is dropped, all else is left for validation."""
        text = "".join(call.pieces)
        if len(call.pieces) < 2:  # noqa: PLR2004  (a second time takes two)
            return text
        try:
            first, end = json.JSONDecoder().raw_decode(text.lstrip())
            rest = text.lstrip()[end:].strip()
            if rest and isinstance(first, dict) and json.loads(rest) == first:
                call.notes.setdefault("arguments_repeated", rest[:200])
                return text.lstrip()[:end]
        except (ValueError, RecursionError):
            pass
        return text


def _begins(call: _Growing, ident: str, name: str) -> bool:
    """True for a piece under the index of a call that belongs to another one."""
    if ident and name and call.id:
        return ident != call.id and not (name in call.names and _is_open(call))
    if ident or call.id or not name or not call.names or not "".join(call.pieces).strip():
        return False
    return name not in call.names and not name.startswith(call.names[-1])


def _is_open(call: _Growing) -> bool:
    """True while the arguments have begun and are not whole."""
    text = "".join(call.pieces)
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return bool(text.strip())
    return False


def _data_of(line: str) -> str | None:
    """The data of a line of an event stream; None for comments, other fields and empty lines."""
    text = line.strip()
    if text.startswith("data:"):
        return text[5:].strip() or None
    return text if text.startswith("{") or text == "[DONE]" else None
