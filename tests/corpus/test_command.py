"""`analyzer corpus check` as it is used: baselines are written and accepted, parts are checked, mistakes are told."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import junitparser
import pytest
import yaml
from click.testing import CliRunner

from analyzer.cli.app import app
from analyzer.corpus.golden import INDEX
from analyzer.corpus.markdown import escaped
from analyzer.corpus.result import Result
from analyzer.corpus.sources import BrokenSource
from analyzer.errors import JobError
from analyzer.report import read_history
from analyzer.template import Template
from tests.corpus.conftest import Invoke, small_corpus


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus in `corpus` and its baseline in `formats`, with the results in `cache`."""
    folder = tmp_path_factory.mktemp("accepted")
    corpus = small_corpus(folder / "corpus")
    words = [
        str(corpus),
        "--baseline",
        str(folder / "formats"),
        "--update-baseline",
        "--cache",
        str(folder / "cache"),
    ]
    result = CliRunner().invoke(app, ["corpus", "check", *words])

    assert 0 == result.exit_code, result.output
    return folder


@pytest.fixture
def folder(accepted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that to change, with its results in the cache."""
    monkeypatch.setenv("ANALYZER_CACHE", str(tmp_path / "work" / "cache"))
    return Path(shutil.copytree(accepted, tmp_path / "work"))


def entries(folder: Path) -> dict[str, object]:
    """What the baseline says of each template."""
    found = yaml.safe_load((folder / "formats" / INDEX).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def kinds(folder: Path) -> set[tuple[str, str]]:
    """The kinds of changes of each template, by the JSON file."""
    found = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    return {(change["name"], change["kind"]) for change in found["changes"]}


def test_changes_are_told_until_they_are_accepted(folder: Path, invoke: Invoke) -> None:
    """A template more, one less, one with another name, one with another text: drift; then accepted; then nothing."""
    corpus = folder / "corpus"
    (corpus / "no_tools.jinja").unlink()
    (corpus / "key_value_tags.jinja").rename(corpus / "renamed.jinja")
    with (corpus / "twin.jinja").open("a", encoding="utf-8") as file:
        file.write("{#- more -#}")
    (corpus / "new.jinja").write_text("{{ messages[0].content }}", encoding="utf-8")
    options = (corpus, "--baseline", folder / "formats", "-o", folder / "out.json")

    assert 1 == invoke(*options).exit_code
    assert {
        ("no_tools", "vanished"),
        ("renamed", "renamed"),
        ("twin", "template_changed"),
        ("new", "new"),
    } == kinds(folder)
    assert 0 == invoke(*options, "--update-baseline").exit_code
    assert {"header_recipient", "json_tag_per_call", "renamed", "twin", "new"} == set(entries(folder))
    assert 0 == invoke(*options).exit_code
    assert not kinds(folder)


def test_a_baseline_that_is_not_written_is_told(folder: Path, invoke: Invoke) -> None:
    """Where a source is broken the committed state stays as it was, and the job says so."""
    (folder / "corpus" / "empty.jinja").write_text("", encoding="utf-8")
    before = entries(folder)
    result = invoke(folder / "corpus", "--baseline", folder / "formats", "--update-baseline")

    assert 7 == result.exit_code
    assert f"{folder / 'formats'} is not written: mend or leave out what is broken" in result.stderr
    assert before == entries(folder)


def test_a_lost_verdict_is_a_regression(folder: Path, invoke: Invoke) -> None:
    """A template that used to be proven and renders nothing any more."""
    (folder / "corpus" / "twin.jinja").write_text("{% for", encoding="utf-8")
    result = invoke(folder / "corpus", "--baseline", folder / "formats", "-o", folder / "out.json")

    assert 6 == result.exit_code
    assert {("twin", "verdict_lost"), ("twin", "calls_changed")} == kinds(folder)
    assert "was proven, is refused: line 1: the template does not compile" in result.stdout


def test_why_a_template_is_refused(folder: Path, invoke: Invoke) -> None:
    """File, line and message, in every form, where nothing is committed that says the same; the status is no worse for it."""
    corpus, formats = folder / "corpus", folder / "formats"
    bad = corpus / "bad.jinja"
    bad.write_text("{% for m in messages %}\n{{ m.content }}", encoding="utf-8")
    reason = f"{bad}, line 2: the template does not compile"
    outputs = {name: folder / f"out.{name}" for name in ("json", "xml", "md")}
    forms = ("-o", outputs["json"], "--junit", outputs["xml"], "--markdown", outputs["md"])
    result = invoke(corpus, *forms)
    found = json.loads(outputs["json"].read_text(encoding="utf-8"))

    assert 0 == result.exit_code, result.output
    assert ["bad"] == [one["name"] for one in found["refused"]]
    assert found["refused"][0]["reason"].startswith(reason)
    assert f"refused  bad  {reason}" in result.stdout
    assert reason in outputs["xml"].read_text(encoding="utf-8")
    assert f"- `bad`: {escaped(reason)}" in outputs["md"].read_text(encoding="utf-8")
    assert reason in invoke(corpus, "--baseline", formats, "--update-baseline").stdout
    known = invoke(corpus, "--baseline", formats, *forms)
    assert reason not in known.stdout
    assert [] == json.loads(outputs["json"].read_text(encoding="utf-8"))["refused"]


def test_a_job_that_ends_early_says_so_in_every_file(
    folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error and nothing else: nobody looked at the other templates, so none of them has vanished or is proven."""

    def until_the_cluster_goes(templates: Sequence[Template], _: object) -> Iterator[Result]:
        yield Result(templates[0].name, templates[0].sha256, "proven", renders_calls=True)
        raise JobError("the scheduler went away", hint="Start it again.")

    monkeypatch.setattr("analyzer.corpus.job.check", until_the_cluster_goes)
    before = entries(folder)
    outputs = {name: folder / f"out.{name}" for name in ("json", "xml", "md")}
    forms = ("-o", outputs["json"], "--junit", outputs["xml"], "--markdown", outputs["md"])
    more = ("--report", folder / "site", "--timings", folder / "out.timings", "--update-baseline")
    result = invoke(folder / "corpus", "--baseline", folder / "formats", *forms, *more)
    found = json.loads(outputs["json"].read_text(encoding="utf-8"))
    (suite,) = junitparser.JUnitXml.fromstring(outputs["xml"].read_bytes())
    (case,) = suite
    page = outputs["md"].read_text(encoding="utf-8")
    told = "the scheduler went away. Start it again. 1 of 5 templates were done."

    assert 7 == result.exit_code, result.output
    assert (
        "analyzer: the scheduler went away. Start it again.\n" == result.stderr.splitlines(keepends=True)[-1]
    )
    assert "broken" == found["status"]
    assert [("corpus check", "unfinished", told)] == [
        (one["name"], one["kind"], one["words"]) for one in found["changes"]
    ]
    assert [] == found["results"]
    assert (1, 0, 1) == (suite.tests, suite.failures, suite.errors)
    assert ("corpus check", "broken.unfinished", told) == (
        case.name,
        case.result[0].type,
        case.result[0].message,
    )
    assert page.startswith("## Corpus check: broken run")
    assert escaped(told) in page
    assert "0 templates" not in page
    assert not (folder / "site").exists()
    assert not (folder / "out.timings").exists()
    assert before == entries(folder)
    printed = invoke(folder / "corpus", "--json")
    assert (7, "broken") == (printed.exit_code, json.loads(printed.stdout)["status"])


@pytest.mark.parametrize("by_name", [False, True])
def test_a_broken_source_of_another_name_does_not_count(
    folder: Path, invoke: Invoke, *, by_name: bool
) -> None:
    """It is filtered as templates are; one that has the text in its name is told."""
    corpus = folder / "corpus"
    (corpus / "empty.jinja").write_text("", encoding="utf-8")
    sources = sorted(corpus.glob("*.jinja")) if by_name else [corpus]

    other = invoke(*sources, "--only", "twin", "-o", folder / "out.json")
    broken = json.loads((folder / "out.json").read_text(encoding="utf-8"))["broken_sources"]
    same = invoke(*sources, "--only", "empt")
    nothing = invoke(*sources, "--only", "corpus")

    assert (0, []) == (other.exit_code, broken)
    assert "slowest: twin" in other.stdout
    assert 7 == same.exit_code
    assert "slowest" not in same.stdout
    assert "empty.jinja" in same.stdout
    assert 2 == nothing.exit_code
    assert "no template is left to check" in nothing.stderr


def test_a_folder_that_cannot_be_looked_into_may_hold_the_name(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it counts, whatever the filter."""
    closed = BrokenSource("models", "models: this cannot be looked into", "models", is_folder=True)
    monkeypatch.setattr("analyzer.corpus.sources.load_sources", lambda _: iter([closed]))

    assert 7 == invoke("models", "--only", "twin").exit_code


@pytest.mark.parametrize("part", [("--only", "TWIN"), ("--limit", "1")])
def test_a_part_leaves_the_rest_alone(part: tuple[str, str], folder: Path, invoke: Invoke) -> None:
    """What was not checked has not vanished, and stays when changes are accepted."""
    before = entries(folder)
    options = (folder / "corpus", "--baseline", folder / "formats", *part)

    assert 0 == invoke(*options).exit_code
    assert 0 == invoke(*options, "--update-baseline").exit_code
    assert before == entries(folder)


def test_a_broken_run_accepts_nothing(folder: Path, invoke: Invoke) -> None:
    """A source that is missing today does not take its format out of the baseline."""
    before = entries(folder)
    (folder / "corpus" / "twin.jinja").write_text("", encoding="utf-8")
    result = invoke(folder / "corpus", "--baseline", folder / "formats", "--update-baseline")

    assert 7 == result.exit_code
    assert before == entries(folder)


def test_other_yaml_files_are_not_overwritten(folder: Path, invoke: Invoke) -> None:
    """A folder with YAML files and no index is somebody else's."""
    (folder / "other").mkdir()
    (folder / "other" / "mine.yaml").write_text("a: 1\n", encoding="utf-8")
    result = invoke(folder / "corpus", "--baseline", folder / "other", "--update-baseline")

    assert 2 == result.exit_code
    assert "holds YAML files" in result.output
    assert ["mine.yaml"] == [path.name for path in (folder / "other").iterdir()]


def test_files_are_the_same_fresh_and_from_the_cache(folder: Path, invoke: Invoke) -> None:
    """Every file but the timings; the timings tell what each template took when it was done."""
    for name, options in {"fresh": ("--no-cache",), "kept": ()}.items():
        outputs = (
            "-o",
            folder / f"{name}.json",
            "--junit",
            folder / f"{name}.xml",
            "--markdown",
            folder / f"{name}.md",
        )
        more = ("--timings", folder / f"{name}.timings")
        result = invoke(folder / "corpus", "--baseline", folder / "formats", *outputs, *more, *options)
        assert 0 == result.exit_code, result.output
        assert ("5 results from the cache" in result.stdout) == (name == "kept")

    for suffix in ("json", "xml", "md"):
        assert (folder / f"fresh.{suffix}").read_bytes() == (folder / f"kept.{suffix}").read_bytes()
    took = json.loads((folder / "kept.timings").read_text(encoding="utf-8"))
    assert {"seconds", "phases", "templates"} == set(took)
    assert all(seconds > 0 for seconds in took["templates"].values())
    assert "seconds" not in (folder / "fresh.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--update-baseline",), "--update-baseline needs --baseline"),
        (("--update-ledger",), "--update-ledger needs --ledger"),
        (("-o", "absent/out.json"), "no folder absent"),
        (("--baseline", "absent"), "no such folder to compare with"),
        (("--only", "nothing_like_it"), "no template is left"),
        (("--sources", "empty.txt"), "names no source"),
        (("--cache", "empty.txt/x"), "cannot be kept there"),
    ],
)
def test_mistakes_are_told_before_the_work(
    options: tuple[str, ...], told: str, folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status 2 and a sentence; nothing is analysed."""
    monkeypatch.chdir(folder)
    (folder / "empty.txt").touch()
    monkeypatch.setattr("analyzer.corpus.job.check", lambda *_: pytest.fail("the work has begun"))
    result = invoke("corpus", *options)

    assert 2 == result.exit_code, result.output
    assert told in " ".join(result.output.split())


def test_the_report_of_a_run_has_every_template_and_the_runs_before(folder: Path, invoke: Invoke) -> None:
    """`--report` writes a page for each template, and `--history` one line a run that the report shows."""
    words = ["--cache", str(folder / "cache"), "--report", str(folder / "site")]
    history = folder / "history.jsonl"
    for _ in range(2):
        result = invoke(str(folder / "corpus"), *words, "--history", str(history))
        assert result.exit_code in (0, 1), result.output
    runs = read_history(history)
    names = {path.stem for path in (folder / "corpus").rglob("*.jinja")}

    assert [{*run.verdicts} for run in runs] == [names, names]
    index = (folder / "site" / "index.html").read_text(encoding="utf-8")
    assert [name for name in names if name not in index] == []


def test_a_history_without_a_report_is_a_mistake(folder: Path, invoke: Invoke) -> None:
    """Nobody would see it."""
    result = invoke(str(folder / "corpus"), "--history", str(folder / "h.jsonl"))

    assert 2 == result.exit_code
    assert "--history needs --report" in result.output
