"""`analyzer report`: a static site that shows what was found in templates, and a server for its live parser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from analyzer.cli.options import json_option, only_with
from analyzer.cli.output import console, print_json, visible
from analyzer.cli.places import Input, OutputPath
from analyzer.errors import JobError, TemplateError

if TYPE_CHECKING:
    from analyzer.corpus.sources import BrokenSource
    from analyzer.report import Run, Subject, Written
    from analyzer.template import Template

PORT: Final = 8722


@click.command("report", short_help="Write a report that people look at.")
@click.argument("sources", metavar="[SOURCE]...", nargs=-1, type=Input())
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    required=True,
    type=OutputPath(folder=True),
    help="The folder of the report: a new one, or one that holds a report.",
)
@click.option(
    "--which", type=click.Choice(["core", "full"]), help="Take the templates of a synced corpus too."
)
@click.option("--title", default="Chat templates", show_default=True, help="What the report is called.")
@click.option(
    "--history",
    metavar="FILE",
    type=OutputPath(),
    help="A history of verdicts that this run is added to, and that the report shows.",
)
@click.option(
    "--jobs", type=click.IntRange(min=0), default=0, help="Processes; 0, the default, is one for each core."
)
@click.option(
    "--cache/--no-cache", default=True, show_default=True, help="Take results that were made before."
)
@click.option("--serve", is_flag=True, help="Serve the report on this machine, with the live parser.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Where to serve it on 127.0.0.1; 0 is any free port.",
)
@json_option("Print what was written, and what could not be loaded, as JSON.")
def command(
    sources: tuple[str, ...],
    output: Path,
    which: str | None,
    title: str,
    history: Path | None,
    jobs: int,
    cache: bool,
    serve: bool,
    port: int,
    as_json: bool,
) -> int:
    """Write a report that people look at: a static site about templates and their formats.

    Each SOURCE is a template, a model folder, a hub id, or a folder of any of these. Every template gets a page: what it
    writes, each stretch coloured by what it was found to be, with the evidence; one call beside two; the spec and its
    exports; what is wrong with it; a parser to step through. The pages need no network and no server.

    \b
    Examples:
      analyzer report chat_template.jinja -o report
      analyzer report models/*/ -o report --history history.jsonl
      analyzer report --which core -o report
      analyzer report --serve -o report                 the live parser, for text of your own

    --serve answers on 127.0.0.1 only, to its own pages only, until it is interrupted.

    A source that cannot be loaded is told and left out; the command ends with 7 then, with 3 when there is no other.
    """
    if not sources and which is None and not serve:
        raise click.UsageError("give a SOURCE or --which to write a report, or --serve to serve one")
    only_with("--port", "--serve", "nothing is served without it")
    status = 0
    if sources or which is not None:
        check_places(output, history)
        templates, broken = _templates(sources, which)
        written = _write(templates, output, visible(title), history, jobs, cached=cache)
        if as_json:
            print_json(_to_json(written, broken))
        else:
            _say(written)
        _say_broken(broken)
        status = JobError.exit_code if broken else 0
    if serve:
        _serve(output, port)
    return status


def check_places(folder: Path, history: Path | None) -> None:
    """Raise `UsageError` before the work begins when the report or the history could not be written after it."""
    from analyzer.files import check_file, check_folder  # noqa: PLC0415
    from analyzer.report import check_report_folder, read_history  # noqa: PLC0415

    check_folder(folder)
    check_report_folder(folder)
    if history is not None:
        check_file(history)
        read_history(history)


def _to_json(written: Written, broken: Sequence[BrokenSource]) -> dict[str, Any]:
    return {
        "folder": str(written.folder),
        "files": written.files,
        "bytes": written.bytes,
        "explained": dict(written.explained),
        "pages": dict(written.pages),
        "broken_sources": [one.to_json() for one in broken],
    }


def _templates(sources: Sequence[str], which: str | None) -> tuple[list[Template], tuple[BrokenSource, ...]]:
    """The templates, and the sources that could not be loaded; raises `TemplateError` when there is no template."""
    from analyzer.corpus import load_corpus  # noqa: PLC0415
    from analyzer.corpus.sources import BrokenSource, load_sources, unique  # noqa: PLC0415

    found: list[Template] = []
    broken: list[BrokenSource] = []
    for loaded in load_sources(sources):
        if isinstance(loaded, BrokenSource):
            broken.append(loaded)
        else:
            found += loaded
    if which is not None:
        found += load_corpus(None, which)
    if not found:
        raise TemplateError(" ".join(one.reason for one in broken))
    return unique(found), tuple(broken)


def _write(
    templates: Sequence[Template], output: Path, title: str, history: Path | None, jobs: int, *, cached: bool
) -> Written:
    return publish(_subjects(templates, jobs, cached=cached), output, title, history)


def publish(subjects: Sequence[Subject], output: Path, title: str, history: Path | None) -> Written:
    """Write the report of these subjects, with progress; the run is added to the history where there is one.

    Raises:
        UsageError: the folder holds something else, or cannot be written.
    """
    from analyzer.report import write_site  # noqa: PLC0415

    runs = _remember(history, subjects) if history is not None else ()
    with _progress("writing", len(subjects)) as tell:
        return write_site(
            subjects, output, history=runs, title=title, progress=lambda one: tell(one.template.name)
        )


def _subjects(templates: Sequence[Template], jobs: int, *, cached: bool) -> list[Subject]:
    """What became of each: one here, more on all cores."""
    from analyzer.analysis import analyze  # noqa: PLC0415
    from analyzer.corpus.cache import ResultCache  # noqa: PLC0415
    from analyzer.corpus.job import Plan, check  # noqa: PLC0415
    from analyzer.report import Subject  # noqa: PLC0415

    if len(templates) == 1:
        return [Subject.of(analyze(templates[0]))]
    results = {}
    with _progress("analysing", len(templates)) as tell:
        for result in check(templates, Plan(jobs, cache=ResultCache() if cached else None)):
            tell(result.name)
            results[result.name] = result
    return [Subject.of_result(results[template.name], template) for template in templates]


def _remember(history: Path, subjects: Sequence[Subject]) -> tuple[Run, ...]:
    from importlib import metadata  # noqa: PLC0415

    from analyzer.report import Run, append_run  # noqa: PLC0415
    from analyzer.report.history import now  # noqa: PLC0415

    verdicts = {subject.template.name: subject.verdict for subject in subjects}
    return append_run(history, Run(now(), metadata.version("chat-template-analyzer"), verdicts))


@contextmanager
def _progress(word: str, total: int) -> Iterator[Callable[[str], None]]:
    """A progress bar on a terminal, and a line for every 100 templates elsewhere."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    out = console(stderr=True)
    columns = (
        TextColumn(word),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task = bar.add_task("", total=total)
        count = 0

        def tell(name: str) -> None:
            nonlocal count
            count += 1
            bar.update(task, advance=1, description=visible(name)[:50])
            if not out.is_terminal and (count % 100 == 0):
                click.echo(f"analyzer: {word}: {count} of {total}", err=True)

        yield tell


def _say_broken(broken: Sequence[BrokenSource]) -> None:
    for one in broken:
        click.echo(f"analyzer: left out: {visible(one.reason)}", err=True)


def _say(written: Written) -> None:
    pages = list(written.pages.values())
    first = written.folder / (pages[0] if len(pages) == 1 else "index.html")
    size = written.bytes / 1e6
    click.echo(f"{len(pages)} page{'s' * (len(pages) != 1)} of templates, {size:.1f} MB, begin with {first}")


def _serve(folder: Path, port: int) -> None:
    from analyzer.report.serve import ReportServer  # noqa: PLC0415

    with ReportServer(folder, port) as server:
        click.echo(f"analyzer: the report is at {server.address} until you press Ctrl-C", err=True)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            click.echo("analyzer: stopped", err=True)
