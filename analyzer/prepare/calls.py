"""Calls and tools in the shape that templates read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from analyzer.prepare.notes import Notes
from analyzer.spec.model import Spec

INVALID_KEY: Final = "invalid_json"
"""The argument that holds arguments which are no JSON object."""


def plain_calls(message: Mapping[str, Any], path: str, notes: Notes) -> list[dict[str, Any]] | None:
    """The calls of a message as `{id, type, function: {name, arguments}}`; None when it has none."""
    given = message.get("tool_calls")
    if not given and isinstance(message.get("function_call"), Mapping):
        notes.take("call_completed", f"{path}.function_call", "`function_call` is an older spelling")
        given = [{"type": "function", "function": message["function_call"]}]
    elif not given:
        if "tool_calls" in message:
            notes.take("calls_absent", f"{path}.tool_calls")
        return None
    return [_plain_call(call, f"{path}.tool_calls[{at}]", notes) for at, call in enumerate(given)]


def _plain_call(call: Mapping[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    inner = call.get("function")
    nested = isinstance(inner, Mapping)
    function = dict(inner) if isinstance(inner, Mapping) else dict(call)
    if not nested:
        notes.take("call_completed", path, "name and arguments stood beside the id")
    elif "type" not in call:
        notes.take("call_completed", path, "`type` was missing")
    made: dict[str, Any] = {"id": call.get("id"), "type": "function"}
    made["function"] = {"name": function.get("name", ""), "arguments": function.get("arguments")}
    return made


def shaped_arguments(spec: Spec, given: Any, path: str, notes: Notes) -> Any:
    """Arguments in the shape that the template wants."""
    value = _object(given, path, notes)
    wanted = spec.input.arguments
    if wanted == "text":
        if isinstance(given, str) and _same(given, value):
            return given
        if not isinstance(given, str):
            notes.take("arguments_to_text", path)
        return json.dumps(value, ensure_ascii=False)
    if isinstance(given, str):
        if wanted == "both" and _same(given, value):
            return given
        notes.take("arguments_to_mapping", path)
    return value


def _same(text: str, value: Any) -> bool:
    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False


def _object(given: Any, path: str, notes: Notes) -> dict[str, Any]:
    """Arguments as a mapping, whatever they were given as."""
    if isinstance(given, Mapping):
        return dict(given)
    if given is None or (isinstance(given, str) and not given.strip()):
        notes.take("arguments_empty", path)
        return {}
    value = given
    for attempt in range(2):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            notes.take("arguments_invalid", path, str(error)[:80])
            return {INVALID_KEY: given}
        if attempt:
            notes.take("arguments_decoded_twice", path)
    if isinstance(value, dict):
        return value
    if value is None:
        notes.take("arguments_empty", path)
        return {}
    notes.take("arguments_invalid", path, f"a JSON {type(value).__name__}")
    return {INVALID_KEY: given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)}


def plain_tools(tools: Sequence[Mapping[str, Any]] | None, notes: Notes) -> tuple[dict[str, Any], ...] | None:
    """Tools with everything that templates print; None when there are none."""
    if tools is None:
        return None
    if not tools:
        notes.take("tools_absent", "tools")
        return None
    return tuple(_plain_tool(tool, f"tools[{at}]", notes) for at, tool in enumerate(tools))


def _plain_tool(tool: Mapping[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    inner = tool.get("function")
    function = dict(inner) if isinstance(inner, Mapping) else dict(tool)
    added = [] if isinstance(inner, Mapping) and tool.get("type") == "function" else ["type"]
    if not isinstance(inner, Mapping):
        function.pop("type", None)
    if not isinstance(function.get("description"), str):
        function["description"] = ""
        added.append("description")
    parameters = function.get("parameters")
    if not isinstance(parameters, Mapping):
        parameters = {"type": "object", "properties": {}}
        added.append("parameters")
    else:
        missing: dict[str, Any] = {
            key: value
            for key, value in (("type", "object"), ("properties", {}))
            if not parameters.get(key) and key not in parameters
        }
        added += [f"parameters.{key}" for key in missing]
        parameters = {**missing, **parameters}
    function["parameters"] = dict(parameters)
    if added:
        notes.take("tool_completed", path, ", ".join(added))
    return {"type": "function", "function": function}
