"""Templates whose conversations do not simply end with the last turn: what is the turn's, what is not, what is the template's fault."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from analyzer.analysis import Analysis, analyze
from analyzer.render import InProcessRenderer
from analyzer.runtime import parse
from analyzer.template import load_templates
from analyzer.verify import verify

TEMPLATES = Path(__file__).parents[2] / "corpus" / "templates"


@cache
def analysed(name: str) -> Analysis:
    """One of our own templates, with the spec that was inferred."""
    (template,) = load_templates(str(TEMPLATES / f"{name}.jinja"))
    return analyze(template, renderer=InProcessRenderer())


def defects(name: str) -> dict[str, dict[str, object]]:
    """The witnesses of a template's defects by kind."""
    spec = analysed(name).spec
    assert spec is not None
    return {defect.kind: dict(defect.witness) for defect in spec.defects}


def test_a_last_turn_that_goes_on_with_the_prompt_is_read_in_mid_conversation() -> None:
    """The thought that the prompt opens is nothing that a turn of calls begins with; the defect has its witness."""
    done = analysed("last_turn_open_thought")
    assert done.spec is not None
    contents = [segment for segment in done.spec.turn.segments if segment.kind == "content"]

    assert done.verdict == "proven_with_defects"
    assert [(one.when, one.open) for one in contents] == [("alone", ""), ("beside_calls", "")]
    assert "[[calls]]" not in str(defects("last_turn_open_thought")["last_turn_otherwise"]["render"])


def test_a_wrong_spec_is_not_excused_by_mid_conversation() -> None:
    """Only text behind an open thought is: with another opener, or another closer of calls, the same template fails the spec."""
    (template,) = load_templates(str(TEMPLATES / "last_turn_open_thought.jinja"))
    spec = analysed("last_turn_open_thought").spec
    assert spec is not None
    first, *others = spec.turn.segments
    other_opener = first.model_copy(update={"open": "<thought>\n"})
    *kept, calls = spec.turn.segments
    other_closer = calls.model_copy(update={"close": "][/calls]]\n"})

    for segments in ((other_opener, *others), (*kept, other_closer)):
        changed = spec.model_copy(update={"turn": spec.turn.model_copy(update={"segments": segments})})
        assert verify(changed, template, InProcessRenderer()).word == "failed"


def test_instructions_behind_every_conversation_are_no_part_of_a_turn() -> None:
    """They stand neither in the closer of calls nor in that of results, nor in the header."""
    done = analysed("instructions_behind")
    assert done.spec is not None

    assert done.verdict == "proven"
    assert done.spec.turn.header == "<turn><model>"
    assert "Write a plan" not in done.spec.turn.model_dump_json()
    assert done.spec.results is not None
    assert "Write a plan" not in done.spec.results.model_dump_json()


def test_a_closer_that_is_left_out_is_a_defect() -> None:
    """A text that ends in the closer is written without it; the witness's text does end so."""
    done = analysed("closer_left_out")
    assert done.spec is not None
    witness = defects("closer_left_out")["content_closer_left_out"]

    assert done.verdict == "proven_with_defects"
    assert witness["messages"][-1]["content"].endswith("\n")  # type: ignore[index]
    assert str(witness["proof"]) == "render"


def test_an_empty_thought_is_read_as_none() -> None:
    """Under its setting the template writes opener and closer with nothing between; that is said."""
    done = analysed("closer_left_out")
    assert done.spec is not None
    assert done.spec.verification is not None

    assert any("opener and closer and nothing between" in line for line in done.spec.verification.unproven)


def test_a_text_that_stands_in_the_channel_of_thoughts_is_the_templates_fault() -> None:
    """Reasoning given beside calls is not written at all, so what stands in its place there is the text."""
    done = analysed("channels_text_as_thought")
    found = defects("channels_text_as_thought")

    assert done.verdict == "proven_with_defects"
    assert "[channel]musing[body]" in str(found["content_as_reasoning"]["render"])
    assert "reasoning_lost_beside_calls" in found


def test_a_text_without_a_thought_can_have_an_opener_of_its_own() -> None:
    """Both openers are in the spec, each with the turns that it belongs to; the runtime reads both."""
    done = analysed("channels_text_as_thought")
    assert done.spec is not None
    alone = [one for one in done.spec.content if one.when == "alone"]
    read = [
        parse(done.spec, text, prompt="[open]model").message
        for text in (
            "[body]Hello.[done]",
            "[channel]musing[body]Hm.[shut][open]model[channel]answer[body]Hello.[done]",
        )
    ]

    assert [(one.reasoning, one.open) for one in alone] == [
        ("present", "[channel]answer[body]"),
        ("absent", "[body]"),
    ]
    assert [(one.reasoning_content, one.content) for one in read] == [(None, "Hello."), ("Hm.", "Hello.")]


def test_what_nothing_shows_says_why() -> None:
    """A field that no turn could prove wrong stands among the unproven with its reason."""
    lines = [
        line
        for line in analysed("channels_text_as_thought").verification.unproven
        if line.startswith("turn.")
    ]

    assert "turn.segments[3].open: another character (the template writes no turn with it)" in lines
    assert (
        "turn.segments[1].empty: something where nothing stands (the template writes no turn of that kind without it)"
        in lines
    )
    assert all(line.endswith(")") for line in lines)
