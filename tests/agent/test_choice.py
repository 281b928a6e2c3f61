"""`tool_choice` on the client's side."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from analyzer.agent import (
    broken_promise,
    check,
    chosen,
    force_tool,
    parser_options,
    read_turn,
    to_anthropic_choice,
    tool_names,
    with_choice,
    without_tools,
)
from analyzer.chat import Message, Tool, tools_from_openai
from analyzer.corpus import is_synced
from analyzer.errors import UsageError
from analyzer.render import Rendered
from analyzer.runtime import assemble, parse
from tests.agent.common import READ_FILE, call, message, render_text, rendered, spec_of
from tests.budget import real_template
from tests.runtime.checks import check_all_splits, tool
from tests.runtime.specs import spec

NAMES = ["read_file", "list_files", "run_command"]
REQUEST: dict[str, Any] = {
    "messages": [{"role": "user", "content": "Show me pom.xml"}],
    "tools": [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in NAMES
    ],
}
OBJECT = {"type": "function", "function": {"name": "read_file"}}


def summary(request: dict[str, Any]) -> tuple[list[str], Any, Any]:
    """What of a request the choice changes."""
    return tool_names(request), request.get("tool_choice"), request.get("parallel_tool_calls")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (with_choice(REQUEST, "auto"), (NAMES, "auto", None)),
        (with_choice(REQUEST, "none"), (NAMES, "none", None)),
        (with_choice(REQUEST, "required"), (NAMES, "required", None)),
        (with_choice(REQUEST, "read_file"), (NAMES, OBJECT, None)),
        (with_choice(REQUEST, "read_file", strings_only=True), (["read_file"], "required", False)),
    ],
    ids=["auto", "none", "required", "named", "forced"],
)
def test_the_forms(made: dict[str, Any], expected: Any) -> None:
    """Five requests; the last forces one tool where servers take only strings."""
    assert summary(made) == expected


def test_a_request_is_not_changed() -> None:
    """Each function returns a new one."""
    before = copy.deepcopy(REQUEST)
    force_tool(REQUEST, "read_file")
    without_tools(REQUEST)
    with_choice(REQUEST, "none")

    assert before == REQUEST


def test_none_leaves_the_tools_in_the_prompt() -> None:
    """Only without them the model does not see them; the choice is not the template's business."""
    none = with_choice(REQUEST, "none")
    prompts = [
        rendered("json_tag_per_call", one["messages"], list(tools_from_openai(one.get("tools", []))))
        for one in (none, with_choice(REQUEST, "required"), without_tools(none))
    ]

    assert prompts[0] == prompts[1]
    assert "read_file" in prompts[0]
    assert "read_file" not in prompts[2]
    assert set(without_tools(none)) == {"messages"}


def test_none_leaves_a_call_in_the_text() -> None:
    """What looks like a call is content, and the turn ends with `stop`."""
    text = '<tool_call>\n{"name": "read_file", "arguments": {"path": "pom.xml"}}\n</tool_call>'
    options = parser_options(with_choice(REQUEST, "none"))
    parsed = parse(spec_of("json_tag_per_call"), text, [READ_FILE], options)

    assert (parsed.message.content, parsed.message.tool_calls) == (text, ())
    assert parsed.finish_reason == "stop"


NOISE = "المياهshelf(Product;j_generation wikipedia纪委(step(step(step(step(step"


@pytest.mark.parametrize(
    ("choice", "said"),
    [("auto", None), ("read_file", "tool_choice names read_file, but the reply calls no tool")],
)
def test_a_server_that_ignores_the_object_form(choice: str, said: str | None) -> None:
    """Both requests are answered alike, with text that is cut: right for `auto`, and told of the named tool."""
    choices = [{"finish_reason": "length", "message": {"role": "assistant", "content": NOISE}}]
    turn = read_turn({"choices": choices})

    assert (turn.content, turn.calls, turn.finish_reason) == (NOISE, (), "length")
    assert [problem.kind for problem in check(turn, [READ_FILE]).problems] == ["cut"]
    assert broken_promise(with_choice(REQUEST, choice), turn.message) == said


@pytest.mark.corpus
@pytest.mark.skipif(not is_synced(), reason="the corpus is not synced: run `analyzer corpus sync`")
def test_none_leaves_a_prompt_as_long_as_it_is() -> None:
    """The template of the example writes 804 characters with `none` as with `required`."""
    request = {
        "messages": [{"role": "user", "content": "What is in pom.xml?"}],
        "tools": [READ_FILE.to_openai()],
    }
    lengths = []
    for one in (with_choice(request, "none"), with_choice(request, "required"), without_tools(request)):
        tools = list(tools_from_openai(one.get("tools", []))) or None
        outcome = render_text(real_template("Qwen-Qwen2.5-7B-Instruct").text, one["messages"], tools)
        assert isinstance(outcome, Rendered), outcome
        lengths.append(len(outcome.text))

    assert lengths[:2] == [804, 804]
    assert lengths[2] < 200


@pytest.mark.parametrize("words", ["bogus", "", "any"])
def test_unknown_words_are_refused(words: str) -> None:
    """As the server refuses them."""
    with pytest.raises(UsageError, match="invalid tool_choice"):
        chosen({**REQUEST, "tool_choice": words})


