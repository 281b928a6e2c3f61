"""Text that cannot drive what shows it: control characters written out."""

from __future__ import annotations

import re
from typing import Final

_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    """The text with control characters and lone surrogates written out; line breaks stay.

    So a template can neither drive a terminal or turn a page's direction of text, nor hold what cannot be encoded.
    """
    return _CONTROLS.sub(lambda found: _spelling(found.group()), text)


def _spelling(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004  (one byte)
