"""GBNF and Lark, held against engines that read them."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.chat import Tool
from analyzer.engines import ENGINES, load
from analyzer.export import Options, export
from analyzer.export.json_rules import json_value
from analyzer.export.rules import Rules
from analyzer.spec.document import load_spec
from tests.export.samples import ROOT, TOOLS

BAD_CALLS = [
    '<tool_call>\n{"name": "pong", "arguments": {}}\n</tool_call>',
    '<tool_call>\n{"name": "get_weather", "arguments": {"days": "x"}}\n</tool_call>',
    '<tool_call>\n{"name": "ping", "arguments": {"x": 1}}\n</tool_call>',
    "<tool_call>well",
    '<tool_call>\n{"name": "ping", "arguments": {}}',
]
GOOD_CALL = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
CLOSED = (TOOLS[0], Tool("ping", "", {"type": "object", "properties": {}, "additionalProperties": False}))


def spec_of(name: str) -> Any:
    """The golden spec of one of the project's own templates."""
    return load_spec(ROOT / "generated" / "own" / f"{name}.yaml")


def accepts(target: str, payload: Any, text: str) -> bool:
    """Whether the target's engine accepts a text, or the test is skipped."""
    missing = ENGINES[target].missing
    if missing is not None:
        pytest.skip(f"{missing} is not installed: the grammar is not checked")
    return bool(load(target, payload).accepts(text))


@pytest.mark.engine
@pytest.mark.parametrize("target", ["gbnf", "lark"])
@pytest.mark.parametrize("choice", ["auto", "required"])
def test_what_is_no_call_is_refused(target: str, choice: str) -> None:
    """A wrong name, a wrong type, an unknown argument, junk after the trigger, a call that is cut off."""
    payload = export(target, spec_of("json_tag_per_call"), CLOSED, Options(choice)).payload

    assert accepts(target, payload, GOOD_CALL)
    assert not [text for text in BAD_CALLS if accepts(target, payload, text)]


@pytest.mark.engine
@pytest.mark.parametrize("target", ["gbnf", "lark"])
def test_a_name_is_one_call_of_that_tool(target: str) -> None:
    """Not two, not another, no text in front."""
    payload = export(target, spec_of("json_tag_per_call"), TOOLS, Options("ping")).payload

    assert accepts(target, payload, GOOD_CALL)
    assert not accepts(target, payload, f"{GOOD_CALL}\n{GOOD_CALL}")
    assert not accepts(target, payload, GOOD_CALL.replace("ping", "get_weather"))
    assert not accepts(target, payload, f"Well. {GOOD_CALL}")


def test_the_fields_of_a_llama_server_request() -> None:
    """Lazy for `auto`; from the first character when a call is required; without a grammar for `none`."""
    spec = spec_of("json_tag_per_call")
    auto, required, none = (
        export("gbnf", spec, TOOLS, Options(word)).payload for word in ("auto", "required", "none")
    )

    assert auto["grammar_lazy"]
    assert [{"type": 1, "value": "<tool_call>"}] == auto["grammar_triggers"]
    assert ["<tool_call>", "</tool_call>"] == auto["preserved_tokens"]
    assert ["<|im_end|>"] == auto["stop"]
    assert "grammar_lazy" not in required
    assert required["grammar"].startswith("root ::=")
    assert {"stop": ["<|im_end|>"]} == none


def test_rule_names_are_what_both_engines_take() -> None:
    """Tool and argument names may hold anything."""
    tool = Tool(
        "Größe.v2_ü",
        "",
        {"type": "object", "properties": {"a b": {"type": "string"}, "a-b": {"type": "string"}}},
    )
    for target, mark in (("gbnf", "-"), ("lark", "_")):
        payload = export(target, spec_of("tagged_raw_values"), [tool]).payload
        text = payload if target == "lark" else payload["grammar"]
        sign = ":" if target == "lark" else "::="
        names = [line.split(sign)[0].split("[")[0].strip() for line in text.splitlines() if sign in line]

        assert len(names) == len(set(names))
        assert all(
            name.replace(mark, "").isalnum() and name.isascii() for name in names if name != "%llguidance {}"
        )


def test_special_tokens_are_written_by_id() -> None:
    """Where a tokenizer is known."""
    grammar = export(
        "lark", spec_of("json_tag_per_call"), TOOLS, Options(tokens={"<tool_call>": 7, "</tool_call>": 8})
    ).payload

    assert "<[7]>" in grammar
    assert "<[8]>" in grammar
    assert "<tool_call>" not in grammar


SCHEMA = {
    "type": "object",
    "required": ["kind"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"next": {"$ref": "#/$defs/node"}, "id": {"type": "integer"}},
        }
    },
    "properties": {
        "kind": {"enum": ["a", 'b"']},
        "size": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "tree": {"$ref": "#/$defs/node"},
    },
}


@pytest.mark.engine
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"kind": "a"}', True),
        ('{"kind": "b\\"", "size": -1.5e3, "tags": ["x", "\\u00e9 \\n"]}', True),
        ('{"kind":"a","size":null,"tree":{"next":{"next":{},"id":3}}}', True),
        ('{"kind": "a", "tags": []}', True),
        ("{}", False),
        ('{"size": 1}', False),
        ('{"kind": "c"}', False),
        ('{"kind": "a", "size": "1"}', False),
        ('{"kind": "a", "tags": [1]}', False),
        ('{"kind": "a", "tree": {"id": 1.5}}', False),
        ('{"kind": "a", "more": 1}', False),
        ('{"kind": "a",}', False),
    ],
)
def test_json_rules_follow_the_schema(text: str, expected: bool) -> None:  # noqa: FBT001
    """As far as rules can."""
    rules = Rules()
    grammar = rules.text(json_value(rules, SCHEMA))

    assert expected == accepts("gbnf", {"grammar": grammar}, text)
