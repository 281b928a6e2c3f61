"""xgrammar's own compiler and matcher, on a vocabulary of single bytes."""

from __future__ import annotations

import json
import warnings
from functools import lru_cache
from typing import Any

END = 0


@lru_cache
def compiler() -> Any:
    """A compiler."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import xgrammar  # noqa: PLC0415  (an optional engine)
    words: list[str | bytes] = ["<eos>", *(bytes([byte]) for byte in range(1, 256))]
    info = xgrammar.TokenizerInfo(words, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[END])
    return xgrammar.GrammarCompiler(info)


def accepts(compiled: Any, text: str) -> bool:
    """Whether the text is a whole output."""
    import xgrammar  # noqa: PLC0415

    matcher = xgrammar.GrammarMatcher(compiled)
    return bool(matcher.accept_string(text)) and bool(matcher.accept_token(END))


def compiled_tag(payload: Any) -> Any:
    """A structural tag, compiled."""
    return compiler().compile_structural_tag(json.dumps(payload))


def compiled_grammar(text: str) -> Any:
    """A GBNF grammar, compiled."""
    return compiler().compile_grammar(text)
