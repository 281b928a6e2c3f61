"""Fifteen formats that the spec model must hold whole, each as a file that a person wrote."""

from __future__ import annotations

import pytest

from analyzer.spec import dumps, load_spec
from tests.spec.formats import FOLDER, NAMES, TEXTS, FormatText, spec_of, texts_of
from tests.spec.turn_writer import write_turn


def test_every_format_is_there() -> None:
    """There are fifteen specs, each with texts."""
    assert len(NAMES) == 15
    assert [] == [name for name in NAMES if not 3 <= len(list(texts_of(name))) <= 6]


@pytest.mark.parametrize("name", NAMES)
def test_a_format_survives_writing(name: str) -> None:
    """The spec loads, and what is dumped of it loads as the same spec."""
    spec = spec_of(name)

    assert load_spec(dumps(spec)) == spec


@pytest.mark.parametrize("name", NAMES)
def test_a_format_explains_its_peculiarity(name: str) -> None:
    """The file begins with comments that say what is peculiar about the format."""
    lines = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8").splitlines()

    assert lines[0].startswith("# The format of ")
    assert lines[2].startswith("# * ")


@pytest.mark.parametrize("name", NAMES)
def test_every_prompt_follows_the_rules(name: str) -> None:
    """A prompt begins with the header or continues a turn; a stop string opens nothing and closes no reasoning."""
    spec = spec_of(name)
    stops = spec.grammar.stops
    opening = [segment.open for segment in spec.turn.segments if segment.open]
    closing = [
        literal
        for item in spec.reasoning
        for literal in (item.close, item.end and item.end.literal)
        if literal
    ]

    assert all(
        prompt.text.startswith(spec.turn.header) for prompt in spec.turn.prompts if prompt.after == "user"
    )
    assert [] == [stop for stop in stops for literal in opening if literal.startswith(stop)]
    assert [] == [stop for stop in stops for literal in closing if stop == literal]


CANONICAL = [text for text in TEXTS if text.canonical]


@pytest.mark.parametrize("text", CANONICAL, ids=lambda text: f"{text.format}-{text.name}")
def test_the_spec_writes_its_texts(text: FormatText) -> None:
    """The turn that the spec makes of a message ends with what the model writes after the prompt."""
    written = write_turn(spec_of(text.format), text.message, text.layout)

    assert written.endswith(text.text)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: f"{text.format}-{text.name}")
def test_every_text_follows_a_prompt(text: FormatText) -> None:
    """The spec has exactly one prompt for the text's setting and last role."""
    prompts = spec_of(text.format).turn.prompts

    assert len([item for item in prompts if item.set == text.settings and item.after == text.after]) == 1
