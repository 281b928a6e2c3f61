"""Words, numbers and escapes of notations other than JSON."""

from __future__ import annotations

import re
from typing import Final

try:
    from _json import encode_basestring as _encode
except ImportError:  # pragma: no cover - other interpreters
    from json.encoder import encode_basestring as _encode

_number = re.compile(r"[+-]?(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?\Z").match
_hex = re.compile(r"[+-]?0[xX][0-9a-fA-F_]+\Z").match
_HEX_CAP: Final = 3000
"""Longer hexadecimal numbers have more decimal digits than Python writes."""
WORDS: Final = {
    "true": "true",
    "false": "false",
    "null": "null",
    "True": "true",
    "False": "false",
    "None": "null",
}
"""Words that are values, in JSON's spelling."""
JSON_WORDS: Final = frozenset({"true", "false", "null"})
_ESCAPES: Final = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "0": "\0",
    "\\": "\\", "'": "'", '"': '"', "/": "/", "\n": "",
}  # fmt: skip
_HEX_ESCAPES: Final = {"x": 2, "u": 4, "U": 8}


def word_to_json(word: str) -> str | None:
    """Return a number or a word (`True`, `null`) as JSON text, None when it is neither."""
    known = WORDS.get(word)
    if known is not None:
        return known
    if _number(word):
        digits = word.replace("_", "")
        sign = "-" if digits[0] == "-" else ""
        digits = digits.lstrip("+-")
        whole = re.match(r"\d*", digits).group()  # type: ignore[union-attr]
        rest = digits[len(whole) :]
        if rest.startswith(".") and not rest[1:2].isdigit():
            rest = ".0" + rest[1:]
        return sign + (whole.lstrip("0") or "0") + rest
    if _hex(word) and len(word) <= _HEX_CAP:
        return str(int(word.replace("_", ""), 16))
    return None


def read_escape(text: str, at: int, final: bool) -> tuple[int, str | None]:
    """Read the escape at `at`; return (its length, its character or None for none, 0 when more text is needed)."""
    if at + 1 >= len(text):
        return (1, None) if final else (0, None)
    char = text[at + 1]
    if char in _HEX_ESCAPES:
        want = _HEX_ESCAPES[char]
        digits = text[at + 2 : at + 2 + want]
        if len(digits) < want and not final:
            return 0, None
        try:
            return 2 + want, chr(int(digits, 16)) if len(digits) == want else None
        except (ValueError, OverflowError):
            return 1, None
    decoded = _ESCAPES.get(char)
    return (2, decoded) if decoded is not None else (1, None)


def json_inner(text: str) -> str:
    """Return `text` as it stands between the quotes of a JSON string."""
    encoded: str = _encode(text)
    return encoded[1:-1]
