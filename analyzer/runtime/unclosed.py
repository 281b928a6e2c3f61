"""The end of a quoted value whose closing quote is missing: where the next declared argument begins.

In `{before:<|"|>x,path:<|"|>y<|"|>}` the second quote closes nothing, since text follows it. That `,path:` stands before it, and
that `path` is declared and was not given yet, says that the value ended there. Text goes out as it comes, so what may be the
beginning of such a key is held: a comma and a part of a declared name.
"""

from __future__ import annotations

import re
from typing import Final

from analyzer.runtime.literals import NAME_CAP

_key: Final = re.compile(r"[ \t\r\n]*([^\s,:]*)([ \t\r\n]*)(:?)[ \t\r\n]*").fullmatch


class OpenKeys:
    """The declared arguments that may follow, and those that were given."""

    __slots__ = ("_given", "_last", "_longest", "_names", "unclosed")

    def __init__(self, names: frozenset[str]) -> None:
        self._names = frozenset(name for name in names if len(name) <= NAME_CAP)
        self._longest = 2 * max(map(len, self._names), default=0) + 2
        """A comma, the longest key, a colon, and about as much white space."""
        self._given: set[str] = set()
        self._last = ""
        self.unclosed: list[str] = []
        """The arguments whose closing quote was missing."""

    def copy(self) -> OpenKeys:
        """Return an independent copy."""
        new = OpenKeys(self._names)
        new._given = set(self._given)
        new._last = self._last
        new.unclosed = list(self.unclosed)
        return new

    def give(self, name: str) -> None:
        """Note that this argument begins."""
        self._given.add(name)
        self._last = name

    def close(self) -> None:
        """Note that the present argument ends without its quote."""
        self.unclosed.append(self._last)

    def before(self, text: str, at: int, end: int, *, whole: bool) -> int:
        """Return where a comma stands behind which a key may follow that could be whole with more text, or is; else `end`."""
        comma = text.rfind(",", max(at, end - self._longest), end)
        found = _key(text, comma + 1, end) if comma >= 0 else None
        if found is None:
            return end
        name, white, colon = found.groups()
        if colon or white:
            possible = (colon or not whole) and name in self._names and name not in self._given
        else:
            possible = not whole and any(
                key.startswith(name) and key not in self._given for key in self._names
            )
        return comma if possible else end
