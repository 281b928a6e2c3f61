"""Generation prompts that say what history does not, and calls that nothing tells from text."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.render import InProcessRenderer
from analyzer.verify import Verdict, verify
from analyzer.verify.judgement import TEXT_LIKE_CALL
from tests.verify.good import PlainTemplate, spec_named, template_named

TOGGLE = "json_tag_reasoning_toggle"
PLAIN = "json_tag_per_call"
HEADER = "<|im_start|>assistant\n"


def _prove(name: str, changes: dict[str, Any], *replaced: tuple[str, str]) -> Verdict:
    template = template_named(name)
    text = template.text
    for old, new in replaced:
        assert old in text
        text = text.replace(old, new)
    return verify(
        spec_named(name, changes), PlainTemplate(text, template.special_tokens), InProcessRenderer()
    )


def _says(text: str) -> tuple[str, str]:
    """The toggled prompt says something else."""
    return "{{- '<think>\\n\\n</think>\\n\\n' -}}", f"{{{{- '{text}' -}}}}"


def _prompts(text: str) -> dict[str, Any]:
    return {f"turn.prompts.{number}.text": f"{HEADER}{text}" for number in (1, 3)}


@pytest.mark.parametrize(
    "text", ["<|speak|>", "<think>\nI must be brief.", "<think>\nShort.\n</think>\n\nSo: "]
)
def test_a_prompt_of_a_setting_that_history_never_has_is_a_defect(text: str) -> None:
    """The turn behind it is read as any other; the prompt is its own witness."""
    verdict = _prove(TOGGLE, _prompts(text), _says(text.replace("\n", "\\n")))
    found = {defect.kind: defect for defect in verdict.defects}

    assert verdict.verification.failures == ()
    assert verdict.word == "proven_with_defects"
    assert found["prompt_not_in_history"].witness["prompt"].endswith(text)
    assert found["prompt_not_in_history"].witness["variables"] == {"enable_thinking": False}


def _default(text: str) -> tuple[dict[str, Any], tuple[str, str]]:
    """The spec's changes and the template's, for a default prompt that says something else."""
    changes = {f"turn.prompts.{number}.text": f"{HEADER}{text}" for number in (0, 2)}
    spelt = text.replace("\n", "\\n")
    opened = "{{- '<|im_start|>assistant\\n'"
    condition = "'' if enable_thinking is defined and not enable_thinking else"
    return changes, (
        f"{opened} -}}}}\n    {{%- if enable",
        f"{opened} + ({condition} '{spelt}') -}}}}\n    {{%- if enable",
    )


@pytest.mark.parametrize("text", ["<|speak|>", "<judge>\n", "Here is what I think of it:\n"])
def test_such_a_default_prompt_is_a_defect_where_it_cannot_open_the_known_thought(text: str) -> None:
    """Reasoning has another opener; nothing shows what closes this one, so what stands behind it is content."""
    changes, replaced = _default(text)
    verdict = _prove(TOGGLE, changes, replaced)
    found = {defect.kind: defect for defect in verdict.defects}

    assert verdict.word == "proven_with_defects"
    assert found["prompt_not_in_history"].witness["prompt"].endswith(text)


@pytest.mark.parametrize("which", ["default", "setting"])
def test_such_a_prompt_fails_where_the_spec_has_no_reasoning(which: str) -> None:
    """A marker may open a thought that the spec has forgotten."""
    never = ("loop.index0 > ns.question and message.reasoning_content", "false")
    changes, replaced = (
        _default("<thought>\n") if which == "default" else (_prompts("<thought>\n"), _says("<thought>\\n"))
    )
    none = {"turn.segments.0": None, "input.reasoning_fields": []}
    verdict = _prove(TOGGLE, {**changes, **none}, never, replaced)

    assert verdict.word == "failed"
    assert any("is no beginning of a turn" in line for line in verdict.verification.failures)


BARE_CALLS = {
    "turn.segments.1.close": "",
    "turn.segments.2.layouts.0.open": "",
    "turn.segments.2.layouts.0.close": "",
    "grammar": {"stops": ["<|im_end|>"]},
}
BARE_TEMPLATE = (
    ("'<tool_call>\\n{\"name\": '", "'{\"name\": '"),
    ("'}\\n</tool_call>'", "'}'"),
    ("not loop.first or message.content", "not loop.first"),
)


def test_bare_calls_behind_content_collide() -> None:
    """Two messages, one text: shown, and no failure of the spec."""
    verdict = _prove(PLAIN, BARE_CALLS, *BARE_TEMPLATE)

    assert verdict.verification.failures == ()
    assert TEXT_LIKE_CALL in verdict.verification.unproven


def test_marked_calls_behind_content_do_not_collide() -> None:
    """A marker that the spec has wrong is a failure, though the text reads as content."""
    verdict = _prove(PLAIN, {"turn.segments.2.layouts.0.open": "<toolcall>\n"})

    assert verdict.word == "failed"
    assert TEXT_LIKE_CALL not in verdict.verification.unproven


def test_a_turn_may_be_opened_behind_every_conversation() -> None:
    """A template that always writes the next turn's header is proven with that header, and with no other end."""
    always = ("{%- if add_generation_prompt -%}", "{%- if true -%}")
    changes: dict[str, Any] = {f"turn.prompts.{number}.text": "" for number in (0, 1)}

    assert _prove(PLAIN, changes, always).verification.failures == ()
    for end in ("<|im_end|", "<|im_end|>\n<|im_start|>"):
        ends = {f"turn.segments.{number}.end": {"literal": end} for number in (0, 2)}
        assert _prove(PLAIN, {**changes, **ends, "grammar": {"stops": [end]}}, always).word == "failed"


