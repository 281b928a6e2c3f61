"""Server-sent events, the form in which both APIs stream."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

CONTENT_TYPE: Final = "text/event-stream"
DONE: Final = b"data: [DONE]\n\n"
"""What ends a Chat Completions stream."""
_JSON: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":")
).encode  # made once: a stream encodes every delta


def encode(data: Mapping[str, Any], event: str | None = None) -> bytes:
    """Return one event: its data as JSON on one line, under a name where it has one."""
    head = f"event: {event}\n" if event is not None else ""
    return f"{head}data: {_JSON(data)}\n\n".encode("utf-8", "backslashreplace")
