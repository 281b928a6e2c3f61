"""What the official clients make of the two streams, read over HTTP from the example server."""

from __future__ import annotations

import random
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.agent import ChatStream
from analyzer.chat import Message, Tool
from analyzer.runtime import STRICT, Options, Parsed
from analyzer.spec import Spec
from tests import budget
from tests.export.samples import TOOLS as SAMPLE_TOOLS
from tests.generated.check import TOOLS as WEATHER
from tests.integrations.replay import of_anthropic, of_openai, own, parsed, same
from tests.runtime.golden import literals, mutated, pieces, sampled, turns

CASES = yaml.safe_load((Path(__file__).with_name("turns.yaml")).read_text(encoding="utf-8"))
GOLDEN = sampled(1 if budget.NIGHTLY else 5)
OPTIONS = (
    Options(),
    STRICT,
    Options(malformed="content"),
    Options(reasoning="content"),
    Options(calls="text"),
)
USER = [{"role": "user", "content": "Hi"}]


def chunks(client: Any, tools: Sequence[Tool], count: int = 1) -> list[Any]:
    """The chunks of a stream, each of which is valid by the client's own model."""
    from openai.types.chat import ChatCompletionChunk  # noqa: PLC0415  (slow to load)

    stream = client.chat.completions.create(
        model="m", messages=USER, tools=[tool.to_openai() for tool in tools], n=count, stream=True
    )
    return [ChatCompletionChunk.model_validate(chunk.to_dict()) for chunk in stream]


def put_together(found: list[Any], tools: Sequence[Tool]) -> Any:
    """The first choice, as the client puts chunks together."""
    from openai.lib.streaming.chat import ChatCompletionStreamState  # noqa: PLC0415  (slow to load)

    state: Any = ChatCompletionStreamState(input_tools=[tool.to_openai() for tool in tools])  # type: ignore[misc]
    for chunk in found:
        state.handle_chunk(chunk)
    return state.current_completion_snapshot.choices[0]


def blocks(client: Any, tools: Sequence[Tool]) -> Any:
    """The message that Anthropic's client makes of a stream, each of whose events is valid by its own model."""
    from anthropic.types import RawMessageStreamEvent  # noqa: PLC0415  (slow to load)
    from pydantic import TypeAdapter  # noqa: PLC0415

    adapter: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    kinds = {"message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop"}
    asked = {"model": "m", "max_tokens": 9, "messages": USER, "tools": anthropic_tools(tools)}
    with client.messages.stream(**asked) as stream:
        for event in stream:
            if event.type in kinds:
                adapter.validate_python(event.to_dict())
        return stream.get_final_message()


def anthropic_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Tools as that API takes them."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
        for tool in tools
    ]


def expected_message(data: dict[str, Any]) -> Any:
    """A case's message: content, reasoning, names and arguments."""
    calls = [(name, arguments) for name, arguments in data.get("calls", ())]
    return data.get("content"), data.get("reasoning"), calls


def plain(message: Message, *, decoded: bool) -> Any:
    """A message in the form of `expected_message`."""
    calls = [(call.name, call.decoded() if decoded else call.arguments) for call in message.tool_calls]
    return message.content, message.reasoning_content, calls


