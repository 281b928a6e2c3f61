"""What changed between two formats, marker by marker.

The spec differ (`analyzer.lint.diff`) tells one change a field.  A marker that has another spelling changes several fields at
once: what opens a call, the triggers, the tokens to be kept.  Here such changes are one difference: texts are laid beside
each other lexeme by lexeme, and where one lexeme always gave way to the same other one, that is a renaming.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from analyzer.lint.diff import Change
from analyzer.observe.lexemes import lexemes

Pair: TypeAlias = tuple[str, str]
"""A lexeme and the one that stands in its place."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two formats: a renaming, or the change of one field."""

    words: str
    """What changed, in a sentence."""
    fields: tuple[str, ...]
    """The fields of the spec that it shows in."""
    before: Any
    """The marker or word before; where nothing was renamed, the value of the field."""
    after: Any
    """The same after."""
    renamed: bool = False
    """Whether one marker or word stands in the place of another, and nothing else."""

    def to_json(self) -> dict[str, Any]:
        """The difference as JSON data."""
        return {
            "words": self.words,
            "renamed": self.renamed,
            "before": self.before,
            "after": self.after,
            "fields": list(self.fields),
        }


def differences(changes: Sequence[Change]) -> tuple[Difference, ...]:
    """The changes of fields, renamings first, each once, with all the fields it shows in."""
    renamings: dict[Pair, list[Change]] = {}
    others: list[Change] = []
    for change in changes:
        pairs = _replaced(change.before, change.after)
        for pair in dict.fromkeys(pairs or ()):
            renamings.setdefault(pair, []).append(change)
        if not pairs:
            others.append(change)
    return (*map(_renaming, renamings, renamings.values()), *map(_single, others))


def _renaming(pair: Pair, changes: Sequence[Change]) -> Difference:
    subjects = ", ".join(dict.fromkeys(change.subject for change in changes))
    before, after = pair
    return Difference(
        words=f"{before!r} is now {after!r}: {subjects}",
        fields=tuple(change.path for change in changes),
        before=before,
        after=after,
        renamed=True,
    )


def _single(change: Change) -> Difference:
    return Difference(str(change), (change.path,), change.before, change.after)


def _replaced(before: Any, after: Any) -> list[Pair] | None:
    """The lexemes that others stand in the place of, where that is all that differs; None where it is not."""
    if isinstance(before, str) and isinstance(after, str):
        old, new = lexemes(before), lexemes(after)
        if len(old) != len(new):
            return None
        pairs = [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
        return pairs if all(map(_is_renaming, pairs)) else None
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return _all_replaced(list(zip(before, after, strict=True)))
    return None


def _all_replaced(items: Sequence[tuple[Any, Any]]) -> list[Pair] | None:
    found: list[Pair] = []
    for one, other in items:
        pairs = _replaced(one, other)
        if pairs is None:
            return None
        found += pairs
    return found


def _is_renaming(pair: Pair) -> bool:
    """Whether both are names or markers: white space and punctuation are not renamed, they are other text."""
    return all(any(character.isalnum() for character in lexeme) for lexeme in pair)
