"""`analyzer report` as a command."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from tests.cli.conftest import ROOT, TEMPLATE, Invoke


def test_one_template(invoke: Invoke, tmp_path: Path) -> None:
    """One template: its page is named, and there is a history when one is asked for."""
    folder, history = tmp_path / "report", tmp_path / "history.jsonl"
    for _ in range(2):
        result = invoke("report", TEMPLATE, "-o", folder, "--history", history, "--title", "Mine")
        assert 0 == result.exit_code, result.output
    page = Path(result.stdout.strip().rpartition(" ")[2])

    assert page.is_file()
    assert "<h1" in page.read_text(encoding="utf-8")
    assert 2 == len(history.read_text(encoding="utf-8").splitlines())
    assert "2 runs" in (folder / "history.html").read_text(encoding="utf-8")
    assert "Mine" in (folder / "index.html").read_text(encoding="utf-8")


def test_a_folder_of_templates(invoke: Invoke, tmp_path: Path) -> None:
    """Several templates are analysed by the corpus job; one that does not compile has its page too."""
    sources = tmp_path / "sources"
    sources.mkdir()
    for name in ("no_tools", "bare_json"):
        text = (ROOT / "corpus" / "templates" / f"{name}.jinja").read_text(encoding="utf-8")
        (sources / f"{name}.jinja").write_text(text, encoding="utf-8")
    (sources / "broken.jinja").write_text("{% for m in messages %}", encoding="utf-8")
    result = invoke("report", sources, "-o", tmp_path / "report", "--json", "--jobs", 1, "--no-cache")
    found = json.loads(result.stdout)

    assert 0 == result.exit_code, result.output
    assert 3 == len(found["pages"])
    verdicts = {
        slug.rpartition("-")[0]: (tmp_path / "report" / page).read_text(encoding="utf-8")
        for slug, page in found["pages"].items()
    }
    assert "v-refused" in verdicts["broken"]
    assert "v-no_calls" in verdicts["no-tools"]
    assert "v-proven" in verdicts["bare-json"]
    assert (
        sum(path.stat().st_size for path in (tmp_path / "report").rglob("*.*") if path.name != "report.json")
        == (found["bytes"])
    )


def test_sources_that_cannot_be_loaded(invoke: Invoke, tmp_path: Path) -> None:
    """They are told, the report is written without them, and the status says so; without any other it is that of a template."""
    empty, absent = tmp_path / "empty.jinja", tmp_path / "absent.jinja"
    empty.touch()
    result = invoke(
        "report", empty, TEMPLATE.with_name("no_tools.jinja"), absent, "-o", tmp_path / "report", "--json"
    )
    found = json.loads(result.stdout)

    assert 7 == result.exit_code, result.output
    assert 1 == len(found["pages"])
    assert [str(empty), str(absent)] == [one["source"] for one in found["broken_sources"]]
    for one in found["broken_sources"]:
        assert f"analyzer: left out: {one['reason']}" in result.stderr.splitlines()
    assert (tmp_path / "report" / "index.html").is_file()
    none = invoke("report", empty, absent, "-o", tmp_path / "other")
    assert 3 == none.exit_code
    assert all(str(source) in none.stderr for source in (empty, absent))
    assert not (tmp_path / "other").exists()


def test_mistakes(invoke: Invoke, tmp_path: Path) -> None:
    """Each is one paragraph that says what to do; nothing is written."""
    (tmp_path / "thesis.txt").write_text("", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "history.jsonl").write_text("no history\n", encoding="utf-8")
    cases = (
        (["-o", tmp_path / "new"], 2, "give a SOURCE"),
        ([TEMPLATE], 2, "-o"),
        (["--serve", "-o", tmp_path / "new"], 2, "there is no report"),
        ([TEMPLATE, "-o", tmp_path], 2, "no report"),
        ([TEMPLATE, "-o", tmp_path / "thesis.txt"], 2, "thesis.txt"),
        ([tmp_path / "empty", "-o", tmp_path / "new"], 3, "empty"),
        ([tmp_path / "nothing.jinja", "-o", tmp_path / "new"], 3, "no such file"),
        ([TEMPLATE, "-o", tmp_path / "new", "--history", tmp_path / "history.jsonl"], 2, "line 1"),
    )
    for arguments, code, words in cases:
        result = invoke("report", *arguments)
        assert code == result.exit_code, (arguments, result.output)
        assert words in result.stderr
        assert "Traceback" not in result.output
    assert not (tmp_path / "new").exists()
    assert "no history\n" == (tmp_path / "history.jsonl").read_text(encoding="utf-8")


def test_served_until_interrupted(invoke: Invoke, tmp_path: Path) -> None:
    """The address is told, pages come from it, Ctrl-C ends it without a traceback; a port that is taken is told."""
    folder = tmp_path / "report"
    assert 0 == invoke("report", TEMPLATE, "-o", folder).exit_code
    command = [
        sys.executable,
        "-c",
        "from analyzer.cli import main; main()",
        "report",
        "--serve",
        "-o",
        str(folder),
    ]
    process = subprocess.Popen([*command, "--port", "0"], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        address = process.stderr.readline().split(" at ")[1].split(" ")[0]
        with urllib.request.urlopen(f"{address}live.js", timeout=30) as answer:  # noqa: S310  (our own address)
            assert b"true" in answer.read()
        os.kill(process.pid, signal.SIGINT)
        rest = process.communicate(timeout=30)[1]
    finally:
        process.kill()
        process.wait()

    assert "analyzer: stopped" == rest.strip()
    assert 0 == process.returncode
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = invoke("report", "--serve", "-o", folder, "--port", taken.getsockname()[1])
    assert 2 == result.exit_code
    assert "cannot be used" in result.stderr
