"""Tools as people really declare them: every export is one that its engine loads, or an error that says what is wrong and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from analyzer.chat import Tool
from analyzer.engines import ENGINES, check
from analyzer.errors import ExportError
from analyzer.export import Options, export
from analyzer.spec.document import load_spec
from tests.export.samples import ROOT

CASES: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "odd_schemas.yaml").read_text(encoding="utf-8")
)
SPECS = ("json_tag_per_call", "tagged_raw_values", "python_calls_raw_strings", "recipient_line")
GRAMMARS = ("structural-tag", "gbnf", "lark")


def spec_of(name: str) -> Any:
    """The golden spec of one of the project's own templates."""
    return load_spec(ROOT / "generated" / "own" / f"{name}.yaml")


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("case", CASES)
def test_an_odd_schema_is_exported_or_refused_with_its_place(case: str, spec: str) -> None:
    """And a call of the tool is accepted where the engine is here."""
    schema, error = CASES[case]["schema"], CASES[case].get("error")
    for target in GRAMMARS:
        for word in ("auto", "t"):
            options, tools = Options(word), [Tool("t", "", schema)]
            if error is not None:
                with pytest.raises(ExportError, match=error):
                    export(target, spec_of(spec), tools, options)
                continue
            done = export(target, spec_of(spec), tools, options)
            check(target, spec_of(spec), tools, options, done)
            losses = {loss.kind: loss.text for loss in done.losses}
            for keyword in CASES[case].get("unchecked", {}).get(target, ()):
                assert f"`{keyword}`" in losses["unchecked_keywords"]


NAMES = ("get", "get_weather", "get_weather_now", "get.weather", "get-weather", "größe", "工具", "a" * 64)


@pytest.mark.parametrize("options", [Options(), Options("required"), Options("get"), Options(parallel=False)])
@pytest.mark.parametrize("target", ENGINES)
@pytest.mark.parametrize("spec", SPECS[:2])
def test_names_that_begin_alike(spec: str, target: str, options: Options) -> None:
    """Each tool is called by its own name, whichever other names begin with it."""
    tools = [Tool(name, "", {"type": "object", "properties": {"x": {"type": "string"}}}) for name in NAMES]
    if target == "response-template" and options != Options():
        return

    done = export(target, spec_of(spec), tools, options)

    assert check(target, spec_of(spec), tools, options, done).state in {"held", "missing"}


def test_two_hundred_tools() -> None:
    """Is what some servers offer."""
    schema = {"type": "object", "properties": {"x": {"type": "string"}, "n": {"type": "integer"}}}
    tools = [Tool(f"tool_{number}", "", schema) for number in range(200)]
    for target in ("gbnf", "lark"):
        done = export(target, spec_of("tagged_raw_values"), tools)

        check(target, spec_of("tagged_raw_values"), tools, Options(), done)


def test_a_schema_may_refer_to_itself() -> None:
    """Inside an argument too, where the reference leads into the whole schema."""
    node = {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/n"}}}
    schema = {"type": "object", "$defs": {"n": node}, "properties": {"list": {"$ref": "#/$defs/n"}}}
    done = export("gbnf", spec_of("tagged_raw_values"), [Tool("t", "", schema)])

    assert "next" in done.payload["grammar"]


def test_nesting_has_an_end() -> None:
    """Instead of an exhausted stack."""
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(300):
        schema = {"type": "object", "properties": {"a": schema}}

    with pytest.raises(ExportError, match=r"tool 't' .* nested deeper than 100"):
        export("gbnf", spec_of("json_tag_per_call"), [Tool("t", "", schema)])
