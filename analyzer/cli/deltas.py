"""What `analyzer parse --stream` prints: the deltas of an OpenAI stream, and lines of its own for what that has no place for.

`{"problem": {...}}` for problems, an id that came late and a call's status under `tool_calls`, `{"finish_reason": ...}` last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from analyzer.integrations import openai
from analyzer.runtime import CallEnd, EndOfMessage, Event, Problem


def deltas(events: Iterable[Event]) -> Iterator[dict[str, Any]]:
    """One JSON object for each event that says something to a client."""
    for event in events:
        found = delta(event)
        if found is not None:
            yield found


def delta(event: Event) -> dict[str, Any] | None:
    """The object for one event, None for markup and empty text."""
    match event:
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
            return openai.delta(event)


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
