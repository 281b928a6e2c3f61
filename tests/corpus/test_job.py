from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.analysis import with_stand_ins
from analyzer.corpus import golden
from analyzer.corpus.job import Plan, check
from analyzer.corpus.lane import Lane
from analyzer.corpus.ledger import Gap, complaints, load_ledger, write_entries
from analyzer.corpus.result import Result, summarise
from analyzer.corpus.shown import renders_calls
from analyzer.corpus.task import Task
from analyzer.errors import UsageError
from analyzer.render import RenderWorker
from analyzer.template import Template, load_templates

FOLDER = Path(__file__).parents[2] / "corpus" / "templates"
ENDLESS = "{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}"


def own(name: str) -> Template:
    """One of our own templates."""
    return load_templates(FOLDER / f"{name}.jinja")[0]


def result(name: str, verdict: str, *, renders: bool = True) -> Result:
    """A result with that verdict."""
    return Result(name, f"sha-{name}", verdict, renders, failures=("why",) if verdict == "failed" else ())


def test_job_gives_every_template_a_result() -> None:
    """Templates that are fine, that do not compile and that never end: each has a result, none ends the job."""
    templates = [
        own("json_tag_per_call"),
        own("no_tools"),
        Template("syntax", "{% for"),
        Template("endless", ENDLESS),
    ]
    results = {one.name: one for one in check(templates, Plan(jobs=2))}

    assert {"json_tag_per_call", "no_tools", "syntax", "endless"} == set(results)
    assert results["json_tag_per_call"].is_proven
    assert results["json_tag_per_call"].renders_calls
    assert "format_version: 1" in results["json_tag_per_call"].spec
    assert "no_calls" == results["no_tools"].verdict
    assert "refused" == results["syntax"].verdict
    assert "does not compile" in results["syntax"].failures[0]
    assert "timeout" in results["endless"].failures[0]
    assert [1, 0] == [results["endless"].stops, results["no_tools"].stops]
    assert not results["endless"].is_lasting


def test_a_slow_template_is_stopped_and_the_next_one_checked() -> None:
    """A lane ends its process when a template takes too long; a new process takes the next one."""
    lane = Lane(1.5)
    try:
        stopped = lane.check(Task.of(Template("endless", ENDLESS)))
        lane.seconds = 60
        after = lane.check(Task.of(own("json_tag_per_call")))
    finally:
        lane.stop()

    assert "crashed" == stopped.verdict
    assert "stopped after 1.5 s" in stopped.failures[0]
    assert after.is_proven
    assert 2 == lane.starts


def test_a_process_that_dies_is_a_finding() -> None:
    """A killed process costs one result."""
    lane = Lane(60)
    try:
        process = lane._running()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        found = lane.check(Task.of(own("no_tools")))
    finally:
        lane.stop()

    assert "crashed" == found.verdict
    assert "died with status -9" in found.failures[0]


def test_leaving_a_job_ends_its_processes() -> None:
    """When the loop over the results is left, no process stays behind."""
    job = check([own("json_tag_per_call"), Template("endless", ENDLESS)], Plan(jobs=1))
    next(job)
    job.close()

    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    if children.exists():
        commands = [
            Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8") for pid in children.read_text().split()
        ]
        assert not [command for command in commands if "analyzer.corpus.lane" in command]


def test_equal_templates_are_analysed_once() -> None:
    """Templates that are equal in text and tokens share a result, each under its name; other tokens are another task."""
    one = own("json_tag_per_call")
    other, third = (
        replace(one, name="other"),
        replace(one, name="third", special_tokens={"eos_token": "</s>"}),
    )
    results = {found.name: found for found in check([one, other, third], Plan(jobs=1))}

    assert {one.name, "other", "third"} == set(results)
    assert replace(results["other"], name=one.name) == results[one.name]
    assert results["other"].seconds == results[one.name].seconds != results["third"].seconds
    assert "name: other" in golden.named_spec(results["other"])


def test_results_survive_json() -> None:
    """A result read from its JSON is the same."""
    one = Result(
        "a", "b", "failed", renders_calls=True, defects=("x",), failures=("y",), phases={"infer": 0.5}
    )

    assert one == Result.from_json(one.to_json())


def test_summary_counts_shares_among_those_that_render_calls() -> None:
    """The share leaves out what renders no calls."""
    results = [
        result("a", "proven"),
        result("b", "proven_with_defects"),
        result("c", "failed"),
        result("d", "no_calls", renders=False),
    ]
    summary = summarise(results)

    assert (4, 3, 2) == (summary.templates, summary.renders_calls, summary.proven)
    assert summary.share == pytest.approx(2 / 3, abs=1e-4)


