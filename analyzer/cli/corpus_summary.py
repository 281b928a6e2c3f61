"""What `analyzer corpus check` shows: how far it is, and what it found, as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from analyzer.cli.output import console, visible
from analyzer.cli.paint import VERDICT_STYLES, put
from analyzer.corpus.changes import KINDS, Change, FormatChange
from analyzer.corpus.markdown import counted

if TYPE_CHECKING:
    from rich.console import Console

    from analyzer.corpus.cache import ResultCache
    from analyzer.corpus.result import Result, Timings
    from analyzer.corpus.review import Review
    from analyzer.corpus.sources import Loaded

SHOWN: Final = 30
"""How many changes of one kind, formats and differences are printed."""
NAMES: Final = 8
EVERY: Final = 100
"""After how many templates, or sooner, a line says how far the job is, where there is no terminal."""

SEVERITY_STYLES: Final = {"drift": "yellow", "regression": "bold red", "broken": "bold magenta"}


def with_sources(loaded: Iterable[Loaded]) -> Iterator[Loaded]:
    """The sources as they are loaded, counted on a terminal."""
    out = console(stderr=True)
    columns = (TextColumn("{task.completed} sources loaded"), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task("", total=None)
        for one in loaded:
            bar.advance(task)
            yield one


def with_progress(results: Iterator[Result], total: int) -> Iterator[Result]:
    """The results, with a progress bar on a terminal and a line now and then elsewhere."""
    out = console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    gaps = 0
    step = max(1, min(EVERY, total // 10))
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task("", total=total)
        for number, result in enumerate(results, start=1):
            gaps += result.is_gap
            words = f"{gaps} not proven · {visible(result.name)[:50]}"
            bar.update(task, advance=1, description=words)
            if not out.is_terminal and (number % step == 0 or number == total):
                click.echo(f"analyzer: {number} of {total} checked, {gaps} not proven", err=True)
            yield result


def print_review(review: Review, timings: Timings, cache: ResultCache | None) -> None:
    """Print what a run found."""
    out = console()
    _print_figures(out, review, timings, cache)
    if review.changes:
        _print_counts(out, review)
    for change in review.formats[:SHOWN]:
        _print_format(out, change)
    _print_more(out, len(review.formats))
    for kind in review.counts:
        if kind != "format_changed":  # told by format, above
            of_kind = [change for change in review.changes if change.kind == kind]
            for one in of_kind[:SHOWN]:
                _print_change(out, one)
            _print_more(out, len(of_kind))
    for refusal in review.refused[:SHOWN]:
        line = Text("· refused  ", "bold red").append(visible(refusal.name), "bold")
        put(out, line.append(f"  {visible(refusal.reason)}", "default"))
    _print_more(out, len(review.refused))
    style = SEVERITY_STYLES[review.severity] if review.severity else "bold green"
    put(out, Text(review.status, style))


def _print_figures(out: Console, review: Review, timings: Timings, cache: ResultCache | None) -> None:
    found = review.summary
    same = "" if found.distinct == found.templates else f" ({found.distinct} distinct)"
    kept = f", {counted(cache.hits, 'result')} from the cache" if cache is not None and cache.hits else ""
    put(out, Text(f"{counted(found.templates, 'template')}{same} in {timings.seconds:.0f} s{kept}", "bold"))
    if cache is not None and cache.damaged:
        put(out, Text(f"{cache.damaged} damaged cache entries were made again", "yellow"))
    table = Table(show_edge=False)
    table.add_column("verdict")
    table.add_column("templates", justify="right")
    for verdict, count in found.verdicts.items():
        table.add_row(Text(verdict.replace("_", " "), VERDICT_STYLES[verdict]), str(count))
    if review.broken:
        table.add_row(Text("broken source", SEVERITY_STYLES["broken"]), str(len(review.broken)))
    out.print(table)
    if found.share is not None:
        share = f"{found.proven} of {found.renders_calls} that render calls are proven ({found.share:.1%})"
        put(out, Text(share, "bold"))
    if found.defects:
        counts = ", ".join(f"{count} {kind}" for kind, count in found.defects.items())
        put(out, Text(f"defects of templates: {counts}"))
    if not timings.templates:
        return
    spent = ", ".join(f"{phase} {seconds:.0f} s" for phase, seconds in timings.phases.items())
    slow = ", ".join(f"{visible(name)} {spent:.1f} s" for name, spent in islice(timings.templates.items(), 3))
    put(out, Text(f"time in all processes: {spent}; slowest: {slow}", "dim"))


def _print_counts(out: Console, review: Review) -> None:
    table = Table(show_edge=False)
    for heading in ("change", "severity", "templates", "meaning"):
        table.add_column(heading, justify="right" if heading == "templates" else "left")
    for kind, count in review.counts.items():
        known = KINDS[kind]
        style = SEVERITY_STYLES[known.severity]
        table.add_row(Text(kind.replace("_", " "), style), known.severity, str(count), known.meaning)
    out.print()
    out.print(table)
    out.print()


def _print_format(out: Console, change: FormatChange) -> None:
    put(out, Text("~ ", "yellow").append(visible(change.words)))
    put(out, Text(f"    changed: {_names(change.templates)}"))
    if change.keep:
        put(out, Text(f"    not changed: {_names(change.keep)}", "dim"))
    for one in change.differences[:SHOWN]:
        put(out, Text(f"    {visible(one.words)}"))
    _print_more(out, len(change.differences))


def _print_change(out: Console, change: Change) -> None:
    style = SEVERITY_STYLES[change.severity]
    sign = "~" if change.severity == "drift" else "✗"
    head = Text(f"{sign} {change.kind.replace('_', ' ')}  ", style)
    put(out, head.append(visible(change.name), "bold").append(f"  {visible(change.words)}", "default"))


def _print_more(out: Console, count: int) -> None:
    if count > SHOWN:
        put(out, Text(f"... and {count - SHOWN} more (--json lists all)", "dim"))


def _names(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return ", ".join(visible(name) for name in names[:NAMES]) + more
