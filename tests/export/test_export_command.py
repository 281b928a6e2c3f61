"""`analyzer export` and `analyzer import-response-template`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analyzer.cli.app import app
from analyzer.engines import ENGINES, loading
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


def test_a_tokenizer_config_from_standard_input() -> None:
    """Its copy can go to standard output; there is no file to write over."""
    words = ["export", str(SPEC), "--to", "response-template", "--no-check", "--into", "-"]
    copied = CliRunner().invoke(app, [*words, "-o", "-"], input='{"model_max_length": 10}')
    refused = CliRunner().invoke(app, [*words, "--in-place"], input="{}")

    assert {"model_max_length", "response_template"} == set(json.loads(copied.stdout))
    assert 2 == refused.exit_code
    assert "--in-place needs a file" in refused.stderr


def test_a_file_is_written_over_only_on_request(tmp_path: Path) -> None:
    """Naming the same file twice is no request."""
    config = tmp_path / "tokenizer_config.json"
    config.write_text('{"model_max_length": 10}')
    arguments = ("export", SPEC, "--to", "response-template", "--into", config)

    refused = run(*arguments, "-o", config)

    assert 2 == refused.exit_code
    assert "--in-place" in refused.stderr
    assert {"model_max_length": 10} == json.loads(config.read_text())
    assert 0 == run(*arguments, "--in-place").exit_code
    assert {"model_max_length", "response_template"} == set(json.loads(config.read_text()))


def test_everything_as_one_object(tools: Path) -> None:
    """For programs that call the command."""
    result = run("export", SPEC, "--to", "gbnf", "--tools", tools, "--json", "--no-check")
    found = json.loads(result.stdout)

    assert ["target", "payload", "losses", "checked", "variables"] == list(found)
    assert "grammar" in found["payload"]
    assert {"kind", "text"} == set(found["losses"][0])
    assert found["checked"] is None


def test_what_was_not_checked_is_said(tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On standard error; the export stands."""
    absent = {name: replace(engine, packages=("no-such-package",)) for name, engine in ENGINES.items()}
    monkeypatch.setattr(loading, "ENGINES", absent)

    result = run("export", SPEC, "--to", "structural-tag", "--tools", tools)

    assert 0 == result.exit_code
    assert "structural_tag" == json.loads(result.stdout)["type"]
    assert "not checked: no-such-package is not installed, so xgrammar has not loaded this" in result.stderr


def test_a_schema_that_cannot_be_used_is_no_traceback(tmp_path: Path) -> None:
    """The tool and the place are named."""
    file = tmp_path / "tools.json"
    parameters = {"type": "object", "properties": {"x": {"type": "file"}}}
    file.write_text(json.dumps([{"type": "function", "function": {"name": "t", "parameters": parameters}}]))

    result = run("export", SPEC, "--to", "gbnf", "--tools", file)

    assert 5 == result.exit_code
    assert "tool 't' cannot be used at properties/x/type: 'file' is no type" in result.stderr


def test_import_reads_what_export_wrote(tmp_path: Path) -> None:
    """From a file to a spec that loads."""
    template, spec = tmp_path / "template.json", tmp_path / "spec.yaml"
    run("export", SPEC, "--to", "response-template", "-o", template)

    assert 0 == run("import-response-template", template, "-o", spec).exit_code
    assert "<tool_call>\n" == load_spec(spec).calls.layouts[0].open  # type: ignore[union-attr]


def test_a_choice_that_the_target_cannot_say_says_what_is_allowed(tools: Path) -> None:
    """And ends with the status of exports."""
    result = run("export", SPEC, "--to", "response-template", "--tools", tools, "--tool-choice", "ping")

    assert 5 == result.exit_code
    assert "auto and none" in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--to", "regex"), "There are response-template, "),
        (("--to", "gbnf"), "--tools FILE"),
        (("--to", "gbnf", "--tool-choice", "required"), "--tools FILE"),
        (("--to", "lark", "--tools", "TOOLS", "--tool-choice", "pong"), "Offered: get_weather, ping"),
        (("--to", "response-template", "--tool-choice", "pong"), "auto, none, required"),
        ((), "--to"),
    ],
)
def test_a_wrong_option_is_a_usage_error(options: tuple[str, ...], words: str, tools: Path) -> None:
    """Whatever the target could express: status 2, and what to do."""
    result = run("export", SPEC, *(tools if option == "TOOLS" else option for option in options))

    assert 2 == result.exit_code, result.output
    assert words in result.stderr
    assert "" == result.stdout


def test_only_the_list_does_without_a_spec() -> None:
    """Anything else says that it is missing."""
    result = run("export", "--to", "gbnf")

    assert 2 == result.exit_code
    assert "SPEC" in result.stderr
    assert run("export", "--to", "list").stdout.startswith("response-template ")


@pytest.mark.parametrize("source", [("-", "SPEC"), ("SPEC", "-")])
def test_spec_and_tools_from_standard_input(source: tuple[str, str], tools: Path) -> None:
    """Either may come from there."""
    spec, offered = (str(given).replace("SPEC", str(SPEC)) for given in source)
    words = ["export", spec, "--to", "gbnf", "--tools", str(tools) if spec == "-" else offered, "--no-check"]
    given = (SPEC if spec == "-" else tools).read_text(encoding="utf-8")
    result = CliRunner().invoke(app, words, input=given)

    assert 0 == result.exit_code, result.output
    assert "root ::=" in result.stdout


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
