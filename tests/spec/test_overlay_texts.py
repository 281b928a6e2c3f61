"""What the overlays are for: texts that the runtime reads with them and not without."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.chat import tools_from_openai
from analyzer.runtime import Options, Parser, assemble, parse
from analyzer.spec import Spec
from analyzer.spec.overlays import apply_overlays, load_overlays
from tests.spec.formats import TOOLS
from tests.spec.test_overlays import FIXTURES

OVERLAYS = load_overlays()
DECLARED = tools_from_openai(TOOLS)
PARIS = [("get_weather", {"city": "Paris"})]

TEXTS: list[tuple[str, str, str | None, list[tuple[str, dict[str, Any]]]]] = [
    (
        "channels",
        '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>',
        None,
        PARIS,
    ),
    (
        "channels",
        '<|channel|>commentary to=functions.get_weather<|message|>{"city": "Paris"}<|call|>',
        None,
        PARIS,
    ),
    (
        "channels",
        ' to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{"city": "Paris"}<|call|>',
        None,
        PARIS,
    ),
    (
        "channels",
        (
            "<|channel|>commentary<|message|>Let me see.<|end|><|start|>assistant"
            '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>'
        ),
        "Let me see.",
        PARIS,
    ),
    ("bare_json", '{"name": "get_weather", "arguments": {"city": "Paris"}}', None, PARIS),
    (
        "bare_json",
        '{"name": "get_weather", "parameters": {"city": "Paris"}}; {"name": "get_time", "parameters": {}}',
        None,
        [*PARIS, ("get_time", {})],
    ),
    ("bare_json", '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Paris"}}', None, PARIS),
    (
        "id_only",
        (
            "</think><|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
            '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>'
        ),
        None,
        PARIS,
    ),
    ("python_calls", "[get_weather(city='Paris')]<|im_end|>", None, PARIS),
    (
        "typed_parameters",
        (
            '<｜DSML｜toolcalls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Paris'
            "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜toolcalls>"
        ),
        None,
        PARIS,
    ),
    ("marker_args", '[TOOL_CALLS]get_weather{"city": "Paris"}</s>', None, PARIS),
    ("literal_without_calls", "<think>\nSo.\n</think>\n<answer>\nHello!\n</answer><|eos|>", "Hello!", []),
    (
        "dialect_braces",
        '<|tool_call>get_weather{city:<|"|>Paris<|"|>}<tool_call|><|tool_response>',
        None,
        PARIS,
    ),
    (
        "dialect_braces",
        '<|tool_call>:get_weather{city:<|"|>Paris<|"|>}<tool_call|><|tool_response>',
        None,
        PARIS,
    ),
]


def read(spec: Spec, text: str) -> tuple[str | None, list[tuple[str, Any]]]:
    """Return content and calls."""
    parser = Parser(spec, tools=DECLARED, options=Options(id_names=False))
    message = assemble([*parser.feed(text), *parser.finish("stop")]).message
    return message.content, [(call.name, call.decoded()) for call in message.tool_calls]


@pytest.mark.parametrize(
    ("name", "text", "content", "calls"),
    [pytest.param(*text, id=f"{text[0]}-{number}") for number, text in enumerate(TEXTS)],
)
def test_a_text_is_read_with_the_overlay(
    name: str, text: str, content: str | None, calls: list[tuple[str, dict[str, Any]]]
) -> None:
    """The message is right with the overlays of the package, and is not without them."""
    plain = FIXTURES[name]
    laid = apply_overlays(plain, OVERLAYS)

    assert (content, calls) == read(laid, text)
    assert (content, calls) != read(plain, text)


@pytest.mark.parametrize(("name", "text"), [text[:2] for text in TEXTS if text[0] != "id_only"])
def test_the_use_of_an_overlay_is_said(name: str, text: str) -> None:
    """A note says which overlay was used; nothing about such a text is an error."""
    spec = apply_overlays(FIXTURES[name], OVERLAYS)
    problems = parse(spec, text, DECLARED).problems

    notes = [item for item in problems if item.kind == "overlay"]
    assert notes
    assert {note.severity for note in notes} == {"info"}
    assert {note.raw for note in notes} <= {overlay.name for overlay in OVERLAYS}
    assert [item for item in problems if item.severity == "error"] == []
