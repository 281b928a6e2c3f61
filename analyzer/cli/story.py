"""The demonstration in words and colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from analyzer.analysis import Analysis
from analyzer.chat import Message
from analyzer.cli.output import to_json, visible
from analyzer.cli.paint import STYLES, VERDICT_STYLES, heading, indented, legend, put, row
from analyzer.cli.specimen import Specimen
from analyzer.cli.summary import facts
from analyzer.runtime import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    EndOfMessage,
    Event,
    Markup,
    Problem,
    ReasoningDelta,
    TextDelta,
    coalesce,
)

STEPS_SHOWN: Final = 60


def tell(
    console: Console,
    analysis: Analysis,
    shown: Sequence[Specimen],
    steps: Sequence[tuple[str, list[Event]]],
    message: Message,
) -> None:
    """Say what was read, how it was proved, and how the reply was parsed."""
    template, spec = analysis.template, analysis.spec
    assert spec is not None  # noqa: S101  (the caller's condition)
    lines = template.text.count("\n") + 1
    put(console, heading("1. A chat template"))
    put(
        console,
        Text(
            f"   {template.origin}, {lines} lines of Jinja. It says how messages become a prompt, not how to parse a reply."
        ),
    )
    put(console, Text())
    put(console, heading("2. What rendering it shows"), legend())
    put(
        console,
        Text(
            f"   {analysis.renders} renders with made-up values in every slot were compared; nothing about any model was looked up."
        ),
    )
    for specimen in shown:
        put(console, Text(f"   {specimen.title}", "bold"))
        put(console, indented(specimen.painted(), 6))
    put(console, Text())
    put(console, heading("3. The format, as data"))
    for label, text in facts(spec):
        put(console, row(label, text, 3))
    put(console, Text())
    put(console, heading("4. The proof"))
    found = spec.verification
    line = Text("   ").append(analysis.verdict.replace("_", " "), VERDICT_STYLES[analysis.verdict])
    cells = (
        f"{found.coverage.get('covered', 0)} of {found.coverage.get('total', 0)} cells of the coverage table"
    )
    line.append(
        f": {found.round_trips} conversations rendered and parsed back without a difference; {cells}."
    )
    put(console, line)
    put(console, Text())
    put(console, heading("5. A reply, parsed while it arrives"))
    for piece, events in steps[:STEPS_SHOWN]:
        if told := [word for event in coalesce(events) for word in _words(event)]:
            put(
                console,
                Text("   ").append(f"{visible(repr(piece)) if piece else 'end':<14}", "dim")
                + Text("  ").join(told),
            )
    put(console, Text())
    put(console, heading("6. The message"))
    put(console, indented(Text(visible(to_json(message.to_openai()))), 3))


def _words(event: Event) -> list[Text]:
    match event:
        case Markup() | EndOfMessage():
            return []
        case TextDelta():
            return [Text(f"text {event.text!r}")]
        case ReasoningDelta():
            return [Text(f"reasoning {event.text!r}", STYLES["reasoning"])]
        case CallStart():
            return [Text(f"call {event.index}: {event.name}", STYLES["call_start"])]
        case ArgumentsDelta():
            return [Text(f"arguments {event.text!r}", STYLES["arguments"])]
        case CallEnd():
            return [Text(f"call {event.index} {event.status}", STYLES["call_start"])]
        case Problem():
            return [Text(f"{event.kind}: {event.message}", STYLES["problem"])]
