"""Definitions from functions, and each wire format each way."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from analyzer.agent import (
    Cancellation,
    FunctionTool,
    IdempotencyKey,
    Registry,
    from_anthropic,
    from_mcp,
    from_openai,
    mcp_writers,
    to_anthropic,
    to_mcp,
    to_openai,
)
from analyzer.agent.docstrings import read_docstring
from analyzer.chat import Tool
from analyzer.errors import UsageError
from tests.agent.common import READ_FILE


class Point(BaseModel):
    """A place."""

    title: str
    x: float = 0


@dataclass
class Box:
    """A size."""

    wide: int


def test_a_definition_is_what_the_schema_says() -> None:
    """Name, description and a closed schema with its required argument, from a plain function."""

    def read_file(path: Annotated[str, Field(description="Path relative to the workspace root")]) -> str:
        """Read a text file from the workspace."""
        return path

    tool = FunctionTool.of(read_file).tool

    assert tool.to_openai() == {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Read a text file from the workspace.",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Path relative to the workspace root"}
                },
                "required": ["path"],
                "additionalProperties": False,
            },
        },
    }


def test_the_request_of_one_tool() -> None:
    """Compact JSON: the definition is 275 of the request's 385 characters."""
    schema = {**(READ_FILE.parameters or {}), "additionalProperties": False}
    [tool] = to_openai([Tool(READ_FILE.name, READ_FILE.description, schema)])
    request = {
        "model": "local",
        "messages": [{"role": "user", "content": "What is in pom.xml?"}],
        "tools": [tool],
        "tool_choice": "auto",
    }

    assert len(json.dumps(tool, separators=(",", ":"))) == 275
    assert len(json.dumps(request, separators=(",", ":"))) == 385


def test_every_annotation() -> None:
    """Types, defaults, models, unions and keyword-only parameters; what the dispatcher fills is not shown."""

    def act(
        path: str,
        /,
        where: Point,
        boxes: list[Box],
        mode: Literal["a", "b"] = "a",
        limit: int | None = None,
        free: Any = None,
        *,
        title: str = "t",
        key: IdempotencyKey,
        cancel: Cancellation,
    ) -> None:
        """Act."""

    function = FunctionTool.of(act)
    schema = function.tool.parameters or {}
    properties = schema["properties"]

    assert list(properties) == ["path", "where", "boxes", "mode", "limit", "free", "title"]
    assert schema["required"] == ["path", "where", "boxes"]
    assert properties["mode"] == {"type": "string", "enum": ["a", "b"], "default": "a"}
    assert properties["limit"] == {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
    assert properties["boxes"] == {"type": "array", "items": {"$ref": "#/$defs/Box"}}
    assert schema["$defs"]["Point"]["properties"] == {
        "title": {"type": "string"},
        "x": {"type": "number", "default": 0},
    }
    assert (function.key_parameter, function.cancel_parameter) == ("key", "cancel")
    positional, keywords = function.bind({"path": "p", "where": {"title": "x"}, "boxes": [{"wide": 2}]})
    assert positional == ("p",)
    assert keywords["where"] == Point(title="x")
    assert keywords["boxes"] == [Box(2)]


GOOGLE = """Move a file
    to another place.

    It must exist.

    Args:
        old: Where it is
            now.
        new (str, optional): Where it goes: a path.
        *rest: More.

    Returns:
        old: not a parameter here
    """
NUMPY = """Move a file
    to another place.

    It must exist.

    Parameters
    ----------
    old : str
        Where it is
        now.
    new : str, optional
        Where it goes: a path.
    *rest
        More.

    Returns
    -------
    old
        not a parameter here
    """
SPHINX = """Move a file
    to another place.

    It must exist.

    :param old: Where it is
        now.
    :param str new: Where it goes: a path.
    :param rest: More.
    :returns: nothing
        at all
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX])
def test_docstrings(text: str) -> None:
    """Three conventions say the same."""
    said = read_docstring(text)

    assert said.description == "Move a file to another place.\n\nIt must exist."
    assert said.parameters == {"old": "Where it is now.", "new": "Where it goes: a path.", "rest": "More."}


@pytest.mark.parametrize("text", [None, "", "Args:", ":param", "----", "Args:\n  x", "Note: this is prose."])
def test_odd_docstrings(text: str | None) -> None:
    """Nothing raises, and no parameter is made up."""
    assert read_docstring(text).parameters == {}


def test_descriptions_reach_the_schema() -> None:
    """What the docstring says of a parameter, unless the annotation says it."""

    def move(old: str, new: Annotated[str, Field(description="mine")] = "") -> None:
        """Move.

        Args:
            old: Where it is.
            new: Not this.
        """

    properties = (FunctionTool.of(move).tool.parameters or {})["properties"]

    assert [properties[name]["description"] for name in ("old", "new")] == ["Where it is.", "mine"]


class Adder:
    """Adds a number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, other: int) -> int:
        """Not this one."""
        return self.number + other

    async def later(self, other: int) -> int:
        """Add later."""
        return self.number + other


