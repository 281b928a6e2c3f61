"""`prepare` makes awkward conversations acceptable, leaves a note for each change, and never changes what it was given."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from analyzer.chat import Tool
from analyzer.prepare import KINDS, prepare
from analyzer.spec.model import (
    SequenceLayout,
)
from analyzer.spec.parts import IdSlot
from tests.prepare.made import ARGUMENTS, call, chat, kinds, result, spec

CONVERSATIONS: Final[list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("conversations.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one["id"])
def test_each_change_leaves_a_note(conversation: dict[str, Any]) -> None:
    """An awkward conversation is changed as expected, and only so."""
    before = copy.deepcopy(conversation)

    prepared = prepare(spec(), conversation["messages"], conversation.get("tools"))

    assert conversation["notes"] == kinds(prepared)
    assert before == conversation


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one["id"])
def test_prepared_twice_is_prepared_once(conversation: dict[str, Any]) -> None:
    """What was prepared needs nothing more, so that a history can be prepared again at each turn."""
    once = prepare(spec(), conversation["messages"], conversation.get("tools"))

    twice = prepare(spec(), once.messages, once.tools)

    assert once.messages == twice.messages
    assert once.tools == twice.tools
    assert {"result_missing", "not_alternating"} >= {note.kind for note in twice.notes}


def test_a_plain_conversation_is_left_alone() -> None:
    """Nothing to mend: no note, and the same messages."""
    messages = [*chat(call(arguments={"a": 1}), reasoning_content="R"), result("c1")]

    prepared = prepare(spec(), messages, [Tool("f").to_openai()])

    assert () == prepared.notes
    assert tuple(messages) == prepared.messages


def test_arguments_become_text() -> None:
    """A template that wants text gets JSON, and text that is JSON stays as it is."""
    prepared = prepare(
        spec(arguments="text"), chat(call(arguments={"a": "é"}), call("c2", arguments='{"a":1}'))
    )

    calls = prepared.messages[1]["tool_calls"]
    assert '{"a": "é"}' == calls[0]["function"]["arguments"]
    assert '{"a":1}' == calls[1]["function"]["arguments"]


@pytest.mark.parametrize("text", ["{", "[1]", "3", "{'a': 1}", '{"a": 1}}', "[" * 100_000])
def test_invalid_arguments_are_kept_as_text(text: str) -> None:
    """Nothing of what a model once wrote is lost."""
    prepared = prepare(spec(), chat(call(arguments=text)))

    assert {"invalid_json": text} == prepared.messages[1]["tool_calls"][0]["function"]["arguments"]
    assert "arguments_invalid" in kinds(prepared)
    assert () == prepared.problems


def test_content_becomes_parts() -> None:
    """A template that wants parts gets parts, for every role."""
    prepared = prepare(
        spec(content="parts"), [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
    )

    assert [{"type": "text", "text": "A"}] == prepared.messages[1]["content"]


@pytest.mark.parametrize(
    ("wanted", "content"), [("empty", ""), ("null", None), ("space", " "), ("absent", ...), ("text", "")]
)
@pytest.mark.parametrize("given", [{}, {"content": ""}, {"content": None}, {"content": "Wait."}])
def test_calls_without_a_text_have_what_the_template_wants(
    wanted: str, content: Any, given: dict[str, Any]
) -> None:
    """Some show calls only beside null, beside no content at all, or beside a text."""
    turn = {"role": "assistant", "tool_calls": [call()], **given}

    prepared = prepare(spec(empty_content=wanted), [{"role": "user", "content": "Q"}, turn])

    expected = given["content"] if given.get("content") else content
    assert expected == prepared.messages[1].get("content", ...)
    assert (turn != prepared.messages[1]) == bool(
        {"content_filled", "content_emptied"} & set(kinds(prepared))
    )
    assert (wanted == "text" and not given.get("content")) == ("content_required" in kinds(prepared))


@pytest.mark.parametrize("facts", [{"system": "refused"}, {"roles_refused": ("system",)}])
def test_a_refused_system_message_goes_to_the_user(facts: dict[str, Any]) -> None:
    """Its text stands before the first user message's."""
    prepared = prepare(
        spec(**facts), [{"role": "developer", "content": "S"}, {"role": "user", "content": "Q"}]
    )

    assert ({"role": "user", "content": "S\n\nQ"},) == prepared.messages
    assert ["developer_to_system", "system_merged"] == kinds(prepared)


