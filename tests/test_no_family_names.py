"""No code knows a model family: the package's modules name none. Overlays, which are data, and tests may."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "analyzer"
FAMILIES = re.compile(
    r"qwen|hermes|mistral|llama[-_ ]?\d|deepseek|kimi|minimax|gpt[-_ ]?oss|granite|gemma|cohere|command-(?:a|r)\b|functionary"
    r"|\bglm\b|glm[-_ ]?\d|nemotron|harmony|hunyuan|gigachat|apertus|olmo|exaone|longcat|\bphi[-_ ]?\d|jamba|internlm|seed[-_ ]oss",
    re.IGNORECASE,
)
MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_names_no_family(module: Path) -> None:
    """Neither a name, nor a string, nor a comment or docstring of the package speaks of one."""
    source = module.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    kinds = (tokenize.NAME, tokenize.STRING, tokenize.COMMENT)
    found = [
        (token.start[0], hit[0])
        for token in tokens
        if token.type in kinds and (hit := FAMILIES.search(token.string))
    ]
    assert found == []


def test_the_search_would_find_one() -> None:
    """The expression matches what it is there to keep out."""
    for text in ('if "qwen" in name', "deepseek_v3", "Llama 3", "GLM-4", "command-r"):
        assert FAMILIES.search(text)
