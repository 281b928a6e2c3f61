"""Probes: conversations with needles in every slot, and their variants.

The functions here build messages in the OpenAI shape with arguments as mappings; the session turns them into the shape that a
template accepts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from analyzer.observe.needles import ARGUMENTS, CallNeedles, Needles
from analyzer.render.outcome import EncodedOnce

Message = dict[str, Any]


def system(text: str) -> Message:
    """Return a system message."""
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    """Return a user message."""
    return {"role": "user", "content": text}


def assistant(
    content: str = "", calls: Sequence[Mapping[str, Any]] = (), fields: Mapping[str, Any] | None = None
) -> Message:
    """Return an assistant message; without calls it has no `tool_calls` key. `fields` are added as they are."""
    message: Message = {"role": "assistant", "content": content, **(fields or {})}
    if calls:
        message["tool_calls"] = list(calls)
    return message


def call(needle: CallNeedles, arguments: Mapping[str, Any]) -> Message:
    """Return one tool call with the needle's name and id."""
    return {
        "id": needle.id,
        "type": "function",
        "function": {"name": needle.name, "arguments": dict(arguments)},
    }


def calls(needles: Needles, count: int, arguments: int = 2) -> list[Message]:
    """Return the first `count` calls with `arguments` text arguments each."""
    return [call(needle, needle.arguments(arguments)) for needle in needles.calls[:count]]


def result(needles: Needles, index: int) -> Message:
    """Return the result of call `index`."""
    needle = needles.calls[index]
    return {"role": "tool", "tool_call_id": needle.id, "name": needle.name, "content": needles.results[index]}


def tools(needles: Needles, types: Mapping[str, Any] | None = None) -> EncodedOnce:
    """Return declarations of all tools of the needle set; `types` maps argument names to a schema other than string."""
    return _declared(needles, types) if types else _usual_tools(needles)


@lru_cache(maxsize=8)
def _usual_tools(needles: Needles) -> EncodedOnce:
    return _declared(needles, {})


@lru_cache(maxsize=8)
def bare_tools(needles: Needles) -> EncodedOnce:
    """Return what `tools` declares as the function objects themselves."""
    return EncodedOnce(tool["function"] for tool in _usual_tools(needles))


def _declared(needles: Needles, types: Mapping[str, Any]) -> EncodedOnce:
    text = {"type": "string"}
    declared = [
        _tool(needle.name, {key: types.get(key, text) for key in needle.keys}) for needle in needles.calls
    ]
    return EncodedOnce([*declared, _tool(needles.uncalled, {"uncalled_key": text})])


def _tool(name: str, properties: Mapping[str, Any]) -> Message:
    described = {key: {**schema, "description": f"About {len(key)}."} for key, schema in properties.items()}
    parameters = {
        "type": "object",
        "properties": described,
        "required": list(properties)[: max(1, ARGUMENTS - 2)],
    }
    return {
        "type": "function",
        "function": {"name": name, "description": "Does it.", "parameters": parameters},
    }
