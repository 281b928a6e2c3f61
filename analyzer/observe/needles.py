"""Needles: unlikely values that probes put into every slot, so that a render can be searched for them.

A needle is a pronounceable word that no template contains. Needles of one series differ from those of another in letters and
in length, so that a finding that depends on the needles themselves shows when inference is run with both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_CONSONANTS = "zvkxwjqpfg"
_VOWELS = "uoiea"

CALLS = 3
"""How many different calls a needle set has."""
ARGUMENTS = 3
"""How many arguments each of its tools declares."""


def _word(number: int, syllables: int) -> str:
    """Return the `number`-th word: `syllables` pairs of letters, different for different numbers."""
    letters = []
    for _ in range(syllables):
        number, digit = divmod(number, len(_CONSONANTS) * len(_VOWELS))
        consonant, vowel = divmod(digit, len(_VOWELS))
        letters.append(_CONSONANTS[consonant] + _VOWELS[vowel])
    return "".join(letters)


@dataclass(frozen=True, slots=True)
class CallNeedles:
    """The needles of one call: the tool's name, its id, its argument names and a text value for each."""

    name: str
    id: str
    keys: tuple[str, ...]
    values: tuple[str, ...]

    def arguments(self, count: int) -> dict[str, Any]:
        """Return the first `count` arguments as a mapping."""
        return dict(zip(self.keys[:count], self.values[:count], strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Needles:
    """One series of needles, which is equal to no other."""

    series: int
    calls: tuple[CallNeedles, ...]
    uncalled: str
    """The name of a tool that is declared and never called."""
    system: str
    user: str
    follow: str
    """The text of a user message that follows the observed turn."""
    content: str
    final: str
    """The content of an assistant message that follows tool results."""
    reasoning: str
    results: tuple[str, ...]


@lru_cache(maxsize=8)
def needles(series: int = 0) -> Needles:
    """Return the needles of `series` (0 and 1 are used; any number works)."""
    step, size = (7 + 4 * series, 4 + series)
    counter = iter(range(1_000_003 + 500_009 * series, 10**9, 104_729 * step))

    def word(extra: int = 0) -> str:
        return _word(next(counter), size + extra)

    calls = tuple(
        CallNeedles(
            name=f"{word(index % 2)}_{word()[:3]}",
            id=f"{word()[:4]}{'Kq' if series else 'Wz'}{index}{index + 4}b"[:9].ljust(9, "x"),
            keys=tuple(sorted(word() for _ in range(ARGUMENTS))),  # some templates sort them
            values=tuple(word(1).capitalize() for _ in range(ARGUMENTS)),
        )
        for index in range(CALLS)
    )
    return Needles(
        series=series,
        calls=calls,
        uncalled=f"{word()}_{word()[:4]}",
        system=word(2).capitalize(),
        user=word(1).capitalize(),
        follow=word(1).capitalize(),
        content=word(2).capitalize(),
        final=word(1).capitalize(),
        reasoning=word(2).capitalize(),
        results=tuple(word(2).capitalize() for _ in range(CALLS)),
    )
