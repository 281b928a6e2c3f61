"""Findings over the real templates that were checked by hand: each is still raised, and still true by bare rendering."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from analyzer.analysis import analyze, with_stand_ins
from analyzer.corpus import is_synced, load_corpus
from analyzer.lint import lint_analysis
from analyzer.render import InProcessRenderer, Outcome, Rendered, RenderFailure, RenderRequest
from analyzer.template import Template

CHECKED: Final[list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("checked.yaml").read_text(encoding="utf-8")
)
SHOWN: Final = ("raises", "holds", "lacks", "like", "unlike")
RENDERER: Final = InProcessRenderer()


@cache
def corpus() -> dict[str, Template]:
    """The real templates that are here, by the hash of their text."""
    which = "full" if is_synced(which="full") else "core"
    return {template.sha256: template for template in load_corpus(which=which)} if is_synced() else {}


def present(entry: dict[str, Any]) -> Template:
    """The template of an entry; a test without it is skipped with the reason."""
    found = corpus().get(entry["sha256"])
    if found is None:
        pytest.skip("the template is of the full corpus, or none is here: analyzer corpus sync --which full")
    return with_stand_ins(found)


def rendered(template: Template, entry: dict[str, Any], *, mutable: bool, **other: Any) -> Outcome:
    """What bare rendering makes of an entry's conversation, or of another one."""
    given = {**entry, **other}
    request = RenderRequest(
        given["messages"],
        tools=given.get("tools"),
        special_tokens=template.special_tokens,
        variables=given.get("variables", {}),
    )
    [outcome] = RENDERER.render(template.text, [request], mutable=mutable)
    return outcome


def test_sixty_two_of_as_many_kinds_are_on_record() -> None:
    """Each with its reason, and with something to try."""
    assert len({entry["kind"] for entry in CHECKED}) == len(CHECKED) >= 62
    assert all(entry["why"].endswith(".") for entry in CHECKED)
    assert all(set(SHOWN) & set(entry) for entry in CHECKED)


@pytest.mark.corpus
@pytest.mark.parametrize("entry", CHECKED, ids=lambda entry: str(entry["kind"]))
def test_it_is_true(entry: dict[str, Any]) -> None:
    """Without lint: the conversation renders, or fails, as the record says."""
    template = present(entry)
    immutable = entry["kind"] == "mutates_input"

    outcome = rendered(template, entry, mutable=not immutable)

    if "raises" in entry:
        assert isinstance(outcome, RenderFailure)
        assert entry["raises"] == outcome.message
        return
    assert isinstance(outcome, Rendered)
    assert all(text in outcome.text for text in entry.get("holds", []))
    assert not any(text in outcome.text for text in entry.get("lacks", []))
    for key, alike in (("like", True), ("unlike", False)):
        if key in entry:
            other = rendered(template, entry, mutable=True, **entry[key])
            assert isinstance(other, Rendered)
            assert alike == (other.text == outcome.text)


@pytest.mark.corpus
@pytest.mark.parametrize("entry", CHECKED, ids=lambda entry: str(entry["kind"]))
def test_it_is_raised(entry: dict[str, Any]) -> None:
    """Lint still says it of that template."""
    template = present(entry)

    found = lint_analysis(analyze(template, renderer=RENDERER), RENDERER)

    assert entry["kind"] in {one.kind for one in found}
