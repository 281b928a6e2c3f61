"""A turn in two halves: what passes between them, in cases that both servers share."""

from __future__ import annotations

from typing import Literal

import pytest

from analyzer.chat import Message, ToolCall
from analyzer.integrations.halves import CallsHalf, ReasoningHalf, Start, start_of
from analyzer.runtime import assemble
from analyzer.spec import Spec
from tests.export.samples import TOOLS
from tests.integrations.replay import own

THINK = "<think>Hm.</think>\n"
ARGUMENT = "<arg_key>city</arg_key>\n<arg_value><think>x</think></arg_value>\n"


def halves(
    spec: Spec, text: str, size: int, prompt: str | None = None, rest: Literal["raw", "content"] = "raw"
) -> tuple[str, str, Message]:
    """The reasoning, the text that is passed on, and what the other half makes of it."""
    first = ReasoningHalf(spec, start_of(spec, prompt, {}), rest=rest, tools=TOOLS)
    said = [first.feed(text[at : at + size]) for at in range(0, len(text), size)]
    said.append(first.finish())
    passed = "".join(found.rest for found in said)
    second = CallsHalf(spec, TOOLS)
    message = assemble([*second.feed(passed), *second.finish()]).message
    return "".join(found.reasoning for found in said), passed, message


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize(
    ("text", "reasoning", "passed"),
    [
        (f"{THINK}Hello.", "Hm.", "Hello."),
        ("Hello.", "", "Hello."),
        ("\n<think></think>\nHello.", "", "Hello."),
        (f"{THINK}A{THINK}B", "Hm.\nHm.", "AB"),
        (f"{THINK}\n<tool_call>ping\n</tool_call>", "Hm.", "<tool_call>ping\n</tool_call>"),
        (f"<tool_call>get_weather\n{ARGUMENT}</tool_call>", "", f"<tool_call>get_weather\n{ARGUMENT}</tool_call>"),
        ("<think>Hm.<tool_call>ping\n</tool_call>", "Hm.", "<tool_call>ping\n</tool_call>"),
        ("<think>Hm.", "Hm.", ""),
    ],
    ids=["closed", "none", "empty", "two blocks", "a call", "markers in an argument", "a call inside", "open"],
)  # fmt: skip
def test_what_is_passed_on(text: str, reasoning: str, passed: str, size: int) -> None:
    """The text without reasoning and its markers, however it is cut."""
    found = halves(own("key_value_tags"), text, size)

    assert (reasoning, passed) == found[:2]


@pytest.mark.parametrize("size", [1, 1000])
def test_content_for_a_client(size: int) -> None:
    """Without a tool parser behind it the text is content, and calls stay as they were written."""
    spec = own("channels_recipients")
    text = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello.<|return|>"

    assert ("Hm.", "Hello.") == halves(spec, text, size, spec.turn.header, "content")[:2]
    raw = halves(spec, text, size, spec.turn.header)
    assert raw[1].startswith("<|start|>assistant<|channel|>final<|message|>")
    assert Message("Hello.") == raw[2]


def test_markers_in_an_argument() -> None:
    """Are text for both halves."""
    message = halves(own("key_value_tags"), f"<tool_call>get_weather\n{ARGUMENT}</tool_call>", 3)[2]

    assert (ToolCall("get_weather", '{"city": "<think>x</think>"}'),) == message.tool_calls


def test_where_a_turn_begins() -> None:
    """A known prompt, one that goes on behind the header, one of another kind, none at all."""
    spec = own("key_value_tags")

    assert Start("<|assistant|>") == start_of(spec, "user: hi<|assistant|>", {})
    assert Start("<|assistant|>\n<think></think>") == start_of(spec, "<|assistant|>\n<think></think>", {})
    assert Start("<|assistant|>", "\n<think>Begun") == start_of(spec, "<|assistant|>\n<think>Begun", {})
    assert Start("") == start_of(spec, "something else", {})
    assert Start("<|assistant|>\n<think></think>") == start_of(
        spec, None, {"enable_thinking": False, "x": [1]}
    )
