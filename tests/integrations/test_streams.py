"""What the two streams say of ids, reasons, usage and reasoning, event by event."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.agent.ids import ANTHROPIC, NINE, CallIds
from analyzer.integrations import sse
from analyzer.integrations.anthropic import MessageStream, message
from analyzer.integrations.openai import ChatResponse
from analyzer.integrations.surrogates import Paired
from analyzer.runtime import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    EndOfMessage,
    Event,
    Problem,
    ReasoningDelta,
    TextDelta,
    assemble,
)
from tests.integrations.replay import own


def call(
    index: int, ident: str | None = None, late: str | None = None, status: Any = "complete"
) -> list[Event]:
    """The events of a call."""
    return [
        CallStart(index, ident, "f", 0, 0),
        ArgumentsDelta(index, "{}", 0, 0),
        CallEnd(index, status, late, 0, 0),
    ]


def ids_of(events: list[Event], spec: str = "json_tag_per_call", **more: Any) -> list[str]:
    """The ids that a client gets."""
    chunks = ChatResponse("m").choice(own(spec), **more).feed(events)
    return [
        piece["id"]
        for chunk in chunks
        for piece in chunk["choices"][0]["delta"].get("tool_calls", ())
        if "id" in piece
    ]


def test_the_models_own_ids_are_kept_once() -> None:
    """The second call of the same id gets another one, and so does one that an earlier turn used."""
    first, second, third = ids_of([*call(0, "own"), *call(1, "own"), *call(2, "old")], taken=["old"])

    assert "own" == first
    assert 3 == len({first, second, third} - {"old"})


def test_ids_have_the_form_of_the_template() -> None:
    """Nine letters and digits, where the template refuses others."""
    found = ids_of(
        [*call(0), *call(1, "call_of_another_form"), *call(2, "abcDEF123")], "json_array_marker_ids9"
    )

    assert all(re.fullmatch(NINE, ident) for ident in found)
    assert "abcDEF123" == found[2]
    assert 3 == len(set(found))


def test_ids_never_meet() -> None:
    """Also where a mapped id is what a later call brings itself."""
    ids = CallIds(NINE)
    mapped = ids("call_of_another_form")

    assert mapped != ids(mapped)


def test_an_id_that_comes_late() -> None:
    """Is the call's own when calls are sent whole; as they come, one was made."""
    assert ["late"] == ids_of(call(0, late="late"), whole_calls=True)
    assert ["late"] != ids_of(call(0, late="late"))


def test_ids_for_messages() -> None:
    """Of the form that the API takes."""
    events = MessageStream("m").feed([*call(0, "functions.f:0"), EndOfMessage("stop", 0, 0)])
    [ident] = [event["content_block"]["id"] for event in events if event["type"] == "content_block_start"]

    assert re.fullmatch(ANTHROPIC, ident)


def test_indexes_have_no_gaps() -> None:
    """A call that is not told takes no number."""
    events = [*call(0, status="malformed"), *call(1), *call(3)]
    chunks = ChatResponse("m").choice(whole_calls=True).feed(events)

    assert [0, 0, 1, 1] == [
        piece["index"] for chunk in chunks for piece in chunk["choices"][0]["delta"].get("tool_calls", ())
    ]


@pytest.mark.parametrize(
    ("events", "reason", "expected"),
    [
        ([], "stop", ("stop", "end_turn")),
        (call(0), "stop", ("tool_calls", "tool_use")),
        (call(0), "length", ("length", "max_tokens")),
        (call(0, status="truncated"), "tool_calls", ("stop", "end_turn")),
        ([], "content_filter", ("content_filter", "refusal")),
        ([], "abort", ("stop", "end_turn")),
    ],
)
def test_reasons(events: list[Event], reason: str, expected: tuple[str, str]) -> None:
    """By the calls that were returned; a server's own words are `stop`."""
    ended = [*events, EndOfMessage(reason, 0, 0)]
    chunk = ChatResponse("m").choice().feed(ended)[-1]
    delta = MessageStream("m").feed(ended)[-2]

    assert expected == (chunk["choices"][0]["finish_reason"], delta["delta"]["stop_reason"])


