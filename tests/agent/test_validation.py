"""What is found before a call runs: the two worked responses, each failure mode, and schemas of every kind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.agent import KINDS, check
from analyzer.chat import Message, Tool, ToolCall
from analyzer.errors import UsageError
from analyzer.runtime import parse
from tests.agent.common import READ_FILE, message, spec_of
from tests.runtime.specs import spec

PATH = Tool(
    "read_file", "", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
)


def kinds(source: Any, *tools: Tool, **options: Any) -> list[tuple[int | None, str]]:
    """The call and the kind of each problem."""
    return [(problem.call, problem.kind) for problem in check(source, tools or (PATH,), **options).problems]


def only(text: str, schema: dict[str, Any] | None = None, **options: Any) -> list[tuple[str, str]]:
    """The kind and text of each problem of one call with these arguments."""
    tool = PATH if schema is None else Tool("read_file", "", schema)
    checked = check(message(ToolCall("read_file", text, "a")), [tool], **options)
    return [(problem.kind, problem.text) for problem in checked.problems]


def field(schema: dict[str, Any], value: Any) -> list[tuple[str, str]]:
    """The problems of one call with one argument `x`."""
    return only(json.dumps({"x": value}), {"type": "object", "properties": {"x": schema}})


def test_a_cut_response() -> None:
    """Two calls, the token limit hit inside the second: it is not runnable, the first one is."""
    white = "\n \t\t\t  \t\t\t  \t\t\t  \t\t\t "
    choice = {
        "finish_reason": "length",
        "tool_calls": [
            {
                "type": "function",
                "function": {"name": "read_file", "arguments": f'{{{white}"path":"pom.xml" }}'},
                "id": "HUlRwgH2mmTv97GCwkugZHjQytYo6GED",
            },
            {
                "type": "function",
                "function": {"name": "read_file", "arguments": "{"},
                "id": "xxfbWHsmdATilmDyEDVl6PjLkPTkUCbl",
            },
        ],
    }
    checked = check(choice, [PATH])

    assert [(p.call, p.kind) for p in checked.problems] == [(None, "cut"), (1, "cut_call")]
    first, second = map(str, checked.problems)
    assert first.startswith("finish_reason is length: ")
    assert first.endswith("the last call may be incomplete")
    assert second.startswith("call 1: ")
    assert "arguments are not valid JSON (unexpected end of input" in second
    assert [call.arguments for call in checked.runnable] == [{"path": "pom.xml"}]


def test_every_kind_of_mistake_at_once() -> None:
    """Four calls, three of them wrong in six ways: all are reported, in the order of the calls."""
    choice = {
        "finish_reason": "tool_calls",
        "tool_calls": [
            {"id": "x1", "function": {"name": "read_file", "arguments": '{"path": "pom.xml"}'}},
            {"id": "x1", "function": {"name": "read_files", "arguments": "{}"}},
            {"id": "", "function": {"name": "read_file", "arguments": '{"file": 7}'}},
            {"id": "x3", "function": {"name": "read_file", "arguments": '["pom.xml"]'}},
        ],
    }
    checked = check(choice, [PATH])
    texts = [str(problem) for problem in checked.problems]

    assert [(p.call, p.kind) for p in checked.problems] == [
        (1, "duplicate_id"),
        (1, "unknown_tool"),
        (2, "empty_id"),
        (2, "missing_argument"),
        (2, "unknown_argument"),
        (3, "not_an_object"),
    ]
    for text, expected in zip(
        texts,
        [
            "call 1: duplicate id x1",
            "call 1: unknown tool 'read_files'",
            "call 2: empty id",
            "call 2: missing required argument 'path'",
            "call 2: unknown argument 'file'",
            "call 3: arguments are not a JSON object",
        ],
        strict=True,
    ):
        assert text.startswith(expected)
    assert [call.index for call in checked.runnable] == [0]


def test_a_clean_response() -> None:
    """Nothing is found where nothing is wrong."""
    checked = check(message(ToolCall("read_file", '{"path": "pom.xml"}', "a")), [PATH])

    assert checked.problems == ()
    assert checked.ok


def test_a_call_that_is_whole_runs_though_the_turn_was_cut() -> None:
    """The limit that comes after a closed object took nothing of it."""
    checked = check(message(ToolCall("read_file", '{"path": "a"}', "a")), [PATH], finish_reason="length")

    assert [problem.kind for problem in checked.problems] == ["cut"]
    assert len(checked.runnable) == 1


def test_empty_arguments_of_a_cut_turn_are_not_taken_for_none() -> None:
    """A turn cut right after the name has lost the arguments."""
    free = Tool("read_file", "", {"type": "object", "properties": {}})

    assert kinds(message(ToolCall("read_file", "", "a")), free) == [(0, "empty_arguments")]
    assert kinds(message(ToolCall("read_file", "", "a")), free, finish_reason="length") == [
        (None, "cut"),
        (0, "cut_call"),
    ]


def test_calls_that_the_parser_could_not_read_are_told() -> None:
    """One whole call and one that was cut: the parser's error stands among the problems, with words for the model."""
    text = (
        '<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>'
        '<tool_call>{"name": "read_file", "arg'
    )
    parsed = parse(spec("json_tags"), text, [PATH], finish_reason="length")
    checked = check(parsed, [PATH])

    assert [problem.kind for problem in checked.problems] == ["cut", "unread_call"]
    assert "cut off" in checked.unread
    assert [call.arguments for call in checked.runnable] == [{"path": "a"}]


