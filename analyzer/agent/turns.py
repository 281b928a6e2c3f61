"""A model's turn as this package takes it: the calls as they came, why the turn ended, what the parser complained of.

It is read from what the runtime returns (`Message`, `Parsed`), from one choice or message of a Chat Completions
response, or from an Anthropic message. Nothing is repaired here: a call's arguments stay the text that came.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analyzer.chat import Message, ToolCall
from analyzer.errors import UsageError
from analyzer.runtime.assemble import Parsed
from analyzer.runtime.events import Problem

CUT: Final = frozenset({"length", "incomplete"})
"""Finish reasons that say that the turn was cut; `incomplete` is a stream that ended without one."""
_FINISH: Final = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "function_call": "tool_calls",
}


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """What one turn of a model asks for."""

    calls: tuple[ToolCall, ...]
    """The calls, in the order in which the model wrote them; `arguments` need not be JSON."""
    content: str | None = None
    """The text for the user."""
    reasoning_content: str | None = None
    """The reasoning."""
    finish_reason: str = "stop"
    """`stop`, `tool_calls`, `length` (cut), `incomplete` (the stream broke off), or the server's own word."""
    problems: tuple[Problem, ...] = ()
    """What the parser complained of."""

    @property
    def message(self) -> Message:
        """The turn as a message."""
        return Message(self.content, self.reasoning_content, self.calls)


def read_turn(
    source: ModelTurn | Message | Parsed | Mapping[str, Any], finish_reason: str | None = None
) -> ModelTurn:
    """Read a turn. `finish_reason` is for a source that does not know it; a cut turn stays cut beside calls."""
    if isinstance(source, ModelTurn):
        turn = source
    elif isinstance(source, Parsed):
        turn = _of_message(source.message, source.finish_reason, source.problems)
    elif isinstance(source, Message):
        turn = _of_message(source, "tool_calls" if source.tool_calls else "stop", ())
    elif isinstance(source, Mapping):
        turn = _of_mapping(source)
    else:
        raise UsageError(f"this is no model turn: {type(source).__name__}")
    if finish_reason is None:
        return turn
    return ModelTurn(
        turn.calls, turn.content, turn.reasoning_content, ended(finish_reason, turn.calls), turn.problems
    )


def ended(finish_reason: Any, calls: Sequence[ToolCall]) -> str:
    """Return the finish reason in the OpenAI spelling; `stop` beside calls is `tool_calls`, as some servers forget."""
    reason = _FINISH.get(finish_reason, finish_reason) if isinstance(finish_reason, str) else "stop"
    return "tool_calls" if reason == "stop" and calls else reason


def _of_message(message: Message, finish_reason: str, problems: tuple[Problem, ...]) -> ModelTurn:
    return ModelTurn(message.tool_calls, message.content, message.reasoning_content, finish_reason, problems)


def _of_mapping(source: Mapping[str, Any]) -> ModelTurn:
    choices = source.get("choices")
    if isinstance(choices, list):
        if not choices or not isinstance(choices[0], Mapping):
            raise UsageError("the response has no choices")
        source = choices[0]
    message = source.get("message", source)
    if not isinstance(message, Mapping):
        raise UsageError("the choice has no message")
    blocks = message.get("content")
    if isinstance(blocks, list) and not message.get("tool_calls"):
        return _of_blocks(blocks, source.get("stop_reason"))
    items = message.get("tool_calls")
    calls = tuple(_call(item) for item in items) if isinstance(items, list) else ()
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    return ModelTurn(
        calls,
        _text(message.get("content")),
        reasoning if isinstance(reasoning, str) else None,
        ended(source.get("finish_reason"), calls),
    )


def _call(item: Any) -> ToolCall:
    """Read one call of a response; whatever is missing is empty, for validation to say."""
    item = item if isinstance(item, Mapping) else {}
    inner = item.get("function")
    function = inner if isinstance(inner, Mapping) else {}
    name, ident = function.get("name"), item.get("id")
    return ToolCall(
        name if isinstance(name, str) else "",
        argument_text(function.get("arguments")),
        ident if isinstance(ident, str) else "",
    )


def argument_text(value: Any) -> str:
    """Return arguments as the text they should have been; some servers send the object itself."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(content: Any) -> str | None:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) and content else None


def _of_blocks(blocks: list[Any], stop_reason: Any) -> ModelTurn:
    """Read the blocks of an Anthropic message."""
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "thinking", "thinking": str(text)}:
                thoughts.append(text)
            case {"type": "tool_use"}:
                name, ident = block.get("name"), block.get("id")
                calls.append(
                    ToolCall(
                        name if isinstance(name, str) else "",
                        argument_text(block.get("input")),
                        ident if isinstance(ident, str) else "",
                    )
                )
    return ModelTurn(
        tuple(calls), "".join(texts) or None, "\n".join(thoughts) or None, ended(stop_reason, calls)
    )
