"""What the prompt and the request say of tools where the prompt asks for calls: the reply's schema, examples of arguments."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from analyzer.agent import example_of, response_format
from analyzer.chat import Tool


def test_the_response_format() -> None:
    """One branch for each tool and one for the answer."""
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string", "enum": ["pom.xml", "README.md"]}},
        "required": ["path"],
    }
    made = response_format([Tool("read_file", "", schema)], max_answer=40)

    assert made == {
        "type": "json_schema",
        "json_schema": {
            "name": "step",
            "schema": {
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {
                            "tool": {"const": "read_file"},
                            "arguments": {**schema, "additionalProperties": False},
                        },
                        "required": ["tool", "arguments"],
                        "additionalProperties": False,
                    },
                    {
                        "type": "object",
                        "properties": {"answer": {"type": "string", "maxLength": 40}},
                        "required": ["answer"],
                        "additionalProperties": False,
                    },
                ]
            },
        },
    }


def test_references_stay_inside_their_tool() -> None:
    """Schemas with definitions of one name do not disturb each other."""

    def of(kind: str) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/A"}},
            "required": ["x"],
            "$defs": {"A": {"type": kind}},
        }

    made = response_format([Tool("f", "", of("string")), Tool("g", "", of("integer"))])
    valid = Draft202012Validator(made["json_schema"]["schema"]).is_valid

    assert valid({"tool": "f", "arguments": {"x": "a"}})
    assert valid({"tool": "g", "arguments": {"x": 1}})
    assert not valid({"tool": "g", "arguments": {"x": "a"}})


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (None, {}),
        ({"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}}, {"n": 1, "s": "<s>"}),
        ({"properties": {"m": {"enum": ["a", "b"]}, "d": {"default": 3}, "c": {"const": 4}}}, {"m": "a", "d": 3, "c": 4}),
        ({"properties": {"u": {"anyOf": [{"type": "null"}, {"type": "boolean"}]}}}, {"u": True}),
        ({"properties": {"l": {"type": "array", "items": {"type": "number", "minimum": 3}}}}, {"l": [3]}),
        ({"properties": {"d": {"type": "string", "format": "date"}, "t": {"type": ["null", "string"]}}}, {"d": "2025-01-31", "t": "<t>"}),
        ({"properties": {"p": {"$ref": "#/$defs/P"}}, "$defs": {"P": {"properties": {"x": {"type": "null"}}}}}, {"p": {"x": None}}),
        ({"properties": {"x": True, "y": {"$ref": "#/$defs/none"}}}, {"x": "<x>", "y": "<y>"}),
    ],
)  # fmt: skip
def test_examples(schema: dict[str, Any] | None, expected: Any) -> None:
    """Made from the schema: its own examples first, then types."""
    assert example_of(schema) == expected


def test_an_example_of_a_schema_without_end() -> None:
    """It ends."""
    schema = {"properties": {"next": {"$ref": "#"}, "all": {"type": "array", "items": {"$ref": "#"}}}}

    assert len(json.dumps(example_of(schema))) < 2000
