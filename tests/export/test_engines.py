"""What the command says of an export: checked by its engine, or not and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from analyzer.chat import Tool
from analyzer.engines import ENGINES, check, load, loading
from analyzer.errors import ExportError
from analyzer.export import TARGETS, Export, Options, export
from analyzer.spec.document import load_spec
from tests.export.samples import ROOT, TOOLS

SPEC = load_spec(ROOT / "generated" / "own" / "json_tag_per_call.yaml")


@pytest.mark.parametrize("target", ENGINES)
def test_a_missing_engine_is_named(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The export stands all the same."""
    absent = {name: replace(engine, packages=("no-such-package",)) for name, engine in ENGINES.items()}
    monkeypatch.setattr(loading, "ENGINES", absent)

    found = check(target, SPEC, TOOLS, Options(), export(target, SPEC, TOOLS))

    assert "missing" == found.state
    assert "not checked: no-such-package is not installed" in found.text
    assert ENGINES[target].name in found.text


def test_what_only_a_server_loads_is_said_to_be_unchecked() -> None:
    """A plug-in is code; no engine reads it alone."""
    for target in set(TARGETS) - set(ENGINES):
        found = check(target, SPEC, (), Options(), export(target, SPEC))

        assert "only the server itself" in found.text


@pytest.mark.engine
@pytest.mark.parametrize("target", ENGINES)
@pytest.mark.parametrize("word", ["auto", "none", "required", "ping"])
def test_an_engine_that_is_here_says_what_it_took(target: str, word: str) -> None:
    """With its version."""
    if ENGINES[target].missing is not None:
        pytest.skip(f"{ENGINES[target].missing} is not installed: {target} is not checked")
    options = Options(word)
    try:
        done = export(target, SPEC, TOOLS, options)
    except ExportError:
        assert ("response-template", word) in {("response-template", "required"), (target, "ping")}
        return

    found = check(target, SPEC, TOOLS, options, done)

    assert "held" == found.state
    assert found.text.startswith(f"checked: {ENGINES[target].label} loads it")
    tried = {"auto": "each of 2 tools", "required": "each of 2 tools", "ping": "one tool", "none": "loads it"}
    assert tried[word] in found.text


BROKEN: dict[str, Any] = {
    "response-template": {"version": 1, "fields": {"content": {"content": "nonsense"}}},
    "structural-tag": {"type": "structural_tag", "format": {"type": "nonsense"}},
    "gbnf": {"grammar": "root ::= nothing\n"},
    "lark": "%llguidance {}\nstart: nothing\n",
    "json-schema": {"json_schema": {"schema": {"type": "nonsense"}}},
}


@pytest.mark.engine
@pytest.mark.parametrize("target", BROKEN)
def test_what_an_engine_does_not_load_is_an_error(target: str) -> None:
    """In the engine's own words where it has any."""
    if ENGINES[target].missing is not None:
        pytest.skip(f"{ENGINES[target].missing} is not installed: {target} is not checked")

    with pytest.raises(ExportError, match=r"(not|no longer) (load|read)"):
        load(target, BROKEN[target])


def test_a_schema_that_refuses_a_call_is_an_error() -> None:
    """The validator is a core dependency, so this is checked everywhere."""
    other = export("json-schema", SPEC, [Tool("pong", "", {"type": "object", "properties": {}})])

    with pytest.raises(ExportError, match="does not accept a call of 'get_weather'"):
        check("json-schema", SPEC, TOOLS, Options(), Export(other.payload))


@pytest.mark.engine
def test_a_grammar_that_refuses_a_call_is_an_error() -> None:
    """The name of the tool is in it."""
    if ENGINES["lark"].missing is not None:
        pytest.skip(f"{ENGINES['lark'].missing} is not installed: the Lark grammar is not checked")
    other = export("lark", SPEC, [Tool("pong", "", {"type": "object", "properties": {}})])

    with pytest.raises(ExportError, match="does not accept a call of 'get_weather'"):
        check("lark", SPEC, TOOLS, Options(), Export(other.payload))
