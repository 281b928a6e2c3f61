"""Policies: where text goes that could go to more than one place."""

from __future__ import annotations

import json
import sys

import pytest

from analyzer.errors import UsageError
from analyzer.runtime import Options, Parser, assemble
from tests.runtime.checks import WEATHER, check_all_splits, tool
from tests.runtime.specs import spec

GOOD = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
BAD = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Os"lo"}}\n</tool_call>'
UNKNOWN = '<tool_call>\n{"name": "other", "arguments": {}}\n</tool_call>'


def outcome(text: str, options: Options, name: str = "json_tags", **more: object) -> tuple[object, ...]:
    """Parse in all ways; return (content, reasoning, calls, kinds of problems)."""
    tools = more.pop("tools", [WEATHER])
    parsed = assemble(check_all_splits(spec(name), text, tools, options=options, **more))  # type: ignore[arg-type]
    message = parsed.message
    calls = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    return message.content, message.reasoning_content, calls, sorted({p.kind for p in parsed.problems})


OSLO = ("get_weather", {"city": "Oslo"})


def test_malformed_as_problem() -> None:
    """The default: the text of a broken call is in the problem only."""
    assert outcome(f"Hi\n{BAD}\n{GOOD}", Options()) == ("Hi", None, [OSLO], ["malformed_call"])


def test_malformed_as_content() -> None:
    """A broken call is content again, complete and in order."""
    content, _, calls, kinds = outcome(f"Hi\n{BAD}", Options(malformed="content"))

    assert content == f"Hi{BAD}"
    assert (calls, kinds) == ([], [])


def test_repair() -> None:
    """Broken JSON is repaired on request, and that is said."""
    bad = GOOD.replace('"Oslo"', '"Oslo" "days": 3')

    assert outcome(f"{bad}\n{GOOD}", Options(repair=True)) == (
        None, None, [("get_weather", {"city": "Oslo", "days": 3}), OSLO], ["repaired"],
    )  # fmt: skip


def test_unknown_tools() -> None:
    """A call of an undeclared tool is a call with a warning, or content, or nothing."""
    assert outcome(UNKNOWN + GOOD, Options()) == (None, None, [("other", {}), OSLO], ["unknown_tool"])
    assert outcome(UNKNOWN + GOOD, Options(unknown_tools="drop")) == (None, None, [OSLO], ["unknown_tool"])
    assert outcome(UNKNOWN + GOOD, Options(unknown_tools="content")) == (
        UNKNOWN,
        None,
        [OSLO],
        ["unknown_tool"],
    )


def test_calls_as_text() -> None:
    """With tool choice none a call's text is content; reasoning is still split."""
    text = f"<think>\nhm\n</think>\n\n{GOOD}"

    assert outcome(text, Options(calls="text")) == (GOOD, "hm", [], [])
    assert outcome(text, Options(calls="drop")) == (None, "hm", [], [])


def test_calls_in_reasoning() -> None:
    """A call inside reasoning counts when the reasoning is never closed, or never."""
    open_text = f"<think>\nplan {GOOD}"
    closed = f"<think>\nplan {GOOD} no\n</think>\n\nDone."

    assert outcome(open_text, Options())[2] == [OSLO]
    assert outcome(open_text, Options(calls_in_reasoning="never"))[2] == []
    assert outcome(closed, Options()) == ("Done.", f"plan {GOOD} no", [], [])


def test_reasoning_policies() -> None:
    """Reasoning may stay in the content with its markers, or be dropped."""
    text = "<think>\nhm\n</think>\n\nHi"

    assert outcome(text, Options(reasoning="content")) == (text, None, [], [])
    assert outcome(text, Options(reasoning="drop")) == ("Hi", None, [], [])
    prompt = "<|im_start|>assistant\n<think>\n"
    assert outcome("hm\n</think>\n\nHi", Options(reasoning="content"), prompt=prompt) == (text, None, [], [])


def test_limits() -> None:
    """Calls beyond the limit are dropped, too long ones are broken."""
    assert outcome(GOOD + GOOD, Options(max_calls=1)) == (None, None, [OSLO], ["too_many_calls"])
    assert outcome(GOOD + GOOD, Options(parallel=False)) == (None, None, [OSLO], ["too_many_calls"])


def test_repair_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is said when the parser is made, with how to install it."""
    monkeypatch.setitem(sys.modules, "json_repair", None)
    with pytest.raises(UsageError, match=r"pip install 'chat-template-analyzer\[repair\]'"):
        Parser(spec("json_tags"), options=Options(repair=True))
    Parser(spec("json_tags"))


def test_unwrap_arguments() -> None:
    """Arguments inside an object of their own come out of it, unless the schema has such a property."""
    text = '<tool_call>\n<function=get_weather>\n<parameter=arguments>\n{"city": "Oslo"}\n</parameter>\n</function>\n</tool_call>'
    options = Options(unwrap_arguments=True)
    own = tool("get_weather", {"arguments": "object"})

    assert outcome(text, options, "tagged_raw")[2] == [OSLO]
    assert outcome(text, options, "tagged_raw", tools=[own])[2] == [
        ("get_weather", {"arguments": {"city": "Oslo"}})
    ]


def test_ignored() -> None:
    """Special tokens that a server leaves in the text are dropped."""
    assert outcome("Hi<pad> there<pad>", Options(ignored=("<pad>",))) == ("Hi there", None, [], [])


def test_unknown_prompt() -> None:
    """A prompt that is none of the spec's is said, and nothing is assumed."""
    assert outcome("Hi", Options(), prompt="something else") == ("Hi", None, [], ["unknown_prompt"])


def test_missing_brace_at_the_end() -> None:
    """Nothing but a brace is missing when the model stops."""
    assert outcome(GOOD.replace("}}", "}").removesuffix("\n</tool_call>"), Options()) == (
        None, None, [OSLO], ["missing_brace", "missing_close"],
    )  # fmt: skip
