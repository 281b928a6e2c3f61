from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import UsageError
from analyzer.report import Run, append_run, read_history
from analyzer.report.history import changes

VERDICTS = st.dictionaries(
    st.text(min_size=1, max_size=6), st.sampled_from(["proven", "failed", "refused"]), max_size=5
)


@given(st.lists(VERDICTS, max_size=5), st.sampled_from(["", "\n"]))
def test_what_is_appended_is_read(
    tmp_path_factory: pytest.TempPathFactory, runs: list[dict[str, str]], end: str
) -> None:
    """Runs come back as they went in, whether or not somebody took the last line break away."""
    file = tmp_path_factory.mktemp("history") / "history.jsonl"
    expected = [Run(f"2031-10-{day + 10}T03:17:00Z", "0.1.0", verdicts) for day, verdicts in enumerate(runs)]
    for run in expected:
        append_run(file, run)
        file.write_text(file.read_text(encoding="utf-8").rstrip("\n") + end, encoding="utf-8")

    assert tuple(expected) == read_history(file)


def test_a_line_holds_what_changed(tmp_path: Path) -> None:
    """A quiet run costs a short line; what is gone is null."""
    file = tmp_path / "history.jsonl"
    many = {f"template {number}": "proven" for number in range(500)}
    append_run(file, Run("2031-10-14T03:17:00Z", "0.1.0", many))
    append_run(file, Run("2031-10-15T03:17:00Z", "0.1.0", many))
    del many["template 7"]
    append_run(file, Run("2031-10-16T03:17:00Z", "0.1.0", {**many, "template 8": "failed"}))
    lines = file.read_text(encoding="utf-8").splitlines()

    assert {} == json.loads(lines[1])["verdicts"]
    assert {"template 7": None, "template 8": "failed"} == json.loads(lines[2])["verdicts"]
    first, second = read_history(file)[1:]
    assert [("template 7", "proven", ""), ("template 8", "proven", "failed")] == [
        (one.name, one.before, one.after) for one in changes(first, second)
    ]


@pytest.mark.parametrize(
    "line",
    [
        "nothing",
        "[]",
        '{"format_version": 2, "time": "", "version": "", "verdicts": {}}',
        "{}",
        "",
        '{"format_version": 1, "time": "", "version": "", "verdicts": {"a": 1}}',
    ],
)
def test_a_line_that_is_no_run(tmp_path: Path, line: str) -> None:
    """The error names the file and the line, and what to do; the file is as it was."""
    file = tmp_path / "history.jsonl"
    append_run(file, Run("2031-10-14T03:17:00Z", "0.1.0", {"a": "proven"}))
    text = file.read_text(encoding="utf-8") + line + "\n"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match=r"history\.jsonl, line 2: .* Remove the line"):
        append_run(file, Run("2031-10-15T03:17:00Z", "0.1.0", {}))
    assert text == file.read_text(encoding="utf-8")
    assert [file] == list(tmp_path.iterdir())