def prepare(server: Any, spec: Spec, cut: Sequence[str], options: Options, end: str, *, whole: bool) -> None:
    """Tell the server what to say, and how."""
    server.spec, server.turns, server.options, server.end, server.whole_calls = (
        spec,
        [cut],
        options,
        end,
        whole,
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"].replace(" ", "_"))
@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("way", ["as they come", "whole calls"])
def test_turns(server: Any, chat: Any, messages: Any, case: dict[str, Any], size: int, way: str) -> None:
    """Both clients end up with the same message, whichever way calls are sent and the text is cut."""
    reply, end, whole = case["reply"], case.get("end", "stop"), way == "whole calls"
    cut = [reply[at : at + size] for at in range(0, len(reply), size)]
    prepare(server, own(case["spec"]), cut, Options(**case.get("options", {})), end, whole=whole)
    piecewise = None if whole else case.get("piecewise")

    found = put_together(chunks(chat, SAMPLE_TOOLS), SAMPLE_TOOLS)
    message = blocks(messages, SAMPLE_TOOLS)

    assert case["finish"] == found.finish_reason
    assert case["stop"] == message.stop_reason
    seen = of_openai(found.message)
    assert expected_message(piecewise or case["message"]) == plain(seen, decoded=piecewise is None)
    assert [call.name for call in seen.tool_calls] == [call.name for call in of_anthropic(message).tool_calls]
    if piecewise is None:
        assert expected_message(case["message"]) == plain(of_anthropic(message), decoded=True)
    for calls in (seen.tool_calls, of_anthropic(message).tool_calls):
        assert len({call.id for call in calls}) == len(calls)
        assert all(call.id for call in calls)


def any_turn(seed: int) -> tuple[Spec, str, list[str], Options, str]:
    """A turn of a golden spec, perhaps with something wrong, in pieces."""
    chance = random.Random(seed)  # noqa: S311 - no secrets here
    golden = chance.choice(GOLDEN)
    _, text = chance.choice(list(turns(golden)))
    if chance.randrange(3) == 0:
        text = mutated(text, literals(golden.spec), chance)
    return golden.spec, text, pieces(text, chance), chance.choice(OPTIONS), chance.choice(["stop", "length"])


@settings(max_examples=budget.examples(80))
@given(st.integers(0, 1 << 32))
def test_any_turn_of_any_format(server: Any, chat: Any, messages: Any, seed: int) -> None:
    """What a client puts together is what the runtime read; a call that breaks off is all that may be there besides."""
    spec, _, cut, options, end = any_turn(seed)
    wanted = parsed(spec, cut, WEATHER, options, end)
    whole = seed % 2 == 0
    prepare(server, spec, cut, options, end, whole=whole)

    found = chunks(chat, WEATHER)
    choice = put_together(found, WEATHER)
    client = ChatStream(WEATHER)
    for chunk in found:
        client.feed(chunk.to_dict())
    own_turn = client.finish()
    message = blocks(messages, WEATHER)

    assert [] == list(client.notes)
    assert wanted.finish_reason == choice.finish_reason
    reasons = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
    assert reasons[wanted.finish_reason] == message.stop_reason
    broken = broken_calls(wanted)
    if whole or not broken:  # that client takes `stop` beside calls for a server's slip
        assert wanted.finish_reason == own_turn.finish_reason
    for seen in (of_openai(choice.message), own_turn.message, of_anthropic(message)):
        assert same(wanted.message, without(seen, () if whole else broken))
    assert_shape(found)


def broken_calls(turn: Parsed) -> tuple[int, ...]:
    """Which calls, in the order in which they began, did not become complete."""
    status: dict[int, str] = {}
    for event in turn.events:
        kind = getattr(event, "kind", "")
        if kind == "call_start":
            status[event.index] = ""  # type: ignore[union-attr]
        elif kind == "call_end":
            status[event.index] = event.status  # type: ignore[union-attr]
    return tuple(place for place, found in enumerate(status.values()) if found != "complete")


def without(message: Message, places: Sequence[int]) -> Message:
    """The message without the calls at these places."""
    calls = tuple(call for place, call in enumerate(message.tool_calls) if place not in places)
    return Message(message.content, message.reasoning_content, calls)


def assert_shape(found: list[Any]) -> None:
    """The role once and first, each call's head once and before its arguments, the reason once and last."""
    deltas = [chunk.choices[0].delta for chunk in found]
    reasons = [chunk.choices[0].finish_reason for chunk in found]
    assert [True] + [False] * (len(found) - 1) == [delta.role == "assistant" for delta in deltas]
    assert reasons[-1] is not None
    assert {None} >= set(reasons[:-1])
    assert len({(chunk.id, chunk.created, chunk.model) for chunk in found}) == 1
    begun = 0
    for delta in deltas:
        for call in delta.tool_calls or ():
            if call.id:
                assert (call.index, call.type, bool(call.function.name)) == (begun, "function", True)
                begun += 1
            else:
                assert (call.index, call.function.name, call.type) == (begun - 1, None, None)


def requests(tools: Sequence[Tool]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The same request to both APIs, with calls wanted and not."""
    chat: dict[str, Any] = {"model": "m", "messages": USER, "tools": [tool.to_openai() for tool in tools]}
    blocks: dict[str, Any] = {
        "model": "m",
        "max_tokens": 9,
        "messages": USER,
        "tools": anthropic_tools(tools),
    }
    yield chat, blocks
    yield {**chat, "tool_choice": "none"}, {**blocks, "tool_choice": {"type": "none"}}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"].replace(" ", "_"))
def test_whole_answers(server: Any, chat: Any, messages: Any, case: dict[str, Any]) -> None:
    """Valid by the clients' models, the same message as the stream's, and no call under `tool_choice` none."""
    from anthropic.types import Message as Blocks  # noqa: PLC0415  (slow to load)
    from openai.types.chat import ChatCompletion  # noqa: PLC0415

    prepare(
        server,
        own(case["spec"]),
        [case["reply"]],
        Options(**case.get("options", {})),
        case.get("end", "stop"),
        whole=False,
    )
    (open_chat, open_blocks), (shut_chat, shut_blocks) = requests(SAMPLE_TOOLS)

    completion = chat.chat.completions.create(**open_chat)
    message = messages.messages.create(**open_blocks)

    ChatCompletion.model_validate(completion.to_dict())
    Blocks.model_validate(message.to_dict())
    assert case["finish"] == completion.choices[0].finish_reason
    assert case["stop"] == message.stop_reason
    for seen in (of_openai(completion.choices[0].message), of_anthropic(message)):
        assert expected_message(case["message"]) == plain(seen, decoded=True)
    assert not chat.chat.completions.create(**shut_chat).choices[0].message.tool_calls
    assert "tool_use" not in [block.type for block in messages.messages.create(**shut_blocks).content]


def test_several_choices(server: Any, chat: Any) -> None:
    """Each under its own index, all under one id."""
    prepare(server, own("json_tag_per_call"), [], Options(), "stop", whole=False)
    call = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    server.turns = [["Hel", "lo."], [call], []]

    found = chunks(chat, SAMPLE_TOOLS, 3)
    whole = chat.chat.completions.create(model="m", messages=USER, n=3)

    by_choice: list[list[Any]] = [[], [], []]
    for chunk in found:
        by_choice[chunk.choices[0].index].append(chunk)
    for one in by_choice:
        assert_shape(one)
    assert ["stop", "tool_calls", "stop"] == [choice.finish_reason for choice in whole.choices]
    assert ["Hello.", None, None] == [choice.message.content for choice in whole.choices]
    assert ["stop", "tool_calls", "stop"] == [one[-1].choices[0].finish_reason for one in by_choice]


@pytest.mark.parametrize("body", ["{", '{"tools": [3]}', '{"tools": [], "tool_choice": "sometimes"}'])
def test_a_bad_request_is_refused(server: Any, body: str) -> None:
    """With a sentence, and not with a stream."""
    url = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(urllib.request.Request(url, body.encode()))
    assert 400 == caught.value.code
    caught.value.close()
