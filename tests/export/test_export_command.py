"""`analyzer export` and `analyzer import-response-template`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analyzer.cli.app import app
from analyzer.spec.document import load_spec
from tests.export.samples import ROOT, TOOLS

SPEC = ROOT / "generated" / "own" / "json_tag_per_call.yaml"


def run(*arguments: object) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A file with tools."""
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([tool.to_openai() for tool in TOOLS]))
    return file


def test_losses_are_told_on_standard_error() -> None:
    """The payload alone is on standard output."""
    result = run("export", SPEC, "--to", "response-template")

    assert 0 == result.exit_code
    assert 1 == json.loads(result.stdout)["version"]
    assert "ends the call too early" in result.stderr


def test_strict_makes_a_loss_an_error() -> None:
    """With the exit status of exports."""
    result = run("export", SPEC, "--to", "response-template", "--strict")

    assert 5 == result.exit_code
    assert "" == result.stdout


def test_a_copy_of_a_tokenizer_config(tmp_path: Path) -> None:
    """Gets the key; the file itself stays as it is."""
    config, copy = tmp_path / "tokenizer_config.json", tmp_path / "copy.json"
    config.write_text('{"model_max_length": 10}')

    assert 0 == run("export", SPEC, "--to", "response-template", "--into", config, "-o", copy).exit_code
    assert {"model_max_length": 10} == json.loads(config.read_text())
    assert {"model_max_length", "response_template"} == set(json.loads(copy.read_text()))
    assert 2 == run("export", SPEC, "--to", "response-template", "--into", config).exit_code


def test_import_reads_what_export_wrote(tmp_path: Path) -> None:
    """From a file to a spec that loads."""
    template, spec = tmp_path / "template.json", tmp_path / "spec.yaml"
    run("export", SPEC, "--to", "response-template", "-o", template)

    assert 0 == run("import-response-template", template, "-o", spec).exit_code
    assert "<tool_call>\n" == load_spec(spec).calls.layouts[0].open  # type: ignore[union-attr]


def test_a_wrong_choice_says_what_is_allowed(tools: Path) -> None:
    """And ends with the status of exports."""
    result = run("export", SPEC, "--to", "response-template", "--tools", tools, "--tool-choice", "pong")

    assert 5 == result.exit_code
    assert "auto and none" in result.stderr


def test_list_names_all_targets() -> None:
    """With what loads each."""
    assert "response-template" in run("export", "-", "--to", "list").stdout


def test_special_tokens_of_a_tokenizer(tmp_path: Path, tools: Path) -> None:
    """Become ids in Lark; ordinary added tokens stay text."""
    added = [
        {"content": "<tool_call>", "id": 7, "special": True},
        {"content": "</tool_call>", "id": 8, "special": False},
    ]
    (tmp_path / "tokenizer.json").write_text(json.dumps({"added_tokens": added}))

    grammar = run("export", SPEC, "--to", "lark", "--tools", tools, "--tokenizer", tmp_path).stdout

    assert "<[7]>" in grammar
    assert "</tool_call>" in grammar
