"""`analyzer corpus check`: what becomes of every template, and what changed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from analyzer.cli.inputs import read_text
from analyzer.cli.options import json_option, not_both, only_with
from analyzer.cli.output import print_json, to_json
from analyzer.cli.places import Input, InputPath, Output, OutputFile, OutputPath
from analyzer.errors import JobError, UsageError
from analyzer.files import check_file, check_folder, with_home, write_file

if TYPE_CHECKING:
    from analyzer.corpus.baseline import Baseline
    from analyzer.corpus.result import Result
    from analyzer.corpus.review import Review
    from analyzer.corpus.sources import BrokenSource
    from analyzer.template import Template

SETS: Final = ("core", "full")
COMMITTED: Final = Path("generated") / "corpus"
"""What the synced sets are compared with, where nothing else is named: the golden set below the current folder."""

_READ: Final = InputPath()
_WRITTEN: Final = OutputFile()
_FOLDER: Final = InputPath(folder=True)


@click.command("check", short_help="Prove many templates and say what changed.")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...", type=Input())
@click.option(
    "--sources",
    "listed",
    metavar="FILE",
    type=Input(),
    help="A file with more sources, one a line, or - for standard input; # begins a comment.",
)
@click.option("--which", type=click.Choice(SETS), help="A synced set; the default without sources is core.")
@click.option("--folder", type=_FOLDER, help="Where the synced set is kept.")
@click.option(
    "--baseline",
    type=_FOLDER,
    help="The committed specs to compare with: a folder as --update-baseline writes it, or one spec a template. "
    "For a synced set the default is generated/corpus, where it is there.",
)
@click.option("--no-baseline", is_flag=True, help="Compare with no committed specs.")
@click.option(
    "--update-baseline", is_flag=True, help="Write what was found to the baseline: accept the changes."
)
@click.option("--ledger", type=_READ, help="The list of known gaps to hold the results against.")
@click.option("--update-ledger", is_flag=True, help="Write the ledger that the results call for.")
@json_option("Print everything as JSON.")
@click.option("-o", "--output", type=_WRITTEN, help="Write everything as JSON to this file.")
@click.option("--junit", type=_WRITTEN, help="Write JUnit XML, one test case a template, to this file.")
@click.option("--markdown", type=_WRITTEN, help="Write a summary to this file, such as $GITHUB_STEP_SUMMARY.")
@click.option(
    "--report",
    type=OutputPath(folder=True),
    help="Write the report that `analyzer report` makes to this folder.",
)
@click.option(
    "--history", type=OutputPath(), help="A history of verdicts that this run is added to, for --report."
)
@click.option("--timings", type=_WRITTEN, help="Write what each template took, as JSON, to this file.")
@click.option(
    "--cache", type=OutputPath(folder=True), help="Where results are kept; default: the user's cache folder."
)
@click.option("--no-cache", is_flag=True, help="Neither use kept results nor keep any.")
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=0,
    help="Processes on this machine; 0, the default, is one for each core.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", default="", help="Let the Dask cluster with this scheduler do the work."
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    help="The most time for one template.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), help="Check only so many templates, spread over the corpus."
)
@click.option("--only", metavar="TEXT", help="Check only templates with this in their name.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Where verification's conversations come from."
)
def check(
    sources: tuple[str, ...],
    listed: str | None,
    which: str | None,
    folder: Path | None,
    baseline: Path | None,
    no_baseline: bool,
    update_baseline: bool,
    ledger: Path | None,
    update_ledger: bool,
    as_json: bool,
    output: Output | None,
    junit: Output | None,
    markdown: Output | None,
    report: Path | None,
    history: Path | None,
    timings: Output | None,
    cache: Path | None,
    no_cache: bool,
    jobs: int,
    scheduler: str,
    seconds: float,
    limit: int | None,
    only: str | None,
    seed: int,
) -> int:
    """Analyse and prove many templates, and say what changed against what is committed.

    A SOURCE is a template file, a model folder, a .gguf file, a hub id, or a folder that holds any of these; without one
    the synced set is taken. No template can stop the job: one that hangs or kills its process is a finding, and so is a
    source that cannot be loaded.

    Results are kept by the template's hash and this program's: what did not change is not done again, and a job that was
    killed goes on where it was. Every file that is written is the same bytes either way, but for --timings and --history.

    \b
    Examples:
      analyzer corpus check --ledger corpus/ledger.yaml
      analyzer corpus check models/ --baseline formats/ --update-baseline
      analyzer corpus check models/ --baseline formats/ --junit corpus.xml --markdown "$GITHUB_STEP_SUMMARY"
      analyzer corpus check --sources hub_ids.txt --scheduler tcp://10.0.0.1:8786 -o results.json

    \b
    Exits with
      0  nothing changed
      1  drift: something is otherwise than committed (a format, a new template, a closed gap), nothing is worse
      6  regression: a verdict is worse than committed, or a gap is not in the ledger
      7  broken run: a source was not loaded, a template's process died, or the cluster went away
    Without committed specs and without a ledger a template that should be proven and is not counts as drift.
    """
    from analyzer.cli.corpus_summary import print_review, with_progress  # noqa: PLC0415
    from analyzer.corpus.cache import ResultCache  # noqa: PLC0415
    from analyzer.corpus.job import Plan  # noqa: PLC0415
    from analyzer.corpus.job import check as run  # noqa: PLC0415
    from analyzer.corpus.ledger import load_ledger, write_entries  # noqa: PLC0415
    from analyzer.corpus.result import timings as measured  # noqa: PLC0415
    from analyzer.corpus.review import review, unfinished  # noqa: PLC0415

    not_both("--baseline", "--no-baseline", "name what to compare with, or compare with nothing")
    not_both("--update-baseline", "--no-baseline", "there is no baseline to write then")
    not_both("--cache", "--no-cache", "nothing is kept there then")
    not_both("--jobs", "--scheduler", "the cluster's workers do the work")
    only_with("--history", "--report", "only a report shows it")
    committed = None if no_baseline else baseline or _committed(sources, listed, which)
    if update_ledger and ledger is None:
        raise click.UsageError("--update-ledger needs --ledger FILE")
    if update_baseline and committed is None:
        raise click.UsageError("--update-baseline needs --baseline FOLDER")
    _check_places(committed if update_baseline else None, ledger if update_ledger else None, report, history)
    known = load_ledger(ledger, new=update_ledger) if ledger is not None else None
    against = _baseline(committed, update=update_baseline)
    started = time.monotonic()
    corpus = _named(_corpus(sources, listed, which, folder), only or "")
    templates = _chosen(corpus, limit)
    store = None if no_cache else ResultCache(cache)
    job = run(templates, Plan(jobs, seconds, seed, store, scheduler))
    results: list[Result] = []
    try:
        results.extend(with_progress(job, len(templates)))
    except JobError as error:
        done = f"{len(results)} of {len(templates)} templates were done."
        _write(unfinished(f"{error} {done}"), output, junit, markdown, as_json=as_json)
        raise
    results.sort(key=lambda result: result.name)
    took = measured(results, time.monotonic() - started)
    if update_ledger and ledger is not None:
        write_file(ledger, write_entries(results, known or {}))
        known = load_ledger(ledger)
    expected = _expected(against or {}, corpus, only, limit)
    origins = {template.name: template.place for template in templates}
    found = review(results, corpus.broken, against, known, expected, origins)
    if timings is not None:
        timings.write(to_json(took.to_json()) + "\n")
    _write(found, output, junit, markdown, as_json=as_json)
    if report is not None:
        _publish(templates, results, report, history)
    if not as_json:
        print_review(found, took, store)
    if update_baseline and committed is not None:
        if found.severity != "broken":
            _update(committed, found, against or {}, expected)
            return 0
        why = "mend or leave out what is broken, and run the same command again"
        click.echo(f"{committed} is not written: {why}", err=True)
    return found.exit_code


@dataclass(frozen=True, slots=True)
class _Corpus:
    templates: list[Template]
    broken: tuple[BrokenSource, ...]
    elsewhere: frozenset[str]
    """Templates of the lock that are not in the synced set at hand."""


def _committed(sources: Sequence[str], listed: str | None, which: str | None) -> Path | None:
    synced = which is not None or not (sources or listed)
    return COMMITTED if synced and COMMITTED.is_dir() else None


def _check_places(
    baseline: Path | None, ledger: Path | None, report: Path | None, history: Path | None
) -> None:
    """Complain before the work begins, not after it."""
    from analyzer.cli.report import check_places  # noqa: PLC0415

    if baseline is not None:
        check_folder(baseline)
    if ledger is not None:
        check_file(ledger)
    if report is not None:
        check_places(report, history)


def _baseline(folder: Path | None, *, update: bool) -> Baseline | None:
    from analyzer.corpus.baseline import read_baseline  # noqa: PLC0415
    from analyzer.corpus.golden import INDEX  # noqa: PLC0415

    if folder is None:
        return None
    if not update or (folder / INDEX).is_file():
        return read_baseline(folder)
    if folder.is_dir() and any(folder.glob("*.yaml")):
        raise UsageError(
            f"{folder}: the folder holds YAML files and no {INDEX}, so nothing is written there",
            hint="Name an empty or a new folder with --baseline.",
        )
    return {}


def _corpus(sources: Sequence[str], listed: str | None, which: str | None, folder: Path | None) -> _Corpus:
    from analyzer.cli.corpus_summary import with_sources  # noqa: PLC0415
    from analyzer.corpus import load_corpus, load_lock  # noqa: PLC0415
    from analyzer.corpus.sources import BrokenSource, list_in, load_sources, unique  # noqa: PLC0415

    more = list_in(read_text(listed)) if listed is not None else []
    if listed is not None and not more:
        raise UsageError(f"{listed}: the list names no source")
    named = [*sources, *more]
    found = list(with_sources(load_sources(named)))
    templates = [template for one in found if not isinstance(one, BrokenSource) for template in one]
    elsewhere: frozenset[str] = frozenset()
    if which is not None or not named:
        synced = load_corpus(folder, which or "core")
        templates += synced
        elsewhere = frozenset(one.name for one in load_lock().templates) - {one.name for one in synced}
    broken = tuple(one for one in found if isinstance(one, BrokenSource))
    return _Corpus(unique(templates), broken, elsewhere)


def _named(corpus: _Corpus, only: str) -> _Corpus:
    """What has the text in its name.  A folder that cannot be looked into may hold anything, so it is kept."""
    text = only.lower()
    source, _, _ = text.partition(":")  # what could not be loaded shows no variants
    return replace(
        corpus,
        templates=[template for template in corpus.templates if text in template.name.lower()],
        broken=tuple(one for one in corpus.broken if one.is_folder or source in _name(one).lower()),
    )


def _name(broken: BrokenSource) -> str:
    """The name that its template would have: a file's own, not that of the folder it is in."""
    is_path = broken.name == broken.source and with_home(broken.source).exists()
    return Path(broken.source).name if is_path else broken.name


