r"""Halves of surrogate pairs in a call's arguments, which are no text.

A model may write `\ud83d` in a JSON string and nothing behind it. Python's own reader takes that, but the readers of several
clients refuse the whole text (RFC 8259, section 8.2, calls the outcome unpredictable), so U+FFFD goes out in its place.
"""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(r"[^\\]+|\\u[0-9a-fA-F]{4}|\\[^u]", re.DOTALL)
_HIGH: Final = re.compile(r"\\u[dD][89abAB]..")
_LOW: Final = re.compile(r"\\u[dD][c-fC-F]..")
_CHARACTER: Final = re.compile("[\ud800-\udfff]")
_REPLACED: Final = r"\ufffd"


class Paired:
    """JSON text in pieces, in which no half of a surrogate pair stands alone."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""
        """The beginning of an escape, or the first half of a pair."""

    def feed(self, text: str) -> str:
        """Return what can be said now; at most two escapes are held back."""
        if not text.isascii():
            text = _CHARACTER.sub("\ufffd", text)
        if not self._held and "\\" not in text:
            return text
        text, self._held = self._held + text, ""
        said: list[str] = []
        high = ""
        at = 0
        while found := _TOKEN.match(text, at):
            token, at = found.group(), found.end()
            if _LOW.fullmatch(token):
                said.append(high + token if high else _REPLACED)
                high = ""
                continue
            if high:
                said.append(_REPLACED)
            high = token if _HIGH.fullmatch(token) else ""
            if not high:
                said.append(token)
        self._held = high + text[at:]
        return "".join(said)

    def finish(self) -> str:
        """Return what was held when the text is over."""
        held, self._held = self._held, ""
        return _REPLACED + held[6:] if _HIGH.match(held) else held
