"""A run that is killed goes on where it was, and its files are those of a run that was not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Final

from tests.corpus.conftest import small_corpus

ROOT: Final = Path(__file__).parents[2]
COMMAND: Final = (sys.executable, "-c", "from analyzer.cli import main; main()", "corpus", "check")
FILES: Final = ("out.json", "out.xml", "out.md")
SECONDS: Final = 120


def start(folder: Path, corpus: Path, *more: str) -> subprocess.Popen[str]:
    """A run with one process that writes all its files to a folder."""
    folder.mkdir(exist_ok=True)
    json, junit, markdown = (str(folder / name) for name in FILES)
    outputs = ("--output", json, "--junit", junit, "--markdown", markdown)
    return subprocess.Popen(
        [*COMMAND, str(corpus), "--jobs", "1", *outputs, *more],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def after(process: subprocess.Popen[str], templates: int) -> None:
    """Wait until so many templates are told to be done."""
    for _ in range(templates):
        assert "checked" in pipe(process.stderr).readline()


def pipe(stream: IO[str] | None) -> IO[str]:
    """The stream, which is there."""
    assert stream is not None
    return stream


def bytes_of(folder: Path) -> dict[str, bytes]:
    """The files of a run."""
    return {name: (folder / name).read_bytes() for name in FILES}


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, own_cache: Path) -> None:
    """Killed twice, at two places; what was done is not done again, and every file is the same to the byte.

    No process outlives the job for long: its lanes end when nobody sends them anything any more.
    """
    corpus = small_corpus(tmp_path / "corpus")
    whole = start(tmp_path / "whole", corpus, "--no-cache")
    assert 0 == whole.wait(SECONDS), whole.communicate()[1]
    whole.communicate()
    for templates in (1, 3):
        process = start(tmp_path / "killed", corpus)
        after(process, templates)
        os.kill(process.pid, signal.SIGKILL)
        _, stderr = process.communicate(
            timeout=SECONDS
        )  # ends when the last process that holds the stream ends
        assert "Error" not in stderr
        assert -signal.SIGKILL == process.returncode
        assert [] == list((tmp_path / "killed").iterdir())
        assert templates <= len([path for path in own_cache.rglob("*") if path.is_file()])
    last = start(tmp_path / "killed", corpus)
    stdout, stderr = last.communicate(timeout=SECONDS)

    assert 0 == last.returncode, stderr
    assert int(stdout.partition(" results from the cache")[0].rpartition(" ")[2]) >= 3
    assert bytes_of(tmp_path / "whole") == bytes_of(tmp_path / "killed")
