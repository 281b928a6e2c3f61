from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from analyzer import Analysis, Message, Parser, Tool, ToolCall, analyze, assemble, dump, load_spec
from analyzer.verify import write_turn

TEMPLATES: Final = Path(__file__).parents[1] / "corpus" / "templates"
TOOLS: Final = (
    Tool(
        "get_weather",
        "",
        {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    ),
    Tool(
        "list_hotels",
        "",
        {"type": "object", "properties": {"city": {"type": "string"}, "filters": {"type": "object"}}},
    ),
)
CALLS: Final = (
    ("get_weather", {"city": 'Saint-Malo "intra muros"', "days": 3}),
    ("list_hotels", {"city": "001", "filters": {"stars": [4, 5], "pool": True, "near": None}}),
)
NAMES: Final = (
    "json_tag_per_call",
    "json_tag_reasoning_toggle",
    "key_value_tags",
    "name_as_json_key",
    "section_name_json",
    "tagged_raw_values",
)
"""Layouts as different as JSON in tags, a name as the only key, and tagged raw values."""


def analysed(name: str) -> Analysis:
    """The analysis of one of our own templates."""
    return analyze(TEMPLATES / f"{name}.jinja")


@pytest.mark.parametrize("name", NAMES)
def test_from_template_to_message(name: str, tmp_path: Path) -> None:
    """Template in, spec written and read again, reply parsed in pieces of every size: the message that was sent."""
    analysis = analysed(name)
    assert analysis.verdict in ("proven", "proven_with_defects"), analysis.failures
    assert analysis.spec is not None
    dump(analysis.spec, tmp_path / "format.yaml")
    spec = load_spec(tmp_path / "format.yaml")
    assert analysis.spec == spec

    sent = Message(tool_calls=tuple(ToolCall(name, json.dumps(arguments)) for name, arguments in CALLS))
    prompt = next(found.text for found in spec.turn.prompts if not found.set)
    text = write_turn(spec, sent, prompt=prompt)
    for size in (1, 2, 3, 7, len(text)):
        parser = Parser(spec, TOOLS, prompt=prompt)
        events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
        parsed = assemble([*events, *parser.finish("stop")])

        assert not parsed.problems
        assert list(CALLS) == [(call.name, call.decoded()) for call in parsed.message.tool_calls]
        assert text == "".join(text[event.start : event.end] for event in parsed.events)


def test_what_renders_no_calls() -> None:
    """A template without tools has a spec without calls, and that is no failure."""
    analysis = analysed("no_tools")

    assert "no_calls" == analysis.verdict
    assert analysis.spec is not None
    assert analysis.spec.calls is None


def test_defects_have_witnesses() -> None:
    """A template that loses something is proven with defects, and each has a witness."""
    analysis = analysed("defect_content_dropped")

    assert "proven_with_defects" == analysis.verdict, analysis.failures
    assert analysis.spec is not None
    assert "content_lost_beside_calls" in [defect.kind for defect in analysis.spec.defects]
    assert all(defect.witness for defect in analysis.spec.defects)


def test_special_tokens_do_not_matter() -> None:
    """The call layout is the same whatever the special tokens are."""
    from analyzer.template import Template  # noqa: PLC0415

    text = "{{ bos_token }}" + (TEMPLATES / "json_tag_per_call.jinja").read_text(encoding="utf-8")
    text += "{{ eos_token if not add_generation_prompt }}"
    found = []
    for bos, eos in (("", ""), ("<s>", "</s>"), ("<BOS>", "<EOS>")):
        template = Template("tokens", text, special_tokens={"bos_token": bos, "eos_token": eos})
        spec = analyze(template, verify=False).spec
        assert spec is not None
        assert spec.calls is not None
        found.append(spec.calls.layouts)

    assert found[0] == found[1] == found[2]


def test_unknown_tokens_have_stand_ins() -> None:
    """Where nothing is known of special tokens, visible stand-ins are used, and a note says so."""
    from analyzer.template import Template  # noqa: PLC0415

    text = "{% for m in messages %}[{{ m.role }}] {{ m.content + eos_token }}{% endfor %}"
    text += "{% if add_generation_prompt %}[assistant] {% endif %}"
    analysis = analyze(Template("tokens", text), verify=False)

    assert ["tokens"] == [note.subject for note in analysis.notes if note.kind == "stand_in"]
    assert analysis.spec is not None
    ends = {segment.end.literal for segment in analysis.spec.turn.segments if segment.end is not None}
    assert {"<|eos_token|>"} == ends