def test_a_lone_system_message_becomes_the_users() -> None:
    """There is no user message to put it into."""
    prepared = prepare(spec(system="refused"), [{"role": "system", "content": "S"}])

    assert ({"role": "user", "content": "S"},) == prepared.messages


@pytest.mark.parametrize(("field", "wanted"), [("thinking", "reasoning"), ("reasoning_content", "thinking")])
def test_reasoning_is_put_under_the_templates_field(field: str, wanted: str) -> None:
    """And nowhere else."""
    prepared = prepare(spec(reasoning=(wanted,)), chat(**{field: "R", "content": "A"}))

    assert {"role": "assistant", "content": "A", wanted: "R"} == prepared.messages[1]


def test_reasoning_in_content_blocks_is_found() -> None:
    """A typed block is reasoning as a field is."""
    blocks = [{"type": "thinking", "thinking": "R"}, {"type": "text", "text": "A"}]

    prepared = prepare(spec(), chat(content=blocks))

    assert {"role": "assistant", "content": "A", "reasoning_content": "R"} == prepared.messages[1]


def test_reasoning_that_no_template_reads_is_a_loss() -> None:
    """It is said that it is left out."""
    prepared = prepare(spec(reasoning=()), chat(content="A", reasoning="R"))

    assert ["loss"] == [note.severity for note in prepared.notes]
    assert "reasoning" not in prepared.messages[1]


@pytest.mark.parametrize(
    "pattern", [r"[a-zA-Z0-9]{9}", r"^[a-zA-Z0-9]{9}$", r"call_[a-z0-9A-Z]{8,24}", r"\d+"]
)
def test_ids_are_mapped_to_the_templates_form_and_back(pattern: str) -> None:
    """Call and result have the new id; the old one can be had again."""
    messages = [
        *chat(call("chatcmpl-tool-1"), call("chatcmpl-tool-2")),
        result("chatcmpl-tool-1"),
        result("chatcmpl-tool-2"),
    ]

    prepared = prepare(spec(ids=pattern), messages)

    ids = [one["id"] for one in prepared.messages[1]["tool_calls"]]
    assert ids == [one["tool_call_id"] for one in prepared.messages[2:]]
    assert ["chatcmpl-tool-1", "chatcmpl-tool-2"] == [prepared.original_id(one) for one in ids]
    assert 2 == len(set(ids))


def test_ids_of_name_and_counter_count_through_the_conversation() -> None:
    """An id that is all the template writes holds the name."""
    layout = SequenceLayout(parts=("<call>", IdSlot(), ":", ARGUMENTS, "</call>"))
    messages = [*chat(call("x"), call("y")), result("x"), result("y"), *chat(call("z", "g"))]

    prepared = prepare(spec(layout=layout), messages)

    ids = [one["id"] for message in prepared.messages for one in message.get("tool_calls", ())]
    assert ["functions.f:0", "functions.f:1", "functions.g:2"] == ids
    assert "functions.f:1" == prepared.messages[3]["tool_call_id"]


def test_an_id_that_cannot_be_made_is_a_problem() -> None:
    """A pattern that nothing fits is said, and so is one that cannot be used."""
    for pattern in ("a{500}", "(", r"(a+)+$"):
        prepared = prepare(spec(ids=pattern), chat(call("c1")))

        assert ["id_unmatched"] == [note.kind for note in prepared.problems]


