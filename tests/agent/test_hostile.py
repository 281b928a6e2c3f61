"""Whatever a model, a server or the author of a schema writes: it is told of, never raised, and can be sent on."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.agent import (
    KINDS,
    ChatStream,
    FencedReplies,
    anthropic_turn,
    check,
    from_anthropic,
    from_mcp,
    from_openai,
    history,
    idempotency_keys,
    read_turn,
    response_format,
    system_text,
    turn_messages,
)
from analyzer.chat import Message, Tool, ToolCall
from analyzer.errors import UsageError
from tests.budget import examples

WORDS = [
    "index",
    "id",
    "function",
    "name",
    "arguments",
    "tool_calls",
    "delta",
    "message",
    "content",
    "choices",
    "finish_reason",
    "x",
    "type",
    "input",
    "role",
    "error",
    "usage",
    "reasoning",
    "annotations",
]
RULES = [
    "type",
    "properties",
    "required",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "items",
    "additionalProperties",
    "$ref",
    "$defs",
    "$schema",
    "$id",
    "pattern",
    "minimum",
    "multipleOf",
    "if",
    "then",
    "else",
    "patternProperties",
    "dependentRequired",
    "unevaluatedProperties",
    "$dynamicRef",
    "uniqueItems",
    "contains",
    "propertyNames",
    "prefixItems",
    "format",
    "x",
]
LEAVES = (
    "string",
    "object",
    "integer",
    "array",
    "#",
    "#/$defs/x",
    "(",
    "a+",
    "http://[",
    "x",
    1,
    -1,
    0.5,
    True,
    None,
)


def nested(leaf: st.SearchStrategy[Any], names: list[str]) -> st.SearchStrategy[Any]:
    """JSON of these leaves, with these keys."""
    keys = st.sampled_from(names)
    return st.recursive(
        leaf,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=12,
    )


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
JSON = nested(PLAIN | st.sampled_from([1e308, 10**400, "\ud800", "a", "f"]), WORDS)
SCHEMA = nested(st.sampled_from(LEAVES), RULES).filter(lambda found: isinstance(found, dict))
TEXT = st.text(max_size=20) | JSON.map(json.dumps) | JSON.map(lambda found: json.dumps({"x": found}))


@given(
    schema=SCHEMA, text=TEXT, strict=st.booleans(), finish=st.sampled_from(["stop", "length", "incomplete"])
)
@settings(max_examples=examples(200))
def test_any_schema_and_any_arguments(schema: Any, text: str, strict: bool, finish: str) -> None:  # noqa: FBT001
    """Problems are of the known kinds, with a sentence; every shape of history holds what came."""
    tool = Tool("f", "", schema)
    turn = Message(tool_calls=(ToolCall("f", text, "a"), ToolCall("f", text, "a")))
    checked = check(turn, [tool], strict=strict, finish_reason=finish)

    assert all(problem.kind in KINDS and problem.text for problem in checked.problems)
    assert len(set(idempotency_keys(checked))) == 2
    assert "f" in system_text([tool])
    json.dumps(response_format([tool]))
    for sent in (turn_messages(turn, []), anthropic_turn(turn, []), history(turn, [])):
        json.dumps(sent)
    assert all(
        isinstance(json.loads(found["function"]["arguments"]), dict)
        for found in turn_messages(turn, [])[0]["tool_calls"]
    )
    history(turn, [], FencedReplies("sh", "f", "x"))


@given(chunks=st.lists(JSON, max_size=6), is_text=st.booleans())
@settings(max_examples=examples(200))
def test_any_stream(chunks: list[Any], is_text: bool) -> None:  # noqa: FBT001
    """A turn comes of it, and it can be checked."""
    grown = ChatStream([Tool("f")])
    for chunk in chunks:
        grown.feed(f"data: {json.dumps(chunk)}\n" if is_text else chunk)
    turn = grown.finish()

    assert len(check(turn, [Tool("f")]).calls) == len(turn.calls)


@given(value=JSON, read=st.sampled_from([read_turn, from_openai, from_anthropic, from_mcp]))
@settings(max_examples=examples(400))
def test_any_message_and_any_list_of_tools(value: Any, read: Any) -> None:
    """It is read, or said to be none."""
    with suppress(UsageError):
        read(value if read is read_turn else [value])
