"""What changed between two formats, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from analyzer.analysis import analyze
from analyzer.lint import diff
from analyzer.render import InProcessRenderer
from analyzer.spec.model import Prompt, Spec

FOLDER: Final = Path(__file__).parents[2] / "corpus" / "templates"


def spec_of(name: str) -> Spec:
    """The spec of one of our templates."""
    found = analyze(FOLDER / f"{name}.jinja", renderer=InProcessRenderer(), verify=False).spec
    assert found is not None
    return found


def changed(spec: Spec, **calls: Any) -> Spec:
    """The spec with its calls changed."""
    segments = tuple(
        one.model_copy(update=calls) if one.kind == "calls" else one for one in spec.turn.segments
    )
    return spec.model_copy(update={"turn": spec.turn.model_copy(update={"segments": segments})})


def test_a_format_is_like_itself() -> None:
    """Hashes, evidence and verification do not count."""
    one = spec_of("json_tag_per_call")

    assert () == diff(
        one, one.model_copy(update={"template": one.template.model_copy(update={"sha256": "0"})})
    )


def test_a_change_is_said_in_words() -> None:
    """With both values."""
    one = spec_of("json_tag_per_call")

    [change] = diff(one, changed(one, separator="\n\n"))

    assert "what stands between two calls: was '\\n', is '\\n\\n'" == str(change)
    assert ("calls.separator", "\n", "\n\n") == (change.path, change.before, change.after)


def test_what_is_new_and_what_is_gone() -> None:
    """A prompt that only one of two formats has."""
    one = spec_of("json_tag_per_call")
    prompts = (*one.turn.prompts, Prompt(set={"thinking": True}, text="<think>"))
    other = one.model_copy(update={"turn": one.turn.model_copy(update={"prompts": prompts})})

    assert ["the generation prompt (thinking=True after user): new, '<think>'"] == [
        str(change) for change in diff(one, other)
    ]
    assert ["the generation prompt (thinking=True after user): gone, was '<think>'"] == [
        str(change) for change in diff(other, one)
    ]


def test_two_formats_that_share_little() -> None:
    """Every change has a subject in words."""
    changes = diff(spec_of("json_tag_per_call"), spec_of("tagged_raw_values"))

    assert len(changes) > 2
    assert any(
        change.path == "calls.layouts" and "<function=get_weather>" in change.after for change in changes
    )
    assert [] == [change.path for change in changes if change.subject == change.path]
