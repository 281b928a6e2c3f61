"""Results on their way back: order, ids, errors."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from analyzer.agent import (
    IdMap,
    ToolResult,
    anthropic_turn,
    check,
    in_call_order,
    new_id,
    run,
    turn_messages,
    with_ids,
)
from analyzer.agent.replies import NOT_RUN, to_responses
from analyzer.chat import Message, ToolCall
from analyzer.errors import UsageError
from analyzer.runtime import parse
from tests.agent.common import READ_FILE, call, message, rendered, spec_of
from tests.agent.running import FILES, files

SERVER_ID = "4tchrKKLmaYPKFydOBferm8vtWKKy0lH"
USER = {"role": "user", "content": "What is in pom.xml?"}


def result(index: int, ident: str | None, content: str = "x", **more: Any) -> ToolResult:
    """A result."""
    return ToolResult(index, ident, "read_file", content, **more)


def test_a_round_trip() -> None:
    """The assistant's message goes back unchanged, then one message for its call with its id."""
    turn = message(ToolCall("read_file", '{"path": "pom.xml"}', "call0abc1"), content="")
    sent = turn_messages(turn, run(files(), turn))

    assert sent == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "call0abc1",
                    "type": "function",
                    "function": {"name": "read_file", "arguments": '{"path": "pom.xml"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call0abc1", "content": "<project>demo</project>"},
    ]


