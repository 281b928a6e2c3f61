"""What holds of `prepare` whatever it is given: no crash, nothing changed or lost without a note, and done once is done."""

from __future__ import annotations

import copy
import itertools
import json
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.errors import UsageError
from analyzer.prepare import Prepared, prepare
from analyzer.spec.model import (
    CallsSegment,
    ContentSegment,
    InputFacts,
    ReasoningSegment,
    SequenceLayout,
    Spec,
    Turn,
)
from analyzer.spec.parts import JSON_TYPES, ArgumentsSlot, JsonCodec, NameSlot
from tests.budget import examples

LAYOUT: Final = SequenceLayout(parts=("<call>", NameSlot(), ArgumentsSlot(codec=JsonCodec()), "</call>"))
WORDS: Final = [f"word{number}x" for number in range(40)]
FIELDS: Final = st.sampled_from([(), ("reasoning_content",), ("thinking",)])


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    """A spec of a template with any demands."""
    fields = draw(FIELDS)
    facts = InputFacts(
        arguments=draw(st.sampled_from(["mapping", "text", "both"])),
        content=draw(st.sampled_from(["text", "parts", "both"])),
        empty_content=draw(st.sampled_from(["empty", "null", "absent", "space", "text"])),
        assistant_fields=draw(FIELDS),
        bare_calls=draw(st.booleans()),
        bare_tools=draw(st.booleans()),
        tools=draw(st.sampled_from(["optional", "list", "required", "refused"])),
        property_fields=draw(st.sampled_from([(), ("type",), ("type", "description")])),
        values_refused=draw(st.sampled_from([(), ("null",), JSON_TYPES[1:]])),
        ids=draw(st.sampled_from([None, "[A-Za-z0-9]{9}", "[A-Za-z0-9_-]{9,}"])),
        reasoning_fields=fields,
        system=draw(st.sampled_from(["accepted", "refused"])),
        roles_refused=draw(st.sampled_from([(), ("tool",)])),
        turns=draw(st.sampled_from(["any", "alternate"])),
        parallel_calls=draw(st.booleans()),
        parallel_results=draw(st.booleans()),
    )
    thought = [ReasoningSegment(fields=fields, open="<think>", close="</think>")] if fields else []
    segments = (*thought, ContentSegment(), CallsSegment(layouts=(LAYOUT,)))
    return Spec(input=facts, turn=Turn(segments=segments))


WORD: Final = st.sampled_from(WORDS)
JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | WORD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=3),
    max_leaves=5,
)
ARGUMENTS: Final = st.none() | st.dictionaries(WORD, JSON, max_size=3) | WORD | JSON.map(json.dumps)
PART: Final = st.fixed_dictionaries({"type": st.just("text"), "text": WORD}) | st.fixed_dictionaries(
    {"type": st.just("thinking"), "thinking": WORD}
)
CONTENT: Final = (
    st.none() | WORD | st.just("") | st.lists(PART, max_size=3) | st.dictionaries(WORD, JSON, max_size=2)
)
IDS: Final = st.none() | st.sampled_from(["a", "b", "call_0123456789", ""])
NAMES: Final = st.sampled_from(["f", "g", "functions.h"])
CALL: Final = st.fixed_dictionaries(
    {"function": st.fixed_dictionaries({"name": NAMES}, optional={"arguments": ARGUMENTS})},
    optional={"id": IDS, "type": st.just("function")},
)
ASSISTANT: Final = st.fixed_dictionaries(
    {"role": st.just("assistant")},
    optional={
        "content": CONTENT,
        "tool_calls": st.none() | st.lists(CALL, max_size=3),
        "reasoning": st.none() | WORD,
        "thinking": WORD | st.lists(PART, max_size=2),
        "reasoning_content": st.none() | st.just("") | WORD,
    },
)
RESULT: Final = st.fixed_dictionaries(
    {"role": st.sampled_from(["tool", "function"])},
    optional={"content": CONTENT, "tool_call_id": IDS, "name": NAMES},
)
OTHER: Final = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "system", "developer"])}, optional={"content": CONTENT}
)
CHATS: Final = st.lists(ASSISTANT | RESULT | OTHER, max_size=8)
TOOLS: Final = st.none() | st.lists(
    st.fixed_dictionaries(
        {"name": NAMES},
        optional={
            "description": st.none() | WORD,
            "parameters": st.none()
            | st.dictionaries(st.sampled_from(["properties", "type"]), st.none(), max_size=2),
        },
    ),
    max_size=2,
)


def words_of(value: Any) -> set[str]:
    """The words that stand anywhere in a value."""
    text = json.dumps(value)
    return {word for word in WORDS if word in text}


@settings(max_examples=examples(100))
@given(specs(), CHATS, TOOLS)
def test_nothing_is_changed_or_lost_without_a_note(spec: Spec, chat: list[Any], tools: Any) -> None:
    """What was given stays as it was; what differs has a note; a word that is gone has a note that says so."""
    before = copy.deepcopy((chat, tools))

    prepared = prepare(spec, chat, tools)

    assert before == (chat, tools)
    changed = chat != list(prepared.messages) or tools != (
        None if prepared.tools is None else list(prepared.tools)
    )
    assert changed == any(note.severity != "problem" for note in prepared.notes)
    losses = any(note.severity == "loss" for note in prepared.notes)
    assert losses or words_of(chat) <= words_of(prepared.messages)


