"""The SGLang plug-in, driven as the server drives it: by its own parser classes where they were fetched, by doubles anyway."""

from __future__ import annotations

import random
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.chat import Message, ToolCall
from analyzer.engines import load
from analyzer.export import Options as ExportOptions
from analyzer.export import export
from analyzer.runtime import Parser, assemble
from analyzer.verify.writer import write_turn
from tests import budget
from tests.export.samples import TOOLS
from tests.generated.check import TOOLS as WEATHER
from tests.integrations.replay import own, same
from tests.integrations.servers import Tokenizer
from tests.integrations.sglang_server import (
    DOUBLED,
    HELD,
    STUBBED,
    own_files,
    served,
    sglang,
)
from tests.integrations.shapes import assert_same
from tests.runtime.golden import Golden, messages, pieces, sampled, unreadable

GOLDEN = [
    golden for golden in sampled(1 if budget.NIGHTLY else 10) if golden.spec.calls or golden.spec.reasoning
]
NOT_HERE = "SGLang's files are not here; scripts/fetch_servers fetches them"
CALL = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'


@pytest.fixture(params=["double", "own"])
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """SGLang, one way and the other."""
    if request.param == "own" and not own_files():
        pytest.skip(NOT_HERE)
    with sglang(own=request.param == "own"):
        yield request.param


def starts(golden: Golden, message: Message) -> Iterator[tuple[bool | None, str, str]]:
    """The prompts of a wish for reasoning (no wish, yes, no) that a turn may stand behind, with the rest of it."""
    text = write_turn(golden.spec, message)
    default = next((prompt.text for prompt in golden.spec.turn.prompts), "")
    for wish in (None, True, False):
        fitting = [
            prompt.text
            for prompt in golden.spec.turn.prompts
            if wish is None or Parser(golden.spec, prompt=prompt.text).in_reasoning is wish
        ]
        prompt = default if wish is None or not fitting or default in fitting else fitting[0]
        if text.startswith(prompt):
            yield wish, prompt, text[len(prompt) :]


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
def test_what_a_format_writes(server: str, golden: Golden, tmp_path: Path) -> None:
    """Whole and in deltas the message is the one that the runtime reads, with each wish for reasoning."""
    del server
    found = served(golden.spec, tmp_path)
    chance = random.Random(golden.name)  # noqa: S311 - no secrets here
    for message in messages(golden.spec):
        if unreadable(golden.spec, message):
            continue
        for wish, prompt, text in starts(golden, message):
            parser = Parser(golden.spec, WEATHER, prompt=prompt)
            wanted = assemble([*parser.feed(text), *parser.finish()]).message
            assert same(wanted, found.whole(text, WEATHER, force_reasoning=wish)), text
            for cut in ([text], list(text), pieces(text, chance)):
                assert same(wanted, found.streamed(cut, WEATHER, force_reasoning=wish)), cut


def test_without_tools(server: str, tmp_path: Path) -> None:
    """The reasoning detector's text goes to the client, so it is content without the format's markers."""
    del server
    found = served(own("channels_recipients"), tmp_path)
    spec = found.spec
    message = Message("Hello.", "Hm.")
    text = write_turn(spec, message).removeprefix(spec.turn.header)

    assert message == found.whole(text, ())
    assert message == found.streamed(list(text), ())


def test_reasoning_in_one_piece(server: str, tmp_path: Path) -> None:
    """`stream_reasoning` false: all of it at once, when it is closed or the stream ends."""
    del server
    found = served(own("key_value_tags"), tmp_path)
    for text in ("<think>One, two.</think>\nHello.", "<think>One, two."):
        reasoning, _ = found.pair((), stream_reasoning=False)
        said = [reasoning.parse_stream_chunk(char)[0] for char in text]
        said.append(reasoning.parse_stream_end()[0])
        assert ["One, two."] == [piece for piece in said if piece]


def test_content_that_must_not_be_empty(server: str, tmp_path: Path) -> None:
    """Reasoning that was never closed is the content then."""
    del server
    found = served(own("key_value_tags"), tmp_path)

    class Request:
        chat_template_kwargs = {"force_nonempty_content": True}  # noqa: RUF012

    for text, content in (("<think>Hm.", "Hm."), ("<think>Hm.</think>\nHello.", "Hello.")):
        reasoning, _ = found.pair((), request=Request())
        streamed = "".join(reasoning.parse_stream_chunk(char)[1] or "" for char in text)
        assert content == streamed + (reasoning.parse_stream_end()[1] or "")
        reasoning, _ = found.pair((), request=Request())
        assert content == reasoning.parse_non_stream(text)[1]


@pytest.mark.parametrize(
    ("spec", "text", "expected"),
    [
        ("key_value_tags", "", Message()),
        ("key_value_tags", "<think>Hm.", Message(None, "Hm.")),
        ("key_value_tags", "<think>Hm.<tool_call>ping\n</tool_call>", Message(None, "Hm.", (ToolCall("ping"),))),
        ("key_value_tags", "<think>A</think>\nB<think>C</think>\nD", Message("BD", "A\nC")),
        ("json_tag_per_call", CALL[:-20], Message()),
        ("json_tag_per_call", f"A{CALL}B", Message("AB", None, (ToolCall("ping"),))),
        ("json_tag_per_call", "Plain <b>text</b>.", Message("Plain <b>text</b>.")),
    ],
)  # fmt: skip
def test_what_models_do(server: str, spec: str, text: str, expected: Message, tmp_path: Path) -> None:
    """Nothing, reasoning that stays open, a call inside of it, two blocks, a cut call, text around a call, text alone."""
    del server
    found = served(own(spec), tmp_path)
    assert expected == found.whole(text, TOOLS)
    for size in (1, 3, 1000):
        seen = found.streamed([text[at : at + size] for at in range(0, len(text), size)], TOOLS)
        complete = tuple(call for call in seen.tool_calls if call.arguments == "{}")
        assert expected == Message(seen.content, seen.reasoning_content, complete)


