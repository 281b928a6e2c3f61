"""llguidance's own matcher, on its tokenizer of single bytes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache
def _tokenizer() -> Any:
    import llguidance  # noqa: PLC0415  (an optional engine)

    return llguidance.LLTokenizer("byte")


def accepts(grammar: str, text: str) -> bool:
    """Whether the text is a whole output. Raises `ValueError` when the grammar is not read."""
    import llguidance  # noqa: PLC0415

    matcher = llguidance.LLMatcher(_tokenizer(), grammar)
    if matcher.is_error():
        raise ValueError(matcher.get_error())
    tokens = _tokenizer().tokenize_str(text)
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()
