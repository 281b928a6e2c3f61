"""Inference does not depend on how the special tokens are spelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analyzer.corpus import is_synced
from analyzer.infer.inference import infer
from analyzer.render import InProcessRenderer
from analyzer.template import Template
from tests.budget import real_templates

OWN = sorted((Path(__file__).parents[2] / "corpus" / "templates").glob("*.jinja"))
SPELLINGS: tuple[dict[str, str], ...] = (
    {"bos_token": "", "eos_token": ""},
    {"bos_token": "<s>", "eos_token": "</s>"},
    {"bos_token": "<BOS>", "eos_token": "<EOS>"},
)
LANES = 8
EVERY = 2


def call_layout(text: str, tokens: dict[str, str]) -> Any:
    """Infer the calls of a template; the tokens themselves, where a literal holds them, are masked."""
    spec = infer(Template(name="t", text=text, special_tokens=tokens), InProcessRenderer()).spec
    if spec is None or spec.calls is None:
        return None
    calls = spec.calls.model_copy(update={"end": None})
    written = calls.model_dump_json(include={"open", "separator", "array", "parallel", "layouts"})
    for token in sorted(filter(None, tokens.values()), key=len, reverse=True):
        written = written.replace(token, "<TOKEN>")
    return written


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_own_templates_have_one_layout_under_any_spelling(path: Path) -> None:
    """Empty tokens, angle brackets and words give the same layout of calls."""
    text = path.read_text(encoding="utf-8")
    assert len({call_layout(text, tokens) for tokens in SPELLINGS}) == 1


@pytest.mark.corpus
@pytest.mark.skipif(not is_synced(), reason="the corpus is not synced: run `analyzer corpus sync`")
@pytest.mark.parametrize("lane", range(LANES))
def test_corpus_templates_have_one_layout_under_any_spelling(lane: int) -> None:
    """The same for the real templates that read a special token."""
    templates = [one for one in real_templates(EVERY) if "_token" in one.text and "tool_calls" in one.text][
        lane::LANES
    ]
    assert templates
    different = [
        one.name for one in templates if len({call_layout(one.text, tokens) for tokens in SPELLINGS}) > 1
    ]
    assert different == []
