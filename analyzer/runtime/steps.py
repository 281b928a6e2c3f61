"""What a scanner may take at once: the states in which one regular expression reads a chunk of a list or object.

A chunk of four characters often holds the end of a string, a comma and the beginning of the next string. Looking at them
one by one would cost as much as all the rest, so the states in which such a chunk is usual are joined to a graph: a state's
expression matches the plain part of a text, and the last group that matched says which state is behind it.

The expressions are matched from a text's beginning and never required to reach its end, so that they do not backtrack. What may
or may not follow is a choice whose last branch is empty, and empty groups at the branches' ends say which was taken: the
engine tells branches by their first character, while an optional group is a loop to it, half as slow again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

Build: TypeAlias = Callable[["re.Match[str]"], str]

DONE, BROKEN = 10, 11
"""The last two states of every scanner: its value is whole, or cannot be read. Below them it wants more text."""
WHITE: Final = r"[ \t\r\n]*"


class Step:
    """One state of the graph."""

    __slots__ = ("_pattern", "fields", "match", "then")

    def __init__(self, pattern: str, fields: tuple[Any, ...]) -> None:
        self._pattern = pattern
        self.match: Any = self._compile
        """The expression's `match`."""
        self.fields = fields
        """The scanner's own state here, for `settle`."""
        self.then: dict[int | None, tuple[Step, Build | None, Any]] = {}
        """By the last group that matched: the state behind it, what makes the JSON text (None: it is the text itself), and
        the search for what is not plain, where the next chunk is likely to be nothing but plain text."""

    def long(self, group: int | None, build: Build | None, search: Any) -> Step:
        """Return the state of a string that had a chunk of nothing but text: after one more, the next is likely to be such.

        `group` is the last group that matches then.
        """
        twin = Step(self._pattern, self.fields)
        twin.then = {**self.then, group: (twin, build, search)}
        return twin

    def _compile(self, text: str, at: int = 0) -> re.Match[str] | None:
        """Compile the expression when it is first needed: together they would take most of the import's time."""
        self.match = re.compile(self._pattern).match
        found: re.Match[str] | None = self.match(text, at)
        return found
