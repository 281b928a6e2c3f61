"""A runner for commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from analyzer.cli.app import app

ROOT: Final = Path(__file__).parents[2]
TEMPLATE: Final = ROOT / "corpus" / "templates" / "json_tag_reasoning_toggle.jinja"

Invoke = Callable[..., Result]


@pytest.fixture
def invoke() -> Invoke:
    """Run a command; give its result with output, error output and exit code."""

    def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)

    return run


@pytest.fixture(scope="session")
def spec_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A spec that `infer -o` wrote."""
    file = tmp_path_factory.mktemp("spec") / "format.yaml"
    result = CliRunner().invoke(app, ["infer", str(TEMPLATE), "-o", str(file)])

    assert 0 == result.exit_code, result.output
    return file


def data(result: Result, code: int = 0) -> Any:
    """The JSON that a command printed."""
    assert code == result.exit_code, result.output
    return json.loads(result.stdout)