def test_a_pattern_that_takes_too_long_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern comes from a file: one that backtracks without end does not hold up every id."""
    tried = []

    def slow(*arguments: Any, **_: Any) -> None:
        tried.append(arguments)
        raise TimeoutError

    monkeypatch.setattr("analyzer.prepare.ids.regex.fullmatch", slow)

    prepared = prepare(spec(ids="(a+)+$"), chat(call("c1"), call("c2")))

    assert 1 == len(tried)
    assert ["id_unmatched", "id_unmatched"] == [note.kind for note in prepared.problems]


def test_one_call_a_turn() -> None:
    """Each call has its result right behind it; content and reasoning stay with the first."""
    messages = [
        *chat(call("x"), call("y"), content="Let me see.", reasoning_content="R"),
        result("x", "1"),
        result("y", "2"),
    ]

    prepared = prepare(spec(parallel_calls=False), messages)

    assert ["user", "assistant", "tool", "assistant", "tool"] == [one["role"] for one in prepared.messages]
    assert ["Let me see.", "1", "", "2"] == [one["content"] for one in prepared.messages[1:]]
    assert "reasoning_content" not in prepared.messages[3]


def test_results_that_no_template_takes_become_user_messages() -> None:
    """The role `tool` is refused."""
    prepared = prepare(spec(roles_refused=("tool",)), [*chat(call("x")), result("x")])

    assert {"role": "user", "content": "Result of f: done"} == prepared.messages[2]


def test_sides_take_turns_where_it_is_demanded() -> None:
    """Messages of one side are joined, and what cannot be joined is a problem; elsewhere nothing is done."""
    user, answer = {"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}
    demanded = spec(turns="alternate")

    joined = prepare(demanded, [user, user, answer, answer, user])

    assert ["Q\n\nQ", "A\n\nA", "Q"] == [one["content"] for one in joined.messages]
    assert ["messages_joined"] == kinds(joined)
    assert ["not_alternating"] == kinds(prepare(demanded, [answer, user]))
    assert ["not_alternating"] == kinds(prepare(demanded, [user, *chat(call())[1:], result("c1"), user]))
    assert [] == kinds(prepare(spec(), [answer, user, user]))


def test_parts_are_joined_as_parts() -> None:
    """A list of parts stays one."""
    user = {"role": "user", "content": "Q"}

    prepared = prepare(spec(turns="alternate", content="parts"), [user, user])

    assert "Q\n\nQ" == "".join(part["text"] for part in prepared.messages[0]["content"])


def test_results_in_a_row_that_are_refused_are_split() -> None:
    """Each call with its result, though the template takes several calls."""
    messages = [*chat(call("x"), call("y")), result("x", "1"), result("y", "2")]

    prepared = prepare(spec(parallel_results=False), messages)

    assert ["user", "assistant", "tool", "assistant", "tool"] == [one["role"] for one in prepared.messages]


def test_values_that_the_template_cannot_write_are_given_as_text() -> None:
    """Only those of the types that it refuses."""
    arguments = {"a": 1, "b": "text", "c": {"d": None}, "e": True}

    prepared = prepare(spec(values_refused=("integer", "object")), chat(call(arguments=arguments)))

    given = prepared.messages[1]["tool_calls"][0]["function"]["arguments"]
    assert {"a": "1", "b": "text", "c": '{"d": null}', "e": True} == given
    assert [".a", ".c"] == [note.path[-2:] for note in prepared.notes if note.kind == "value_to_text"]


def test_fields_of_every_message_of_the_assistant() -> None:
    """Empty where they are absent, untouched where they stand."""
    prepared = prepare(
        spec(reasoning=("think",), assistant_fields=("think",)), [*chat(content="A"), *chat(think="T")]
    )

    assert ["", "T"] == [one["think"] for one in prepared.messages if one["role"] == "assistant"]
    assert ["field_added"] == kinds(prepared)


def test_reasoning_under_several_names_is_joined() -> None:
    """What is said twice is said once; what is no text is said to be lost."""
    twice = chat(reasoning="R", reasoning_content="R", thinking="T")

    prepared = prepare(spec(), [*twice, *chat(thinking=[{"type": "encrypted"}], reasoning_content=None)])

    assert "R\n\nT" == prepared.messages[1]["reasoning_content"]
    assert "reasoning_content" not in prepared.messages[3]
    assert ["reasoning_absent", "reasoning_dropped", "reasoning_joined", "reasoning_moved"] == kinds(prepared)


def test_what_is_no_function_is_left_out() -> None:
    """And what other interfaces call the schema is found."""
    tools = [
        {"type": "web_search"},
        {"name": "f", "description": "D", "input_schema": {"properties": {"a": {}}}},
    ]

    prepared = prepare(spec(), [], tools)

    [tool] = prepared.tools or ()
    assert {"type": "object", "properties": {"a": {}}} == tool["function"]["parameters"]
    assert ["tool_completed", "tool_dropped"] == kinds(prepared)


def test_every_kind_is_explained() -> None:
    """Notes read as sentences."""
    assert all(text.endswith(".") and text[0].isupper() for _, text in KINDS.values())
