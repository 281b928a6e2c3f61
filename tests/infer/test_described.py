"""Calls that a template describes and does not render are read from the description, or plainly not."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from analyzer.analysis import Analysis, analyze
from analyzer.chat import Tool
from analyzer.corpus import is_synced
from analyzer.render import InProcessRenderer
from analyzer.runtime import parse
from analyzer.spec.model import Evidence, JsonLayout, Spec
from analyzer.template import Template
from analyzer.verify.described import is_described, self_trips
from tests.budget import real_template

HERE: Final = Path(__file__).parent / "data"
TEMPLATES: Final = Path(__file__).parents[2] / "corpus" / "templates"
TEXTS: Final[list[dict[str, Any]]] = yaml.safe_load((HERE / "descriptions.yaml").read_text(encoding="utf-8"))
REAL: Final[dict[str, dict[str, Any]]] = yaml.safe_load(
    (HERE / "described_corpus.yaml").read_text(encoding="utf-8")
)
OWN: Final[dict[str, dict[str, Any]]] = yaml.safe_load(
    (HERE / "described_own.yaml").read_text(encoding="utf-8")
)
CALL: Final = {"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}
TOOLS: Final = (
    Tool(
        "get_weather",
        "",
        {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    ),
    Tool("get_time", "", {"type": "object", "properties": {}}),
)


def template_with(text: str, base: str = "") -> Template:
    """A template that puts a text behind the tools and renders no calls."""
    before, _, after = text.rpartition("{tools}") if "{tools}" in text else ("", "", "\n" + text)
    return Template(
        "described",
        "{%- if tools %}{{ " + json.dumps("<s>" + before) + " }}{{ tools | tojson }}{{ " + json.dumps(after)
        + " }}{% endif %}{{ " + json.dumps(base) + " }}"
        "{%- for m in messages %}{{ '<|' + m.role + '|>' + (m.content or '') + '<|end|>' }}{% endfor %}"
        "{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}",
    )  # fmt: skip


def described_part(spec: Spec) -> Evidence:
    """The evidence of the D-comparisons."""
    [found] = [one for many in spec.evidence.values() for one in many if one.comparison.startswith("D")]
    return found


def analysis_of(template: Template) -> tuple[Analysis, Spec]:
    """The analysis of a template that renders."""
    found = analyze(template, renderer=InProcessRenderer())
    assert found.spec is not None
    return found, found.spec


def opening(spec: Spec) -> str:
    """How the section, or its first call, begins."""
    calls = spec.calls
    assert calls is not None
    first = calls.layouts[0]
    literal = first.open if isinstance(first, JsonLayout) else first.parts[0]
    return calls.open + (literal if isinstance(literal, str) else "")


@pytest.mark.parametrize("case", [case for case in TEXTS if "reply" in case], ids=lambda case: case["id"])
def test_description_is_read(case: dict[str, Any]) -> None:
    """What a model that follows the description writes is read as the call that it means."""
    found, spec = analysis_of(template_with(case["text"], case.get("base", "")))

    parsed = parse(spec, case["reply"] + "<|end|>", TOOLS, prompt="<|assistant|>")

    assert "described" == found.verdict, found.failures
    assert described_part(spec).described
    assert "confidence: " in described_part(spec).note
    calls = [{"name": call.name, "arguments": call.decoded()} for call in parsed.message.tool_calls]
    assert case.get("calls", [CALL]) == calls
    assert not parsed.message.content


@pytest.mark.parametrize("case", [case for case in TEXTS if "reply" not in case], ids=lambda case: case["id"])
def test_nothing_is_invented(case: dict[str, Any]) -> None:
    """Where a text does not say how to call there is no calls segment, and a note says what was tried instead."""
    found, spec = analysis_of(template_with(case["text"], case.get("base", "")))

    assert "no_calls" == found.verdict
    assert spec.calls is None
    assert "no tool format found" in described_part(spec).found
    assert "prompt-based calling" in described_part(spec).note
    assert ["no_format"] == [note.kind for note in found.notes if note.subject == "D1"]


@pytest.mark.parametrize("name", OWN)
def test_own_template(name: str) -> None:
    """Our own templates that describe calls: the marker and the holder of the tools are found, and all else is proven."""
    expected = OWN[name]
    source = (TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8")

    found, spec = analysis_of(Template(name, source))

    assert expected["opens"] == opening(spec)
    assert f"the text that {expected['from']} added to the prompt" in described_part(spec).found
    assert is_described(spec)
    assert expected.get("verdict", "described") == found.verdict
    assert any("described, not rendered" in one for one in spec.verification.unproven)


def test_every_own_template_of_the_kind_is_listed() -> None:
    """No template goes untested."""
    assert sorted(OWN) == sorted(path.stem for path in TEMPLATES.glob("described_*.jinja"))


def test_a_layout_that_does_not_hold_together_fails() -> None:
    """The round trip of a described call notices a spec whose writer and reader disagree."""
    _, spec = analysis_of(template_with('<use>{"name": <name>, "arguments": <object>}</use>'))
    tried, failures = self_trips(spec, 0, "low")

    assert tried > 20
    assert not failures

    calls = spec.calls
    assert calls is not None
    broken = calls.model_copy(update={"layouts": (calls.layouts[0].model_copy(update={"name": ("title",)}),)})
    segments = tuple(broken if segment is calls else segment for segment in spec.turn.segments)
    _, failures = self_trips(
        spec.model_copy(update={"turn": spec.turn.model_copy(update={"segments": segments})}), 0, "low"
    )

    assert failures


@pytest.mark.parametrize(
    "text",
    ["{" * 50_000, "{a:" * 17_000, '{"a": {' * 7_000, "<a>" * 17_000, "<a>" * 8_000 + "</b>" * 6_000, "f" * 50_000,
     "[f(a=" * 10_000, "<a> json " * 6_000, "</a><a>[" * 6_000, "...,{}" * 8_000, "<a>\n{a: <b>, c: {}}\n" * 2_500],
    ids=lambda text: text[:9],
)  # fmt: skip
def test_a_hostile_description_takes_no_time(text: str) -> None:
    """Whatever tools add to a prompt is read in a moment."""
    started = time.process_time()
    analyze(template_with(text), renderer=InProcessRenderer(), verify=False)

    assert time.process_time() - started < 10


@pytest.mark.corpus
@pytest.mark.skipif(not is_synced(), reason="the corpus is not here: analyzer corpus sync --which core")
@pytest.mark.parametrize("name", REAL)
def test_real_template(name: str) -> None:
    """Real templates that take tools and render no calls: the marker that each describes, or that it describes none."""
    expected = REAL[name]
    template = real_template(name)

    found = analyze(template, renderer=InProcessRenderer(), verify=False)

    assert found.spec is not None
    assert not found.calls_shown
    if "none" in expected:
        assert "no_calls" == found.verdict
        assert expected["none"] in described_part(found.spec).found
    else:
        assert "described" == found.verdict
        assert expected["opens"] == opening(found.spec)
        assert expected["from"] in described_part(found.spec).found
