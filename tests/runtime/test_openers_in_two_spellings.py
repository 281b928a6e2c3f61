"""Openers of content that differ in white space alone, and turns that go on without them."""

from __future__ import annotations

import pytest

from analyzer.runtime import STRICT, parse
from analyzer.spec.model import Spec
from tests.runtime.checks import check_all_splits

SPEC = Spec.model_validate(
    {
        "template": {"name": "openers"},
        "input": {"arguments": "mapping"},
        "turn": {
            "prompts": [
                {"text": "  <|bot|>  </think>"},
                {"text": "  <|bot|>  <think>", "set": {"think": True}},
                {"text": "", "after": "result"},
            ],
            "header": "<|bot|>",
            "segments": [
                {"kind": "reasoning", "open": "<think>", "close": "</think>", "kept": "never"},
                {"kind": "content", "when": "alone", "open": "  </think>  ", "end": {"literal": "<|end|>"}},
                {"kind": "content", "when": "beside_calls", "open": "</think>    ", "empty": "</think>    "},
                {
                    "kind": "calls",
                    "layouts": [
                        {
                            "kind": "json",
                            "open": "<call>",
                            "close": "</call>",
                            "name": ["name"],
                            "arguments": ["arguments"],
                        }
                    ],
                    "end": {"literal": "<|end|>"},
                },
            ],
        },
    }
)
CALL = '<call>{"name": "f", "arguments": {}}</call>'


@pytest.mark.parametrize("prompt", ["  <|bot|>  </think>", ""], ids=["behind the prompt", "behind a result"])
@pytest.mark.parametrize("blank", ["", "  ", "    "])
@pytest.mark.parametrize("calls", [0, 1])
def test_each_run_of_white_space_of_the_format_is_dropped(prompt: str, blank: str, calls: int) -> None:
    """The longest that is there goes, whether calls follow or not."""
    message = parse(SPEC, f"{blank}Hello.{CALL * calls}<|end|>", prompt=prompt).message

    assert message.content == "Hello."
    assert len(message.tool_calls) == calls


@pytest.mark.parametrize("blank", ["", "  ", "    "])
def test_a_closer_of_reasoning_that_opens_content(blank: str) -> None:
    """Behind a thought too, however the text is cut."""
    events = check_all_splits(
        SPEC, f"Hm.</think>{blank}Hello.<|end|>", None, "stop", prompt="  <|bot|>  <think>"
    )

    assert "".join(event.text for event in events if event.kind == "text") == "Hello."


@pytest.mark.parametrize("blank", [" ", "\t", "     "])
def test_other_white_space_is_content(blank: str) -> None:
    """What no opener ends in stays, and so does what is more than an opener ends in."""
    content = parse(SPEC, f"{blank}Hello.<|end|>").message.content

    assert content == blank.removeprefix("    ") + "Hello."


def test_a_strict_reader_drops_nothing_without_its_opener() -> None:
    """Behind a result white space at the beginning is content in strict mode."""
    assert parse(SPEC, "  Hello.<|end|>", prompt="", options=STRICT).message.content == "  Hello."