def test_ids_that_nobody_gave_are_no_problem() -> None:
    """Most formats have no ids; only a response that should have them is blamed."""
    parsed = parse(
        spec_of("json_tag_per_call"),
        '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>',
        [PATH],
    )

    assert check(parsed, [PATH]).ok
    response = {
        "choices": [
            {"message": {"tool_calls": [{"function": {"name": "read_file", "arguments": '{"path":"a"}'}}]}}
        ]
    }
    assert kinds(response) == [(0, "empty_id")]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("read_files", "did you mean read_file?"),
        ("zzz", "available: read_file"),
        ("", "the call names no tool"),
    ],
)
def test_unknown_tools_get_a_hint(name: str, said: str) -> None:
    """The near names when there are any, else all of them."""
    [problem] = check(message(ToolCall(name, "{}", "a")), [PATH]).problems

    assert problem.kind == "unknown_tool"
    assert said in problem.text


def test_many_tools_are_not_all_listed() -> None:
    """The sentence stays short."""
    tools = [Tool(f"t{number}") for number in range(50)]
    [problem] = check(message(ToolCall("other", "{}", "a")), tools).problems

    assert problem.text.endswith("t19 and 30 more)")


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ("{'path': 'a'}", "not_json", "arguments are not valid JSON (Expecting property name"),
        ('{"path": NaN}', "not_json", "NaN is no JSON value"),
        ('{"path": "a"} x', "not_json", "Extra data at character 14"),
        ("[" * 100_000, "not_json", "arguments are not valid JSON"),
        ("null", "not_an_object", "arguments are not a JSON object"),
        ('"text"', "not_an_object", "arguments are not a JSON object"),
        ('"{"', "not_an_object", "arguments are not a JSON object"),
        ('"{\\"path\\": \\"a\\"}"', "double_encoded", "write an object"),
        ('{"path": 7}', "wrong_type", "argument 'path' must be a string, not the number 7"),
        ('{"path": null}', "wrong_type", "argument 'path' must be a string, not null"),
    ],
)
def test_arguments_that_are_not_right(arguments: str, kind: str, said: str) -> None:
    """One problem each, with its reason."""
    [(found, text)] = only(arguments)

    assert found == kind
    assert said in text


def test_double_encoded_arguments_are_accepted() -> None:
    """They are noted, and run."""
    checked = check(message(ToolCall("read_file", '"{\\"path\\": \\"a\\"}"', "a")), [PATH])

    assert [call.arguments for call in checked.runnable] == [{"path": "a"}]
    assert checked.ok


def test_strict_refuses_unknown_keys() -> None:
    """Without it they are a warning; a schema that forbids them needs no strictness."""
    closed = {**(PATH.parameters or {}), "additionalProperties": False}
    text = '{"path": "a", "file": 7}'
    call = message(ToolCall("read_file", text, "a"))

    assert only(text) == [("unknown_argument", "unknown argument 'file' (allowed: path)")]
    assert only(text, closed) == only(text)
    assert len(check(call, [PATH]).runnable) == 1
    assert check(call, [PATH], strict=True).runnable == ()
    assert check(call, [Tool("read_file", "", closed)]).runnable == ()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"path": {}}, "additionalProperties": True},
        {"type": "object", "properties": {"path": {}}, "additionalProperties": {"type": "integer"}},
        {
            "type": "object",
            "properties": {"path": {}},
            "patternProperties": {"^f": {}},
            "additionalProperties": False,
        },
        {"type": "object"},
        {"allOf": [{"properties": {"path": {}}}, {"properties": {"file": {}}}]},
        {"type": "object", "properties": {"path": {}}, "anyOf": [{"properties": {"file": {}}}, {}]},
        {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"path": {}, "file": {}}}}},
    ],
)
def test_keys_that_a_schema_lets_in_are_known(schema: dict[str, Any]) -> None:
    """By a rule, by a branch, by a reference."""
    assert only('{"path": "a", "file": 7}', schema, strict=True) == []


