"""What must hold for each parse, whatever the text: shared by the runtime's tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from analyzer.chat import Tool
from analyzer.runtime import ArgumentsDelta, CallEnd, CallStart, Event, Options, Parser, coalesce
from analyzer.spec.model import Spec


def tool(name: str, properties: dict[str, Any] | None = None, **more: Any) -> Tool:
    """Return a tool with these properties; a property may be written as its type's name."""
    full = {key: {"type": v} if isinstance(v, str) else v for key, v in (properties or {}).items()}
    return Tool(name, "", {"type": "object", "properties": full, **more})


WEATHER = tool("get_weather", {"city": "string", "days": "integer"})


def run(
    spec: Spec, chunks: Iterable[str], tools: Sequence[Tool] | None = None, finish: str = "stop", **more: Any
) -> list[Event]:
    """Feed the chunks, finish, return all events."""
    parser = Parser(spec, tools, more.pop("options", Options()), **more)
    events: list[Event] = []
    for chunk in chunks:
        events += parser.feed(chunk)
    return events + parser.finish(finish)


def check_spans(events: Sequence[Event], size: int) -> None:
    """The spans of all events stand in order and tile the text."""
    place = 0
    for event in events:
        assert (event.start, event.end) >= (place, place), event
        assert event.start == place, (place, event)
        place = event.end
    assert place == size


def check_calls(events: Sequence[Event]) -> None:
    """Each call starts once, its pieces come between start and end, a complete call's pieces are JSON."""
    open_index: int | None = None
    next_index = 0
    pieces: list[str] = []
    for event in events:
        if isinstance(event, CallStart):
            assert open_index is None
            assert event.index == next_index
            assert event.name
            open_index, pieces = event.index, []
            next_index += 1
        elif isinstance(event, ArgumentsDelta):
            assert event.index == open_index
            pieces.append(event.text)
        elif isinstance(event, CallEnd):
            assert event.index == open_index
            open_index = None
            if event.status == "complete":
                json.loads("".join(pieces))
    assert open_index is None


def check_all_splits(
    spec: Spec, text: str, tools: Sequence[Tool] | None = None, finish: str = "stop", **more: Any
) -> list[Event]:
    """Parse whole, character by character and at every split: all the same; return the coalesced events."""
    whole = run(spec, [text], tools, finish, **dict(more))
    check_spans(whole, len(text))
    check_calls(whole)
    expected = coalesce(whole)
    check_spans(expected, len(text))
    for size in (1, 3):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        got = run(spec, pieces, tools, finish, **dict(more))
        check_spans(got, len(text))
        assert coalesce(got) == expected, size
    for at in range(1, len(text)):
        assert coalesce(run(spec, [text[:at], text[at:]], tools, finish, **dict(more))) == expected, at
    return expected
