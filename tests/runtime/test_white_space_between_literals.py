"""What templates write between calls, sections and ends is read in strict mode without a problem.

Each case was found by verifying inferred specs against real templates: white space that is a separator, a section's close,
or the beginning of the next literal, and ends of a turn that are written only as stops.
"""

from __future__ import annotations

import json

import pytest

from analyzer.chat import Tool
from analyzer.runtime import STRICT, Parser, assemble, parse
from analyzer.spec.model import Spec

TAGGED = {
    "kind": "sequence",
    "parts": [
        "<tool_call>\n<function=", {"slot": "name"}, ">\n",
        {
            "slot": "arguments",
            "item": ["<parameter=", {"slot": "key"}, ">\n", {"slot": "value"}, "\n</parameter>\n"],
            "codecs": {"string": "raw"},
        },
        "</function>\n</tool_call>",
    ],
}  # fmt: skip
INVOKE = {
    "kind": "sequence",
    "parts": [
        '<invoke name="', {"slot": "name"}, '">\n',
        {
            "slot": "arguments",
            "item": ['<parameter name="', {"slot": "key"}, '">', {"slot": "value"}, "</parameter>\n"],
            "codecs": {"string": "raw"},
        },
        "</invoke>",
    ],
}  # fmt: skip
BRACES = {
    "kind": "sequence",
    "parts": [
        "<|call>call:", {"slot": "name"}, "{",
        {
            "slot": "arguments",
            "item": [{"slot": "key"}, ":", {"slot": "value"}],
            "separator": ",",
            "codecs": {"string": {"kind": "quoted", "open": "<|q|>", "close": "<|q|>"}, "null": "python"},
        },
        "}<call|>",
    ],
}  # fmt: skip
PYTHON = {
    "kind": "sequence",
    "parts": [
        {"slot": "name"}, "(",
        {
            "slot": "arguments",
            "item": [{"slot": "key"}, "=", {"slot": "value"}],
            "separator": ", ",
            "codecs": {"string": "python", "boolean": "python", "null": "python"},
        },
        ")",
    ],
}  # fmt: skip
RAW_PYTHON = {
    "kind": "sequence",
    "parts": [
        {"slot": "name"}, "(",
        {
            "slot": "arguments",
            "item": [{"slot": "key"}, "=", {"slot": "value"}],
            "separator": ", ",
            "codecs": {"string": "raw"},
        },
        ")",
    ],
}  # fmt: skip
END = {"literal": "<|im_end|>", "stop": True}
TOOLS = (
    Tool(
        "f",
        parameters={
            "type": "object",
            "properties": {
                "x": {"type": "string"},
                "n": {"type": ["string", "null"]},
                "l": {"type": "array"},
            },
        },
    ),
    Tool("g", parameters={"type": "object", "properties": {"y": {"type": "string"}}}),
)


def spec(layout: dict, content: list[dict] | None = None, header: str = "", **calls: object) -> Spec:
    """Build a spec with one calls segment."""
    segments = [
        *(content or [{"kind": "content", "end": END}]),
        {"kind": "calls", "layouts": [layout], "end": END, **calls},
    ]
    return Spec.model_validate({"turn": {"header": header, "segments": segments}})


BESIDE = [
    {"kind": "content", "when": "alone", "end": END},
    {"kind": "content", "when": "beside_calls", "close": "\n\n"},
]
FX = "<tool_call>\n<function=f>\n<parameter=x>\nA\n</parameter>\n</function>\n</tool_call>"
GY = "<tool_call>\n<function=g>\n<parameter=y>\nB\n</parameter>\n</function>\n</tool_call>"
IFX = '<invoke name="f">\n<parameter name="x">A</parameter>\n</invoke>'
IGY = '<invoke name="g">\n<parameter name="y">B</parameter>\n</invoke>'

