"""Tool calling that the prompt asks for, because the template has none."""

from __future__ import annotations

import json
from bisect import bisect_left
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.agent import (
    OFFER,
    Answer,
    Call,
    FencedReplies,
    JsonReplies,
    PromptedParser,
    Registry,
    Unparsed,
    check,
    history,
    run,
    system_text,
)
from analyzer.agent.prompted import Step
from analyzer.chat import Message, Tool, ToolCall
from analyzer.runtime import Event, Parsed, Parser, Problem, assemble, coalesce
from tests.agent.common import call, message, rendered
from tests.runtime.checks import check_calls, check_spans
from tests.runtime.specs import spec


def one_string(name: str, example: str) -> dict[str, Any]:
    """A schema of one string."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "examples": [example]}},
        "required": [name],
    }


READ = Tool("read_file", "Read a text file.", one_string("path", "src/Main.java"))
LIST = Tool("list_files", "List files in a directory.", one_string("dir", "src"))
TOOLS = [READ, LIST]
CALL = '{"tool": "read_file", "arguments": {"path": "pom.xml"}}'


def short(steps: list[Step]) -> list[Any]:
    """The steps without their places."""
    out: list[Any] = []
    for step in steps:
        match step:
            case Call():
                out.append((step.tool, json.loads(step.arguments)))
            case Answer():
                out.append(step.text)
            case Unparsed():
                out.append(step)
    return out


def events_of(text: str, size: int | None = None, finish: str = "stop", **more: Any) -> list[Event]:
    """The events of a reply, fed whole or in pieces, with what must hold for each parse."""
    parser = PromptedParser(more.pop("replies", None), more.pop("tools", TOOLS), **more)
    size = size or max(1, len(text))
    events: list[Event] = []
    for at in range(0, len(text), size):
        events += parser.feed(text[at : at + size])
    events += parser.finish(finish)
    assert parser.finish() == []
    check_spans(events, len(text))
    check_calls(events)
    return coalesce(events)


def parsed(text: str, **more: Any) -> Parsed:
    """The turn, the same however the text is cut."""
    events = events_of(text, **dict(more))
    assert all(events_of(text, size, **dict(more)) == events for size in (1, 2, 7))
    return assemble(events)


def test_the_system_text() -> None:
    """A line for each tool with an example of its arguments, then the form of a reply."""
    assert system_text(TOOLS) == (
        "You can use these tools:\n"
        '- read_file: Read a text file. Arguments: {"path": "src/Main.java"}\n'
        '- list_files: List files in a directory. Arguments: {"dir": "src"}\n'
        "Reply with exactly one JSON object and nothing else.\n"
        'To call a tool: {"tool": "<name>", "arguments": {...}}\n'
        'To answer the user: {"answer": "<text>"}'
    )


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (CALL, ("read_file", {"path": "pom.xml"})),
        (
            'Sure, here is the call:\n```json\n{"tool": "list_files", "arguments": {"dir": "src"}}\n```',
            ("list_files", {"dir": "src"}),
        ),
        ('{"answer": "pom.xml declares the project demo."}', "pom.xml declares the project demo."),
        ("I would read pom.xml first.", "no JSON object in the reply"),
        (CALL[:-1], "invalid JSON"),
    ],
)
def test_the_three_outcomes(reply: str, expected: Any) -> None:
    """A call, a call in prose and a fence, an answer, prose, and a brace too few."""
    [step] = short(JsonReplies().read(reply))

    assert (step.reason if isinstance(step, Unparsed) else step) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (f"{CALL}\n{CALL}", [("read_file", {"path": "pom.xml"})] * 2),
        (f"[{CALL}, {CALL}]", [("read_file", {"path": "pom.xml"})] * 2),
        (f'{CALL}\nResult: <project/>\n{{"answer": "It is empty."}}', [("read_file", {"path": "pom.xml"})]),
        (f'{CALL}\n{{"answer": "done"}}', [("read_file", {"path": "pom.xml"})]),
        ('{"answer": "a"} {"answer": "b"}', ["a"]),
        (f"I use {{braces}} and {{}} here: {CALL}", [("read_file", {"path": "pom.xml"})]),
        ('{"tool": "now"}', [("now", {})]),
        ('{"arguments": {"a": {"b": [1, 2]}}, "tool": "f"}', [("f", {"a": {"b": [1, 2]}})]),
        ('{"tool": "f", "arguments": "{\\"x\\": 1}"}', [("f", {"x": 1})]),
        ('{"tool": "f", "arguments": "text"}', [("f", "text")]),
        ('{"tool": "f", "arguments": [1]}', [("f", [1])]),
        ('{"tool": "f", "arguments": {"x": "a\nb"}}', [("f", {"x": "a\nb"})]),
        ('{"answer": "use {\\"tool\\": 1}"}', ['use {"tool": 1}']),
        ('{"answer": "a\nb"}', ["a\nb"]),
    ],
)
def test_replies_that_are_not_quite_the_form(reply: str, expected: list[Any]) -> None:
    """Several calls count, what a model dreams up after a call does not, braces in prose are prose."""
    assert short(JsonReplies().read(reply)) == expected


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "no JSON object in the reply"),
        ('{"name": "read_file"}', 'object has neither "tool" nor "answer"'),
        ('{"tool": 3}', 'object has neither "tool" nor "answer"'),
        ("{'tool': 'read_file', 'arguments': {\"tool\": \"rm\", \"arguments\": {}}}", "invalid JSON"),
        ('{"tool": "write", "arguments": {"text": "{\\"tool\\": \\"rm\\"} {}', "invalid JSON"),
        ('{"a": ' * 100_000, "invalid JSON"),
        ("{" * 100_000, "invalid JSON"),
        (f'{{"tool": "f", "arguments": {{"x": {"1" * 5000}}}}}', "invalid JSON"),
    ],
)
def test_replies_that_cannot_be_read(reply: str, reason: str) -> None:
    """What stands inside a broken object is never taken for a call."""
    [step] = JsonReplies().read(reply)

    assert isinstance(step, Unparsed)
    assert step.reason == reason


def test_a_call_is_a_message_like_any_other() -> None:
    """Prose is content, the fence is part of the format, the arguments are the model's own text."""
    turn = parsed(f"Let me look.\n```json\n{CALL}\n```\nOne moment.")

    assert turn.message == Message(
        "Let me look.One moment.", tool_calls=(ToolCall("read_file", '{"path": "pom.xml"}'),)
    )
    assert (turn.problems, turn.finish_reason) == ((), "tool_calls")