@pytest.mark.parametrize("make", [force_tool, with_choice])
def test_a_tool_that_is_not_offered_cannot_be_forced(make: Any) -> None:
    """The refusal lists what is offered."""
    with pytest.raises(UsageError, match="no tool named delete"):
        make(REQUEST, "delete")


def test_required_needs_a_tool() -> None:
    """Nothing can be called where nothing is offered."""
    with pytest.raises(UsageError, match="no tool is offered"):
        with_choice({"messages": []}, "required")


def test_the_default_depends_on_the_tools() -> None:
    """With tools `auto`, without `none`."""
    assert chosen(REQUEST) == "auto"
    assert chosen({"messages": []}) == "none"
    assert chosen({**REQUEST, "tool_choice": OBJECT}) == "tool:read_file"


CALLS_IT = message(call("read_file"))
CALLS_OTHER = message(call("list_files"))
ANSWERS = Message("hello")


@pytest.mark.parametrize(
    ("choice", "reply", "said"),
    [
        ("auto", CALLS_IT, None),
        ("auto", ANSWERS, None),
        ("none", ANSWERS, None),
        ("none", CALLS_IT, "tool_choice is none, but the reply calls read_file"),
        ("required", CALLS_IT, None),
        ("required", ANSWERS, "tool_choice is required, but the reply calls no tool"),
        ("read_file", CALLS_IT, None),
        ("read_file", CALLS_OTHER, "tool_choice names read_file, but the reply calls list_files"),
        ("read_file", ANSWERS, "tool_choice names read_file, but the reply calls no tool"),
    ],
)
def test_a_reply_may_break_the_promise(choice: str, reply: Message, said: str | None) -> None:
    """A server that reads the object form as `auto` is found out."""
    assert broken_promise(with_choice(REQUEST, choice), reply) == said


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (with_choice(REQUEST, "auto"), {"type": "auto"}),
        (with_choice(REQUEST, "none"), {"type": "none"}),
        (with_choice(REQUEST, "required"), {"type": "any"}),
        (with_choice(REQUEST, "read_file"), {"type": "tool", "name": "read_file"}),
        (force_tool(REQUEST, "read_file"), {"type": "any", "disable_parallel_tool_use": True}),
    ],
)
def test_anthropic_choices(request_: dict[str, Any], expected: dict[str, Any]) -> None:
    """The same choice in the other API's words."""
    assert to_anthropic_choice(request_) == expected


WEATHER: Tool = tool("get_weather", {"city": "string"})
OSLO, ROME = ({"name": "get_weather", "arguments": {"city": city}} for city in ("Oslo", "Rome"))
TAGGED = '<tool_call>{{"name": "get_weather", "arguments": {{"city": "{}"}}}}</tool_call>'
LIST = '[{"name": "get_weather", "parameters": {"city": "%s"}}]'
REPORTED: dict[str, dict[str, Any]] = {
    "auto allows no call": {
        "spec": "bare_json", "text": "Hello! How can I help?", "content": "Hello! How can I help?", "ends": "stop",
    },
    "length has priority over calls": {
        "spec": "json_tags", "finish": "length", "ends": "length", "calls": ["Oslo"], "problems": ["unterminated_call"],
        "text": TAGGED.format("Oslo") + '<tool_call>{"name": "get_weather", "arg',
    },
    "calls end a turn with tool_calls": {
        "spec": "json_tags", "text": TAGGED.format("Oslo"), "calls": ["Oslo"], "ends": "tool_calls",
    },
    "no parallel calls where they are barred": {
        "spec": "json_tags", "text": f"{TAGGED.format('Oslo')}\n{TAGGED.format('Rome')}", "calls": ["Oslo"],
        "request": {"parallel_tool_calls": False}, "problems": ["too_many_calls"], "ends": "tool_calls",
    },
    "braces inside strings of a required list": {
        "spec": "bare_array", "text": LIST % 'a } b { \\" c', "calls": ['a } b { " c'], "ends": "tool_calls",
        "request": {"tool_choice": "required"},
    },
    "reasoning before a required list": {
        "spec": "bare_array", "text": "Okay, let's see.\n</think>\n\n" + LIST % "Oslo", "calls": ["Oslo"],
        "prompt": "<|a|>\n<think>\n", "reasoning": "Okay, let's see.", "ends": "tool_calls",
        "request": {"tool_choice": "required"},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", REPORTED)
def test_reported_choices(name: str) -> None:
    """What others reported, parsed with the options that the request asks for, at every split."""
    case = REPORTED[name]
    request = {"tools": [WEATHER.to_openai()], **case.get("request", {})}
    finish = case.get("finish", "stop")
    more = {"prompt": case["prompt"]} if "prompt" in case else {}
    events = check_all_splits(
        spec(case["spec"]), case["text"], [WEATHER], finish, options=parser_options(request), **more
    )
    parsed = assemble(events)

    assert parsed.message.content == case.get("content")
    assert parsed.message.reasoning_content == case.get("reasoning")
    assert [found.decoded()["city"] for found in parsed.message.tool_calls] == case.get("calls", [])
    assert [problem.kind for problem in parsed.problems if problem.severity != "info"] == case.get(
        "problems", []
    )
    assert parsed.finish_reason == case["ends"]
    assert broken_promise(request, parsed.message) is None
