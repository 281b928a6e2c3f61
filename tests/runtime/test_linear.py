"""Work is linear, by counting: no character is searched more than a small constant number of times."""

from __future__ import annotations

import json

import pytest

from analyzer.runtime import ArgumentsDelta, CallEnd, Event, Parser
from tests.runtime.checks import WEATHER, tool
from tests.runtime.specs import SPECS, spec

PUT = tool("put", {"text": "string"})
OPENERS = {
    name: [
        s
        for s in (
            "<tool_call>",
            "<think>",
            "<|tool_call>call:",
            "[TOOL_CALLS]",
            "{",
            "[",
            "<x:calls>\n",
            "<tool_calls>[",
            "<|channel|>",
        )
        if s in json.dumps(SPECS[name], ensure_ascii=False).replace("\\n", "\n")
    ]
    for name in SPECS
}


def feed(name: str, text: str, size: int, tools: object = (WEATHER, PUT)) -> tuple[Parser, list[Event]]:
    """Feed text in pieces of one size."""
    parser = Parser(spec(name), tools)  # type: ignore[arg-type]
    events: list[Event] = []
    for at in range(0, len(text), size):
        events += parser.feed(text[at : at + size])
    return parser, events + parser.finish()


def check(name: str, text: str, factor: int = 6) -> list[Event]:
    """Parse whole and in pieces; the characters looked at stay below a multiple of the text's length."""
    events: list[Event] = []
    for size in (len(text), 997, 30, 4):
        parser, events = feed(name, text, size)
        assert parser.scanned <= factor * len(text) + 1000, (size, parser.scanned / len(text))
    return events


@pytest.mark.parametrize("name", sorted(SPECS))
def test_openers(name: str) -> None:
    """120 KB of nothing but openers."""
    for opener in OPENERS[name]:
        check(name, opener * (120_000 // len(opener)))


@pytest.mark.parametrize(
    ("name", "head", "tail"),
    [
        ("json_tags", '<tool_call>\n{"name": "put", "arguments": {"text": "', '"}}\n</tool_call>'),
        (
            "tagged_raw",
            "<tool_call>\n<function=put>\n<parameter=text>\n",
            "\n</parameter>\n</function>\n</tool_call>",
        ),
        ("name_args", '[TOOL_CALLS]put[ARGS]{"text": "', '"}'),
        ("python_calls", "<|tool_call_start|>[put(text='", "')]<|tool_call_end|>"),
        ("dialect", '<|tool_call>call:put{text:<|"|>', '<|"|>}<tool_call|>'),
        (
            "nested_tags",
            ']<]n[>[<tool_call>\n]<]n[>[<invoke name="put">]<]n[>[<text>',
            "]<]n[>[</text>]<]n[>[</invoke>\n]<]n[>[</tool_call>",
        ),
        ("pairs", "<tool_call>put<arg_key>text</arg_key><arg_value>", "</arg_value></tool_call>"),
    ],
)
def test_one_long_argument(name: str, head: str, tail: str) -> None:
    """400 KB of one string argument, full of characters that begin markers."""
    value = "x<y " * 100_000
    events = check(name, head + value + tail)

    assert [event.status for event in events if isinstance(event, CallEnd)] == ["complete"]
    arguments = "".join(event.text for event in events if isinstance(event, ArgumentsDelta))
    assert json.loads(arguments) == {"text": value}


@pytest.mark.parametrize(
    ("name", "closer"),
    [
        ("tagged_raw", "\n</parameter>"),
        ("tagged_raw", "\n</param"),
        ("pairs", "</arg_value>"),
        ("dialect", '<|"|>'),
        ("invoke_raw", "</parameter>\n"),
        ("tagged_raw", "</function>\n"),
        ("tagged_raw", "<parameter=x"),
    ],
)
def test_closers_prefix_repeated(name: str, closer: str) -> None:
    """A value made of its own closer, or of the closer's beginning, over and over."""
    heads = {
        "tagged_raw": "<tool_call>\n<function=put>\n<parameter=text>\n",
        "pairs": "<tool_call>put<arg_key>text</arg_key><arg_value>",
        "dialect": '<|tool_call>call:put{text:<|"|>',
        "invoke_raw": '<x:calls>\n<invoke name="put">\n<parameter name="text">',
    }
    check(name, heads[name] + closer * (100_000 // len(closer)))


@pytest.mark.parametrize(
    "name", ["bare_json", "json_tags", "array_tags", "bare_array", "dialect", "python_calls"]
)
def test_a_million_braces(name: str) -> None:
    """Deep nesting costs a byte a level, and no recursion."""
    head = {"json_tags": '<tool_call>\n{"name": "put", "arguments": ', "array_tags": '<tool_calls>[{"name": "put", "arguments": {"a":',
            "dialect": "<|tool_call>call:put", "python_calls": "<|tool_call_start|>[put(text="}.get(name, "")  # fmt: skip
    for brace in ("{", "[", '{"a":', "[{"):
        size = 50_000 if "array" in name else 1_000_000  # in an array each brace may begin another call
        text = head + brace * (size // len(brace))
        for size in (len(text), 4096):
            parser, _ = feed(name, text, size)
            assert parser.scanned <= 6 * len(text) + 1000


def test_many_calls() -> None:
    """50,000 calls in one text."""
    one = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>\n'
    text = one * 50_000
    parser, events = feed("json_tags", text, len(text), None)

    assert sum(isinstance(event, CallEnd) for event in events) == 50_000
    assert parser.scanned <= 6 * len(text)


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>" + " " * 100_000,
        "<think>" * 20_000,
        '<tool_call>\n{"name": "' + '\\"' * 50_000,
        "<parameter=x>" * 20_000,
        "<tool_call>\n" * 20_000,
        " " * 200_000,
        "\n" * 200_000,
        "<tool_call>\n<function=" * 10_000,
        "<" * 200_000,
    ],
)
def test_hostile_text(text: str) -> None:
    """Unclosed openers and runs of white space."""
    for name in ("json_tags", "tagged_raw", "pairs"):
        check(name, text)