def test_an_answer_is_content() -> None:
    """Unescaped, without what is around it."""
    turn = parsed('Here: {"answer": "It says \\"demo\\"."} Bye.')

    assert turn.message == Message('It says "demo".')
    assert turn.finish_reason == "stop"


@pytest.mark.parametrize(
    ("text", "finish", "kind", "content"),
    [
        ("I would read pom.xml first.", "stop", "malformed_call", "I would read pom.xml first."),
        (CALL[:-1], "stop", "malformed_call", None),
        (CALL[:-1], "length", "unterminated_call", None),
    ],
)
def test_what_cannot_be_read_is_a_problem(text: str, finish: str, kind: str, content: str | None) -> None:
    """With the raw text and words for the model; prose stays content."""
    turn = parsed(text, finish=finish)
    [problem] = turn.problems

    assert (problem.kind, problem.severity, problem.raw) == (kind, "error", text)
    assert problem.message.startswith("The reply could not be read: ")
    assert (turn.message.content, turn.message.tool_calls, turn.finish_reason) == (content, (), finish)
    assert check(turn, TOOLS).unread == problem.message


def test_undeclared_tools_are_told_as_the_runtime_tells_them() -> None:
    """The call is there, with a warning."""
    turn = parsed('{"tool": "other", "arguments": {}}')

    assert [call_.name for call_ in turn.message.tool_calls] == ["other"]
    assert [problem.kind for problem in turn.problems] == ["unknown_tool"]


def test_arguments_that_are_no_object_are_for_validation() -> None:
    """The checks are the same as for any call."""
    turn = parsed('{"tool": "read_file", "arguments": ["pom.xml"]}')

    assert [problem.kind for problem in check(turn, TOOLS).problems] == ["not_an_object"]


def test_nothing_is_nothing() -> None:
    """An empty reply is an empty message."""
    assert parsed("").message == Message()
    assert parsed(" \n").message == Message()


def test_reasoning_is_read_by_the_templates_own_spec() -> None:
    """What that finds to be text is the reply; the spans are those of the model's text."""
    text = f"<think>\nI should look.\n</think>\n\nSo:\n{CALL}<|im_end|>"

    def inner() -> Parser:
        return Parser(spec("json_tags"))

    turns = []
    for size in (1, 5, len(text)):
        parser = PromptedParser(None, TOOLS, inner=inner())
        events: list[Event] = []
        for at in range(0, len(text), size):
            events += parser.feed(text[at : at + size])
        events += parser.finish("stop")
        check_spans(events, len(text))
        turns.append(assemble(coalesce(events)))

    assert turns[0].events == turns[1].events == turns[2].events
    assert turns[0].message == Message(
        "So:", "I should look.", (ToolCall("read_file", '{"path": "pom.xml"}'),)
    )


@given(
    parts=st.lists(
        st.sampled_from(
            [CALL, '{"answer": "x"}', "```json\n", "\n```", "prose ", "{", "}", '"', "[", ",", "\n"]
        ),
        max_size=6,
    ),
    size=st.integers(1, 9),
)
def test_any_reply(parts: list[str], size: int) -> None:
    """Nothing is lost, doubled or raised, however it is cut."""
    text = "".join(parts)

    assert events_of(text, size) == events_of(text)


