"""What holds for any text in any format: chunk invariance, tiling, valid JSON, bounded hold, no crash."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.chat import Tool
from analyzer.runtime import STRICT, CompiledTools, Event, Options, Parser, Problem, assemble, coalesce
from analyzer.runtime.json_scan import BROKEN, JsonScanner
from tests.budget import examples
from tests.runtime.checks import WEATHER, check_calls, check_spans, run, tool
from tests.runtime.specs import SPECS, spec

NAMES = sorted(SPECS)
TOOLS = (
    WEATHER,
    tool("ping"),
    tool("put", {"text": "string", "data": "object", "list": "array", "n": ["integer"]}),
)
WORDS = [
    "get_weather", "ping", "put", "city", "days", "text", "data", "list", "x", " ", "\n", "\n\n", "  ", "'", '"', "\\", ",",
    ":", "{", "}", "[", "]", "(", ")", "=", "1", "-2.5e3", "true", "None", "null", "Oslo", "é", "😀", "\t", "\x00", "<", ">",
    "</", "\\n", "\\u00e9", "\\ud83d", "name", "arguments", "parameters", "id", '{"name": "ping", "arguments": {}}',
    '{"name": "get_weather", "arguments": {"city": "x"}}', '{"name": "get_weather", "parameters": {"city": "x"}}',
]  # fmt: skip


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [text for item in items for text in _strings(item)]


def format_literals(name: str) -> list[str]:
    """The literals of a format, and their first halves."""
    turn = SPECS[name]["turn"]
    found = {
        text
        for text in _strings(turn)
        if text.strip() and text not in {"reasoning", "content", "calls", "json", "sequence"}
    }
    halves = {text[: len(text) // 2] for text in found if len(text) > 3}
    return sorted(found | halves)


@st.composite
def turns(draw: st.DrawFn, name: str) -> str:
    """Text made of the format's own literals and of noise."""
    pieces = st.sampled_from(WORDS + format_literals(name) * 3) | st.text(max_size=6)
    return "".join(draw(st.lists(pieces, max_size=30)))


def cut(draw: Any, text: str) -> list[str]:
    """Cut text into random pieces, empty ones too."""
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


OPTIONS = [
    Options(repair=True, unwrap_arguments=True),
    Options(calls="drop", reasoning="drop"),
    Options(unknown_tools="content", ignored=("<pad>",)),
    Options(),
    STRICT,
    Options(malformed="content"),
    Options(reasoning="content"),
    Options(unknown_tools="drop", parallel=False),
]


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=examples(60))
def test_any_chunking_equals_whole(name: str, data: st.DataObject) -> None:
    """However noise is cut, the coalesced events are the same, tile the text and keep calls in order."""
    text = data.draw(turns(name))
    options = data.draw(st.sampled_from(OPTIONS))
    tools = data.draw(st.sampled_from([None, TOOLS]))
    finish = data.draw(st.sampled_from(["stop", "length"]))
    prompts = [prompt.text for prompt in spec(name).turn.prompts]
    prompt = data.draw(st.sampled_from([None, *prompts]))
    more: dict[str, Any] = {"options": options, "prompt": prompt}

    whole = run(spec(name), [text], tools, finish, **dict(more))
    check_spans(whole, len(text))
    check_calls(whole)
    for chunks in (cut(data.draw, text), list(text)):
        pieces = run(spec(name), chunks, tools, finish, **dict(more))
        check_spans(pieces, len(text))
        check_calls(pieces)
        assert coalesce(pieces) == coalesce(whole), chunks


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=examples(15))
def test_fork_goes_on_alone(name: str, data: st.DataObject) -> None:
    """A copy made anywhere gives the same events as the original, and neither disturbs the other."""
    text = data.draw(turns(name))
    at = data.draw(st.integers(0, len(text)))
    expected = coalesce(run(spec(name), [text], TOOLS))

    first = Parser(spec(name), TOOLS)
    events: list[Event] = first.feed(text[:at])
    other = first.fork()
    one = [*events, *first.feed(text[at:]), *first.finish()]
    two = [*events, *other.feed(text[at:]), *other.finish()]

    assert coalesce(one) == expected
    assert coalesce(two) == expected


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=4), v, max_size=3),
        max_leaves=8,
    ),
    st.booleans(),
    st.data(),
)
@settings(max_examples=examples(150))
def test_json_arguments_come_through(value: Any, ascii_only: bool, data: st.DataObject) -> None:  # noqa: FBT001
    """Any JSON object comes out as it went in, at any cut."""
    arguments = json.dumps({"a": value}, ensure_ascii=ascii_only)
    text = f'<tool_call>\n{{"name": "ping", "arguments": {arguments}}}\n</tool_call>'
    for chunks in ([text], cut(data.draw, text), list(text)):
        parsed = assemble(run(spec("json_tags"), chunks, None))
        assert [call.arguments for call in parsed.message.tool_calls] == [arguments]
        assert parsed.problems == ()


