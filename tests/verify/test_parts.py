"""The pieces that verification is made of."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from analyzer.chat import Message, ToolCall
from analyzer.runtime import STRICT, parse
from analyzer.spec.model import Spec
from analyzer.verify import write_turn
from analyzer.verify.adapt import Adapted, Adapter, Refused, Setting
from analyzer.verify.cases import Call, Case, Reply, json_type, looks_typed, needle, needles_in
from analyzer.verify.catalogue import GROUPS
from analyzer.verify.compare import differences
from analyzer.verify.coverage import Coverage, all_cells, describe, levels_of, plan
from analyzer.verify.covering import covering_array
from analyzer.verify.cut import Before, Cut, cut_turn, shared_prefix
from analyzer.verify.defects import KINDS, is_trimmed, kinds_table, prints_alike
from analyzer.verify.literals import reserved_names
from analyzer.verify.mutants import literal_changes, mutants
from analyzer.verify.pieces import mismatch, same
from analyzer.verify.samples import cases
from analyzer.verify.strategies import any_case, texts_matching
from analyzer.verify.writer import turn_pieces
from tests.budget import examples
from tests.verify.good import GOOD, spec_named

FORMATS = Path(__file__).parents[1] / "spec" / "formats"
DEFAULT = Setting()


def _message(data: dict[str, Any]) -> Message:
    calls = tuple(
        ToolCall(call["name"], json.dumps(call["arguments"], ensure_ascii=False), call.get("id"))
        for call in data.get("tool_calls", ())
    )
    return Message(data.get("content"), data.get("reasoning_content"), calls)


def _texts() -> list[Any]:
    """The canonical texts; a prompt that has closed what the writer would open is another turn."""
    found = []
    for path in sorted(FORMATS.glob("*.texts.yaml")):
        name = path.name.removesuffix(".texts.yaml")
        texts = yaml.safe_load(path.read_text(encoding="utf-8"))["texts"]
        found += [
            pytest.param(name, text, id=f"{name}-{text['name']}")
            for text in texts
            if text.get("canonical", True) and "message" in text and "set" not in text
        ]
    return [one for one in found if one.values[0] != "typed_parameters"]


@pytest.mark.parametrize(("name", "text"), _texts())
def test_the_writer_writes_the_texts_of_each_format(name: str, text: dict[str, Any]) -> None:
    """The spec and a message are enough to write the turn, up to the white space inside JSON."""
    spec = Spec.model_validate(yaml.safe_load((FORMATS / f"{name}.yaml").read_text(encoding="utf-8")))
    pieces = turn_pieces(spec, _message(text["message"]), layout=text.get("layout", 0))
    prompts = [prompt.text for prompt in spec.turn.prompts]

    assert any(mismatch(pieces, prompt + text["text"]) is None for prompt in (*prompts, spec.turn.header))


@pytest.mark.parametrize("name", [name for name in GOOD if not name.startswith("defect")])
def test_what_the_writer_writes_the_parser_reads(name: str) -> None:
    """Any reply survives writing by the spec and parsing by the spec, no template asked."""
    spec = spec_named(name)
    adapter = Adapter(spec, {})

    @settings(max_examples=examples(40), suppress_health_check=list(HealthCheck))
    @given(any_case())
    def holds(case: Case) -> None:
        adapted = adapter.adapt(case, DEFAULT)
        assert isinstance(adapted, Adapted)
        sent = (
            adapted.truth
            if spec.reasoning
            else Message(adapted.truth.content, None, adapted.truth.tool_calls)
        )
        if spec.turn.prompts[0].text.endswith("<think>") and not sent.reasoning_content:
            return
        prompt = spec.turn.prompts[0].text
        read = parse(
            spec, write_turn(spec, sent, prompt=prompt), tools=adapted.tools, options=STRICT, prompt=prompt
        )

        assert [str(one) for one in differences(sent, read.message, None)] == []

    holds()


def test_needles_are_found_and_different() -> None:
    """A text gives back the needles that were put in."""
    words = [needle(number) for number in range(2000)]

    assert len(set(words)) == 2000
    assert needles_in(f'"{words[7]}"<{words[1999]}>') == [words[7], words[1999]]


def test_the_covering_array_has_every_pair() -> None:
    """Every two levels that can meet do meet."""
    shapes = covering_array()
    met = {pair for shape in shapes for pair in combinations(shape.levels(), 2)}

    assert len(shapes) < 50
    assert all(
        ((("calls", calls), ("types", kind)) in met)
        for calls in (1, 2, 3)
        for kind in ("array", "null", "text")
    )


@pytest.mark.parametrize("amount", [1, 2, 4])
def test_the_plan_covers_the_table(amount: int) -> None:
    """With every case held, nothing is missing, whatever the number of settings."""
    labels = tuple(map(str, range(amount)))
    coverage = Coverage(labels)
    for case, setting in plan(0, "normal", amount):
        coverage.passed(levels_of(cases(0)[case], labels[setting]))

    assert list(describe(coverage.missing())) == []
    assert coverage.counts()["covered"] == len(all_cells(labels))


def test_cases_follow_from_the_seed() -> None:
    """The same seed makes the same cases, another one others."""
    cases.cache_clear()
    first = cases(5)
    cases.cache_clear()

    assert first == cases(5)
    assert first != cases(6)


def test_arguments_fit_the_declared_tools() -> None:
    """Every argument is declared, with the type that its value has."""
    for case in cases(0):
        declared = {tool.name: tool.parameters or {} for tool in case.tools}
        for call in case.reply.calls:
            for key, value in call.arguments.items():
                assert declared[call.name]["properties"][key]["type"] in (json_type(value), "number")


def test_ids_match_the_pattern() -> None:
    """A template that wants nine letters and digits gets them, and any other pattern is drawn from."""
    spec = spec_named("json_tag_per_call", {"input.ids": "[a-zA-Z0-9]{9}"})
    made = [Adapter(spec, {}).identity(Call("f"), 0, number) for number in range(4)]

    assert all(len(one) == 9 and one.isalnum() for one in made)
    assert len(set(made)) == 4
    assert len(set(texts_matching("[a-f]{4}-[0-9]{3}", 8))) == 8


def test_a_refused_case_says_why() -> None:
    """Two calls for a template that takes one are no case for it."""
    spec = spec_named("json_tag_per_call", {"input.parallel_calls": False})
    case = Case("two", Reply(None, None, (Call("get_weather"), Call("all"))), GROUPS[0])

    assert Adapter(spec, {}).adapt(case, DEFAULT) == Refused("the template takes one call in a turn")


def test_the_cut_is_made_at_the_render_before() -> None:
    """Behind the generation prompt, or behind the header where history has none of it."""
    spec = spec_named("json_tag_per_call")
    header = spec.turn.header
    before = Before(f"U{header}<think>", "U")

    assert cut_turn(spec, before, f"U{header}<think>x") == Cut(f"U{header}<think>", "x", "", "prompt")
    assert cut_turn(spec, before, f"U{header}x") == Cut(f"U{header}", "x", "", "history")
    assert isinstance(cut_turn(spec, before, "Ux"), str)
    assert shared_prefix("abc", "abd") == 2


def test_differences_name_the_slot() -> None:
    """Types count, numbers are equal by value, missing calls are told from changed ones."""
    sent = Message("a", None, (ToolCall("f", '{"x": 3, "y": "3"}'), ToolCall("g", "{}")))
    got = Message("a ", None, (ToolCall("f", '{"x": 3.0, "y": 3}'),))

    assert [(one.slot, one.path) for one in differences(sent, got, None)] == [
        ("content", ()),
        ("argument", ("y",)),
        ("call", ()),
    ]
    assert not same(one=True, other=1)
    assert same(2, 2.0)


def test_only_removed_white_space_is_trimmed() -> None:
    """Text that was added is never a defect of the template."""
    assert is_trimmed(" a ", "a")
    assert not is_trimmed("a", " a")
    assert not is_trimmed("a b", "ab")
    assert prints_alike(None, "None")
    assert not prints_alike("3", 4)
    assert looks_typed("null")


def test_reserved_names_are_known() -> None:
    """A tool that is called as content is addressed cannot be told from it."""
    assert list(reserved_names(spec_named("header_recipient"), ["user", "use", "final"])) == ["user"]
    assert reserved_names(spec_named("json_tag_per_call"), ["user"]) == {}


def test_every_mutant_is_another_spec() -> None:
    """Each change changes, and says which field."""
    spec = spec_named("tagged_raw_values")
    made = list(mutants(spec))

    assert len(made) > 40
    assert all(mutant.spec != spec and mutant.path.startswith("turn.") for mutant in made)
    assert dict(literal_changes("")) != {}


def test_the_documentation_has_the_kinds() -> None:
    """The table in docs/verification.md is the one made from the code."""
    page = (Path(__file__).parents[2] / "docs" / "verification.md").read_text(encoding="utf-8")

    assert kinds_table() in page
    assert all(f"`{kind}`" in page for kind in KINDS)