@settings(max_examples=examples(100))
@given(specs(), CHATS, TOOLS)
def test_prepared_again_is_the_same(spec: Spec, chat: list[Any], tools: Any) -> None:
    """A history can be prepared at each turn: nothing is done twice."""
    once = prepare(spec, chat, tools)

    twice = prepare(spec, once.messages, once.tools)

    assert once.messages == twice.messages
    assert (once.tools or ()) == (twice.tools or ())


@settings(max_examples=examples(60))
@given(specs(), CHATS)
def test_what_the_template_demands_is_met_or_a_problem(spec: Spec, chat: list[Any]) -> None:
    """Turns, results and fields are as the facts of the spec want them."""
    prepared = prepare(spec, chat)

    problems = {note.kind for note in prepared.problems}
    roles = [one["role"] for one in prepared.messages]
    assistants = [one for one in prepared.messages if one["role"] == "assistant"]
    assert "developer" not in roles
    assert "function" not in roles
    assert spec.input.system == "accepted" or "system" not in roles
    assert "system" not in roles[1:]
    assert not {"tool"} & set(spec.input.roles_refused) & set(roles)
    assert all(name in one for one in assistants for name in spec.input.assistant_fields)
    assert spec.input.turns == "any" or "not_alternating" in problems or not _repeats(prepared)
    if not (spec.input.parallel_calls and spec.input.parallel_results):
        assert all(len(one.get("tool_calls", ())) <= 1 for one in assistants)
        assert all(pair != ("tool", "tool") for pair in itertools.pairwise(roles))


def _repeats(prepared: Prepared) -> bool:
    """Whether two messages of one side follow each other."""
    sides = [
        one["role"]
        for one in prepared.messages
        if one["role"] in ("user", "assistant") and not one.get("tool_calls")
    ]
    return any(one == other for one, other in itertools.pairwise(sides))


ODD: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS: Final = (
    "role",
    "content",
    "tool_calls",
    "function_call",
    "tool_call_id",
    "name",
    "reasoning",
    "type",
    "function",
)
ODD_MESSAGE: Final = st.dictionaries(st.sampled_from(KEYS), ODD, max_size=6).flatmap(
    lambda message: st.sampled_from([message, {**message, "role": "assistant"}, {**message, "role": "tool"}])
)


@settings(max_examples=examples(100))
@given(specs(), st.lists(ODD_MESSAGE | ODD, max_size=4) | ODD, ODD | st.lists(ODD_MESSAGE, max_size=3))
def test_whatever_is_given_there_is_an_answer_or_an_error_with_a_place(
    spec: Spec, chat: Any, tools: Any
) -> None:
    """What is no conversation is an error that names the place, and never a traceback of another kind."""
    found = "messages"
    try:
        prepare(spec, chat, tools)
    except UsageError as error:
        found = error.found

    assert found.startswith(("messages", "tools"))


@pytest.mark.parametrize(
    ("chat", "place"),
    [
        ("hello", "messages is a str"),
        ([None], "messages[0] is a NoneType"),
        ([{"content": "Q"}], "messages[0] has no role"),
        ([{"role": "assistant", "tool_calls": {"a": 1}}], "messages[0].tool_calls is a dict"),
        ([{"role": "assistant", "tool_calls": [None]}], "messages[0].tool_calls[0] is a NoneType"),
        (
            [{"role": "assistant", "tool_calls": [{"function": {"name": None}}]}],
            "messages[0].tool_calls[0] has no name",
        ),
    ],
)
def test_the_place_of_what_is_no_conversation(chat: Any, place: str) -> None:
    """Named as a path."""
    spec = Spec(turn=Turn(segments=(ContentSegment(),)))

    with pytest.raises(UsageError) as caught:
        prepare(spec, chat)

    assert place in str(caught.value)


def test_what_holds_itself_is_refused() -> None:
    """A result or arguments that no JSON can say, and schemas that never end."""
    spec = Spec(
        input=InputFacts(arguments="text", property_fields=("type",)), turn=Turn(segments=(ContentSegment(),))
    )
    loop: dict[str, Any] = {}
    loop["properties"] = {"a": loop}
    call = {"function": {"name": "f", "arguments": loop}}

    with pytest.raises(
        UsageError, match=r"messages\[0\].tool_calls\[0\].function.arguments is no JSON value"
    ):
        prepare(spec, [{"role": "assistant", "tool_calls": [call]}])
    assert prepare(spec, [], [{"name": "f", "parameters": loop}]).tools


def test_a_turn_of_many_calls_takes_linear_work() -> None:
    """Each result is looked up, not sought: the ids are compared no more often than there are calls, times a few."""
    compared = [0]

    class Identity(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            compared[0] += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    count = 2000
    calls = [
        {"id": Identity(f"c{at}"), "type": "function", "function": {"name": "f", "arguments": {}}}
        for at in range(count)
    ]
    results = [
        {"role": "tool", "tool_call_id": Identity(f"c{at}"), "name": "f", "content": "x"}
        for at in reversed(range(count))
    ]
    spec = Spec(turn=Turn(segments=(ContentSegment(), CallsSegment(layouts=(LAYOUT,)))))

    prepared = prepare(spec, [{"role": "assistant", "content": "", "tool_calls": calls}, *results])

    assert [f"c{at}" for at in range(count)] == [str(one["tool_call_id"]) for one in prepared.messages[1:]]
    assert compared[0] < 40 * count
