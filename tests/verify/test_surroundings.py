"""Turns that the template writes otherwise for what stands around them: its own indentation, or a system message."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from analyzer.analysis import Analysis, analyze
from analyzer.render import InProcessRenderer
from analyzer.spec.model import Spec
from analyzer.template import Template
from analyzer.verify import Verdict, verify
from analyzer.verify.cut import Before, Cut, cut_turn

TEMPLATES = Path(__file__).parents[2] / "corpus" / "templates"
INDENTED = (TEMPLATES / "indented_lines.jinja").read_text(encoding="utf-8")
MISCOUNTED = (TEMPLATES / "miscounted_behind_system.jinja").read_text(encoding="utf-8")
LEAK = "indentation_leaks"


@cache
def analysed(text: str) -> Analysis:
    """What analysis makes of a template."""
    return analyze(Template("around", text), renderer=InProcessRenderer())


def spec_of(text: str) -> Spec:
    """The spec that was inferred from a template."""
    spec = analysed(text).spec
    assert spec is not None
    return spec


def changed(text: str, old: str, new: str) -> str:
    """A template with one thing written otherwise."""
    assert old in text
    return text.replace(old, new)


def proved(spec: Spec, text: str) -> Verdict:
    """The verdict on a spec for a template."""
    return verify(spec, Template("around", text), InProcessRenderer())


def witness_of(spec: Spec, kind: str) -> dict[str, Any]:
    """The witness of a defect."""
    return next(dict(defect.witness) for defect in spec.defects if defect.kind == kind)


CLOSER = "      {{ '<|/calls|>' }}\n"
MORE = """
      {%- for call in message.tool_calls[1:] %}
        {{ '' }}
      {%- endfor %}
      {{- '<|/calls|>' }}
"""
BY_COUNT = re.sub(
    r"\{\{ '<\|(bot|said)\|>'", r"{{- '<|\1|>'", changed(INDENTED, CLOSER, MORE.removeprefix("\n"))
)
"""White space before the closer of the calls alone, more of it with each call but the first."""


def test_the_beginning_of_a_turn_is_spaced_otherwise_in_history() -> None:
    """The defect shows the prompt and the turn, and nothing else is wrong with the template."""
    done = analysed(INDENTED)
    witness = witness_of(spec_of(INDENTED), LEAK)

    assert done.verdict == "proven_with_defects"
    assert "".join(witness["render"].split()).startswith("".join(witness["prompt"].split()))
    assert not witness["render"].startswith(witness["prompt"])


def test_white_space_that_the_number_of_calls_changes_is_a_defect() -> None:
    """The spec has the white space of some turns, the others are excused; the values all came out."""
    done = analysed(BY_COUNT)
    witness = witness_of(spec_of(BY_COUNT), LEAK)

    assert done.verdict == "proven_with_defects"
    assert witness["seen"].startswith("white space: ")
    assert len(witness["messages"][-1]["tool_calls"]) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "(message.content or '') + '<|/said|>'",
            "(' ' if message.tool_calls | length > 2) + (message.content or '') + '<|/said|>'",
        ),
        (
            "call.function.name + '<|with|>'",
            "call.function.name + (' ' if message.tool_calls | length > 2) + '<|with|>'",
        ),
    ],
    ids=["content", "name"],
)
def test_white_space_beside_a_value_is_no_indentation(old: str, new: str) -> None:
    """What a value cannot be told from counts, whatever the number of calls."""
    assert proved(spec_of(INDENTED), changed(INDENTED, old, new)).word == "failed"


def test_white_space_that_no_turn_has_is_the_specs_fault() -> None:
    """A closer whose white space stands in no render is wrong, though white space is all that is wrong."""
    spec = spec_of(INDENTED)
    *others, calls = spec.turn.segments
    wrong = calls.model_copy(update={"close": "\n<|/calls|>"})
    turn = spec.turn.model_copy(update={"segments": (*others, wrong)})

    assert proved(spec.model_copy(update={"turn": turn}), INDENTED).word == "failed"


def test_white_space_before_the_header_is_not_the_turns() -> None:
    """A header of words that white space is not alone before is none."""
    spec = spec_of(INDENTED)
    before = Before("Q  <|bot|>", "Q", "Q")

    cut = cut_turn(spec, before, "Q    <|bot|>x")

    assert isinstance(cut, Cut)
    assert cut.text == "x"
    assert isinstance(cut_turn(spec, before, "Q  !  <|bot|>x"), str)


def test_a_turn_that_a_system_message_changes_is_a_defect() -> None:
    """The format is that without the message; the witness has one, and shows both texts."""
    done = analysed(MISCOUNTED)
    spec = spec_of(MISCOUNTED)
    witness = witness_of(spec, "turn_changed_by_system")

    assert done.verdict == "proven_with_defects"
    assert spec.input.system == "accepted"
    assert spec.input.reasoning_fields == ("reasoning_content",)
    assert witness["messages"][0]["role"] == "system"
    assert "<thought></thought>" in witness["seen"]
    assert "<thought>" not in witness["render"]


def test_a_wrong_spec_is_not_excused_by_a_system_message() -> None:
    """What is misread without the message too is no fault of the template."""
    spec = spec_of(MISCOUNTED)
    wrong = re.sub(r"</thought>", "</thinking>", spec.model_dump_json())

    verdict = proved(Spec.model_validate_json(wrong), MISCOUNTED)

    assert verdict.word == "failed"
    assert "turn_changed_by_system" not in [defect.kind for defect in verdict.defects]


def test_a_system_message_that_each_turn_repeats_is_no_part_of_the_header() -> None:
    """The header is what turns begin with where there is no system message."""
    text = (
        "{%- set rule = messages[0].content if messages[0].role == 'system' else '' %}{%- for m in messages if m.role != 'system' %}"
        "{{- '<|' + m.role + '|>' + rule + m.content + '<|end|>' }}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}"
    )

    assert spec_of(text).turn.header == "<|assistant|>"
    assert analysed(text).verdict == "no_calls"


def test_words_before_content_that_nothing_closes_are_no_reasoning() -> None:
    """Metadata of a message stands between the header and a line break; only a name that says reasoning makes it that."""
    text = (
        "{%- for m in messages %}{{- '<|' + m.role + '|>' + m.get('metadata', '') + '\n' + m.content }}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}"
    )

    assert spec_of(text).reasoning == ()
    assert analysed(text).verdict == "no_calls"
    assert spec_of(text.replace("metadata", "reasoning")).reasoning != ()
