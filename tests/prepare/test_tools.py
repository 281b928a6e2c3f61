"""Declared tools: as functions or bare, none at all, with the types and fields that the template reads."""

from __future__ import annotations

from typing import Any, Final

import pytest

from analyzer.chat import Tool
from analyzer.prepare import prepare
from tests.prepare.made import call, chat, kinds, spec


def test_bare_functions() -> None:
    """Tools and calls lose the `function` around them where the template reads them so, and are left alone the next time."""
    wanted = spec(bare_tools=True, bare_calls=True)

    prepared = prepare(wanted, chat(call(arguments={"a": 1})), [Tool("f").to_openai()])

    assert "f" == (prepared.tools or ())[0]["name"]
    assert [{"id": "c1", "name": "f", "arguments": {"a": 1}}] == prepared.messages[1]["tool_calls"]
    assert ["calls_bared", "tool_bared"] == kinds(prepared)
    again = prepare(wanted, prepared.messages, prepared.tools)
    assert (prepared.messages, prepared.tools) == (again.messages, again.tools)


@pytest.mark.parametrize("given", [None, []])
@pytest.mark.parametrize(
    ("wanted", "tools", "kind"),
    [("list", (), None), ("required", None, "tools_required"), ("optional", None, None)],
)
def test_no_tools(given: Any, wanted: str, tools: Any, kind: str | None) -> None:
    """Nothing, or an empty list, or a problem."""
    prepared = prepare(spec(tools=wanted), [{"role": "user", "content": "Q"}], given)

    assert tools == prepared.tools
    assert [kind] * bool(kind) == [note.kind for note in prepared.problems]
    assert (given != (None if tools is None else list(tools))) == bool(
        {"tools_absent", "tools_listed"} & set(kinds(prepared))
    )


def test_tools_that_no_template_prints_are_a_problem() -> None:
    """They are passed on all the same: leaving them out would change what the model can do."""
    prepared = prepare(spec(tools="refused"), [{"role": "user", "content": "Q"}], [Tool("f").to_openai()])

    assert ["tools_refused"] == [note.kind for note in prepared.problems]
    assert prepared.tools


SCHEMAS: Final[dict[str, tuple[Any, str]]] = {
    "alternatives": ({"anyOf": [{"type": "null"}, {"type": "string"}, {"type": "integer"}]}, "string"),
    "one_of": ({"oneOf": [{"enum": [1, 2]}]}, "integer"),
    "enum": ({"enum": ["a", None]}, "string"),
    "const": ({"const": 1.5}, "number"),
    "null": ({"const": None}, "null"),
    "flag": ({"const": False}, "boolean"),
    "list_of_types": ({"type": ["null", "array"]}, "array"),
    "reference": ({"$ref": "#/$defs/a~1b"}, "object"),
    "cycle": ({"$ref": "#/$defs/loop"}, "any"),
    "elsewhere": ({"$ref": "https://example.org/schema"}, "any"),
    "properties": ({"properties": {}}, "object"),
    "items": ({"items": {"type": "string"}}, "array"),
    "nothing": ({}, "any"),
    "no_schema": (True, "any"),
}
DEFINITIONS: Final = {"a/b": {"type": "object"}, "loop": {"$ref": "#/$defs/loop"}}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_property_gets_the_type_that_its_schema_allows(name: str) -> None:
    """The first that is not null; the alternatives stay."""
    schema, word = SCHEMAS[name]
    parameters = {"type": "object", "$defs": DEFINITIONS, "properties": {"p": schema}}
    tools = [Tool("f", "", parameters).to_openai()]

    prepared = prepare(spec(property_fields=("type", "description")), [], tools)

    made = (prepared.tools or ())[0]["function"]["parameters"]["properties"]["p"]
    more = schema if isinstance(schema, dict) else {}
    assert {**more, "type": word, "description": ""} == made
    assert ["property_completed"] == kinds(prepared)
    assert [] == kinds(prepare(spec(), [], tools))


def test_nested_properties_are_completed() -> None:
    """Those of objects, and of what lists hold."""
    inner = {"type": "object", "properties": {"b": {"enum": ["x"]}}}
    tools = [
        Tool("f", "", {"type": "object", "properties": {"a": {"type": "array", "items": inner}}}).to_openai()
    ]

    prepared = prepare(spec(property_fields=("type",)), [], tools)

    [note] = prepared.notes
    assert "tools[0].parameters.properties.a.items.properties.b" == note.path
