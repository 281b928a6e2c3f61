"""A text of bytes read as a row of choices: what a coverage-guided fuzzer changes byte by byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Each choice takes one byte, or two where more than 256 things are to choose from; behind the end all are 0."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def below(self, limit: int) -> int:
        """Return a number from 0 to `limit` - 1."""
        size = 1 if limit <= 1 << 8 else 2
        taken = self._data[self._at : self._at + size]
        self._at += size
        return int.from_bytes(taken, "little") % limit

    def of(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(len(items))]
