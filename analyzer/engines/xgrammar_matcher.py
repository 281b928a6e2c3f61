"""xgrammar's own compiler and matcher, on a vocabulary of single bytes."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

_END: Final = 0


@lru_cache
def _compiler() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch, about devices that are not there
        import xgrammar  # noqa: PLC0415  (an optional engine)
    words = [b"<eos>", *(bytes([byte]) for byte in range(1, 256))]
    info = xgrammar.TokenizerInfo(words, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[_END])
    return xgrammar.GrammarCompiler(info)


class XgrammarMatcher:
    """A compiled grammar."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    @classmethod
    def of_tag(cls, payload: Mapping[str, Any]) -> XgrammarMatcher:
        """Load a structural tag; xgrammar's own errors say what it does not take."""
        return cls(_compiler().compile_structural_tag(json.dumps(payload)))

    @classmethod
    def of_gbnf(cls, grammar: str) -> XgrammarMatcher:
        """Load a grammar in GBNF, which xgrammar reads as llama.cpp does."""
        return cls(_compiler().compile_grammar(grammar))

    def accepts(self, text: str) -> bool:
        """Whether the text is a whole output."""
        import xgrammar  # noqa: PLC0415

        matcher = xgrammar.GrammarMatcher(self._compiled)
        return bool(matcher.accept_string(text)) and bool(matcher.accept_token(_END))
