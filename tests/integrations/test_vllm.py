"""The vLLM plug-in, driven as the server drives it: by its own parser classes where they were fetched, by doubles anyway."""

from __future__ import annotations

import importlib
import inspect
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.chat import Message, Tool
from analyzer.errors import ExportError
from analyzer.export import export
from analyzer.export.plugin import plugin_name
from analyzer.runtime import Parser, assemble
from analyzer.verify.writer import write_turn
from tests import budget
from tests.export.samples import TOOLS
from tests.generated.check import TOOLS as WEATHER
from tests.integrations.replay import own, same
from tests.integrations.servers import LOCK, Tokenizer, folder_of
from tests.integrations.shapes import assert_same
from tests.integrations.vllm_server import (
    DOUBLED,
    HELD,
    REASONING,
    STUBBED,
    TOOL_PARSER,
    own_files,
    put_together,
    served,
    vllm,
)
from tests.runtime.golden import Golden, messages, pieces, sampled, unreadable

GOLDEN = [
    golden for golden in sampled(1 if budget.NIGHTLY else 10) if golden.spec.calls or golden.spec.reasoning
]
NOT_HERE = "vLLM's files are not here; scripts/fetch_servers fetches them"
CALL = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'


@pytest.fixture(params=["double", "own"])
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """vLLM, one way and the other."""
    if request.param == "own" and not own_files():
        pytest.skip(NOT_HERE)
    with vllm(own=request.param == "own"):
        yield request.param


def starts(golden: Golden, message: Message) -> Iterator[tuple[str, str]]:
    """The prompts that a turn may stand behind, with the rest of it."""
    text = write_turn(golden.spec, message)
    for prompt in dict.fromkeys(prompt.text for prompt in golden.spec.turn.prompts):
        if prompt and text.startswith(prompt):
            yield prompt, text[len(prompt) :]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_what_a_format_writes(server: str, golden: Golden, tmp_path: Path) -> None:
    """Whole and in deltas the message is the one that the runtime reads, behind each prompt."""
    del server
    found = served(golden.spec, tmp_path)
    chance = random.Random(golden.name)  # noqa: S311 - no secrets here
    for message in messages(golden.spec):
        if unreadable(golden.spec, message):
            continue
        for prompt, text in starts(golden, message):
            request = found.request(WEATHER)
            parser = Parser(golden.spec, WEATHER, prompt=prompt)
            wanted = assemble([*parser.feed(text), *parser.finish()]).message
            before = f"history {prompt}"
            assert same(wanted, found.whole(text, request, before)), text
            for cut in ([text], list(text), pieces(text, chance)):
                assert same(wanted, found.streamed(cut, request, before)), cut


def test_the_servers_own_way_to_a_parser(tmp_path: Path) -> None:
    """VLLM imports the file for each of the two options, and composes and tries a pair when it starts."""
    if not own_files():
        pytest.skip(NOT_HERE)
    spec = own("key_value_tags")
    place = tmp_path / "spec-plugin.py"
    place.write_text(export("vllm-plugin", spec).payload, encoding="utf-8")
    name = plugin_name(spec)
    with vllm(own=True):
        importlib.import_module(TOOL_PARSER).ToolParserManager.import_tool_parser(str(place))
        importlib.import_module(REASONING).ReasoningParserManager.import_reasoning_parser(str(place))
        manager = importlib.import_module("vllm.parser.parser_manager").ParserManager
        parser_cls = manager.get_parser(
            tool_parser_name=name,
            reasoning_parser_name=name,
            enable_auto_tools=True,
            tokenizer=Tokenizer(list(spec.grammar.preserved_tokens)),
        )
        parser = parser_cls(Tokenizer([]), [], model_config=None, chat_template_kwargs={})

        file = inspect.getfile(parser_cls.__mro__[1])
        assert folder_of(LOCK["vllm"]) in Path(file).parents
        assert parser._engine_based
        assert not parser.tool_parser.skip_reasoning_parsing


def test_two_requests_at_a_time(server: str, tmp_path: Path) -> None:
    """Each has parsers of its own; a parser of a whole output keeps nothing of it."""
    del server
    found = served(own("json_tag_per_call"), tmp_path)
    request = found.request(TOOLS)
    one, two = (
        found.deltas(list(text), request, "<|im_start|>assistant\n") for text in (f"A{CALL}", CALL * 2)
    )
    said: list[list[Any]] = [[], []]
    for left, right in zip(one, two, strict=False):
        said[0].append(left)
        said[1].append(right)
    said[0] += list(one)
    said[1] += list(two)
    parser = found.parser(request)
    twice = [parser.parse(text, request, enable_auto_tools=True) for text in ("Hi.", CALL, "Ho.")]

    assert ["A", None] == [put_together(deltas).content for deltas in said]
    assert [1, 2] == [len(put_together(deltas).tool_calls) for deltas in said]
    assert ["Hi.", None, "Ho."] == [content or None for _, content, _ in twice]


