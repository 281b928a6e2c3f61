"""Responses as servers send them."""

from __future__ import annotations

import pytest

from analyzer.agent import ModelTurn, check, read_turn
from analyzer.chat import Message, ToolCall
from analyzer.errors import UsageError
from tests.agent.common import READ_FILE

ARGUMENTS = '{\n  \t\t\t  \t\t\t  \t\t\t  \t\t\t"path":"src/Main.java" }'
SERVER_ID = "4tchrKKLmaYPKFydOBferm8vtWKKy0lH"
RESPONSE = {
    "choices": [
        {
            "finish_reason": "tool_calls",
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {
                        "type": "function",
                        "function": {"name": "read_file", "arguments": ARGUMENTS},
                        "id": SERVER_ID,
                    }
                ],
            },
        }
    ],
    "usage": {"completion_tokens": 61, "prompt_tokens": 196, "total_tokens": 257},
}


def test_a_servers_tool_call() -> None:
    """The arguments are text with odd white space; the second parse makes the object."""
    turn = read_turn(RESPONSE)
    [call] = turn.calls

    assert (turn.finish_reason, turn.content) == ("tool_calls", None)
    assert (call.id, len(call.id or ""), call.name) == (SERVER_ID, 32, "read_file")
    assert len(call.arguments) == 46
    assert call.decoded() == {"path": "src/Main.java"}
    assert check(RESPONSE, [READ_FILE]).ok


def test_an_anthropic_message() -> None:
    """Blocks of text, thinking and calls; `max_tokens` is `length`."""
    message = {
        "role": "assistant",
        "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "Hm."},
            {"type": "text", "text": "Reading."},
            {"type": "tool_use", "id": "toolu_01", "name": "read_file", "input": {"path": "a"}},
        ],
    }
    call = ToolCall("read_file", '{"path": "a"}', "toolu_01")

    assert read_turn(message) == ModelTurn((call,), "Reading.", "Hm.", "tool_calls")
    assert read_turn({**message, "stop_reason": "max_tokens"}).finish_reason == "length"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"content": "hi", "tool_calls": None}, ModelTurn((), "hi")),
        ({"content": None, "reasoning": "hm"}, ModelTurn((), None, "hm")),
        ({"content": None, "tool_calls": [3]}, ModelTurn((ToolCall("", "", ""),), finish_reason="tool_calls")),
        ({"tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}]},
         ModelTurn((ToolCall("f", '{"x": 1}', ""),), finish_reason="tool_calls")),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "tool_calls": []}, ModelTurn((), "ab")),
    ],
)  # fmt: skip
def test_odd_messages(message: dict[str, object], expected: ModelTurn) -> None:
    """What is missing is empty; arguments sent as an object become text."""
    assert read_turn({"message": message, "finish_reason": "stop"}) == expected


@pytest.mark.parametrize("source", [{"choices": []}, {"message": 3}, 3])
def test_what_is_no_turn(source: object) -> None:
    """Misuse is said."""
    with pytest.raises(UsageError):
        read_turn(source)  # type: ignore[arg-type]


def test_a_message_knows_no_finish_reason() -> None:
    """It can be given; a turn is a turn already."""
    turn = read_turn(Message("hi"), "length")

    assert turn.finish_reason == "length"
    assert read_turn(turn) is turn
