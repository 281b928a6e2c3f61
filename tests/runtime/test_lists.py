"""Lists and objects, which are taken chunk by chunk: what they hold comes through, however they are written and cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.runtime import Parser, assemble, coalesce
from tests.runtime.checks import check_spans, run
from tests.runtime.specs import spec

PIECES = st.lists(st.text("ab'\"\\,:[]{} \n\té", max_size=6), max_size=6)


def in_python(text: str, style: int) -> str:
    """A string as a Python literal, in one of several notations."""
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    if style == 0:
        return "'" + escaped.replace("'", "\\'") + "'"
    if style == 1:
        return '"' + escaped.replace('"', '\\"') + '"'
    if style == 2:
        return "'''" + escaped.replace("'", "\\'") + "'''"
    return '"""' + escaped.replace('"', '\\"') + '"""'


def chunks_of(text: str, size: int) -> list[str]:
    """The text in pieces of one size."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def arguments(name: str, text: str) -> list[Any]:
    """The arguments of all calls, the same whole and in pieces of some sizes."""
    whole = coalesce(run(spec(name), [text]))
    for size in (1, 2, 3, 4, 5, 7):
        events = run(spec(name), chunks_of(text, size))
        check_spans(events, len(text))
        assert coalesce(events) == whole, size
    return [json.loads(call.arguments) for call in assemble(whole).message.tool_calls]


@given(
    PIECES,
    st.lists(st.integers(0, 3), min_size=6, max_size=6),
    st.sampled_from([",", ", ", " , ", ",\n"]),
    st.sampled_from(["", ","]),
)
@example(["", "", "x"], [0, 1, 2, 3, 0, 0], ",", ",")
@example(["'", '"'], [1, 0, 0, 0, 0, 0], ", ", "")
@example(["", "a"], [2, 3, 0, 0, 0, 0], " , ", "")
def test_lists_in_python(values: list[str], styles: list[int], comma: str, trailing: str) -> None:
    """Single, double and triple quotes, empty strings, any white space, a comma at the end."""
    items = comma.join(in_python(text, style) for text, style in zip(values, styles, strict=False))
    written = f"[{items}{trailing if values else ''}]"
    text = f"<|tool_call_start|>[put(list={written}, x={{'k': {written}}})]<|tool_call_end|>"

    assert arguments("python_calls", text) == [{"list": values, "x": {"k": values}}]


@given(PIECES, st.sampled_from([None, 0, 1]), st.booleans())
def test_lists_and_objects_in_json(values: list[str], indent: int | None, ascii_only: bool) -> None:  # noqa: FBT001
    """Arrays in objects in arrays, on one line or on many."""
    value = {"list": values, "o": {text: [text, {"k": text}] for text in values}}
    body = json.dumps({"name": "put", "arguments": value}, indent=indent, ensure_ascii=ascii_only)

    assert arguments("json_tags", f"<tool_call>\n{body}\n</tool_call>") == [value]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("json_tags", '<tool_call>\n{"name": "put", "arguments": {"l": ["item 1", "", "b", ["x", "y"]], "o": {"k": "v"}}}\n</tool_call>'),
        ("python_calls", "<|tool_call_start|>[put(l=['item 1', \"b\", '', '''c''', ['x', \"y\"], ], x='long text')]<|tool_call_end|>"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 3, 4])
def test_a_copy_in_the_middle_of_a_list(name: str, text: str, size: int) -> None:
    """A copy made between any two chunks goes on like its original, and looking at what is pending changes nothing."""
    expected = coalesce(run(spec(name), [text]))
    chunks = chunks_of(text, size)
    for at in range(len(chunks)):
        parser = Parser(spec(name))
        events = [event for chunk in chunks[:at] for event in parser.feed(chunk)]
        assert text.startswith("".join(chunks[:at]))
        assert len(parser.pending) <= len(text)
        for one in (parser.fork(), parser):
            rest = [event for chunk in chunks[at:] for event in one.feed(chunk)]
            assert coalesce([*events, *rest, *one.finish()]) == expected