@pytest.mark.parametrize(
    ("spec", "text", "expected"),
    [
        ("key_value_tags", "", Message()),
        ("key_value_tags", "<think>Hm.", Message(None, "Hm.")),
        ("key_value_tags", "<think>Hm.<tool_call>ping\n</tool_call>", Message(None, "Hm.")),
        ("key_value_tags", "<think>A</think>\nB<think>C</think>\nD", Message("BD", "A\nC")),
        ("json_tag_per_call", CALL.replace("{}", "{oops}"), Message()),
        ("json_tag_per_call", CALL[:-20], Message()),
        ("json_tag_per_call", f"A{CALL}B", Message("AB")),
    ],
)
def test_what_models_do(server: str, spec: str, text: str, expected: Message, tmp_path: Path) -> None:
    """Nothing, reasoning that stays open, a call inside of it, two blocks, a broken call, text around a call."""
    del server
    found = served(own(spec), tmp_path)
    request = found.request(TOOLS)
    calls = ["ping"] if "ping\n</tool_call>" in text or "{}}\n</tool_call>" in text else []
    for size in (1, 3, 1000):
        cut = [text[at : at + size] for at in range(0, len(text), size)]
        seen = found.streamed(
            cut, request, "<|assistant|>" if spec == "key_value_tags" else "<|im_start|>assistant\n"
        )
        assert (expected.content, (expected.reasoning_content or "").replace("\n", "")) == (
            seen.content,
            (seen.reasoning_content or "").replace("\n", ""),
        )
        assert calls == [call.name for call in seen.tool_calls if call.arguments == "{}"]
    whole = found.whole(
        text, request, "<|assistant|>" if spec == "key_value_tags" else "<|im_start|>assistant\n"
    )
    assert (expected.content, expected.reasoning_content) == (whole.content, whole.reasoning_content)
    assert calls == [call.name for call in whole.tool_calls]


def test_tool_choice_none(server: str, tmp_path: Path) -> None:
    """Leaves the call in the text, in both ways."""
    del server
    found = served(own("json_tag_per_call"), tmp_path)
    request = found.request(TOOLS, "none")

    assert Message(CALL) == found.whole(CALL, request, "<|im_start|>assistant\n")
    assert Message(CALL) == found.streamed(list(CALL), request, "<|im_start|>assistant\n")


def test_without_a_reasoning_parser(server: str, tmp_path: Path) -> None:
    """Reasoning stays in the content, as the server wants it then."""
    del server
    found = served(own("key_value_tags"), tmp_path, reasoning=False)
    text = "<think>Hm.</think>\nHello.<tool_call>ping\n</tool_call>"
    seen = found.streamed(list(text), found.request(TOOLS), "<|assistant|>")

    assert "<think>Hm.</think>\nHello." == seen.content
    assert seen.reasoning_content is None
    assert ["ping"] == [call.name for call in seen.tool_calls]


def test_a_prompt_that_closed_reasoning(server: str, tmp_path: Path) -> None:
    """Then there is none to wait for; where it is open or may come, there is."""
    del server
    found = served(own("key_value_tags"), tmp_path)
    reasoning = found.parser_cls.reasoning_parser_cls(found.tokenizer)

    def ends(prompt: str) -> bool:
        return bool(reasoning.is_reasoning_end(found.tokenizer.encode(prompt)))

    assert ends("user: </think> <|assistant|>\n<think></think>")
    assert not ends("user: </think> <|assistant|>")
    assert not ends("<|assistant|>\n<think>Begun")
    assert ends("<|assistant|>\n<think>Begun</think>\nand text that goes on")
    assert (
        served(own("json_tag_per_call"), tmp_path)
        .parser_cls.reasoning_parser_cls(found.tokenizer)
        .is_reasoning_end([])
    )


def test_where_a_grammar_starts(server: str, tmp_path: Path) -> None:
    """Behind the token that closes reasoning, and only when it is among the new ones."""
    del server
    found = served(own("key_value_tags"), tmp_path)
    reasoning = found.parser_cls.reasoning_parser_cls(found.tokenizer)
    ids = found.tokenizer.encode("<|assistant|>\n<think>Hm.</think>\nA")

    ended = [
        reasoning.is_reasoning_end_streaming(ids[:at], ids[at - 1 : at]) for at in range(1, len(ids) + 1)
    ]
    assert 1 == sum(ended)
    at = ended.index(True) + 1
    assert "</think>" == found.tokenizer.decode(ids[at - 1 : at])
    assert reasoning.is_reasoning_end_streaming(ids, ids[-4:])
    assert not reasoning.is_reasoning_end_streaming(ids, ids[-1:])
    assert ids[at:] == reasoning.extract_content_ids(ids)
    assert [] == reasoning.extract_content_ids(ids[: at - 1])


