"""From events to a message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.chat import Message, Tool, ToolCall
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
from analyzer.runtime.options import DEFAULT, Options
from analyzer.runtime.parser import Parser

if TYPE_CHECKING:
    from analyzer.spec.model import Spec


@dataclass(frozen=True, slots=True)
class Parsed:
    """A whole turn: the message, what was wrong with it, why it ended, and the events it was made from."""

    message: Message
    problems: tuple[Problem, ...] = ()
    finish_reason: str = "stop"
    events: tuple[Event, ...] = ()


def assemble(events: Iterable[Event]) -> Parsed:
    """Put the events of one turn together; only complete calls count."""
    kept = tuple(events)
    content: list[str] = []
    reasoning: list[str] = []
    blocks: list[str] = []
    names: dict[int, tuple[str, str | None]] = {}
    arguments: dict[int, list[str]] = {}
    calls: list[ToolCall] = []
    problems: list[Problem] = []
    finish = "stop"
    for event in kept:
        if isinstance(event, TextDelta):
            content.append(event.text)
            _end_block(reasoning, blocks)
        elif isinstance(event, ReasoningDelta):
            reasoning.append(event.text)
        elif isinstance(event, CallStart):
            names[event.index] = (event.name, event.id)
            arguments[event.index] = []
            _end_block(reasoning, blocks)
        elif isinstance(event, ArgumentsDelta):
            arguments.setdefault(event.index, []).append(event.text)
        elif isinstance(event, CallEnd):
            if event.status == "complete" and event.index in names:
                name, native = names[event.index]
                text = "".join(arguments[event.index])
                calls.append(ToolCall(name, text, native if native is not None else event.native_id))
        elif isinstance(event, Problem):
            problems.append(event)
        elif isinstance(event, EndOfMessage):
            finish = event.finish_reason
    _end_block(reasoning, blocks)
    message = Message(
        content="".join(content) or None,
        reasoning_content="\n".join(blocks) or None,
        tool_calls=tuple(calls),
    )
    return Parsed(message, tuple(problems), finish, kept)


def _end_block(reasoning: list[str], blocks: list[str]) -> None:
    text = "".join(reasoning)
    if text:
        blocks.append(text)
    reasoning.clear()


def parse(
    spec: Spec,
    text: str,
    tools: Sequence[Tool] | None = None,
    options: Options = DEFAULT,
    prompt: str | None = None,
    finish_reason: str = "stop",
) -> Parsed:
    """Parse a whole turn."""
    parser = Parser(spec, tools, options, prompt)
    events = parser.feed(text)
    events.extend(parser.finish(finish_reason))
    return assemble(events)