def test_a_stop_sequence_is_named() -> None:
    """With its reason, unless the turn ended otherwise."""
    turn = assemble([TextDelta("a", 0, 1), EndOfMessage("stop", 1, 1)])
    cut = assemble([TextDelta("a", 0, 1), EndOfMessage("length", 1, 1)])

    said = message(turn, "m", stop_sequence="END", tokens=(7, 1))
    assert ("stop_sequence", "END") == (said["stop_reason"], said["stop_sequence"])
    assert {"input_tokens": 7, "output_tokens": 1} == said["usage"]
    assert ("max_tokens", None) == tuple(
        message(cut, "m", stop_sequence="END")[key] for key in ("stop_reason", "stop_sequence")
    )


def test_usage() -> None:
    """A chunk without choices, and a field of the whole completion."""
    response = ChatResponse("m")
    counted = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}

    assert ([], counted) == (response.usage(3, 4)["choices"], response.usage(3, 4)["usage"])
    assert counted == response.completion([assemble([])], tokens=(3, 4))["usage"]
    assert "usage" not in response.completion([assemble([])])


def test_the_key_of_reasoning() -> None:
    """`reasoning_content` unless another is asked for, in streams and whole."""
    events: list[Event] = [ReasoningDelta("Hm.", 0, 3), EndOfMessage("stop", 3, 3)]
    response = ChatResponse("m", reasoning_key="reasoning")

    assert {"reasoning": "Hm."} == response.choice().feed(events)[1]["choices"][0]["delta"]
    assert "Hm." == response.completion([assemble(events)])["choices"][0]["message"]["reasoning"]
    assert {"reasoning_content": "Hm."} == ChatResponse("m").choice().feed(events)[1]["choices"][0]["delta"]


def test_problems_are_kept_aside() -> None:
    """The APIs have no place for them."""
    problem = Problem("unknown_tool", "warning", "There is no tool named f.", "", 0, 0)
    choice, stream = ChatResponse("m").choice(), MessageStream("m")

    assert 1 == len(choice.feed([problem]))
    assert 1 == len(stream.feed([problem]))
    assert [problem] == choice.problems == stream.problems


def test_an_event_on_one_line() -> None:
    """Line breaks are escaped, and half a surrogate pair too, which UTF-8 does not have."""
    text = sse.encode({"text": "a\nb \ud83d é"}, "message").decode()

    assert text.startswith("event: message\ndata: ")
    assert 3 == text.count("\n")
    assert "a\nb \ud83d é" == json.loads(text.splitlines()[1].removeprefix("data: "))["text"]


LONE = (
    (r'{"a": "x\ud83dy"}', r'{"a": "x\ufffdy"}'),
    (r'{"a": "\ud83d\ude00"}', r'{"a": "\ud83d\ude00"}'),
    (r'{"a": "\ude00\ud83d"}', r'{"a": "\ufffd\ufffd"}'),
    (r'{"a": "\uD83D\uD83D\uDE00"}', r'{"a": "\ufffd\uD83D\uDE00"}'),
    (r'{"a": "\\\\ud83d \\n \u00e9"}', r'{"a": "\\\\ud83d \\n \u00e9"}'),
    ('{"a": "\ud83d é"}', '{"a": "\ufffd é"}'),
    (r'{"a": "cut \ud8', r'{"a": "cut \ud8'),
    (r'{"a": "cut \ud83d\u', r'{"a": "cut \ufffd\u'),
)


@pytest.mark.parametrize(("text", "expected"), LONE)
def test_halves_of_surrogate_pairs(text: str, expected: str) -> None:
    """Are replaced, however the text is cut; pairs, and backslashes that stand for themselves, stay."""
    for size in range(1, len(text) + 1):
        paired = Paired()
        said = [paired.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert expected == "".join(said) + paired.finish()


@given(st.text(st.sampled_from('\\ud8cC3fFe0n"é')), st.integers(1, 9))
def test_any_arguments(text: str, size: int) -> None:
    """What is JSON stays JSON with the same value, but for halves of pairs."""
    paired = Paired()
    said = "".join(paired.feed(text[at : at + size]) for at in range(0, len(text), size)) + paired.finish()
    try:
        value = json.loads(f'"{text}"')
    except ValueError:
        return

    assert re.sub("[\ud800-\udfff]", "\ufffd", value) == json.loads(f'"{said}"')
