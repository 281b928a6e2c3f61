"""Markers that open and close the same thing: `<think>` and `</think>`, `<|open|>think<|sep|>` and `<|close|>think<|sep|>`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from analyzer.observe.lexemes import is_marker, lexemes

_SIDES = frozenset({"start", "end", "begin", "close", "open", "of", "stop", "inner", "prefix", "suffix"})
_LONGEST = 6


@dataclass(frozen=True, slots=True)
class Pair:
    """The ending of one text that opens, and the beginning of another that closes, white space around them included."""

    opener: str
    closer: str


def are_pair(opener: str, closer: str) -> bool:
    """Tell whether two markers look like opener and closer: they share a word other than `start`, `end` and the like."""
    first, second = _words(opener), _words(closer)
    return opener != closer and (bool(first & second) or not (first or second))


def find_pair(before: str, after: str) -> Pair | None:
    """Find the pair around a slot: the last marker of `before` and the first of `after`, or equally long runs that begin so."""
    opening, closing = lexemes(before), lexemes(after)
    heads = [at for at, piece in enumerate(closing) if piece.strip()]
    tails = [at for at, piece in enumerate(opening) if piece.strip()]
    for length in range(
        2, min(_LONGEST, len(tails), len(heads)) + 1
    ):  # both begin alike: `]:[<x>` and `]:[</x>`
        first, last = opening[tails[-1]], closing[heads[length - 1]]
        alike = [opening[at] for at in tails[-length:-1]] == [closing[at] for at in heads[: length - 1]]
        if alike and is_marker(first) and is_marker(last) and are_pair(first, last):
            return Pair("".join(opening[tails[-length] :]), _closer(closing, heads[length - 1]))
    if not heads or not is_marker(closing[heads[0]]):
        return None
    marks = [at for at, piece in enumerate(opening) if is_marker(piece)]
    if marks and are_pair(opening[marks[-1]], closing[heads[0]]):
        return Pair("".join(opening[marks[-1] :]), _closer(closing, heads[0]))
    for length in range(2, min(_LONGEST, len(tails), len(heads)) + 1):
        run, head = tails[-length:], heads[:length]
        same = all(opening[a] == closing[b] for a, b in zip(run[1:], head[1:], strict=True))
        sides = not _words(opening[run[0]]) and not _words(closing[head[0]])
        if same and sides and is_marker(opening[run[0]]) and opening[run[0]] != closing[head[0]]:
            return Pair("".join(opening[run[0] :]), _closer(closing, head[-1]))
    return None


def _closer(pieces: list[str], last: int) -> str:
    """Return the text up to lexeme `last` and the white space after it."""
    end = last + 1
    if end < len(pieces) and not pieces[end].strip():
        end += 1
    return "".join(pieces[:end])


def _words(marker: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[^\W_]+", marker)} - _SIDES
