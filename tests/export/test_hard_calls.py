"""Calls that hand-written tags and parsers trip over, as templates of ours render them."""

from __future__ import annotations

import json

import pytest

from analyzer.engines import ENGINES, load, without_end
from analyzer.export import Options, export
from analyzer.render import RenderWorker
from analyzer.runtime import parse
from analyzer.spec.document import load_spec
from analyzer.template import load_templates, pick
from tests.export.rendered import rendered
from tests.export.samples import ROOT, TOOLS, Written

GRAMMARS = ("structural-tag", "gbnf", "lark")


def turn(name: str, sample: str) -> Written:
    """A sample as one of our templates renders it."""
    spec = load_spec(ROOT / "generated" / "own" / f"{name}.yaml")
    template = pick(load_templates(ROOT / "corpus" / "templates" / f"{name}.jinja"))
    with RenderWorker() as worker:
        return next(item for item in rendered(spec, template, worker) if item.sample.name == sample)


def accepted(target: str, name: str, text: str, options: Options | None = None) -> bool:
    """Whether the target's engine accepts a turn, or the test is skipped."""
    missing = ENGINES[target].missing
    if missing is not None:
        pytest.skip(f"{missing} is not installed: {target} is not checked")
    spec = load_spec(ROOT / "generated" / "own" / f"{name}.yaml")
    done = export(target, spec, TOOLS, options)
    return bool(load(target, done.payload).accepts(without_end(spec, text)))


@pytest.mark.engine
@pytest.mark.parametrize("target", GRAMMARS)
@pytest.mark.parametrize("name", ["tagged_raw_values", "key_value_tags", "json_tag_per_call"])
def test_a_call_without_arguments_passes_as_the_template_renders_it(name: str, target: str) -> None:
    """The tag that xgrammar has for tagged raw values refuses it: it wants the line of an argument."""
    item = turn(name, "zero")

    assert [("ping", {})] == item.calls
    assert accepted(target, name, item.text)


@pytest.mark.engine
@pytest.mark.parametrize("target", GRAMMARS)
def test_a_string_that_holds_the_closer_passes_parser_and_grammar(target: str) -> None:
    """Both know that a JSON string ends at its quote."""
    item = turn("json_tag_per_call", "closer")
    spec = load_spec(ROOT / "generated" / "own" / "json_tag_per_call.yaml")
    found = parse(spec, item.text, tools=TOOLS).message

    assert "</tool_call>" in item.calls[0][1]["note"]
    assert item.calls == [(call.name, call.decoded()) for call in found.tool_calls]
    assert accepted(target, "json_tag_per_call", item.text)


@pytest.mark.engine
@pytest.mark.parametrize("target", GRAMMARS)
def test_the_trigger_is_no_longer_than_the_marker(target: str) -> None:
    """A call without its line break is refused, not taken for text."""
    item = turn("tagged_raw_values", "zero")
    assert "<tool_call>\n<function" in item.text

    assert not accepted(target, "tagged_raw_values", item.text.replace("<tool_call>\n", "<tool_call>"))


@pytest.mark.engine
def test_special_tokens_are_met_by_their_ids() -> None:
    """A marker that is a special token is that token, and the same characters in text are none."""
    missing = ENGINES["lark"].missing
    if missing is not None:
        pytest.skip(f"{missing} is not installed: the Lark grammar is not checked")
    options = Options(tokens={"<tool_call>": 300, "</tool_call>": 301})
    spec = load_spec(ROOT / "generated" / "own" / "json_tag_per_call.yaml")
    done = export("lark", spec, TOOLS, options)
    item = turn("json_tag_per_call", "two")

    assert load("lark", done.payload, options).accepts(without_end(spec, item.text))
    assert not load("lark", done.payload, options).accepts(without_end(spec, item.text)[:-3])
    assert not load("lark", done.payload, options).accepts(item.text.replace("get_weather", "pong"))


@pytest.mark.engine
def test_the_legacy_tag_is_read_by_llguidance() -> None:
    """As the servers hand it on: calls with text around them, and nothing else behind a trigger."""
    missing = ENGINES["lark"].missing
    if missing is not None:
        pytest.skip(f"{missing} is not installed: the legacy tag is not checked")
    options = Options(legacy=True)
    spec = load_spec(ROOT / "generated" / "own" / "json_tag_per_call.yaml")
    matcher = load("structural-tag", export("structural-tag", spec, TOOLS, options).payload, options)
    item = turn("json_tag_per_call", "two")

    assert matcher.accepts(without_end(spec, item.text))
    assert not matcher.accepts(without_end(spec, item.text).replace("get_weather", "pong"))
    assert not matcher.accepts(without_end(spec, item.text).replace('"days": 2', '"days": "two"'))


@pytest.mark.engine
def test_llama_cpp_waits_for_the_trigger() -> None:
    """And goes back to free text behind a call, in which a further trigger begins a call again."""
    missing = ENGINES["gbnf"].missing
    if missing is not None:
        pytest.skip(f"{missing} is not installed: the GBNF grammar is not checked")
    spec = load_spec(ROOT / "generated" / "own" / "json_tag_per_call.yaml")
    matcher = load("gbnf", export("gbnf", spec, TOOLS).payload)
    call = f"<tool_call>\n{json.dumps({'name': 'ping', 'arguments': {}})}\n</tool_call>"

    assert matcher.accepts("<tool_calls are nothing special")
    assert matcher.accepts(f"First. {call} Then: {call}\nDone.")
    assert not matcher.accepts(f"First. {call} Then: <tool_call>no")
    assert not matcher.accepts(f"First. {call} Then: {call.replace('ping', 'pong')}")
