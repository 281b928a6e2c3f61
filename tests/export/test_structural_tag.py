"""The structural tag, held against xgrammar's matcher."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.engines import load
from analyzer.engines.loading import engine_of
from analyzer.errors import ExportError
from analyzer.export import Options, export
from analyzer.spec.document import load_spec
from tests.export.samples import ROOT, TOOLS

TARGET = "structural-tag"


def spec_of(name: str) -> Any:
    """The golden spec of one of the project's own templates."""
    return load_spec(ROOT / "generated" / "own" / f"{name}.yaml")


def accepts(payload: Any, text: str, options: Options | None = None) -> bool:
    """Whether the engine accepts a text, or the test is skipped."""
    engine = engine_of(TARGET, options or Options())
    missing = engine.missing if engine is not None else None
    if missing is not None:
        pytest.skip(f"{missing} is not installed: the structural tag is not checked")
    return bool(load(TARGET, payload, options).accepts(text))


@pytest.mark.engine
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("json_tag_per_call", '<tool_call>\n{"name": "pong", "arguments": {}}\n</tool_call>'),
        (
            "json_tag_per_call",
            '<tool_call>\n{"name": "get_weather", "arguments": {"days": "x"}}\n</tool_call>',
        ),
        ("json_tag_per_call", "<tool_call>well"),
        ("json_tag_per_call", '<tool_call>\n{"name": "ping", "arguments": {}}'),
        ("tagged_raw_values", "<tool_call>\n<function=pong>\n</function>\n</tool_call>"),
        (
            "tagged_raw_values",
            "<tool_call>\n<function=ping>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>",
        ),
        (
            "tagged_raw_values",
            "<tool_call>\n<function=get_weather>\n<parameter=days>\nx\n</parameter>\n</function>\n</tool_call>",
        ),
        ("tagged_raw_values", "<tool_call>\n<function=ping>\n"),
        ("python_calls_raw_strings", "<|tool_call_start|>[get_weather(days='x')]<|tool_call_end|>"),
    ],
)
def test_what_is_no_call_is_refused(name: str, text: str) -> None:
    """A wrong name, a wrong type, junk after the trigger, an unknown argument, a call that is cut off."""
    assert not accepts(export(TARGET, spec_of(name), TOOLS).payload, text)


@pytest.mark.engine
def test_a_closer_in_a_json_string_is_text() -> None:
    """As the runtime reads it; with `exclude_closers` it is refused, for parsers that end there."""
    spec = spec_of("json_tag_per_call")
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "a </tool_call> b"}}\n</tool_call>'

    plain = export(TARGET, spec, TOOLS)
    strict = export(TARGET, spec, TOOLS, Options(exclude_closers=True))

    assert accepts(plain.payload, text)
    assert not accepts(strict.payload, text)
    assert "excluded" in {loss.kind for loss in strict.losses}


@pytest.mark.engine
def test_a_name_is_one_call_of_that_tool() -> None:
    """Not two, and not another."""
    payload = export(TARGET, spec_of("json_tag_per_call"), TOOLS, Options("ping")).payload
    call = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'

    assert accepts(payload, call)
    assert not accepts(payload, f"{call}\n{call}")
    assert not accepts(payload, call.replace("ping", "get_weather"))


def test_none_constrains_nothing() -> None:
    """Tools stay in the prompt."""
    done = export(TARGET, spec_of("json_tag_per_call"), TOOLS, Options("none"))

    assert {"type": "any_text"} == done.payload["format"]


def test_the_legacy_form() -> None:
    """What llguidance backends take."""
    payload = export(TARGET, spec_of("json_tag_per_call"), TOOLS, Options(legacy=True)).payload

    assert ["<tool_call>"] == payload["triggers"]
    assert '<tool_call>\n{"name": "ping", "arguments": ' == payload["structures"][1]["begin"]
    assert "}\n</tool_call>" == payload["structures"][1]["end"]
    json.dumps(payload)


@pytest.mark.parametrize(
    ("name", "options", "found"),
    [
        ("json_tag_per_call", Options("required", legacy=True), "cannot force"),
        ("tagged_raw_values", Options(legacy=True), "JSON only"),
        ("no_tools", Options(), "no calls"),
    ],
)
def test_what_is_not_expressible_says_why(name: str, options: Options, found: str) -> None:
    """Instead of a grammar of something else."""
    with pytest.raises(ExportError, match=found):
        export(TARGET, spec_of(name), TOOLS, options)
