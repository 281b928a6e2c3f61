"""The files of `vllm-plugin` and `sglang-plugin`, as text; `tests/integrations` drives what they register."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.cli.app import app
from analyzer.errors import ExportError
from analyzer.export import Options, export
from analyzer.export.plugin import plugin_name
from analyzer.spec.document import load_spec, parse_spec
from analyzer.spec.model import Spec
from tests import budget
from tests.export.samples import CORPUS, OWN, ROOT, TOOLS

TARGETS = ("vllm-plugin", "sglang-plugin")
OWN_SPEC = ROOT / "generated" / "own" / "key_value_tags.yaml"


def registered(text: str, target: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """What a file registers when it is imported: name and spec."""
    found: list[tuple[str, str]] = []
    module = ModuleType("adapter")
    module.register = lambda name, spec: found.append((name, spec))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, f"analyzer.integrations.{target.removesuffix('-plugin')}", module)
    exec(compile(text, "plugin.py", "exec"), {"__name__": "plugin"})  # noqa: S102  (our own file)
    [pair] = found
    return pair


def runtime_part(spec: Spec) -> Any:
    """What of a spec the runtime and the exporters use."""
    return spec.turn, spec.grammar, spec.overlays, spec.input, spec.results, spec.template


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("path", [*OWN, *CORPUS[:: 1 if budget.NIGHTLY else 25]], ids=lambda path: path.stem)
def test_the_file_registers_the_spec(path: Path, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same turn, grammar and overlays, under a name of its own; a format without anything to parse is refused."""
    spec = load_spec(path)
    if spec.calls is None and not spec.reasoning:
        with pytest.raises(ExportError, match="neither calls nor reasoning"):
            export(target, spec)
        return

    name, text = registered(export(target, spec).payload, target, monkeypatch)

    assert plugin_name(spec) == name
    assert runtime_part(spec) == runtime_part(parse_spec(text))


@settings(max_examples=budget.examples(50))
@given(st.text(min_size=1))
def test_any_name_of_a_template(name: str) -> None:
    """Quotes, backslashes and line breaks stay inside the file's strings; the parsers' name is an identifier."""
    spec = load_spec(OWN_SPEC)
    named = spec.model_copy(update={"template": spec.template.model_copy(update={"name": name})})
    for target in TARGETS:
        tree = ast.parse(export(target, named).payload)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert {"register", "runpy.run_module"} >= {ast.unparse(call.func) for call in calls}
    assert plugin_name(named).isidentifier()
    assert plugin_name(named).isascii()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "given_", [(TOOLS, Options()), ((), Options("required")), ((), Options(parallel=False))]
)
def test_what_comes_with_each_request(target: str, given_: Any) -> None:
    """Is no affair of the export, which says so."""
    with pytest.raises(ExportError, match="come with each request"):
        export(target, load_spec(OWN_SPEC), *given_)


@pytest.mark.parametrize(
    ("target", "name", "kinds"),
    [
        ("vllm-plugin", "key_value_tags", {"raw_closer"}),
        ("vllm-plugin", "json_tag_per_call", {"no_reasoning"}),
        ("sglang-plugin", "json_tag_per_call", {"no_stops"}),
        ("sglang-plugin", "key_value_tags", {"raw_closer", "no_stops", "prompt_unknown"}),
    ],
)
def test_losses(target: str, name: str, kinds: set[str]) -> None:
    """What the server cannot be told, and what its grammar cannot say."""
    spec = load_spec(ROOT / "generated" / "own" / f"{name}.yaml")

    assert kinds <= {loss.kind for loss in export(target, spec).losses}


def test_the_command(tmp_path: Path) -> None:
    """Writes the file and tells the losses; --strict refuses."""
    file = tmp_path / "plugin.py"
    arguments = ["export", str(OWN_SPEC), "--to", "vllm-plugin", "-o", str(file)]

    result = CliRunner().invoke(app, arguments)
    assert 0 == result.exit_code
    assert "Where calls are constrained" in result.stderr
    assert "--tool-call-parser analyzer_key_value_tags" in file.read_text(encoding="utf-8")
    assert 5 == CliRunner().invoke(app, [*arguments, "--strict"]).exit_code