def test_what_can_be_called_can_be_a_tool() -> None:
    """Methods, objects and partial functions."""
    tools = Registry()
    entry = tools.add(Adder(1).later)
    tools.add(Adder(2), name="add_two")
    tools.add(functools.partial(max, 3), name="at_least_three", parameters={"type": "object"})

    assert [tool.name for tool in tools.tools] == ["later", "add_two", "at_least_three"]
    assert entry.function.is_async
    assert entry.function.tool.description == "Add later."
    assert "self" not in (entry.function.tool.parameters or {})["properties"]


def no_json(value: Callable[[], int]) -> None:
    """Take what has no JSON form."""


def starred(*values: int) -> None:
    """Take positions."""


def dangling(value: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Refer to nothing."""


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (no_json, "has no JSON form"),
        (starred, r"takes \*values"),
        (dangling, "cannot be read"),
        (lambda: None, "cannot be a tool's name"),
        (max, "has no signature"),
    ],
)
def test_functions_that_cannot_be_tools(function: Any, said: str) -> None:
    """Each refusal says why."""
    with pytest.raises(UsageError, match=said):
        FunctionTool.of(function)


def test_two_tools_of_one_name() -> None:
    """The second is refused."""
    tools = Registry()
    tools.add(no_json, parameters={})
    with pytest.raises(UsageError, match="no_json"):
        tools.add(no_json, parameters={})


BARE = Tool("ping")
TOOLS = (READ_FILE, BARE)


def test_openai_each_way() -> None:
    """Also the flat shape of the Responses API, and a tool with a name alone."""
    wire = to_openai(TOOLS)

    assert from_openai(wire)[0] == READ_FILE
    assert from_openai([{"type": "function", **item["function"]} for item in wire]) == from_openai(wire)
    assert from_openai([{"type": "function", "function": {"name": "ping"}}]) == (BARE,)
    assert wire[1]["function"]["parameters"] == {"type": "object", "properties": {}}


def test_anthropic_each_way() -> None:
    """The schema stands under `input_schema`."""
    wire = to_anthropic(TOOLS)

    assert wire[0] == {
        "name": "read_file",
        "description": READ_FILE.description,
        "input_schema": READ_FILE.parameters,
    }
    assert from_anthropic(wire)[0] == READ_FILE
    with pytest.raises(UsageError, match="run by the provider"):
        from_anthropic([{"type": "web_search_20250305", "name": "web_search"}])


def test_mcp_each_way() -> None:
    """A whole `tools/list` result or its list; what it may change is told by its hints."""
    wire = to_mcp(TOOLS)
    wire["tools"][0]["annotations"] = {"readOnlyHint": True}

    assert from_mcp(wire)[0] == from_mcp(wire["tools"])[0] == READ_FILE
    assert mcp_writers(wire) == {"ping"}


@pytest.mark.parametrize(
    ("read", "wire", "said"),
    [
        (from_openai, [{"type": "function", "function": {}}], "tool 0 has no name"),
        (from_openai, [{"name": "a"}, 3], "tool 1 is not an object"),
        (from_anthropic, [{"name": "a"}, None], "tool 1 is not an object"),
        (from_mcp, {"tools": ["a"]}, "tool 0 is not an object"),
        (mcp_writers, [3], "tool 0 is not an object"),
        (from_openai, [{"name": "a", "parameters": []}], "not a JSON Schema object"),
        (from_mcp, {}, "no list of MCP tools"),
    ],
)
def test_wires_that_are_none(read: Any, wire: Any, said: str) -> None:
    """Misuse says which tool is meant."""
    with pytest.raises(UsageError, match=said):
        read(wire)
