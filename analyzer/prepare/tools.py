"""Tools in the shape that templates read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from analyzer.errors import UsageError
from analyzer.prepare.notes import Notes
from analyzer.prepare.schemas import completed
from analyzer.spec.model import Spec

_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema")
"""The names that the schema of a tool's arguments goes by."""
_HINT: Final = "A tool is {type: function, function: {name, description, parameters}}."


def plain_tools(
    spec: Spec, tools: Sequence[Mapping[str, Any]] | None, notes: Notes
) -> tuple[dict[str, Any], ...] | None:
    """Tools with everything that the template prints; None, or an empty tuple where it wants one, when there are none.

    Raises:
        UsageError: what stands there is no list of tools.
    """
    if tools is not None and (isinstance(tools, (str, Mapping)) or not isinstance(tools, Sequence)):
        raise UsageError(f"tools is a {type(tools).__name__}, not a list of tools", hint=_HINT)
    made = [_plain_tool(spec, tool, f"tools[{at}]", notes) for at, tool in enumerate(tools or ())]
    ready = tuple(tool for tool in made if tool is not None)
    if ready:
        if spec.input.tools == "refused":
            notes.take("tools_refused", "tools")
        return ready
    if spec.input.tools == "list":
        if tools is None or len(tools) > 0:
            notes.take("tools_listed", "tools")
        return ()
    if spec.input.tools == "required":
        notes.take("tools_required", "tools")
    if tools is not None:
        notes.take("tools_absent", "tools")
    return None


def _plain_tool(spec: Spec, tool: Any, path: str, notes: Notes) -> dict[str, Any] | None:
    if not isinstance(tool, Mapping):
        raise UsageError(f"{path} is a {type(tool).__name__}, not a tool", hint=_HINT)
    inner = tool.get("function")
    nested = isinstance(inner, Mapping)
    function = dict(inner) if isinstance(inner, Mapping) else dict(tool)
    if not isinstance(function.get("name"), str) or not function["name"]:
        notes.take("tool_dropped", path, str(tool.get("type", "no name")))
        return None
    rest = {key: value for key, value in tool.items() if key != "function"} if nested else {}
    bare = spec.input.bare_tools
    added = [] if bare or (nested and tool.get("type") == "function") else ["type"]
    if not nested:
        function.pop("type", None)
    if not isinstance(function.get("description"), str):
        said = function.get("description")
        function["description"] = "" if said is None else str(said)
        added.append("description")
    parameters = _parameters(function, path, added)
    if added:
        notes.take("tool_completed", path, ", ".join(added))
    if spec.input.property_fields:
        parameters = completed(parameters, spec.input.property_fields, f"{path}.parameters", notes)
    function["parameters"] = parameters
    if not bare:
        return {**rest, "type": "function", "function": function}
    if nested:
        notes.take("tool_bared", path)
    return function


def _parameters(function: dict[str, Any], path: str, added: list[str]) -> dict[str, Any]:
    """Take the parameters out of a function, complete; what had to be added is put into `added`."""
    found = next((name for name in _SCHEMAS if function.get(name) is not None), None)
    if found is None:
        added.append("parameters")
        return {"type": "object", "properties": {}}
    given = function[found]
    if not isinstance(given, Mapping):
        raise UsageError(f"{path}.{found} is a {type(given).__name__}, not a schema", hint=_HINT)
    if found != _SCHEMAS[0]:
        del function[found]
        added.append(f"parameters from `{found}`")
    missing: dict[str, Any] = {
        key: value for key, value in (("type", "object"), ("properties", {})) if given.get(key) is None
    }
    added += [f"parameters.{key}" for key in missing]
    return {**missing, **{key: value for key, value in given.items() if key not in missing}}
