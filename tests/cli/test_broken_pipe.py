"""A reader that goes away (`analyzer ... | head -1`) ends every command with 141 and not a word."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Final

import pytest

from analyzer.cli.app import COMMANDS, EXIT_BROKEN_PIPE, app
from analyzer.errors import UsageError
from tests.cli.conftest import ROOT, TEMPLATE

COMMAND: Final = [sys.executable, "-c", "from analyzer.cli import main; main()"]
NO_TOOLS: Final = TEMPLATE.with_name("no_tools.jinja")

PRINTING: Final = {
    "infer": ("infer", NO_TOOLS, "--no-verify"),
    "infer --json": ("infer", NO_TOOLS, "--no-verify", "--json"),
    "infer -o -": ("infer", NO_TOOLS, "--no-verify", "-o", "-"),
    "explain": ("explain", NO_TOOLS, "--only", "T"),
    "verify": ("verify", "SPEC", NO_TOOLS),
    "parse": ("parse", "SPEC", "TEXT"),
    "parse --stream": ("parse", "SPEC", "TEXT", "--stream"),
    "render": ("render", NO_TOOLS, "--messages", "MESSAGES"),
    "export": ("export", "SPEC", "--to", "response-template", "--no-check"),
    "import-response-template": ("import-response-template", "RESPONSE_TEMPLATE"),
    "spec schema": ("spec", "schema"),
    "spec check": ("spec", "check", "SPEC"),
    "lint": ("lint", NO_TOOLS, "--no-chatlint"),
    "diff": ("diff", "SPEC", "SPEC"),
    "corpus check": ("corpus", "check", NO_TOOLS, "--jobs", "1", "--cache", "CACHE"),
    "report": ("report", NO_TOOLS, "-o", "REPORT"),
    "demo": ("demo", "--json"),
    "--help": ("--help",),
    "infer --help": ("infer", "--help"),
    "--version": ("--version",),
}


@pytest.fixture
def arguments(tmp_path: Path, spec_file: Path) -> Callable[..., list[str]]:
    """The words of a command line, names of files filled in."""
    files = {
        "SPEC": spec_file,
        **{name: tmp_path / name for name in ("TEXT", "MESSAGES", "RESPONSE_TEMPLATE", "CACHE", "REPORT")},
    }
    files["TEXT"].write_text("Hello.", encoding="utf-8")
    files["MESSAGES"].write_text(json.dumps([{"role": "user", "content": "Hello?"}]), encoding="utf-8")
    fields = {"content": {"close": "<|im_end|>"}}
    files["RESPONSE_TEMPLATE"].write_text(json.dumps({"version": 1, "fields": fields}), encoding="utf-8")
    return lambda name: [str(files.get(str(word), word)) for word in PRINTING[name]]


@contextmanager
def nobody_reading() -> Iterator[io.TextIOWrapper]:
    """Standard output is a pipe whose reader went away; nothing may be left in it at the end."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", encoding="utf-8") as stream, redirect_stdout(stream):
        try:
            yield stream
            stream.flush()  # as the interpreter does at its end
        finally:
            with Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), write)


def status_of(words: Sequence[str]) -> object:
    """The exit status of the command, run in this process."""
    with pytest.raises(SystemExit) as ended:
        app.main(words)
    return ended.value.code


def test_every_command_is_tried() -> None:
    """A command that is added comes here too."""
    assert set(COMMANDS) == {name.split(" ")[0] for name in PRINTING if not name.startswith("-")}


@pytest.mark.parametrize("name", PRINTING)
def test_a_reader_that_went_away(
    name: str, arguments: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """141, which is 128 and the number of SIGPIPE; what stands on standard error is not about it."""
    with nobody_reading():
        status = status_of(arguments(name))
    told = capsys.readouterr().err

    assert EXIT_BROKEN_PIPE == status, told
    assert "Traceback" not in told
    assert "roken pipe" not in told
    assert "bug" not in told


@pytest.mark.parametrize("words", [("--version",), ("spec", "schema"), ("parse", "SPEC", "TEXT")])
def test_the_process_says_nothing(
    words: tuple[str, ...], spec_file: Path, tmp_path: Path, arguments: Callable[..., list[str]]
) -> None:
    """Neither does the interpreter when it flushes for the last time; output in a block is written only then."""
    assert arguments("parse")
    files = {"SPEC": str(spec_file), "TEXT": str(tmp_path / "TEXT")}
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [*COMMAND, *(files.get(word, word) for word in words)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=write,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(write)

    assert (141, b"") == (done.returncode, done.stderr)


def test_text_that_is_only_left_for_the_last_flush(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that writes and does not flush finds out at the end, which is the same end."""
    with nobody_reading() as stream:
        monkeypatch.setattr("click.core.echo", lambda *_, **__: stream.write("text"))
        status = status_of(["--help"])

    assert (141, "") == (status, capsys.readouterr().err)


def test_an_error_is_told_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistake that is found after some output stays one when nobody reads that: its own status and words."""

    def write_and_fail(source: str) -> None:
        sys.stdout.write("left over")
        raise UsageError(f"{source} is nothing")

    monkeypatch.setattr("analyzer.cli.diff.read_spec", write_and_fail)
    with nobody_reading():
        status = status_of(["diff", "a.yaml", "b.yaml"])

    assert (2, "analyzer: a.yaml is nothing.\n") == (status, capsys.readouterr().err)


@pytest.mark.parametrize("words", [("--version",), ("spec", "check", "absent.yaml")])
@pytest.mark.parametrize("closed", [(1,), (2,), (1, 2)])
def test_outputs_that_are_closed(words: tuple[str, ...], closed: tuple[int, ...]) -> None:
    """`>&-` is no bug of the program: it goes on without."""
    shut = "; ".join(f"os.close({number})" for number in closed)
    start = f"import os, sys; {shut}; os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    done = subprocess.run(
        [sys.executable, "-c", start, *COMMAND[1:], *words], cwd=ROOT, capture_output=True, check=False
    )

    assert (0 if words == ("--version",) else 2) == done.returncode, done.stderr
    assert b"bug" not in done.stderr