PYTHON_VALUES = {
    "kind": "sequence",
    "parts": [
        "<call name=", {"slot": "name"}, ">\n",
        {
            "slot": "arguments",
            "item": ["<arg=", {"slot": "key"}, ">", {"slot": "value"}, "</arg>\n"],
            "codecs": {"string": "raw", "array": "python", "object": "python", "null": "python", "boolean": "python"},
        },
        "</call>",
    ],
}  # fmt: skip
THINK = [
    {"kind": "reasoning", "open": "<think>\n", "close": "\n</think>\n\n"},
    {"kind": "content", "end": END},
]

RAW_PYTHON_VALUES = {
    "kind": "sequence",
    "parts": [
        {"slot": "name"}, "(",
        {
            "slot": "arguments",
            "item": [{"slot": "key"}, "=", {"slot": "value"}],
            "separator": ", ",
            "codecs": {"string": "raw", "array": "python", "object": "python", "null": "python"},
        },
        ")",
    ],
}  # fmt: skip

CASES = {
    "Python containers beside raw strings": (
        spec(RAW_PYTHON_VALUES, open="[", close="]", separator=", "), "[f(l=['a', 'say \"b\"'], x=A, b), g(y=B)]<|im_end|>", None,
        [("f", {"l": ["a", 'say "b"'], "x": "A, b"}), ("g", {"y": "B"})],
    ),
    "a Python container that holds nothing a value could end with": (
        spec(RAW_PYTHON_VALUES, open="[", close="]", separator=", "), "[f(l=[True])]<|im_end|>", None,
        [("f", {"l": [True]})],
    ),
    "Python containers in tags": (
        spec(PYTHON_VALUES), "<call name=f>\n<arg=l>['a', 'say \"b\" and \\'c\\'', None, True]</arg>\n<arg=n>None</arg>\n</call><|im_end|>",
        None, [("f", {"l": ["a", "say \"b\" and 'c'", None, True], "n": None})],
    ),
    "separator between calls of a sequence without a section": (
        spec(TAGGED, BESIDE, separator="\n"), f"Hi\n\n{FX}\n{GY}<|im_end|>", "Hi", [("f", {"x": "A"}), ("g", {"y": "B"})],
    ),
    "no arguments": (
        spec(TAGGED, BESIDE, separator="\n"), "<tool_call>\n<function=f>\n</function>\n</tool_call><|im_end|>", None, [("f", {})],
    ),
    "a section that white space opens and closes": (
        spec(TAGGED, BESIDE, open="\n", close="\n", separator="\n"), f"\n{FX}\n{GY}\n<|im_end|>", None,
        [("f", {"x": "A"}), ("g", {"y": "B"})],
    ),
    "a separator that begins the section's close": (
        spec(INVOKE, BESIDE, open="<calls>\n", close="\n</calls>", separator="\n"), f"<calls>\n{IFX}\n{IGY}\n</calls><|im_end|>",
        None, [("f", {"x": "A"}), ("g", {"y": "B"})],
    ),
    "one call in such a section": (
        spec(INVOKE, BESIDE, open="<calls>\n", close="\n</calls>", separator="\n"), f"<calls>\n{IFX}\n</calls><|im_end|>",
        None, [("f", {"x": "A"})],
    ),
    "null as a Python word beside quoted strings": (
        spec(BRACES), "<|call>call:f{n:None,x:<|q|>A<|q|>}<call|><|im_end|>", None, [("f", {"n": None, "x": "A"})],
    ),
    "Python strings with the other quote inside": (
        spec(PYTHON, open="<s>[", close="]<e>", separator=", "), "<s>[f(x=\"it's\", n=None), g(y='a < b')]<e><|im_end|>", None,
        [("f", {"x": "it's", "n": None}), ("g", {"y": "a < b"})],
    ),
    "raw values between commas in bare Python calls": (
        spec(RAW_PYTHON, open="[", close="]", separator=", "), "[f(x=plain text, n=more), g(y=B)]<|im_end|>", None,
        [("f", {"x": "plain text", "n": "more"}), ("g", {"y": "B"})],
    ),
    "white space that an empty segment writes": (
        spec(TAGGED, [{"kind": "content", "open": " ", "empty": " ", "end": END}]), f" {FX}<|im_end|>", None, [("f", {"x": "A"})],
    ),
    "white space that opens the content": (
        spec(TAGGED, [{"kind": "content", "open": "\n", "end": END}]), "\nHi<|im_end|>", "Hi", [],
    ),
    "white space that opens content which has more of it": (
        spec(TAGGED, [{"kind": "content", "open": " ", "end": END}]), " Hi there, you<|im_end|>", "Hi there, you", [],
    ),
    "white space where reasoning is absent": (
        spec(TAGGED, [
            {"kind": "reasoning", "open": "\n<think>\n", "close": "\n</think>\n\n", "empty": "\n"},
            {"kind": "content", "end": END},
        ]), "\nHi<|im_end|>", "Hi", [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_white_space_between_literals_is_part_of_the_format(name: str, size: int) -> None:
    """The text is read as it was written, with no problem, in pieces of any size."""
    format_spec, text, content, calls = CASES[name]
    parsed = parse(format_spec, text, tools=TOOLS, options=STRICT)
    assert [problem.kind for problem in parsed.problems] == []
    assert parsed.message.content == content
    assert [(call.name, json.loads(call.arguments)) for call in parsed.message.tool_calls] == calls
    parser = Parser(format_spec, TOOLS, STRICT)
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    assert assemble([*events, *parser.finish()]).message == parsed.message


@pytest.mark.parametrize("name", CASES)
def test_one_cut_anywhere_changes_nothing(name: str) -> None:
    """A value may be whole when a chunk ends, and what ends it may begin the next."""
    format_spec, text, _, _ = CASES[name]
    whole = parse(format_spec, text, tools=TOOLS, options=STRICT)
    for cut in range(len(text)):
        parser = Parser(format_spec, TOOLS, STRICT)
        parsed = assemble([*parser.feed(text[:cut]), *parser.feed(text[cut:]), *parser.finish()])
        assert (parsed.message, parsed.problems) == (whole.message, ()), text[:cut]


def test_a_stop_of_the_grammar_ends_the_turn() -> None:
    """A stop string that no segment ends with still ends the turn."""
    base = spec(TAGGED)
    stops = base.grammar.model_copy(update={"stops": ("<|im_end|>", "<|return|>")})
    parsed = parse(base.model_copy(update={"grammar": stops}), "Hi<|return|>", options=STRICT)
    assert parsed.message.content == "Hi"
    assert parsed.problems == ()


@pytest.mark.parametrize(
    "prompt", ["<|a|>\n<think>\n</think>", "<|a|>\n<think></think>", "<|a|>\n<think>\n\n</think>\n\n"]
)
def test_a_prompt_that_closes_its_reasoning_in_any_white_space_starts_in_content(prompt: str) -> None:
    """White space in a generation prompt is soft, in strict mode too: the prompt is the template's own."""
    base = spec(TAGGED, THINK, header="<|a|>\n")
    format_spec = Spec.model_validate(
        {**base.model_dump(), "turn": {**base.turn.model_dump(), "prompts": [{"text": prompt}]}}
    )
    parsed = parse(format_spec, "Hi<|im_end|>", options=STRICT)
    assert (parsed.message.content, parsed.message.reasoning_content, parsed.problems) == ("Hi", None, ())


def test_white_space_that_ends_a_prompt_may_begin_the_next_segments_opener() -> None:
    """The prompt has written the line breaks before `<text>` already, and strict mode still finds the whole opener."""
    segments = [
        {"kind": "reasoning", "open": "<think>", "close": "</think>", "empty": "<think></think>"},
        {"kind": "content", "open": "\n\n<text>", "close": "</text>", "end": {"literal": "<|im_end|>"}},
    ]
    prompt = "<|a|>\n<think></think>\n\n"
    turn = {"header": "<|a|>\n", "prompts": [{"text": prompt}], "segments": segments}
    parsed = parse(
        Spec.model_validate({"turn": turn}), "<text>Hi</text><|im_end|>", options=STRICT, prompt=prompt
    )
    assert (parsed.message.content, parsed.problems) == ("Hi", ())
