"""Inference recovers a spec that proves itself from random templates.

The normal suite tries 300 templates, in four parts; `GENERATED_TEMPLATES=20000` is the nightly budget. The examples of a
budget are always the same. `found.yaml` holds each counterexample ever found: those that are still `open` must fail, so
that none is forgotten once it is mended, and those that are `fixed` must hold.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, seed, settings

from analyzer.lint import is_ambiguous
from tests.generated.check import Outcome, Subject, examine, expected_turn, rendered_turns
from tests.generated.templates import Generated, templates

FOUND: Final[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("found.yaml").read_text(encoding="utf-8")
)
BUDGET: Final = int(os.environ.get("GENERATED_TEMPLATES", "300"))
PARTS: Final = 4
RUN: Final = 6
MOST_DISCARDED: Final = 0.1


def draw(amount: int, number: int) -> list[Generated]:
    """So many different templates, the same ones for the same number.

    They are drawn in short runs, as those of one run are alike.
    """
    found: dict[str, Generated] = {}
    for start in range(number * 1_000_000, (number + 1) * 1_000_000):
        for generated in _run(start):
            found.setdefault(generated.text, generated)
        if len(found) >= amount:
            break
    return list(found.values())[:amount]


def _run(start: int) -> list[Generated]:
    found: list[Generated] = []

    @seed(start)
    @settings(
        max_examples=RUN,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(templates())
    def keep(generated: Generated) -> None:
        found.append(generated)

    keep()
    return found


def test_templates_write_what_their_format_says() -> None:
    """The generator itself: what a template renders is what its format's spec says, written by the package's writer."""
    for generated in draw(100, 99):
        if generated.format.json_style:
            continue  # the writer spaces JSON in its own way
        for sample, text in rendered_turns(Subject.of(generated)):
            assert expected_turn(generated.format, sample) == text, generated.text


@pytest.mark.parametrize("part", range(PARTS))
def test_generated_templates_are_proven(part: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Each template gets a proven spec, which reads what the template renders; few may be discarded as ambiguous."""
    drawn = draw(BUDGET // PARTS, part)
    kept = [generated for generated in drawn if not is_ambiguous(generated.format.spec)]
    outcomes = [examine(Subject.of(generated)) for generated in kept]
    failed = [outcome for outcome in outcomes if outcome.problem]
    rate = 1 - len(kept) / len(drawn)
    with capsys.disabled():
        print(f"\npart {part}: {len(drawn)} templates, {rate:.1%} discarded, {len(failed)} failed")  # noqa: T201

    assert len(drawn) == BUDGET // PARTS
    assert rate <= MOST_DISCARDED
    assert not failed, _report(failed)


@pytest.mark.parametrize("example", FOUND["examples"], ids=lambda example: example["id"])
def test_found_examples(example: dict[str, Any]) -> None:
    """A mended counterexample holds; one that is still open fails, or else it is marked as mended.

    One that is ambiguous fails too, and the spec that was inferred for it is known to be.
    """
    outcome = examine(Subject(example["template"], example["header"], example["reasoning"]))

    if example["status"] == "ambiguous":
        assert outcome.problem, f"{example['id']} holds now: set its status to `fixed`"
        assert outcome.analysis is not None
        assert outcome.analysis.spec is not None
        assert is_ambiguous(outcome.analysis.spec)
    elif example["status"] == "open":
        assert outcome.problem, f"{example['id']} holds now: set its status to `fixed`"
    else:
        assert outcome.problem == "", outcome.subject.text


def _report(failed: list[Outcome]) -> str:
    kinds = Counter(outcome.kind for outcome in failed)
    shortest = min(failed, key=lambda outcome: len(outcome.subject.text))
    return f"{dict(kinds)}; the shortest: {shortest.problem}\n{shortest.subject.text}"