def test_content_that_a_later_message_makes_vanish_is_a_defect() -> None:
    """The last turn has it, the same turn in mid-conversation has not: needles prove it."""
    once = (
        "(message.content or '') -}}",
        "(message.content if message.content and (loop.last or message.role == 'user') else '') -}}",
    )
    verdict = _prove(PLAIN, {}, once)
    (defect,) = [one for one in verdict.defects if one.kind == "content_lost_in_history"]

    assert verdict.word == "proven_with_defects"
    assert len(defect.witness["messages"]) > 2


def test_white_space_that_opens_content_may_stand_in_the_prompt() -> None:
    """History opens content with a blank; the prompt ends in that blank and another one."""
    opened = (
        "{{- '<|im_start|>' + message.role + '\\n' + (message.content or '') -}}",
        "{{- '<|im_start|>' + message.role + '\\n' + (' ' + message.content if message.content else '') -}}",
    )
    prompt = ("{{- '<|im_start|>assistant\\n' -}}", "{{- '<|im_start|>assistant\\n \\t' -}}")
    changes: dict[str, Any] = {f"turn.prompts.{number}.text": f"{HEADER} \t" for number in (0, 1)}
    changes |= {f"turn.segments.{number}.open": " " for number in (0, 1)}

    assert _prove(PLAIN, changes, opened, prompt).verification.failures == ()


def test_an_opener_that_only_prompts_write_has_to_be_whole() -> None:
    """What the prompt says is held against the spec, though no text behind it shows it."""
    opened = (
        "{{- '<|im_start|>assistant\\n' -}}\n    {%- if",
        "{{- '<|im_start|>assistant\\n<think>\\n' -}}\n    {%- if",
    )
    closed = ("{{- '<think>\\n\\n</think>\\n\\n' -}}", "{{- '\\n</think>\\n\\n' -}}")
    prompts: dict[str, Any] = {f"turn.prompts.{number}.text": f"{HEADER}<think>\n" for number in (0, 2)}

    assert _prove(TOGGLE, prompts, opened, closed).verification.failures == ()
    assert _prove(TOGGLE, {**prompts, "turn.segments.0.open": "<think"}, opened, closed).word == "failed"
