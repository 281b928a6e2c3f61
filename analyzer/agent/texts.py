"""What Python's JSON and text allow that no other reader takes: words that are no JSON, halves of surrogate pairs."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def strict_json(text: str) -> Any:
    """Decode JSON without the words that Python adds to it (`NaN`, `Infinity`). Raises `ValueError`."""
    return json.loads(text, parse_constant=_refuse)


def paired(text: str) -> str:
    """Return text in which halves of surrogate pairs are joined; one that stands alone is no text, and becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON value")