def test_reasoning_without_a_reasoning_parser(server: str, tmp_path: Path) -> None:
    """Stays in the text, markers and all."""
    del server
    found = served(own("key_value_tags"), tmp_path)
    calls = found.calls(found.tools(TOOLS), found.name)

    text, items = calls.parse_non_stream("<think>Hm.</think>\nHello.<tool_call>ping\n</tool_call>")
    assert "<think>Hm.</think>\nHello." == text
    assert [("ping", 1)] == [(item.name, item.tool_index) for item in items]


def test_what_calls_are_held_to(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forced calls and strict tools to the structural tag; a free one and one behind reasoning nobody takes to nothing."""
    del server
    import xgrammar  # noqa: PLC0415  (a stub)

    monkeypatch.setattr(
        xgrammar.StructuralTag, "model_validate", staticmethod(lambda data: data), raising=False
    )
    found = served(own("json_tag_per_call"), tmp_path)
    tools = found.tools(TOOLS)
    strict = [tools[0].model_copy(update={"function": tools[0].function.model_copy(update={"strict": True})})]
    named = found.protocol.ToolChoice(function=found.protocol.ToolChoiceFuncName(name="ping"))

    def held(declared: list[Any], choice: Any, **more: Any) -> Any:
        kept = found.calls(declared, found.name).get_structure_constraint(choice, **more)
        return None if kept is None else kept[1]["format"]

    assert held(tools, "auto") is None
    assert "triggered_tags" == held(strict, "auto")["type"]
    assert "tags_with_separator" == held(tools, "required")["type"]
    assert (1, True) == (len(held(tools, named)["tags"]), held(tools, named)["stop_after_first"])
    assert held(tools, "required", parallel_tool_calls=False)["stop_after_first"]
    thinking = served(own("json_tag_reasoning_toggle"), tmp_path)
    parser = thinking.calls(tools, thinking.name)
    assert parser.detector.get_structural_tag(tools, "required", thinking_mode=True) is None
    assert parser.detector.get_structural_tag(tools, "required", thinking_mode=False) is not None


@pytest.mark.engine
@pytest.mark.parametrize("choice", ["auto", "required", "ping"])
def test_the_tag_as_the_server_hands_it_on(choice: str) -> None:
    """Read by xgrammar's own class and dumped again, it still compiles and takes what the format writes."""
    pytest.importorskip("xgrammar", reason="xgrammar is not installed: the tag's own class is not tried")
    from xgrammar import StructuralTag  # noqa: PLC0415  (an optional engine)

    payload = export("structural-tag", own("json_tag_per_call"), TOOLS, ExportOptions(choice)).payload
    matcher = load("structural-tag", StructuralTag.model_validate(payload).model_dump(by_alias=True))

    assert matcher.accepts(CALL)
    assert not matcher.accepts(CALL.replace("ping", "pong"))


def test_what_begins_and_ends_a_call(server: str, tmp_path: Path) -> None:
    """In the older form, for formats that can be said in it."""
    del server
    detector = served(own("json_tag_per_call"), tmp_path).calls.ToolCallParserEnum[
        "analyzer_json_tag_per_call"
    ]()
    info = detector.structure_info()("ping")

    assert ("<tool_call>", '<tool_call>\n{"name": "ping", "arguments": ', "}\n</tool_call>") == (
        info.trigger,
        info.begin,
        info.end,
    )


def test_what_closes_reasoning(server: str, tmp_path: Path) -> None:
    """The scheduler asks for its tokens."""
    del server
    found = served(own("key_value_tags"), tmp_path)
    reasoning, _ = found.pair(())
    tokenizer = Tokenizer(["</think>"])

    assert ["</think>"] == [
        tokenizer.decode([one]) for one in reasoning.detector.get_think_end_token_ids(tokenizer)
    ]
    assert served(own("json_tag_per_call"), tmp_path).pair(())[0] is None


def test_the_file_starts_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run as a program it registers first, and then runs SGLang's own launcher."""
    place = tmp_path / "plugin.py"
    place.write_text(export("sglang-plugin", own("key_value_tags")).payload, encoding="utf-8")
    launched: list[Any] = []
    run = runpy.run_path
    with sglang(own=False):
        parser = __import__(STUBBED[0] + ".srt.function_call.function_call_parser", fromlist=["x"])

        def launch(name: str, run_name: str) -> None:
            launched.append((name, run_name, list(parser.FunctionCallParser.ToolCallParserEnum)))

        monkeypatch.setattr(runpy, "run_module", launch)
        run(str(place), run_name="__main__")

    assert [("sglang.launch_server", "__main__", ["analyzer_key_value_tags"])] == launched


def test_the_doubles_have_the_shape_of_sglangs_own() -> None:
    """So that they cannot go stale unnoticed."""
    if not own_files():
        pytest.skip(NOT_HERE)
    assert_same(DOUBLED, {**HELD, **DOUBLED}, own_files(), STUBBED)
