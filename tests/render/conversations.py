"""Conversations that the rendering tests share."""

from __future__ import annotations

from typing import Any

from analyzer.render import RenderRequest

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": 'The weather in a <city> & its "surroundings", è.g. 東京',
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
USER: dict[str, Any] = {"role": "user", "content": 'What\'s <up> & "où"?'}
SYSTEM: dict[str, Any] = {"role": "system", "content": "Be brief."}
ANSWER: dict[str, Any] = {"role": "assistant", "content": "  It is sunny.\n"}
THOUGHT: dict[str, Any] = {
    "role": "assistant",
    "content": "Sunny.",
    "reasoning_content": "Let me see.",
    "name": None,
}
RESULT: dict[str, Any] = {
    "role": "tool",
    "name": "get_weather",
    "tool_call_id": "abc123def",
    "content": "sunny",
}


def call(arguments: object) -> dict[str, Any]:
    """An assistant turn that calls the tool, with arguments as a mapping or as text."""
    function = {"name": "get_weather", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "abc123def", "type": "function", "function": function}],
    }


CONVERSATIONS: dict[str, dict[str, Any]] = {
    "user": {"messages": [USER], "add_generation_prompt": True},
    "turns": {"messages": [SYSTEM, USER, ANSWER, USER], "add_generation_prompt": True},
    "history": {"messages": [USER, THOUGHT]},
    "tools": {"messages": [SYSTEM, USER], "tools": [WEATHER], "add_generation_prompt": True},
    "call": {"messages": [USER, call({"city": "Zürich"}), RESULT, ANSWER, USER, ANSWER], "tools": [WEATHER]},
    "text call": {
        "messages": [USER, call('{"city": "Zürich"}'), RESULT],
        "tools": [WEATHER],
        "add_generation_prompt": True,
    },
    "switch": {"messages": [USER], "add_generation_prompt": True, "variables": {"enable_thinking": False}},
}
SPECIAL_TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def request(content: str = "hi", **changes: Any) -> RenderRequest:
    """A request of one user message."""
    return RenderRequest([{"role": "user", "content": content}], **changes)
