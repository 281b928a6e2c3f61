"""Good specs are proven, spoilt ones are not, and a template's own defects are told from a spec's errors."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.render import InProcessRenderer
from analyzer.verify import verified
from tests.verify.good import GOOD, prove, spec_named, template_named

DEFECTS = {
    "defect_content_dropped": "content_lost_beside_calls",
    "defect_second_call_lost": "second_call_lost",
    "defect_python_dict_arguments": "arguments_python_dict",
}

END = {"literal": "<|im_end|>"}
CALLS = "turn.segments.2"
CALL = f"{CALLS}.layouts.0"

SPOILT: list[tuple[str, str, dict[str, Any]]] = [
    ("json_tag_per_call", "wrong call closer", {f"{CALL}.close": "\n</toolcall>"}),
    ("json_tag_per_call", "call closer without its line break", {f"{CALL}.close": "</tool_call>"}),
    ("json_tag_per_call", "wrong call opener", {f"{CALL}.open": "<tool_call>"}),
    ("json_tag_per_call", "wrong separator", {f"{CALLS}.separator": ""}),
    ("json_tag_per_call", "wrong path of the name", {f"{CALL}.name": ["function"]}),
    ("json_tag_per_call", "wrong path of the arguments", {f"{CALL}.arguments": ["parameters"]}),
    ("json_tag_per_call", "arguments twice encoded", {f"{CALL}.arguments_codec": "json_text"}),
    ("json_tag_per_call", "wrong literal in the parts", {f"{CALL}.parts.2": '", "args": '}),
    ("json_tag_per_call", "line break kept in content", {"turn.segments.1.close": ""}),
    ("json_tag_per_call", "wrong end", {"turn.segments.0.end": {"literal": "<|endoftext|>"}}),
    ("json_tag_per_call", "end cut short", {"turn.segments.0.end": {"literal": "<|im_end"}}),
    ("json_tag_per_call", "no end", {"turn.segments.0.end": None, f"{CALLS}.end": None, "grammar": {}}),
    ("json_tag_per_call", "wrong header", {"turn.header": "<|im_start|>model\n"}),
    ("json_tag_per_call", "wrong prompt", {"turn.prompts.0.text": "<|im_start|>assistant"}),
    ("json_tag_per_call", "no calls segment", {CALLS: None}),
    ("json_tag_per_call", "one call only", {"input.parallel_calls": False}),
    ("json_tag_per_call", "system refused", {"input.system": "refused"}),
    ("json_tag_per_call", "results refused", {"input.roles_refused": ["tool"]}),
    (
        "json_tag_reasoning_toggle",
        "no reasoning segment",
        {"turn.segments.0": None, "input.reasoning_fields": []},
    ),
    ("json_tag_reasoning_toggle", "reasoning segment missing", {"turn.segments.0": None}),
    ("json_tag_reasoning_toggle", "wrong reasoning opener", {"turn.segments.0.open": "<think>"}),
    ("json_tag_reasoning_toggle", "wrong reasoning closer", {"turn.segments.0.close": "\n</think>\n"}),
    ("json_tag_reasoning_toggle", "prefill forgotten", {"turn.prompts.1.text": "<|im_start|>assistant\n"}),
    ("tagged_raw_values", "JSON for raw", {f"{CALL}.parts.3.codecs.string": "json"}),
    ("tagged_raw_values", "line break in the value", {f"{CALL}.parts.3.item.4": "</parameter>\n"}),
    ("tagged_raw_values", "wrong key opener", {f"{CALL}.parts.3.item.0": "<param="}),
    ("tagged_raw_values", "wrong end of the call", {f"{CALL}.parts.4": "</function></tool_call>"}),
    ("tagged_raw_values", "JSON text is taken too", {"input": {"arguments": "both"}}),
    ("python_calls_lines", "raw for JSON", {"turn.segments.3.layouts.0.parts.2.codecs.string": "raw"}),
    ("python_calls_lines", "wrong argument separator", {"turn.segments.3.layouts.0.parts.2.separator": ","}),
    ("python_calls_lines", "wrong section closer", {"turn.segments.3.close": "</function_call>"}),
    ("dialect_call_braces", "wrong quotes", {"turn.segments.3.layouts.0.parts.3.codecs.array.quote": '"'}),
    ("header_recipient", "reasoning read as content", {"turn.segments.0": None}),
    ("header_recipient", "header not repeated", {"turn.header_repeats": False}),
    ("header_recipient", "wrong end of a message", {"turn.segments.2.end": {"literal": "<|eot|>"}}),
]


@pytest.mark.parametrize("name", GOOD)
def test_a_good_spec_is_proven(name: str) -> None:
    """Nothing fails, every cell is covered or refused, and only collisions stay unproven."""
    verdict = prove(name)
    counts = verdict.verification.coverage

    assert verdict.verification.failures == ()
    assert verdict.word == ("proven_with_defects" if name in DEFECTS else "proven")
    assert counts["covered"] + counts["refused"] == counts["total"]
    assert [
        line
        for line in verdict.verification.unproven
        if not line.startswith(("collision", "results: the template", "turn.segments[1].empty"))
    ] == []


@pytest.mark.parametrize(
    ("name", "what", "changes"), SPOILT, ids=[f"{name}: {what}" for name, what, _ in SPOILT]
)
def test_a_wrong_spec_fails(name: str, what: str, changes: dict[str, Any]) -> None:
    """Each plausible error of a spec is found, and said in a line."""
    verdict = prove(name, changes)

    assert verdict.word == "failed", what
    assert all(line for line in verdict.verification.failures)


@pytest.mark.parametrize(("name", "kind"), sorted(DEFECTS.items()))
def test_a_defect_of_the_template_has_a_witness(name: str, kind: str) -> None:
    """The kind is found, with the messages that show it."""
    verdict = prove(name)
    found = {defect.kind: defect for defect in verdict.defects}

    assert kind in found
    assert found[kind].witness["messages"]


def test_a_witness_is_small() -> None:
    """What the loss of content does not need is dropped: reasoning, arguments, all calls but one."""
    (defect,) = [
        one for one in prove("defect_content_dropped").defects if one.kind == "content_lost_beside_calls"
    ]
    turn = defect.witness["messages"][-1]

    assert len(defect.witness["messages"]) == 2
    assert [call["function"]["arguments"] for call in turn["tool_calls"]] == [{}]


def test_the_same_seed_gives_the_same_verdict() -> None:
    """Nothing depends on the moment."""
    assert prove("tagged_raw_values", seed=3) == prove("tagged_raw_values", seed=3)


@pytest.mark.parametrize("seed", [1, 2])
def test_another_seed_proves_as_well(seed: int) -> None:
    """Other values, other pieces, the same outcome."""
    assert prove("json_tag_reasoning_toggle", seed=seed).word == "proven"


def test_effort_adds_round_trips() -> None:
    """More effort is more random conversations."""
    low, high = (prove("json_tag_per_call", effort=effort) for effort in ("low", "high"))

    assert low.word == high.word == "proven"
    assert low.verification.round_trips < high.verification.round_trips


def test_a_template_that_never_renders_fails() -> None:
    """No conversation, no proof; the template's own words are the reason."""
    template = type(template_named("json_tag_per_call"))("{{ raise_exception('never') }}")
    done = verified(spec_named("json_tag_per_call"), template, InProcessRenderer())

    assert done.verification.verdict == "failed"
    assert "never" in done.verification.failures[-1]


def test_verified_fills_in_the_spec() -> None:
    """The verification stands in the spec, and the defects beside those that were there."""
    spec = spec_named("defect_content_dropped")
    done = verified(spec, template_named("defect_content_dropped"), InProcessRenderer())

    assert done.verification.verdict == "proven_with_defects"
    assert "content_lost_beside_calls" in {defect.kind for defect in done.defects}
    assert done.turn == spec.turn
