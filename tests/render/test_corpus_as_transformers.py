"""Every real template renders to the bytes that transformers' own method gives."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.corpus import is_synced
from analyzer.render import InProcessRenderer, Rendered, RenderFailure
from tests.budget import real_templates
from tests.render.conversations import CONVERSATIONS, SPECIAL_TOKENS
from tests.render.test_as_transformers import StoppedClock, request_of, utilities

SHARDS = 16

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not is_synced(), reason="the corpus is not here: analyzer corpus sync --which core"),
]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """A tokenizer with special tokens and next to no vocabulary."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<unk>": 0}, unk_token="<unk>"))  # noqa: S106
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, **SPECIAL_TOKENS)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_real_templates_render_as_in_transformers(
    shard: int, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For seven conversations, the text is the same or both refuse, with the template's own message if it has one."""
    monkeypatch.setattr(utilities, "datetime", StoppedClock)
    renderer = InProcessRenderer()
    differing = []
    for template in real_templates()[shard::SHARDS]:
        outcomes = renderer.render(template.text, [request_of(given) for given in CONVERSATIONS.values()])
        for (name, given), outcome in zip(CONVERSATIONS.items(), outcomes, strict=True):
            try:
                expected: Any = Rendered(_apply(tokenizer, template.text, given))
            except Exception as error:  # noqa: BLE001  (whatever it is)
                expected = error
                if isinstance(outcome, RenderFailure):
                    expected = outcome if outcome.kind != "raised" or outcome.message == str(error) else error
            if expected != outcome:
                differing.append((template.name, name, expected, outcome))

    assert [] == differing


def _apply(tokenizer: Any, text: str, given: dict[str, Any]) -> str:
    """What ``apply_chat_template`` gives, as text."""
    rendered = tokenizer.apply_chat_template(
        given["messages"],
        tools=given.get("tools"),
        chat_template=text,
        add_generation_prompt=given.get("add_generation_prompt", False),
        tokenize=False,
        **given.get("variables", {}),
    )
    assert isinstance(rendered, str)
    return rendered