BOUND = 1200
"""The longest literal with its white space (both capped at 256), a name, and the literal behind it."""


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@settings(max_examples=examples(20))
def test_what_is_held_is_bounded(name: str, data: st.DataObject) -> None:
    """The text held back does not grow with the text, typed values aside."""
    piece = data.draw(turns(name))
    parser = Parser(spec(name), TOOLS)
    for _ in range(max(1, 4000 // (len(piece) + 1))):
        parser.feed(piece)
        call = parser._call
        if call is None and parser._draft is None:
            assert len(parser.pending) < BOUND + len(piece)


def test_openers_that_no_call_follows_do_not_wait_for_one() -> None:
    """In a section, each broken opener is decided when the next one stands there, and reported as one text at the end."""
    piece = "<｜calls▁begin｜><｜call▁begin｜>function<｜sep｜>"
    parser = Parser(spec("fenced"), TOOLS)
    events = []
    for _ in range(200):
        events += parser.feed(piece)
        assert len(parser.pending) <= len(piece)
    events += parser.finish("stop")

    assert [event.kind for event in events if isinstance(event, Problem)] == [
        "unexpected_text",
        "missing_close",
    ]
    check_spans(events, 200 * len(piece))


def test_tools_are_shared() -> None:
    """Compiled tools serve any number of parsers."""
    tools = CompiledTools([Tool("f", "", {"type": "object", "properties": {"n": {"type": "integer"}}})])
    first = Parser(spec("pairs"), tools)
    second = Parser(spec("pairs"), tools)

    assert first.tools is second.tools


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=6),
        lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=4), v, max_size=4),
        max_leaves=12,
    ),
    st.sampled_from([None, 1]),
    st.data(),
)
@settings(deadline=None)
def test_the_json_scanner_takes_what_json_is(value: Any, indent: int | None, data: st.DataObject) -> None:
    """What is JSON goes through as it is, and what is not is refused, however it is cut."""
    text = json.dumps({"v": value}, indent=indent, ensure_ascii=data.draw(st.booleans()))
    at = data.draw(st.integers(1, len(text) - 1))
    noise = data.draw(st.sampled_from(['"', ",", ":", "]", "}", "[", "{", "1", "t", "\\", " ", "\n"]))
    for candidate in (text, text[:at] + noise + text[at:], text[: at - 1] + text[at:]):
        try:
            json.loads(candidate)
        except ValueError:
            valid = False
        else:
            valid = True
        for size in (1, 2, 5):
            scanner = JsonScanner(lenient=False, escapes=False)
            out = ""
            for start in range(0, len(candidate), size):
                piece = candidate[start : start + size]
                end = scanner.scan(piece, 0) if scanner.open else 0
                out += "".join(scanner.out)
                scanner.out.clear()
                if end < len(piece) and piece[end:].strip():
                    scanner.state = BROKEN
            assert (scanner.done, size) == (valid, size), candidate
            if valid:
                assert out.strip() == candidate.strip()
