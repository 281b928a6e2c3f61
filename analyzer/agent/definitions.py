"""Tool definitions as the wire formats spell them: OpenAI `tools`, Anthropic `tools`, an MCP server's list; each way.

All three say the same with other keys: a name, a description, and a JSON Schema of one object with the arguments.
`analyzer.chat.Tool` is what they have in common; what only one of them has (annotations, titles, cache marks) is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from analyzer.chat import Tool
from analyzer.errors import UsageError

NO_ARGUMENTS: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}
"""The schema of a tool that declares none."""


def from_openai(items: Iterable[Mapping[str, Any]]) -> tuple[Tool, ...]:
    """Read OpenAI tools, in the Chat Completions shape or in the flat one of the Responses API."""
    return tuple(_read(item, index, "parameters") for index, item in enumerate(items))


def to_openai(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """Return the tools as `tools` of a Chat Completions request."""
    return [tool.to_openai() for tool in tools]


def from_anthropic(items: Iterable[Mapping[str, Any]]) -> tuple[Tool, ...]:
    """Read Anthropic tools. One that the provider runs itself (it has a `type` and no schema) is no tool to run here."""
    tools = []
    for index, item in enumerate(items):
        kind = _object(item, index).get("type", "custom")
        if kind != "custom" and "input_schema" not in item:
            raise UsageError(
                f"tool {index} ({kind}) is run by the provider",
                hint="Leave it out of the list that is read here.",
            )
        tools.append(_read(item, index, "input_schema"))
    return tuple(tools)


def to_anthropic(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """Return the tools as `tools` of an Anthropic request."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": schema_of(tool)}
        for tool in tools
    ]


def from_mcp(listing: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> tuple[Tool, ...]:
    """Read the result of an MCP `tools/list`, or the list that stands in it."""
    return tuple(_read(item, index, "inputSchema") for index, item in enumerate(_mcp_items(listing)))


def to_mcp(tools: Iterable[Tool]) -> dict[str, Any]:
    """Return the tools as the result of an MCP `tools/list`."""
    return {
        "tools": [
            {"name": tool.name, "description": tool.description, "inputSchema": schema_of(tool)}
            for tool in tools
        ]
    }


def mcp_writers(listing: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of those tools of an MCP list that may change something: all without `readOnlyHint: true`."""
    return frozenset(
        str(_object(item, index).get("name"))
        for index, item in enumerate(_mcp_items(listing))
        if _hint(_object(item, index), "readOnlyHint") is not True
    )


def schema_of(tool: Tool) -> dict[str, Any]:
    """Return the schema of a tool's arguments, that of an empty object when it declares none."""
    return dict(tool.parameters if tool.parameters is not None else NO_ARGUMENTS)


def named(tools: Sequence[Tool]) -> dict[str, Tool]:
    """Return the tools by name; two of one name are refused."""
    found: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in found:
            raise UsageError(f"two tools are named {tool.name!r}")
        found[tool.name] = tool
    return found


def _mcp_items(listing: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    if isinstance(listing, Mapping):
        tools = listing.get("tools")
        if not isinstance(tools, list):
            raise UsageError("this is no list of MCP tools: it has no 'tools'")
        return tools
    return listing


def _hint(item: Mapping[str, Any], name: str) -> Any:
    annotations = item.get("annotations")
    return annotations.get(name) if isinstance(annotations, Mapping) else None


def _object(item: Any, index: int) -> Mapping[str, Any]:
    if not isinstance(item, Mapping):
        raise UsageError(f"tool {index} is not an object")
    return item


def _read(item: Any, index: int, key: str) -> Tool:
    inner = _object(_object(item, index).get("function", item), index)
    name, schema = inner.get("name"), inner.get(key)
    if not isinstance(name, str) or not name:
        raise UsageError(f"tool {index} has no name")
    if schema is not None and not isinstance(schema, Mapping):
        raise UsageError(f"the {key} of tool {name!r} are not a JSON Schema object")
    return Tool(name, str(inner.get("description") or ""), schema)