def test_ledger_complains_about_new_gaps_and_closed_ones() -> None:
    """A gap without entry and an entry without gap are complaints; a gap with entry, and entries of others, are not."""
    ledger = {f"sha-{name}": Gap(name, f"sha-{name}", "known") for name in ("known", "closed", "elsewhere")}
    results = [result("known", "failed"), result("closed", "proven"), result("new", "failed")]
    found = complaints(results, ledger)

    assert 2 == len(found)
    assert any("new: failed" in line for line in found)
    assert any("closed unnoticed" in line for line in found)


def test_a_template_whose_calls_are_overlooked_is_a_gap() -> None:
    """`no_calls` for a template that renders calls has to be in the ledger."""
    assert result("a", "no_calls").is_gap
    assert not result("a", "no_calls", renders=False).is_gap


def test_ledger_survives_writing(tmp_path: Path) -> None:
    """A written ledger keeps reasons, drops closed gaps and adds new ones."""
    ledger = {f"sha-{name}": Gap(name, f"sha-{name}", f"reason {name}") for name in ("a", "b")}
    file = tmp_path / "ledger.yaml"
    file.write_text(
        write_entries([result("a", "failed"), result("b", "proven"), result("c", "failed")], ledger)
    )
    again = load_ledger(file)

    assert {"sha-a": "reason a", "sha-c": "failed: why"} == {sha: gap.reason for sha, gap in again.items()}
    assert {} == load_ledger(tmp_path / "none.yaml", new=True)
    with pytest.raises(UsageError, match="no such ledger"):
        load_ledger(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "gaps: 3",
        "gaps: [{slug: a}]",
        "gaps: [{slug: a, sha256: b, reason: ''}]",
        "{",
        "format_version: 1",
    ],
)
def test_bad_ledgers_are_usage_errors(tmp_path: Path, text: str) -> None:
    """A ledger that is none says so."""
    file = tmp_path / "ledger.yaml"
    file.write_text(text)

    with pytest.raises(UsageError, match="ledger"):
        load_ledger(file)


def test_golden_files_and_drift(tmp_path: Path) -> None:
    """Equal formats share a file; what is missing, changed or superfluous is drift until it is written."""
    (one,) = check([own("json_tag_per_call")], Plan(jobs=1))
    other = Result.from_json({**one.to_json(), "name": "other", "sha256": "0" * 64})
    files = golden.corpus_files([one, other])
    assert 2 == len(files)

    assert {"missing"} == {found.what for found in golden.drift(tmp_path, files)}
    golden.write(tmp_path, files)
    (tmp_path / "old.yaml").write_text("x")
    (tmp_path / golden.INDEX).write_text("y")
    assert {"old.yaml: superfluous", "index.yaml: changed"} == {str(f) for f in golden.drift(tmp_path, files)}
    golden.write(tmp_path, files)
    assert [] == list(golden.drift(tmp_path, files))


def test_golden_files_of_templates_that_are_elsewhere_stay(tmp_path: Path) -> None:
    """Who has a part of the corpus writes that part; what is known of the rest stays, of templates that are gone it goes."""
    (one,) = check([own("json_tag_per_call")], Plan(jobs=1))
    (other,) = check([own("key_value_tags")], Plan(jobs=1))
    whole = golden.corpus_files([one, other])
    golden.write(tmp_path, whole)

    kept = golden.kept_files(tmp_path, {other.name: other.sha256})
    assert {golden.INDEX, *whole} - {*kept} == {
        f"{golden.read_index(whole[golden.INDEX])[one.name]['format']}.yaml"
    }
    assert whole == golden.corpus_files([one], kept)
    assert {golden.INDEX} == {*golden.kept_files(tmp_path, {other.name: "another"})}
    alone = golden.corpus_files([one])
    assert [other.name] == golden.changed_entries(whole[golden.INDEX], alone[golden.INDEX])


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jinja")), ids=lambda path: path.stem)
def test_rendering_of_calls_is_recognised(path: Path) -> None:
    """The independent test knows which of our own templates render calls."""
    with RenderWorker() as worker:
        shown = renders_calls(with_stand_ins(load_templates(path)[0]), worker)

    silent = path.stem in {"no_tools", "reasoning_stripped_from_content"} or path.stem.startswith(
        "described_"
    )
    assert silent != shown