ITEM = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
PICTURE = {
    "type": "object",
    "properties": {"kind": {"const": "picture"}, "size": {"type": "integer"}},
    "required": ["kind", "size"],
}
SOUND = {
    "type": "object",
    "properties": {"kind": {"const": "sound"}, "file": {"type": "string"}},
    "required": ["kind", "file"],
}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "array", "items": ITEM}, [{"count": 1}, {"count": "3"}], ("wrong_type", "argument 'x[1].count' must be an integer, not the string \"3\"")),
        ({"type": "array", "items": ITEM}, [{}], ("missing_argument", "missing required argument 'x[0].count'")),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 3, ("wrong_type", "argument 'x' must be a string or null, not the number 3")),
        ({"type": ["integer", "null"]}, True, ("wrong_type", "argument 'x' must be an integer or null, not true")),
        ({"enum": ["a", "b"]}, "c", ("not_allowed", "argument 'x' must be one of \"a\", \"b\", not \"c\"")),
        ({"const": 1}, 2, ("not_allowed", "argument 'x' must be 1, not 2")),
        ({"anyOf": [{"enum": ["a"]}, {"const": "b"}, {"type": "null"}]}, "c", ("not_allowed", "argument 'x' must be one of \"a\", \"b\", not \"c\"")),
        ({"oneOf": [PICTURE, SOUND]}, {"kind": "sound", "file": 1}, ("wrong_type", "argument 'x.file' must be a string, not the number 1")),
        ({"oneOf": [PICTURE, SOUND]}, {"kind": "picture"}, ("missing_argument", "missing required argument 'x.size'")),
        ({"type": "integer", "minimum": 1}, 0, ("invalid_value", "argument 'x' is not valid: it must be at least 1")),
        ({"type": "string", "maxLength": 2}, "abc", ("invalid_value", "argument 'x' is not valid: it must have at most 2 characters")),
        ({"type": "object", "additionalProperties": False}, {"a": 1}, ("unknown_argument", "unknown argument 'x.a' (none is allowed)")),
        ({"not": {}}, 1, ("unknown_argument", "unknown argument 'x'")),
        (False, 1, ("invalid_value", "the arguments are not valid: False schema does not allow 1")),
    ],
)  # fmt: skip
def test_what_a_schema_says(schema: Any, value: Any, expected: tuple[str, str]) -> None:
    """Each rule's own sentence, with the path to the value."""
    assert field(schema, value) == [expected]


@pytest.mark.parametrize(("value", "fits"), [(2.0, True), (2.5, False), (2**70, True)])
def test_whole_numbers(value: float, fits: object) -> None:
    """A number without a fraction is an integer, however it is written and however big."""
    assert (field({"type": "integer"}, value) == []) is fits


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"type": "object", "properties": {"path": {"$ref": "https://example.invalid/schema.json"}}},
        {"type": "object", "properties": {"path": {"$ref": "#/$defs/nowhere"}}},
        {"type": "object", "properties": {"path": {"$ref": "#/properties/path"}}},
        {"$schema": 3},
        {"$id": "http://[bad", "properties": {"path": {"$ref": "other"}}},
    ],
)
def test_a_schema_that_is_none_does_not_stop_the_call(schema: dict[str, Any]) -> None:
    """It is said, nothing is fetched, and the call may run."""
    checked = check(message(ToolCall("read_file", '{"path": 1}', "a")), [Tool("read_file", "", schema)])

    assert [problem.kind for problem in checked.problems] == ["unusable_schema"]
    assert len(checked.runnable) == 1


def test_a_tool_without_a_schema_takes_anything() -> None:
    """Nothing is known, so nothing is wrong."""
    assert kinds(message(ToolCall("free", '{"a": 1}', "a")), Tool("free"), strict=True) == []


@pytest.mark.parametrize("number", ["1e999", "9" * 400])
def test_a_number_that_is_too_large(number: str) -> None:
    """What the model wrote is its mistake, whatever the arithmetic of a rule makes of it."""
    [(kind, text)] = only(f'{{"x": {number}}}', {"properties": {"x": {"type": "number", "multipleOf": 0.5}}})

    assert kind == "invalid_value"
    assert text.endswith("a number that is too large")


def test_sentences_stay_short() -> None:
    """Names, keys and ids that a model makes up do not fill the next prompt."""
    long = "n" * 100_000
    turn = message(ToolCall(long, "{}", long), ToolCall("read_file", json.dumps({long: 1}), long))

    assert all(len(problem.text) < 200 for problem in check(turn, [PATH]).problems)


def test_two_tools_of_one_name_are_misuse() -> None:
    """Nobody could tell which one is meant."""
    with pytest.raises(UsageError, match="read_file"):
        check(Message(), [READ_FILE, READ_FILE])


def test_kinds_are_all_described() -> None:
    """A kind has a severity and a sentence."""
    assert all(severity in {"error", "warning", "note"} and text for severity, text in KINDS.values())
