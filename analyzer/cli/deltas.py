"""Runtime events as the deltas of an OpenAI stream: the objects that stand under `choices[0].delta`.

Text that is no part of a delta has lines of its own: `{"problem": {...}}` for problems, `{"finish_reason": ...}` last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from analyzer.runtime import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    EndOfMessage,
    Event,
    Problem,
    ReasoningDelta,
    TextDelta,
)


def deltas(events: Iterable[Event]) -> Iterator[dict[str, Any]]:
    """One JSON object for each event that says something to a client."""
    for event in events:
        found = delta(event)
        if found is not None:
            yield found


def delta(event: Event) -> dict[str, Any] | None:
    """The object for one event, None for markup and empty text."""
    match event:
        case TextDelta(text=text) if text:
            return {"content": text}
        case ReasoningDelta(text=text) if text:
            return {"reasoning_content": text}
        case CallStart():
            function = {"name": event.name, "arguments": ""}
            return {
                "tool_calls": [
                    {"index": event.index, "id": event.id, "type": "function", "function": function}
                ]
            }
        case ArgumentsDelta(text=text) if text:
            return {"tool_calls": [{"index": event.index, "function": {"arguments": text}}]}
        case CallEnd() if event.native_id is not None or event.status != "complete":
            ended: dict[str, Any] = {"index": event.index, "status": event.status}
            if event.native_id is not None:
                ended["id"] = event.native_id
            return {"tool_calls": [ended]}
        case Problem():
            return {"problem": problem(event)}
        case EndOfMessage():
            return {"finish_reason": event.finish_reason}
        case _:
            return None


def problem(found: Problem) -> dict[str, Any]:
    """A problem as JSON data."""
    return {
        "kind": found.kind,
        "severity": found.severity,
        "message": found.message,
        "start": found.start,
        "end": found.end,
        "raw": found.raw,
    }
