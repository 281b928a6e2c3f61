"""Colours: what each kind of text looks like, literals as people can read them, specs as YAML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from analyzer.cli.output import visible
from analyzer.runtime.events import Event
from analyzer.spec.scalars import quoted

STYLES: Final = {
    "markup": "cyan",
    "call_start": "bold yellow",
    "arguments": "green",
    "reasoning": "italic magenta",
    "text": "default",
    "problem": "bold red",
    "end": "cyan",
    "prompt": "dim",
}
"""By the kind of a runtime event; `prompt` is what stands before the model's first character."""

LEGEND: Final = (
    ("prompt", "prompt"),
    ("markup", "markers"),
    ("call_start", "tool name"),
    ("arguments", "arguments"),
    ("reasoning", "reasoning"),
    ("text", "text"),
)

VERDICT_STYLES: Final = {
    "proven": "bold green",
    "proven_with_defects": "bold yellow",
    "failed": "bold red",
    "crashed": "bold red",
    "refused": "bold red",
    "described": "bold cyan",
    "no_calls": "bold",
    "unverified": "bold",
}


class Span(NamedTuple):
    """A stretch of model text and the kind of event that stands for it."""

    start: int
    end: int
    kind: str


def spans_of(events: Iterable[Event]) -> list[Span]:
    """The spans of a parse that are not empty."""
    return [
        Span(event.start, event.end, event.kind if not hasattr(event, "severity") else "problem")
        for event in events
        if event.end > event.start
    ]


def coloured(text: str, spans: Iterable[Span]) -> Text:
    """The text, each span in the style of its kind."""
    out = Text()
    for span in spans:
        out.append(visible(text[span.start : span.end]), STYLES[span.kind])
    return out


def put(console: Console, *texts: Text) -> None:
    """Print texts on one line, as long as it is: the terminal breaks it, a file keeps it, nothing is padded."""
    console.print(Text("   ").join(texts) if texts else "", soft_wrap=True)


def indented(text: Text, by: int = 4) -> Text:
    """A stretch of several lines, set in; line breaks at its end are left out."""
    text = text.copy()
    text.rstrip()
    return Text("\n").join(Text(" " * by) + line for line in text.split("\n"))


def row(label: str, text: Text, by: int = 2) -> Text:
    """A line with a label."""
    return Text(" " * by).append(f"{label:<13} ", "bold") + text


def literal(text: str, style: str = STYLES["markup"]) -> Text:
    """A literal in quotes, its line breaks and invisible characters written as escapes."""
    return Text(quoted(text), style)


def heading(text: str) -> Text:
    """A heading of the readable output."""
    return Text(text, "bold underline")


def legend() -> Text:
    """One line that says what the colours mean."""
    out = Text("colours: ", "dim")
    for number, (kind, word) in enumerate(LEGEND):
        out.append(" · " if number else "", "dim")
        out.append(word, STYLES[kind])
    return out


def print_yaml(console: Console, text: str) -> None:
    """Print a spec, highlighted on a terminal, to the byte elsewhere."""
    if console.is_terminal and not console.no_color:
        console.print(Syntax(text, "yaml", theme="ansi_dark", background_color="default", word_wrap=True))
    else:
        console.out(text, end="", highlight=False)