SHELL = FencedReplies("shell_command", "shell", "command")
BLOCK = "THOUGHT: list them.\n\n```shell_command\nls -l\n# two\n```\n"


def test_a_fenced_block() -> None:
    """Exactly one block with the tag: its text is the argument."""
    turn = parsed(BLOCK, replies=SHELL, tools=[])

    assert turn.message == Message("THOUGHT: list them.", tool_calls=(call("shell", command="ls -l\n# two"),))


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("I would list them.", "no code block tagged shell_command in the reply"),
        ("```bash\nls\n```", "no code block tagged shell_command in the reply"),
        (BLOCK * 2, "2 code blocks tagged shell_command in the reply; write one"),
        ("```shell_command\nls", "the code block is not closed"),
    ],
)
def test_fenced_blocks_that_are_not_one(reply: str, reason: str) -> None:
    """None, another tag, two, and one that is cut."""
    [step] = SHELL.read(reply)

    assert isinstance(step, Unparsed)
    assert step.reason == reason
    assert [problem.severity for problem in parsed(reply, replies=SHELL).problems] == ["error"]


def test_line_ends_of_another_system() -> None:
    """A block is a block with them, and the last one is no part of its text."""
    assert parsed(BLOCK.replace("\n", "\r\n"), replies=SHELL, tools=[]).message.tool_calls == (
        call("shell", command="ls -l\r\n# two"),
    )


def test_nesting_at_the_limit() -> None:
    """What is nested about as deeply as Python decodes is a call or is none; it never raises."""

    def is_too_deep(depth: int) -> bool:
        try:
            json.loads("[" * depth + "]" * depth)
        except RecursionError:
            return True
        return False

    limit = bisect_left(range(200_000), 1, key=is_too_deep)
    found = set()
    for depth in range(limit - 60, limit + 5):
        [step] = JsonReplies().read(f'{{"tool": "f", "arguments": {{"x": {"[" * depth}{"]" * depth}}}}}')
        found.add(step.reason if isinstance(step, Unparsed) else type(step))

    assert found == {Call, "invalid JSON"}


def test_a_history_with_arguments_that_are_no_object() -> None:
    """The model sees what it wrote, in a form that can be read back."""
    broken = message(ToolCall("shell", '{"command": '))

    assert '"unreadable_arguments": "{' in history(broken, [])[0]["content"]
    assert history(broken, [], SHELL)[0]["content"] == '```shell_command\n{"command": \n```'


def test_a_fenced_form_may_let_prose_answer() -> None:
    """Then a reply without a block is the answer."""
    form = FencedReplies("shell_command", "shell", "command", prose_answers=True)

    assert parsed(" All done. ", replies=form).message == Message("All done.")
    assert "```shell_command\n<command>\n```" in form.system_text


def test_what_a_server_wrote_under_that_format() -> None:
    """Odd white space, and a call all the same."""
    text = '{ "tool":"read_file",\n\n\t     \t\t     \t\t     "arguments":{\n \t\t     \t\t     \t \t \t"path":"README.md"}}'

    [found] = parsed(text).message.tool_calls
    assert (found.name, found.decoded()) == ("read_file", {"path": "README.md"})


def test_the_history_of_a_template_without_tools() -> None:
    """A turn and its results, written so that the template renders them and the parser reads them back."""
    tools = Registry()
    tools.add(lambda path: f"<{path}>", name="read_file", parameters=READ.parameters or {})
    turn = message(call("read_file", path="pom.xml"), call("read_file", dir="x"), content="Looking.")
    sent = history(turn, run(tools, turn))
    text = rendered("no_tools", [{"role": "user", "content": "Hi"}, *sent])

    assert sent[0]["role"] == "assistant"
    assert parsed(sent[0]["content"]).message == turn
    assert sent[1]["content"].startswith(
        "Result of read_file:\n<pom.xml>\n\nResult of read_file:\nError: missing required"
    )
    assert "Result of read_file" in text
    assert history(Message("Done."), []) == [{"role": "assistant", "content": '{"answer": "Done."}'}]
    assert parsed(
        SHELL.write(message(call("shell", command="ls"), content="T")), replies=SHELL, tools=[]
    ).message == message(call("shell", command="ls"), content="T")


def test_the_offer_names_what_there_is() -> None:
    """What a user of such a template is told can be imported."""
    assert "system_text" in OFFER
    assert PromptedParser.__name__ in OFFER


def test_problems_are_of_the_runtimes_kinds() -> None:
    """A caller needs no second list."""
    from analyzer.runtime.problems import KINDS  # noqa: PLC0415  (the list itself is the point of this test)

    texts = ["prose", "{", '{"tool": "other"}']
    found = {event.kind for text in texts for event in events_of(text) if isinstance(event, Problem)}

    assert found <= set(KINDS)
