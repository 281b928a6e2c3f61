"""Arguments that are JSON text in a string: the outer string is undone, what is inside is checked."""

from __future__ import annotations

from analyzer.runtime.copying import clone
from analyzer.runtime.json_scan import JsonScanner, unescape


class TextArguments:
    """Reads the inside of a string that holds an object."""

    __slots__ = ("_bad", "_begun", "_high", "_inner")

    def __init__(self, *, lenient: bool, escapes: bool) -> None:
        self._inner = JsonScanner(lenient=lenient, escapes=escapes)
        self._begun = False
        self._bad = False
        self._high = ""
        """Half a character, whose other half may follow."""

    def copy(self) -> TextArguments:
        """Return an independent copy."""
        return clone(self)

    def take(self, pieces: list[str], done: bool) -> tuple[str, bool]:
        """Take more of the outer string, which is whole when `done`; return (the arguments' text, whether it can be read)."""
        inner = self._inner
        outer = "".join(pieces)
        pieces.clear()
        if outer.startswith('"') and not self._begun:
            outer = outer[1:]
            self._begun = True
        if done and outer.endswith('"'):
            outer = outer[:-1]
        text = self._high + unescape(outer)
        if self._high and len(text) > 1:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        self._high = ""
        if text and not done and "\ud800" <= text[-1] <= "\udbff":
            text, self._high = text[:-1], text[-1]
        at = 0
        if inner.open and not self._bad:
            if inner.fresh and text.lstrip()[:1] not in {"", "{"}:
                self._bad = True  # arguments are an object
            else:
                at = inner.scan(text, 0)
        out = "".join(inner.out)
        inner.out.clear()
        self._bad = self._bad or inner.broken or (inner.done and bool(text[at:].strip()))
        return out, not done or (inner.done and not self._bad)  # broken text ends where the string ends