def test_a_closer_of_several_tokens(tmp_path: Path) -> None:
    """Is found where its last token comes, wherever the delta is cut."""
    with vllm(own=False):
        found = served(own("key_value_tags"), tmp_path)
        found.tokenizer._special = []
        reasoning = found.parser_cls.reasoning_parser_cls(found.tokenizer)
        ids = found.tokenizer.encode("<think>Hm.</think>\nA")
        at = len("<think>Hm.</think>")

        assert reasoning.is_reasoning_end_streaming(ids[:at], ids[at - 1 : at])
        assert not reasoning.is_reasoning_end_streaming(ids[: at - 1], ids[at - 3 : at - 1])
        assert ids[at:] == reasoning.extract_content_ids(ids)


def test_what_a_request_becomes(server: str, tmp_path: Path) -> None:
    """Special tokens stay, stops are set, forced and strict calls are held to a grammar, others are free."""
    del server
    spec = own("json_tag_per_call")
    found = served(spec, tmp_path)
    strict = found.request(TOOLS)
    strict.tools[0].function.strict = True

    def tag(request: Any) -> Any:
        adjusted = found.parser(request).adjust_request(request)
        assert not adjusted.skip_special_tokens
        assert not adjusted.spaces_between_special_tokens
        assert {found.tokenizer.get_vocab()[stop] for stop in spec.grammar.stops} == set(
            adjusted.stop_token_ids
        )
        made = adjusted.structured_outputs
        return None if made is None else json.loads(made.structural_tag)["format"]

    assert tag(found.request(TOOLS)) is None
    assert "triggered_tags" == tag(strict)["type"]
    assert "tags_with_separator" == tag(found.request(TOOLS, "required"))["type"]
    named = tag(found.request(TOOLS, "ping"))
    assert (1, True) == (len(named["tags"]), named["stop_after_first"])
    assert tag(found.request(TOOLS, parallel_tool_calls=False))["stop_after_first"]
    both = found.request(TOOLS, "required", response_format={"type": "json_object"})
    assert tag(both)["type"] == "tags_with_separator"
    assert both.response_format is None


def test_a_request_with_a_format_of_its_own_keeps_it(tmp_path: Path) -> None:
    """Unless a call is forced."""
    with vllm(own=False):
        found = served(own("json_tag_per_call"), tmp_path)
        request = found.request(TOOLS, response_format={"type": "json_object"}, parallel_tool_calls=False)
        adjusted = found.parser(request).adjust_request(request)

    assert adjusted.structured_outputs is None
    assert {"type": "json_object"} == adjusted.response_format


def test_a_forced_call_that_cannot_be_constrained_is_refused(tmp_path: Path, caplog: Any) -> None:
    """With `auto` it is logged, and the model is free."""
    twice = [Tool("ping"), Tool("ping")]
    with vllm(own=False):
        found = served(own("json_tag_per_call"), tmp_path)
        forced = found.request(twice, "required")
        free = found.request(twice, parallel_tool_calls=False)
        with pytest.raises(ExportError, match="two tools are named"):
            found.parser(forced).adjust_request(forced)
        assert found.parser(free).adjust_request(free).structured_outputs is None
    assert "Calls are not constrained" in caplog.text


def test_a_turn_that_the_prompt_began(server: str, tmp_path: Path) -> None:
    """`continue_final_message`: the rest of the turn is read from where it stands."""
    del server
    found = served(own("key_value_tags"), tmp_path)
    request = found.request(TOOLS)
    for prompt in ("<|assistant|>\n<think>One, ", "<|assistant|>\n<think>"):
        assert Message("B.", "two.") == found.whole("two.</think>\nB.", request, prompt)
        assert Message("B.", "two.") == found.streamed(list("two.</think>\nB."), request, prompt)


# ----------------------------------------------------------------------------------------------------- the doubles' shape


def test_the_doubles_have_the_shape_of_vllms_own() -> None:
    """So that they cannot go stale unnoticed."""
    if not own_files():
        pytest.skip(NOT_HERE)
    assert_same(DOUBLED, {**HELD, **DOUBLED}, own_files(), STUBBED)
