"""The page about this package: its code runs, its tables are those of the code, and each test it names is there."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from functools import cache
from pathlib import Path

import pytest

from analyzer.agent import KINDS
from analyzer.agent.stream import NOTES
from tests.agent.common import ROOT

HERE = Path(__file__).parent
PAGE = (ROOT / "docs" / "agent.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(test_\w+\.py)::(\w+)(?:\[([^\]]+)\])?`", PAGE)))


@cache
def source(file: str) -> str:
    """The text of a test file."""
    return (HERE / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(("file", "name", "case"), NAMED)
def test_a_named_test_exists(file: str, name: str, case: str) -> None:
    """Function and case."""
    functions = {node.name for node in ast.walk(ast.parse(source(file))) if isinstance(node, ast.FunctionDef)}

    assert name in functions
    assert not case or f'"{case}"' in source(file)


def test_every_worked_example_is_listed() -> None:
    """Those that speak of running calls, and no row without a test."""
    table = PAGE.split("| Example | What comes out | Test |\n")[1].split("\n\n")[0].splitlines()[1:]
    numbers = {row.split("|")[1].strip() for row in table}

    assert {str(number) for number in range(6, 13)} <= numbers
    rows = PAGE.split("## Worked examples, and their tests")[1]
    assert all(
        "::" in row
        for row in rows.splitlines()
        if row.startswith("| ") and "Test |" not in row and "---" not in row
    )


def test_the_tables_are_those_of_the_code() -> None:
    """Kinds of problems, and notes of streams."""
    kinds = [f"| `{kind}` | {severity} | {text} |" for kind, (severity, text) in KINDS.items()]
    notes = [f"| `{kind}` | {text} |" for kind, text in NOTES.items()]

    assert "\n".join(kinds) + "\n\n" in PAGE
    assert "\n".join(notes) + "\n\n" in PAGE


def test_the_first_code_runs() -> None:
    """And prints what it should."""
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(code, scope := {})  # noqa: S102  (our own page)

    assert said.getvalue() == (
        "[\"call 1: unknown tool 'read_files' (did you mean read_file?)\"]\n"
        "['<project>demo</project>', \"unknown tool 'read_files' (did you mean read_file?)\"]\n"
    )
    assert [message["role"] for message in scope["messages"]] == ["assistant", "tool", "tool"]