def shown(results: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The paths asked for and the contents beside them, as a template without ids pairs them."""
    turn = message(
        call("read_file", "3br1y9dS", path="pom.xml"), call("read_file", "a6jQ6Lrq", path="README.md")
    )
    text = rendered("json_tag_per_call", [USER, turn.to_openai(), *results])
    paths = re.findall(r'"path": "([^"]+)"', text)
    contents = re.findall(r"<tool_response>\n(.*)\n</tool_response>", text)
    return list(zip(paths, contents, strict=True))


def test_order_decides_what_a_template_without_ids_shows() -> None:
    """In completion order the data is swapped; sorted into call order it is not."""
    turn = message(
        call("read_file", "3br1y9dS", path="pom.xml"), call("read_file", "a6jQ6Lrq", path="README.md")
    )
    done = [result(1, "a6jQ6Lrq", FILES["README.md"]), result(0, "3br1y9dS", FILES["pom.xml"])]
    as_completed = [{"role": "tool", "tool_call_id": one.id, "content": one.content} for one in done]
    ordered = in_call_order(turn.tool_calls, done)

    assert shown(as_completed) == [("pom.xml", "# Demo"), ("README.md", "<project>demo</project>")]
    assert shown(turn_messages(turn, done)[1:]) == [
        ("pom.xml", "<project>demo</project>"),
        ("README.md", "# Demo"),
    ]
    assert [one.id for one in ordered] == [one.id for one in turn.tool_calls]


_WIDE = "     \t\t\t\t\t     \t\t\t\t\t"
PARALLEL = [
    ("3br1y9dSC9xmC4ugcI3IAWiolYBI3BKF", '{\n \t\t\t  \t\t\t  \t\t\t  \t\t\t "path":"pom.xml" }'),
    ("bF3ojBoHJeCpmVMzIVLtoujI1HH7NqPk", '{\n  \t\t\t  \t\t\t  \t\t\t  \t\t\t"path":"pom.xml" }'),
    ("a6jQ6Lrq9FWUOJGleeFI6HZhZGfEVgs0", f'{{\n{_WIDE}"path":"README.md"}}'),
    ("o0LtWOxRhvLNGIquLUx0Zntai3lj8Uj0", f'{{\n{_WIDE}"path":"README.md"\n\n{_WIDE}}}'),
    ("WZsjWUKX9jPKhkQtMfsXVpTfu3bwCeIp", f'{{"path":"README.md"\n\n{_WIDE}}}'),
]
"""Id and arguments of each call, as a server sent them."""


def test_a_parallel_response_that_was_cut() -> None:
    """Five whole calls and a finish reason of `length`: five results in order."""
    calls = [
        {"id": ident, "type": "function", "function": {"name": "read_file", "arguments": arguments}}
        for ident, arguments in PARALLEL
    ]
    response = {
        "choices": [
            {"finish_reason": "length", "message": {"role": "assistant", "content": "", "tool_calls": calls}}
        ]
    }
    tools = files()
    checked = check(response, tools.tools)
    results = run(tools, checked)

    assert [problem.kind for problem in checked.problems] == ["cut"]
    assert [one.content for one in results] == [FILES["pom.xml"]] * 2 + [FILES["README.md"]] * 3
    assert [one.id for one in results] == [ident for ident, _ in PARALLEL]
    assert {len(one.id or "") for one in results} == {32}


def test_every_call_is_answered() -> None:
    """A call without a result is told that it was not run."""
    calls = (call("read_file", "a"), call("read_file", "b"), call("read_file", "c"))
    ordered = in_call_order(calls, [result(2, "c"), result(0, "a")])

    assert [(one.id, one.content, one.status) for one in ordered] == [
        ("a", "x", "ok"),
        ("b", NOT_RUN, "skipped"),
        ("c", "x", "ok"),
    ]


def test_calls_of_equal_ids_are_told_apart_by_place() -> None:
    """An id that two calls have says nothing; their places do."""
    calls = (call("read_file", "a"), call("read_file", "a"), call("read_file"))
    ordered = in_call_order(calls, [result(2, None, "3"), result(1, "a", "2"), result(0, "a", "1")])

    assert [one.content for one in ordered] == ["1", "2", "3"]
    sent = turn_messages(Message(tool_calls=calls), ordered)
    ids = [item["tool_call_id"] for item in sent[1:]]
    assert ids[0] == "a"
    assert len(set(ids)) == 3
    assert [found["id"] for found in sent[0]["tool_calls"]] == ids


@pytest.mark.parametrize("wrong", [[result(0, "z")], [result(9, None)], [result(0, "a"), result(0, "a")]])
def test_results_that_answer_nothing_are_misuse(wrong: list[ToolResult]) -> None:
    """Nothing is dropped in silence."""
    with pytest.raises(UsageError):
        in_call_order((call("read_file", "a"),), wrong)


def test_errors_are_marked() -> None:
    """By a word where the shape has no field; once."""
    turn = message(call("read_file", "a", path="none"), call("read_file", "b"), call("read_file", "c"))
    results = [
        *run(files(), message(call("read_file", "a", path="none"))),
        result(1, "b", "Error: it said so itself", status="failed"),
        result(2, "c", "fine"),
    ]

    contents = [item["content"] for item in turn_messages(turn, results)[1:]]
    assert contents == ["Error: LookupError: no such file none", "Error: it said so itself", "fine"]
    assert [item["output"] for item in to_responses(results)] == contents


def test_anthropic_results_share_one_message() -> None:
    """All blocks in one user message, before any text, each with its id and whether it is an error."""
    turn = message(
        call("read_file", "toolu_01", path="pom.xml"),
        call("read_file", "toolu_02", path="no"),
        content="Reading.",
    )
    assistant, user = anthropic_turn(turn, run(files(), turn), text="Go on.")

    assert assistant == {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Reading."},
            {"type": "tool_use", "id": "toolu_01", "name": "read_file", "input": {"path": "pom.xml"}},
            {"type": "tool_use", "id": "toolu_02", "name": "read_file", "input": {"path": "no"}},
        ],
    }
    assert user == {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_01",
                "content": "<project>demo</project>",
                "is_error": False,
            },
            {
                "type": "tool_result",
                "tool_use_id": "toolu_02",
                "content": "LookupError: no such file no",
                "is_error": True,
            },
            {"type": "text", "text": "Go on."},
        ],
    }


def test_anthropic_input_is_always_an_object() -> None:
    """The API refuses all else; ids it does not take are replaced, arguments that are none are kept as text."""
    turn = message(ToolCall("read_file", '{"path": ', "functions.read_file:0"), ToolCall("read_file", ""))
    assistant, user = anthropic_turn(turn, [])
    first, second = assistant["content"]

    assert first["input"] == {"unreadable_arguments": '{"path": '}
    assert second["input"] == {}
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", block["id"]) for block in assistant["content"])
    assert [block["tool_use_id"] for block in user["content"]] == [first["id"], second["id"]]


def test_arguments_that_are_no_object_do_not_break_the_history() -> None:
    """A template that takes mappings renders the turn, and the model sees what it wrote."""
    turn = message(
        ToolCall("read_file", '{"path": "\\"Blue\\" sky":3}', "a"),
        ToolCall("read_file", '"{\\"path\\": \\"pom.xml\\"}"', "b"),
        ToolCall("read_file", "", "c"),
        ToolCall("read_file", '{"path": NaN}', "d"),
    )
    sent = turn_messages(turn, run(files(), turn))
    texts = [found["function"]["arguments"] for found in sent[0]["tool_calls"]]

    assert [json.loads(text) for text in texts] == [
        {"unreadable_arguments": '{"path": "\\"Blue\\" sky":3}'},
        {"path": "pom.xml"},
        {},
        {"unreadable_arguments": '{"path": NaN}'},
    ]
    assert "sky" in rendered("json_tag_per_call", [USER, *sent])
    assert [item["content"][:6] for item in sent[1:]] == ["Error:", "<proje", "Error:", "Error:"]


def test_a_native_id_stays() -> None:
    """A format whose ids hold the name reads them back: they must not be replaced."""
    turn = with_ids(message(ToolCall("get_weather", "{}", "functions.get_weather:3")))

    assert turn.tool_calls[0].id == "functions.get_weather:3"


def test_the_parsers_calls_get_ids() -> None:
    """A format without ids leaves them to the client: nine letters or digits, all different."""
    text = "\n".join(
        ['<tool_call>\n{"name": "read_file", "arguments": {"path": "pom.xml"}}\n</tool_call>'] * 2
    )
    parsed = parse(spec_of("json_tag_per_call"), text, [READ_FILE])
    ids = [found.id for found in with_ids(parsed.message).tool_calls]

    assert len(set(ids)) == 2
    assert all(re.fullmatch(r"[A-Za-z0-9]{9}", found or "") for found in [*ids, new_id()])


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[a-zA-Z0-9]{9}$",
        r"call_[0-9a-zA-Z]{24}",
        r"[0-9]+",
        r"\d",
        r"toolu_\w+",
        r"[A-Za-z0-9]{8,12}",
        None,
    ],
)
def test_id_forms(pattern: str | None) -> None:
    """The same id always becomes the same, two never become one, what fits stays."""
    ids = IdMap(pattern)
    names = [SERVER_ID, "x" * 99, "functions.f:0"]
    names = names[: 2 if pattern == r"\d" else 3]
    made = [ids(name) for name in names]

    assert [ids(name) for name in names] == made
    assert len(set(made)) == len(made)
    assert pattern is None or all(re.fullmatch(pattern, one) for one in made)
    assert [IdMap(pattern)(one) for one in made] == made


def test_an_id_that_will_come_is_not_given_away() -> None:
    """Made ids stay clear of those that fit already."""
    first = IdMap(r"[A-Za-z0-9]{9}")("x")
    turn = message(ToolCall("f", "{}", "x"), ToolCall("f", "{}", first))
    sent = turn_messages(turn, [], id_map=IdMap(r"[A-Za-z0-9]{9}"))
    ids = [found["id"] for found in sent[0]["tool_calls"]]

    assert ids[1] == first
    assert ids[0] != first


def test_forms_that_cannot_be_made_are_said() -> None:
    """A pattern of the user's own is the user's to map."""
    with pytest.raises(UsageError, match="no id of the form"):
        IdMap(r"only this")("x")


def test_prepare_has_the_last_word() -> None:
    """The seam for a normaliser: whole turns go in, what the template takes comes out."""
    turn = message(call("read_file", "a", path="pom.xml"))

    def merged(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        function = messages[0]["tool_calls"][0]["function"]
        return [{"role": "user", "content": json.dumps([function, messages[1]["content"]])}]

    assert turn_messages(turn, [replace(result(0, "a"))], prepare=merged) == [
        {
            "role": "user",
            "content": '[{"name": "read_file", "arguments": "{\\"path\\": \\"pom.xml\\"}"}, "x"]',
        }
    ]


def test_names_beside_results() -> None:
    """For templates that write the tool's name with its result."""
    turn = message(call("read_file", "a"))

    assert turn_messages(turn, [], names=True)[1]["name"] == "read_file"
