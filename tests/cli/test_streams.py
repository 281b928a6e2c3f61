"""What goes where: the prompt alone on standard output, colours on a terminal alone."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cli.conftest import ROOT

COMMAND: Final = "from analyzer.cli import main; main()"
PROMPT: Final = "get_weather|Hello?|"
"""What the template below makes of one message: a line that does not end."""


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """`render` with a tool whose cost is told."""
    template, request = tmp_path / "template.jinja", tmp_path / "request.json"
    template.write_text(
        "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}|{{ messages[0].content }}|",
        encoding="utf-8",
    )
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    request.write_text(
        json.dumps({"messages": [{"role": "user", "content": "Hello?"}], "tools": [tool]}), encoding="utf-8"
    )
    return [sys.executable, "-c", COMMAND, "render", str(template), "--messages", str(request)]


def test_the_cost_stands_on_lines_of_its_own_where_the_prompt_is_shown_too(words: list[str]) -> None:
    """On a terminal, or in one file: the prompt's last line is ended on standard error."""
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)

    prompt, *cost = done.stdout.decode("utf-8").splitlines()
    assert PROMPT == prompt
    assert cost[0].startswith("analyzer: ")


def test_a_prompt_in_a_file_is_the_prompt_to_the_byte(words: list[str]) -> None:
    """And standard error begins with words, where it is another place."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=True)

    assert PROMPT.encode() == done.stdout
    assert done.stderr.startswith(b"analyzer: ")


@pytest.mark.parametrize(
    ("setting", "coloured"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
    ids=["file", "FORCE_COLOR", "NO_COLOR"],
)
def test_make_run_colours_a_terminal_alone(setting: dict[str, str], coloured: bool, tmp_path: Path) -> None:  # noqa: FBT001
    """`make run > file` writes no colours, unless it is told to."""
    command = tmp_path / "bin" / "analyzer"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{COMMAND}' \"$@\"\n", encoding="utf-8")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    stamp = tmp_path / "stamp"
    stamp.touch()
    kept = {name: text for name, text in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}
    done = subprocess.run(
        ["make", "run", f"RUN_VENV={tmp_path}", f"RUN_STAMP={stamp}", f"PYTHON={sys.executable}"],  # noqa: S607
        cwd=ROOT,
        env={**kept, **setting},
        capture_output=True,
        check=True,
    )

    assert b"6. The message" in done.stdout
    assert coloured == (b"\x1b[36m" in done.stdout)