def _chosen(corpus: _Corpus, limit: int | None) -> list[Template]:
    templates = corpus.templates
    if limit is not None and limit < len(templates):
        templates = [templates[number * len(templates) // limit] for number in range(limit)]
    if not templates and not corpus.broken:
        raise UsageError("no template is left to check")
    return templates


def _expected(baseline: Baseline, corpus: _Corpus, only: str | None, limit: int | None) -> set[str]:
    """The committed templates that the corpus at hand should hold."""
    if limit is not None:
        return set()
    return {
        name for name in baseline if name not in corpus.elsewhere and (only or "").lower() in name.lower()
    }


def _write(
    found: Review, output: Output | None, junit: Output | None, markdown: Output | None, *, as_json: bool
) -> None:
    """Write every form that was asked for, but that for people."""
    from analyzer.corpus.junit import to_junit  # noqa: PLC0415
    from analyzer.corpus.markdown import to_markdown  # noqa: PLC0415

    if output is not None:
        output.write(to_json(found.to_json()) + "\n")
    if junit is not None:
        junit.write(to_junit(found))
    if markdown is not None:
        markdown.write(to_markdown(found))
    if as_json:
        print_json(found.to_json())


def _publish(
    templates: Sequence[Template], results: Sequence[Result], folder: Path, history: Path | None
) -> None:
    from analyzer.cli.report import publish  # noqa: PLC0415
    from analyzer.report import Subject  # noqa: PLC0415

    made = {result.name: result for result in results}
    subjects = [Subject.of_result(made[template.name], template) for template in templates]
    publish(subjects, folder, "Chat templates", history)


def _update(folder: Path, found: Review, baseline: Baseline, expected: set[str]) -> None:
    """Make what was found the committed state; what the run was not about stays."""
    from analyzer.corpus import golden  # noqa: PLC0415

    checked = expected | {result.name for result in found.results}
    elsewhere = {name: known.sha256 for name, known in baseline.items() if name not in checked}
    kept = golden.kept_files(folder, elsewhere)
    changed = golden.write(folder, golden.corpus_files(found.results, kept, head=golden.head_of(folder)))
    click.echo(f"{folder}: {len(changed)} files changed", err=True)
