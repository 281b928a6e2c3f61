"""The text of a call while it is being read, kept for the problem that may have to quote it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING

from analyzer.runtime.copying import clone

if TYPE_CHECKING:
    from analyzer.runtime.state import State


class Record:
    """The model's text from `start` on; the part that is still in the parser's buffer is not copied."""

    __slots__ = ("_io", "_limit", "_settled", "start")

    def __init__(self, start: int, limit: int | None = None) -> None:
        self.start = start
        self._limit = limit
        self._io: StringIO | None = None
        self._settled = False

    def copy(self) -> Record:
        """Return an independent copy."""
        kept, self._io = self._io, None
        new = clone(self)
        self._io = kept
        if kept is not None:
            new.fill(kept.getvalue())
        return new

    def fill(self, text: str) -> None:
        """Begin with text that another record kept."""
        self._io = StringIO()
        self._io.write(text)

    def settle(self) -> None:
        """From now on only a problem may quote the text: the limit holds."""
        self._settled = True

    def write(self, text: str) -> None:
        """Add text that did not pass through the buffer."""
        kept = self._io
        if kept is None:
            kept = self._io = StringIO()
        elif self._settled and self._limit is not None and kept.tell() > self._limit:
            return
        kept.write(text)

    @property
    def writer(self) -> Callable[[str], int]:
        """What adds text, whether it is needed or not: see `until`."""
        if self._io is None:
            self._io = StringIO()
        return self._io.write

    @property
    def until(self) -> int:
        """The place from which on no text is needed."""
        return self.start + self._limit if self._settled and self._limit is not None else sys.maxsize

    def take(self, parser: State) -> None:
        """Keep what the parser is about to drop from its buffer."""
        begin = self.start - parser.base
        text = parser.buf[max(0, begin) : parser.pos]
        if text:
            self.write(text)

    def text(self, parser: State) -> str:
        """Return the text up to the parser's place."""
        return self.text_to(parser, parser.pos)

    def text_to(self, parser: State, end: int) -> str:
        """Return the text up to an index into the buffer."""
        kept = self._io.getvalue() if self._io is not None else ""
        text = kept + parser.buf[max(self.start - parser.base, 0) : end]
        if self.start < 0:
            text = text[-self.start :]
        return text if self._limit is None or not self._settled else text[: self._limit]

    def between(self, parser: State, start: int, end: int) -> str:
        """Return the text from `start` to `end` in the model's text."""
        if start >= parser.base:
            return parser.buf[start - parser.base : end - parser.base]
        kept = self._io.getvalue() if self._io is not None else ""
        text = kept + parser.buf[max(self.start - parser.base, 0) :]
        return text[start - self.start : end - self.start]
