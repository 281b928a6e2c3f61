"""`analyzer lint` and `analyzer diff`: text, JSON, SARIF, exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from analyzer.analysis import analyze
from analyzer.cli.app import app
from analyzer.lint import chatlint
from analyzer.render import InProcessRenderer
from analyzer.spec.document import dump

FOLDER: Final = Path(__file__).parents[2] / "corpus" / "templates"
FAULTY: Final = FOLDER / "defect_content_dropped.jinja"
PLAIN: Final = FOLDER / "json_tag_per_call.jinja"
MUTATING: Final = FOLDER / "mutable_sandbox_append.jinja"
ENDLESS: Final = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
"""Loops that the sandbox lets pass, and that take minutes."""
Run = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command, without chatlint."""
    monkeypatch.setattr(chatlint, "is_installed", lambda: False)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_text_names_the_finding_and_shows_the_conversation(run: Run) -> None:
    """And the exit code says that there is an error."""
    result = run("lint", FAULTY)

    assert 1 == result.exit_code, result.output
    assert "error content_lost_beside_calls" in result.output
    assert '"role": "assistant"' in result.output


def test_no_error_is_a_success(run: Run) -> None:
    """Notes do not fail."""
    result = run("lint", PLAIN, "--short")

    assert 0 == result.exit_code, result.output
    assert result.output.endswith("0 errors, 0 warnings, 1 note\n")


def test_a_file_that_is_the_template_is_named_by_its_path(run: Run, tmp_path: Path) -> None:
    """So that an editor finds the line; lines of a template inside another file are none of that file."""
    inside = tmp_path / "model"
    inside.mkdir()
    text = MUTATING.read_text(encoding="utf-8")
    (inside / "tokenizer_config.json").write_text(json.dumps({"chat_template": text}), encoding="utf-8")
    [line] = [number for number, words in enumerate(text.splitlines(), 1) if ".append(" in words]

    assert f"{MUTATING}:{line}: error mutates_input: " in run("lint", MUTATING, "--short").output
    for source in (inside, inside / "tokenizer_config.json"):
        assert run("lint", source, "--short").output.startswith(f"model:{line}: error mutates_input: ")


def test_what_servers_refuse_is_an_error(run: Run) -> None:
    """The status of a template that changes its input says so."""
    assert 1 == run("lint", MUTATING).exit_code


def test_json_and_sarif_are_json(run: Run) -> None:
    """One object each, with the same findings."""
    plain = json.loads(run("lint", FAULTY, "--json").stdout)
    sarif = json.loads(run("lint", FAULTY, "--sarif").stdout)

    kinds = [found["kind"] for found in plain["findings"]]
    assert "content_lost_beside_calls" in kinds
    assert kinds == [result["ruleId"] for result in sarif["runs"][0]["results"]]
    assert plain["chatlint"] is None


def test_two_forms_at_once_are_refused(run: Run) -> None:
    """One output has one form."""
    assert 2 == run("lint", PLAIN, "--json", "--sarif").exit_code


def test_chatlint_stands_beside(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is installed its findings are shown, and its failure is said."""
    one = chatlint.ForeignFinding("prefix_stability", "warning", "two_turns", "differs", 3)
    monkeypatch.setattr(chatlint, "is_installed", lambda: True)
    monkeypatch.setattr(chatlint, "run_chatlint", lambda _: (one,))
    assert "prefix_stability, 3 times, first with two_turns: differs" in run("lint", PLAIN).output
    assert "do not count for the exit status" in run("lint", PLAIN).output
    assert [one.to_json()] == json.loads(run("lint", PLAIN, "--json").stdout)["chatlint"]["findings"]

    monkeypatch.setattr(chatlint, "run_chatlint", lambda _: "chatlint was stopped after 120 seconds")
    assert "was stopped" in run("lint", PLAIN).output
    assert "chatlint" not in run("lint", PLAIN, "--no-chatlint").output


def test_findings_of_chatlint_count_for_nothing_and_are_short(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of it is no failure; with --short its details are one line, as everything else is."""
    found = chatlint.ForeignFinding("renders", "error", "two_turns", "first line\nsecond line", 1)
    silent = chatlint.ForeignFinding("renders", "warning", "two_turns", "", 1)
    monkeypatch.setattr(chatlint, "is_installed", lambda: True)
    monkeypatch.setattr(chatlint, "run_chatlint", lambda _: (found, silent))
    whole, short = run("lint", PLAIN), run("lint", PLAIN, "--short")

    assert (0, 0) == (whole.exit_code, short.exit_code)
    assert "second line" in whole.output
    assert "first line" in short.output
    assert "second line" not in short.output


@pytest.mark.skipif(not chatlint.is_installed(), reason="chatlint is not installed")
def test_chatlint_itself() -> None:
    """It runs in a process of its own, and is stopped when it takes too long."""
    found = chatlint.run_chatlint(PLAIN.read_text(encoding="utf-8"))

    assert not isinstance(found, str), found
    assert "stopped" in chatlint.run_chatlint(ENDLESS, seconds=1)


def test_diff_says_what_changed(run: Run, tmp_path: Path) -> None:
    """In words, as JSON, with an exit code."""
    files = []
    for name in ("json_tag_per_call", "tagged_raw_values"):
        spec: Any = analyze(FOLDER / f"{name}.jinja", renderer=InProcessRenderer(), verify=False).spec
        files.append(tmp_path / f"{name}.yaml")
        dump(spec, files[-1])

    words = run("diff", *files)
    assert 1 == words.exit_code, words.output
    assert "a call, as an example: was" in words.output
    assert json.loads(run("diff", *files, "--json").stdout)
    assert (0, "The formats are alike.\n") == (
        run("diff", files[0], files[0]).exit_code,
        run("diff", files[0], files[0]).output,
    )
