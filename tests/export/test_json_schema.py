"""The `response_format` of prompted calls."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from analyzer.agent import PromptedParser
from analyzer.errors import UsageError
from analyzer.export import Options, export
from analyzer.runtime import assemble
from analyzer.spec.document import load_spec
from tests.export.samples import ROOT, TOOLS

NO_CALLS = load_spec(ROOT / "generated" / "own" / "no_tools.yaml")
CALL = {"tool": "get_weather", "arguments": {"city": "Rome", "days": 2}}
PING = {"tool": "ping", "arguments": {}}
ANSWER = {"answer": "Fine."}


def valid(choice: str, reply: Any) -> bool:
    """Whether a reply is allowed under a choice."""
    payload = export("json-schema", NO_CALLS, TOOLS, Options(choice)).payload
    return bool(jsonschema.Draft202012Validator(payload["json_schema"]["schema"]).is_valid(reply))


@pytest.mark.parametrize(
    ("choice", "allowed"),
    [("auto", [CALL, PING, ANSWER]), ("required", [CALL, PING]), ("ping", [PING])],
)
def test_each_choice(choice: str, allowed: list[Any]) -> None:
    """An answer is no call, and a name is that tool alone."""
    assert allowed == [reply for reply in (CALL, PING, ANSWER) if valid(choice, reply)]


@pytest.mark.parametrize(
    "reply",
    [
        {"tool": "pong", "arguments": {}},
        {"tool": "get_weather", "arguments": {"days": "x"}},
        {"tool": "ping"},
        {},
    ],
)
def test_what_is_no_reply(reply: Any) -> None:
    """A wrong name, a wrong type, no arguments, nothing."""
    assert not valid("auto", reply)


def test_none_is_text() -> None:
    """Nothing is constrained."""
    assert {"type": "text"} == export("json-schema", NO_CALLS, TOOLS, Options("none")).payload


def test_the_parser_reads_what_is_allowed() -> None:
    """The other half of prompted calls."""
    parser = PromptedParser(tools=TOOLS)
    text = '{"tool": "ping", "arguments": {}}'

    message = assemble([*parser.feed(text), *parser.finish()]).message

    assert ["ping"] == [call.name for call in message.tool_calls]


def test_a_wrong_choice_is_an_error() -> None:
    """As for every target."""
    with pytest.raises(UsageError, match="Offered: get_weather, ping"):
        export("json-schema", NO_CALLS, TOOLS, Options("pong"))
