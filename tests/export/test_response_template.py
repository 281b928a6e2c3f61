"""The response template, read by transformers' own parser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analyzer.chat import Message, ToolCall
from analyzer.errors import ExportError
from analyzer.export import Options, export, import_response_template
from analyzer.runtime import parse
from analyzer.spec.document import dumps, load_spec
from analyzer.verify.writer import write_turn
from tests.export.samples import OWN, ROOT, TOOLS, golden

TARGET = "response-template"
NOT_EXPRESSIBLE = {
    "name_as_json_key": "key of the call's object",
    "nested_value_tags": "nested items",
    "recipient_line": "opens the first call",
}


def own(name: str) -> Path:
    """The golden spec of one of the project's own templates."""
    return ROOT / "generated" / "own" / f"{name}.yaml"


@pytest.mark.parametrize("name", NOT_EXPRESSIBLE)
def test_what_is_not_expressible_says_why(name: str) -> None:
    """Instead of a template that reads something else."""
    with pytest.raises(ExportError, match=NOT_EXPRESSIBLE[name]):
        export(TARGET, load_spec(own(name)))


def test_only_keys_that_all_readers_know() -> None:
    """The servers refuse other fields, other defaults and named groups in closers."""
    for _, spec in golden(OWN):
        try:
            payload = export(TARGET, spec).payload
        except ExportError:
            continue

        assert {"thinking", "tool_calls", "content"} >= set(payload["fields"])
        assert {"role": "assistant"} == payload["defaults"]
        assert all("?P<" not in field.get("close_pattern", "") for field in payload["fields"].values())
        json.dumps(payload)


def test_a_closer_in_a_value_is_a_declared_loss() -> None:
    """A region ends at the first closer, wherever it stands."""
    losses = {loss.kind: loss.text for loss in export(TARGET, load_spec(own("json_tag_per_call"))).losses}

    assert "'</tool_call>'" in losses["closer_in_value"]


@pytest.mark.parametrize("options", [Options("required"), Options("get_weather"), Options(parallel=False)])
def test_what_cannot_be_forced_is_an_error(options: Options) -> None:
    """A response template parses; it constrains nothing."""
    with pytest.raises(ExportError, match="cannot force or limit calls"):
        export(TARGET, load_spec(own("json_tag_per_call")), TOOLS, options)


def test_without_calls_for_the_choice_none() -> None:
    """Calls are left in the text."""
    payload = export(TARGET, load_spec(own("json_tag_per_call")), (), Options("none")).payload

    assert {"content"} == set(payload["fields"])


@pytest.mark.parametrize(
    "name", ["json_tag_per_call", "tagged_raw_values", "marker_name_args", "json_list_think_answer"]
)
def test_there_and_back(name: str) -> None:
    """A spec that was exported and imported again reads what the first one writes."""
    spec = load_spec(own(name))
    calls = (ToolCall("get_weather", '{"city": "Paris"}'), ToolCall("ping", "{}"))
    text = write_turn(spec, Message("Let me see.", None, calls)).removeprefix(spec.turn.header)

    again = load_spec(dumps(import_response_template(export(TARGET, spec).payload)))
    parsed = parse(again, text, tools=TOOLS)

    assert [(call.name, call.decoded()) for call in calls] == [
        (call.name, call.decoded()) for call in parsed.message.tool_calls
    ]


HAND_WRITTEN = {
    "version": 1,
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>", "content": "text"},
        "tool_calls": {
            "open_pattern": r"\s*<tool_call>\s*<function=(?P<name>[^>\n]+)>",
            "close_pattern": r"</function>\s*</tool_call>",
            "repeats": True,
            "content": "xml-inline",
            "content_args": {"tag_pattern": r"<parameter=(?P<key>[^>\n]+)>\n?(?P<value>.*?)\n?</parameter>"},
            "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
        },
        "content": {"close_pattern": r"\s*<\|im_end\|>", "content": "text"},
    },
}


def test_a_hand_written_template_is_read() -> None:
    """With optional white space, patterns and named groups."""
    spec = import_response_template({"response_template": HAND_WRITTEN})
    text = (
        "<think>Hm.</think>Now.\n<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n"
        "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call><|im_end|>"
    )

    message = parse(spec, text, tools=TOOLS).message

    assert [("get_weather", {"city": "Rome", "days": 3})] == [
        (call.name, call.decoded()) for call in message.tool_calls
    ]
    assert "Hm." == message.reasoning_content


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"fields": {"other": {}}}, "the field 'other'"),
        ({"fields": 3}, "it has no fields"),
        ({"version": 2}, "version 2"),
        (
            {"fields": {"tool_calls": {"open_pattern": "a.b(?P<name>x)", "content": "json"}}},
            r"cannot be read at '\.b",
        ),
    ],
)
def test_what_cannot_be_imported_says_so(change: dict[str, object], found: str) -> None:
    """And what can be."""
    with pytest.raises(ExportError, match=found):
        import_response_template({**HAND_WRITTEN, **change})
