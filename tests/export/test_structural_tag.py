"""The structural tag, held against xgrammar's matcher."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analyzer.chat import Message, ToolCall
from analyzer.errors import ExportError
from analyzer.export import Options, export
from analyzer.spec.document import load_spec
from analyzer.verify.writer import write_turn
from tests.export.proofs import structural_tag
from tests.export.samples import CORPUS, OWN, ROOT, TOOLS, calls_only, without_end, written

TARGET = "structural-tag"
MISSING = "xgrammar is not installed: the structural tag is not checked"


def spec_of(name: str) -> Any:
    """The golden spec of one of the project's own templates."""
    return load_spec(ROOT / "generated" / "own" / f"{name}.yaml")


def engine() -> Any:
    """The engine, or the test is skipped."""
    pytest.importorskip("xgrammar", reason=MISSING)
    from tests.export import xgrammar_engine  # noqa: PLC0415

    return xgrammar_engine


@pytest.mark.engine
@pytest.mark.parametrize("path", [*OWN, *CORPUS[::12]], ids=lambda path: path.stem)
def test_what_the_format_writes_is_accepted(path: Path) -> None:
    """With text before and after, and with one or several calls."""
    engine()
    spec = load_spec(path)
    if spec.calls is None:
        pytest.skip("the format has no calls")
    try:
        done = export(TARGET, spec, TOOLS)
    except ExportError as error:
        pytest.skip(f"not expressible: {error}")

    good, bad = structural_tag(spec, done)

    assert [] == bad
    assert good


@pytest.mark.engine
@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_required_is_a_call_from_the_first_character(path: Path) -> None:
    """What the format writes of calls is accepted, and text in front of it is not."""
    xgrammar = engine()
    spec = load_spec(path)
    if spec.calls is None:
        pytest.skip("the format has no calls")
    try:
        tag = xgrammar.compiled_tag(export(TARGET, spec, TOOLS, Options("required")).payload)
    except ExportError as error:
        pytest.skip(f"not expressible: {error}")

    for item in written(spec):
        if item.sample.message.tool_calls and item.sample.name != "quotes":
            text = calls_only(spec, item)
            assert xgrammar.accepts(tag, text), text
            assert not xgrammar.accepts(tag, f"Hello {text}")
    assert not xgrammar.accepts(tag, "")


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
    xgrammar = engine()
    tag = xgrammar.compiled_tag(export(TARGET, spec_of(name), TOOLS).payload)

    assert not xgrammar.accepts(tag, text)


@pytest.mark.engine
@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_every_format_refuses_what_is_no_call_of_a_tool(path: Path) -> None:
    """An unknown tool, a wrong type, a call that is cut off; where an unknown tool is free text, a loss says so."""
    xgrammar = engine()
    spec = load_spec(path)
    if spec.calls is None:
        pytest.skip("the format has no calls")
    try:
        done = export(TARGET, spec, TOOLS)
    except ExportError as error:
        pytest.skip(f"not expressible: {error}")
    tag = xgrammar.compiled_tag(done.payload)

    def turn(arguments: str, name: str) -> str:
        message = Message(None, None, (ToolCall(name, arguments, "call00001"),))
        return without_end(spec, write_turn(spec, message).removeprefix(spec.turn.header))

    known = "unknown_names" not in {loss.kind for loss in done.losses}

    assert xgrammar.accepts(tag, turn("{}", "ping"))
    assert known != xgrammar.accepts(tag, turn("{}", "ping").replace("ping", "pong"))
    assert not xgrammar.accepts(tag, turn("{}", "ping").rstrip()[:-1])
    assert not xgrammar.accepts(tag, turn('{"days": "x"}', "get_weather"))


@pytest.mark.engine
def test_a_closer_in_a_json_string_is_text() -> None:
    """As the runtime reads it; with `exclude_closers` it is refused, for parsers that end there."""
    xgrammar = engine()
    spec = spec_of("json_tag_per_call")
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "a </tool_call> b"}}\n</tool_call>'

    plain = export(TARGET, spec, TOOLS)
    strict = export(TARGET, spec, TOOLS, Options(exclude_closers=True))

    assert xgrammar.accepts(xgrammar.compiled_tag(plain.payload), text)
    assert not xgrammar.accepts(xgrammar.compiled_tag(strict.payload), text)
    assert "excluded" in {loss.kind for loss in strict.losses}


@pytest.mark.engine
def test_a_name_is_one_call_of_that_tool() -> None:
    """Not two, and not another."""
    xgrammar = engine()
    payload = export(TARGET, spec_of("json_tag_per_call"), TOOLS, Options("ping")).payload
    tag = xgrammar.compiled_tag(payload)
    call = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'

    assert xgrammar.accepts(tag, call)
    assert not xgrammar.accepts(tag, f"{call}\n{call}")
    assert not xgrammar.accepts(tag, call.replace("ping", "get_weather"))


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
