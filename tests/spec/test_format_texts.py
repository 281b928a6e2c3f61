"""The runtime reads the texts of the fifteen formats as the messages that they mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from analyzer.chat import tools_from_openai
from analyzer.runtime import STRICT, Options, Parser, assemble
from analyzer.runtime.assemble import Parsed
from tests.spec.formats import TEXTS, TOOLS, FormatText, spec_of

DECLARED = tools_from_openai(TOOLS)
NAMES_IN_IDS = STRICT.with_(overlays=True)
"""Strict, but for the overlay that a format without names cannot do without."""


GAPS: dict[str, str] = {}
"""What the runtime does not read yet, with the reason."""

STRICT_GAPS: dict[str, str] = {}
"""The same for strict mode."""


def read(text: FormatText, options: Options, size: int) -> Parsed:
    """Parse a text in pieces of `size` characters, after its prompt."""
    parser = Parser(spec_of(text.format), tools=DECLARED, options=options, prompt=text.prompt)
    events = [
        event
        for start in range(0, len(text.text), size)
        for event in parser.feed(text.text[start : start + size])
    ]
    return assemble([*events, *parser.finish("stop")])


def found(parsed: Parsed) -> dict[str, Any]:
    """Return what was read, in the shape of the files."""
    message = parsed.message
    calls = [{"name": call.name, "id": call.id, "arguments": call.decoded()} for call in message.tool_calls]
    return {"content": message.content, "reasoning_content": message.reasoning_content, "tool_calls": calls}


def expected(text: FormatText) -> dict[str, Any]:
    """Return what a text means; what the file leaves out is absent."""
    calls = [{"id": None, **call} for call in text.message.get("tool_calls", ())]
    return {
        "content": text.message.get("content"),
        "reasoning_content": text.message.get("reasoning_content"),
        "tool_calls": calls,
    }


def cases(gaps: Mapping[str, str], *, canonical: bool = False) -> list[Any]:
    """Return the texts as parameters, those in `gaps` marked."""
    found = []
    for text in TEXTS:
        name = f"{text.format}-{text.name}"
        marks = [pytest.mark.xfail(reason=gaps[name], strict=True)] if name in gaps else []
        if text.canonical or not canonical:
            found.append(pytest.param(text, id=name, marks=marks))
    return found


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("text", cases(GAPS))
def test_a_text_is_read_as_it_is_meant(text: FormatText, size: int) -> None:
    """Content, reasoning, names, ids and decoded arguments, however the text is cut."""
    assert expected(text) == found(read(text, Options(), size))


@pytest.mark.parametrize("text", cases(STRICT_GAPS, canonical=True))
def test_what_the_template_writes_needs_no_leniency(text: FormatText) -> None:
    """Strict mode reads it as well, and nothing about it is a problem but a quote inside of quotes."""
    parsed = read(text, NAMES_IN_IDS, 10_000)

    assert expected(text) == found(parsed)
    assert [] == [item.kind for item in parsed.problems if item.kind != "inner_quote"]
