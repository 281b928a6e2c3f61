"""The worked examples that this library was built from, each by an inferred spec and the one runtime.

Example 3 and 7: what four templates show of calls and results. Example 4: one call from four texts. Example 5: nine texts, most of
them almost a call. The inputs and outcomes are those of the examples; no test has a parser of its own.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from analyzer.analysis import analyze
from analyzer.chat import Tool
from analyzer.corpus import is_synced
from analyzer.runtime import Parser, assemble, parse
from analyzer.runtime.assemble import Parsed
from analyzer.spec.model import JsonLayout, Spec
from analyzer.template import Template
from tests.budget import real_template

OWN = Path(__file__).parents[1] / "corpus" / "templates"
READ_FILE = Tool(
    "read_file",
    "Read a text file",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "pom.xml"}}\n</tool_call>'


@cache
def own_spec(name: str) -> Spec:
    """Infer one of our own templates."""
    return _spec(Template(name=name, text=(OWN / f"{name}.jinja").read_text(encoding="utf-8")))


@cache
def real_spec(name: str) -> Spec:
    """Infer a real template."""
    return _spec(real_template(name))


def _spec(template: Template) -> Spec:
    spec = analyze(template, verify=False).spec
    assert spec is not None
    return spec


def read(spec: Spec, text: str) -> Parsed:
    """Parse a text in one piece and character by character; both must say the same."""
    whole = parse(spec, text, tools=(READ_FILE,))
    parser = Parser(spec, (READ_FILE,))
    events = [event for character in text for event in parser.feed(character)]
    assert assemble([*events, *parser.finish()]).message == whole.message
    return whole


# ---------------------------------------------------------------------------------------------------- examples 3 and 7

SHOWN = {
    "Qwen-Qwen2.5-7B-Instruct": ("arguments", "user", "none", "raw", None),
    "meta-llama-Llama-3.1-8B-Instruct": ("parameters", "ipython", "none", "json", None),
    "mistralai-Mistral-Nemo-Instruct-2407": ("arguments", "", "written", "raw", "[A-Za-z0-9]{9}"),
}
"""Argument key, role word of the result turn, who writes the id, content raw or quoted, what ids must look like."""


@pytest.mark.corpus
@pytest.mark.skipif(not is_synced(), reason="the corpus is not synced: run `analyzer corpus sync`")
@pytest.mark.parametrize("name", SHOWN)
def test_examples_3_and_7_what_a_template_shows(name: str) -> None:
    """The key of the arguments, the result's role, the id and the content of a result are read out of the template."""
    spec = real_spec(name)
    assert spec.calls is not None
    assert spec.results is not None
    layout = spec.calls.layouts[0]
    assert isinstance(layout, JsonLayout)
    found = (layout.arguments[0], spec.results.role, spec.results.id, spec.results.content, spec.input.ids)
    assert SHOWN[name] == found


@pytest.mark.parametrize(
    ("name", "key", "role", "written", "content"),
    [
        ("json_tag_per_call", "arguments", "user", "none", "raw"),
        ("bare_json", "parameters", "ipython", "none", "raw"),
        ("json_array_marker_ids9", "arguments", "", "written", "json"),
    ],
)
def test_examples_3_and_7_on_templates_of_our_own(
    name: str, key: str, role: str, written: str, content: str
) -> None:
    """The same facts of the same kinds of format, without the corpus."""
    spec = own_spec(name)
    assert spec.calls is not None
    assert spec.results is not None
    layout = spec.calls.layouts[0]
    assert isinstance(layout, JsonLayout)
    results = spec.results
    assert (key, role, written, content) == (layout.arguments[0], results.role, results.id, results.content)


# ----------------------------------------------------------------------------------------------------------- example 4

SAMPLES = {
    "json_tag_per_call": ("I will read the build file.\n" + CALL, None, "I will read the build file."),
    "bare_json": ('{"name": "read_file", "parameters": {"path": "pom.xml"}}', None, None),
    "json_array_marker_ids9": (
        '[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "pom.xml"}, "id": "a1B2c3D4e"}]',
        "a1B2c3D4e",
        None,
    ),
    "channels_recipients": (
        (
            "<|channel|>analysis<|message|>The user wants pom.xml.<|end|><|start|>assistant"
            '<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"path": "pom.xml"}<|call|>'
        ),
        None,
        None,
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_example_4_one_call_from_four_texts(name: str) -> None:
    """The same call comes out of four formats, with the id where the model wrote one."""
    text, native_id, content = SAMPLES[name]
    message = read(own_spec(name), text).message
    assert [(call.name, json.loads(call.arguments)) for call in message.tool_calls] == [
        ("read_file", {"path": "pom.xml"})
    ]
    assert (message.tool_calls[0].id, message.content) == (native_id, content)


def test_example_4_text_without_a_call() -> None:
    """Plain text has no calls, and a JSON document that is no call is an answer."""
    plain = read(own_spec("json_tag_per_call"), "pom.xml declares one module.").message
    answer = read(own_spec("bare_json"), '{"answer": 42}').message
    assert (plain.tool_calls, plain.content) == ((), "pom.xml declares one module.")
    assert (answer.tool_calls, answer.content) == ((), '{"answer": 42}')


# ----------------------------------------------------------------------------------------------------------- example 5

POM = ("read_file", {"path": "pom.xml"})
README = ("read_file", {"path": "README.md"})
FENCED = '```json\n{"name": "read_file", "arguments": {"path": "pom.xml"}}\n```'
NINE = {
    "text and a call": ("Let me check.\n" + CALL, [POM], [], "Let me check."),
    "two calls": (CALL + "\n" + CALL.replace("pom.xml", "README.md"), [POM, README], [], None),
    "cut off": ('<tool_call>\n{"name": "read_file", "argum', [], ["unterminated_call"], None),
    "single quotes": (
        "<tool_call>\n{'name': 'read_file', 'arguments': {'path': 'pom.xml'}}\n</tool_call>", [], ["malformed_call"], None,
    ),
    "arguments encoded twice": (
        '<tool_call>\n{"name": "read_file", "arguments": "{\\"path\\": \\"pom.xml\\"}"}\n</tool_call>', [POM], [], None,
    ),
    "no name": ('<tool_call>\n{"arguments": {"path": "pom.xml"}}\n</tool_call>', [], ["malformed_call"], None),
    "arguments are an array": (
        '<tool_call>\n{"name": "read_file", "arguments": ["pom.xml"]}\n</tool_call>', [], ["malformed_call"], None,
    ),
    "a fence instead of tags": (FENCED, [], [], FENCED),
    "a call and text": (CALL + "\nI hope this helps.", [POM], [], "I hope this helps."),
}  # fmt: skip


@pytest.mark.parametrize("case", NINE)
def test_example_5_nine_texts(case: str) -> None:
    """Calls, errors and content of texts that are almost, but not quite, what the template teaches."""
    text, calls, errors, content = NINE[case]
    parsed = read(own_spec("json_tag_per_call"), text)
    message = parsed.message
    assert [(call.name, json.loads(call.arguments)) for call in message.tool_calls] == calls
    assert [problem.kind for problem in parsed.problems if problem.severity == "error"] == errors
    assert (message.content or "").strip() == (content or "")
