"""Conversation values: messages, tool calls and tools, as everybody exchanges them (the OpenAI chat shape).

Plain frozen dataclasses of the standard library, so that the runtime can use them at no cost.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call. `arguments` is JSON text, always valid JSON for a complete call; `id` is None where nobody gave one."""

    name: str
    arguments: str = "{}"
    id: str | None = None

    def decoded(self) -> Any:
        """Return the arguments as a Python value. Raises `json.JSONDecodeError` when they are not JSON."""
        return json.loads(self.arguments)

    def to_openai(self) -> dict[str, Any]:
        """Return the call in the OpenAI shape, with `id` only where there is one."""
        function = {"name": self.name, "arguments": self.arguments}
        head: dict[str, Any] = {} if self.id is None else {"id": self.id}
        return {**head, "type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class Message:
    """An assistant message: text, reasoning and calls, with None for what is absent."""

    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    role: str = "assistant"

    def to_openai(self) -> dict[str, Any]:
        """Return the message as a dict in the OpenAI shape; absent parts are left out, `content` is always there."""
        out: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.reasoning_content is not None:
            out["reasoning_content"] = self.reasoning_content
        if self.tool_calls:
            out["tool_calls"] = [call.to_openai() for call in self.tool_calls]
        return out


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may call. `parameters` is a JSON Schema, None when nothing is known of the arguments."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] | None = field(default=None, hash=False)

    @classmethod
    def from_openai(cls, data: Mapping[str, Any]) -> Tool:
        """Read `{"type": "function", "function": {...}}` or the bare function object. Raises `KeyError` without a name."""
        function = data.get("function", data)
        return cls(function["name"], function.get("description") or "", function.get("parameters"))

    def to_openai(self) -> dict[str, Any]:
        """Return the tool in the OpenAI shape."""
        parameters = self.parameters if self.parameters is not None else {"type": "object", "properties": {}}
        function = {"name": self.name, "description": self.description, "parameters": dict(parameters)}
        return {"type": "function", "function": function}


def tools_from_openai(data: Sequence[Mapping[str, Any]]) -> tuple[Tool, ...]:
    """Read a list of OpenAI tools."""
    return tuple(Tool.from_openai(item) for item in data)
