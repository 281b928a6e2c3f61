"""llguidance's own matcher, on a vocabulary of single bytes, and of special tokens where their ids are known."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

_BYTES = 256


class _Vocabulary:
    """What `llguidance.TokenizerWrapper` asks of a tokenizer: the bytes, an end, and special tokens at their ids."""

    def __init__(self, special: Mapping[str, int]) -> None:
        self.special = dict(special)
        taken = set(special.values())
        free = (number for number in range(_BYTES + len(taken) + 2) if number not in taken)
        self.bytes = {byte: next(free) for byte in range(_BYTES)}
        self.eos_token_id = next(free)
        self.bos_token_id = None
        size = max([self.eos_token_id, *taken, *self.bytes.values()]) + 1
        self.tokens = [f"<unused{number}>".encode() for number in range(size)]
        for byte, number in self.bytes.items():
            self.tokens[number] = bytes([byte])
        for text, number in self.special.items():
            self.tokens[number] = text.encode()
        self.tokens[self.eos_token_id] = b"<|end of text|>"
        unused = [number for number, token in enumerate(self.tokens) if token.startswith(b"<unused")]
        self.special_token_ids = [*self.special.values(), self.eos_token_id, *unused]
        self._split = re.compile("|".join(re.escape(text) for text in sorted(special, key=len, reverse=True)))

    def __call__(self, text: str | bytes) -> list[int]:
        return list(self._ids(text if isinstance(text, str) else text.decode("utf-8", "ignore")))

    def _ids(self, text: str) -> Iterator[int]:
        at = 0
        for found in self._split.finditer(text) if self.special else ():
            yield from (self.bytes[byte] for byte in text[at : found.start()].encode())
            yield self.special[found.group()]
            at = found.end()
        yield from (self.bytes[byte] for byte in text[at:].encode())


@lru_cache(maxsize=8)
def _tokenizer(special: tuple[tuple[str, int], ...]) -> tuple[_Vocabulary, Any]:
    import llguidance  # noqa: PLC0415  (an optional engine)

    words = _Vocabulary(dict(special))
    return words, llguidance.LLTokenizer(llguidance.TokenizerWrapper(words))


class LlguidanceMatcher:
    """A grammar that llguidance has read."""

    def __init__(self, grammar: str, special: Mapping[str, int] | None = None) -> None:
        import llguidance  # noqa: PLC0415

        self._words, self._llg = _tokenizer(tuple(sorted((special or {}).items())))
        self._begun = llguidance.LLMatcher(self._llg, grammar)
        if self._begun.is_error():
            raise ValueError(self._begun.get_error())

    @classmethod
    def of_legacy_tag(cls, payload: Mapping[str, Any]) -> LlguidanceMatcher:
        """Load the legacy form of a structural tag the way the servers hand it to llguidance."""
        from llguidance import StructTag  # noqa: PLC0415

        tags = [
            StructTag(
                trigger=next(word for word in payload["triggers"] if one["begin"].startswith(word)),
                begin=one["begin"],
                grammar=json.dumps(one["schema"]),
                end=one["end"],
            )
            for one in payload["structures"]
        ]
        return cls(StructTag.to_grammar(tags, assume_special=False))

    def accepts(self, text: str) -> bool:
        """Whether the text is a whole output."""
        matcher = self._begun.deep_copy()
        tokens = self._words(text)
        return bool(matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting())
