"""The readable summary of an analysis: what this format is, in words, and how far it is proven."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from rich.console import Console
from rich.text import Text

from analyzer.analysis import DESCRIPTIONS, VERDICTS, Analysis
from analyzer.cli.output import visible
from analyzer.cli.paint import STYLES, VERDICT_STYLES, heading, indented, legend, literal, put, row
from analyzer.cli.specimen import Specimen
from analyzer.render import FAILURE_KINDS, STOPPED
from analyzer.report.facts import facts as facts_in_words
from analyzer.spec.model import Spec

LISTED: Final = 12
"""How many defects, unproven fields and notes are printed."""

_STYLES: Final = {"plain": "default", "slot": STYLES["call_start"], "argument": "green", "note": "dim"}


def print_summary(console: Console, analysis: Analysis, shown: Sequence[Specimen]) -> None:
    """Print everything but the spec itself."""
    template, spec = analysis.template, analysis.spec
    title = Text(visible(template.name), "bold")
    title.append(f"  variant {template.variant}" if template.variant != "default" else "")
    title.append(f"  sha256 {template.sha256[:12]}", "dim")
    put(console, title)
    put(console, _verdict(analysis))
    for failure in analysis.failures[:LISTED]:
        put(console, Text(f"  ✗ {visible(failure)}", "red"))
    if spec is not None:
        if shown:
            put(console)
            put(console, heading("What the model writes"), legend())
            for specimen in shown:
                put(console, Text(f"  {specimen.title}", "bold"))
                put(console, indented(specimen.painted()))
        put(console)
        put(console, heading("The format"))
        for label, text in facts(spec):
            put(console, row(label, text))
        _print_list(console, "Defects of the template", [f"{d.kind}: {d.message}" for d in spec.defects])
        _print_list(console, "Not proven", spec.verification.unproven)
    _print_list(console, "What the template refuses", _notes(analysis, FAILURE_KINDS - STOPPED))
    _print_list(console, "What had to be stopped", _notes(analysis, STOPPED))
    _print_list(console, "Noticed", _notes(analysis, {note.kind for note in analysis.notes} - FAILURE_KINDS))


def _verdict(analysis: Analysis) -> Text:
    verdict = analysis.verdict
    out = Text(verdict.replace("_", " "), VERDICT_STYLES[verdict])
    out.append(f": {VERDICTS[verdict]}", "default")
    found = analysis.verification
    if found.round_trips:
        covered = f", {found.coverage.get('covered', 0)} of {found.coverage.get('total', 0)} cells covered"
        out.append(f" ({found.round_trips} round trips{covered if found.coverage else ''})", "dim")
    return out


def _notes(analysis: Analysis, kinds: AbstractSet[str]) -> list[str]:
    return [
        f"{note.subject}: {note.kind}: {note.message}"
        for note in analysis.notes
        if note.subject not in DESCRIPTIONS and note.kind in kinds
    ]


def _print_list(console: Console, title: str, items: Sequence[str]) -> None:
    if not items:
        return
    put(console)
    put(console, heading(title))
    for item in items[:LISTED]:
        put(console, Text(f"  - {visible(' '.join(item.split()))}"))
    if len(items) > LISTED:
        put(console, Text(f"  ... and {len(items) - LISTED} more (--json lists all)", "dim"))


def facts(spec: Spec) -> Iterator[tuple[str, Text]]:
    """What the spec says, one line a subject."""
    for subject, phrases in facts_in_words(spec):
        out = Text()
        for phrase in phrases:
            out += (
                literal(phrase.text)
                if phrase.kind == "literal"
                else Text(visible(phrase.text), _STYLES[phrase.kind])
            )
        yield subject, out
