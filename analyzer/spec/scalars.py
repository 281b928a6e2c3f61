"""Writing text in YAML so that a person sees every character and no reader takes it for something else."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*\Z")
_MISREAD: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n", "none"})
"""Words that some reader of YAML takes for something else than text."""

_SHORT_ESCAPES: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp", "Mn", "Me"})
_BLANK_LETTERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that are drawn as nothing though they count as letters or symbols."""

_LAST_OF_BYTE: Final = 0xFF
_LAST_OF_PLANE_0: Final = 0xFFFF


def text_scalar(text: str) -> str:
    """Return `text` as a YAML scalar: plain when it is a word, else in double quotes."""
    if _PLAIN.match(text) and text.lower() not in _MISREAD:
        return text
    return quoted(text)


def quoted(text: str) -> str:
    """Return `text` in double quotes, with white space other than blanks, controls and invisible characters escaped."""
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if " " <= character <= "~":
        return character
    if unicodedata.category(character) not in _INVISIBLE_CATEGORIES and character not in _BLANK_LETTERS:
        return character
    code = ord(character)
    if code <= _LAST_OF_BYTE:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code <= _LAST_OF_PLANE_0 else f"\\U{code:08X}"
