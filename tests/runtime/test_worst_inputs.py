"""Every proven format on the worst inputs: looks at characters are counted, memory is measured, no clock is asked.

A normal run takes some of the formats and short texts, for what is not linear shows there too; the nightly run takes all formats and
the sizes that servers have to live with.
"""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import pytest

from analyzer.chat import Message, ToolCall
from analyzer.runtime import CallEnd, CompiledTools, Event, Parser
from analyzer.runtime.literals import NAME_CAP, WHITE_CAP, Watch
from analyzer.spec import Spec
from analyzer.verify.writer import write_turn
from tests.budget import NIGHTLY
from tests.runtime.checks import tool
from tests.runtime.golden import Golden, golden_specs, literals, sampled
from tests.runtime.specs import spec

SPECS: Final = sampled(1 if NIGHTLY else 12)
OPENERS, ARGUMENT, BRACES, CALLS = (
    (120_000, 400_000, 1_000_000, 50_000) if NIGHTLY else (3000, 8000, 8000, 120)
)
LOOKS: Final = 8
ALLOWANCE: Final = 2500
"""Looks at a short text beside the multiple of its length: some ends are looked at twice, white space up to 256 times."""
SLOT: Final = NAME_CAP + WHITE_CAP
"""How far a name, a key or an id may reach: so much is looked at anew behind each marker."""
TOOLS: Final = CompiledTools([tool("put", {"text": "string"})])


def call(text: str, key: str = "text") -> Message:
    """A message with one call."""
    return Message(None, None, (ToolCall("put", json.dumps({key: text}), "abcdefghi"),))


def parts(given: Spec, message: Message, needle: str) -> tuple[str, str]:
    """What a format writes before and behind a needle."""
    text = write_turn(given, message).removeprefix(given.turn.header)
    head, _, tail = text.partition(needle)
    return head, tail


def has_calls(golden: Golden) -> bool:
    """True when the format writes a call with one argument of text."""
    return golden.spec.calls is not None and "needle" in write_turn(golden.spec, call("needle"))


def parameters(found: list[Golden]) -> list[Any]:
    """Specs as parameters."""
    return [pytest.param(golden, id=golden.name) for golden in found]


WITH_CALLS: Final = [golden for golden in SPECS if has_calls(golden)]


def feed(given: Spec, text: str, size: int) -> tuple[Parser, list[Event]]:
    """Feed a text in pieces of one size."""
    parser = Parser(given, TOOLS, prompt=given.turn.header)
    events: list[Event] = []
    for at in range(0, len(text), size):
        events += parser.feed(text[at : at + size])
    return parser, events + parser.finish()


def check(given: Spec, text: str) -> list[Event]:
    """Whole and in small pieces: the looks stay below a multiple of the text's length."""
    events: list[Event] = []
    for size in (len(text), 997, 4):
        parser, events = feed(given, text, size)
        assert parser.scanned <= LOOKS * len(text) + ALLOWANCE, (text[:80], size, parser.scanned / len(text))
    return events


def repeated(text: str, size: int) -> str:
    """A text over and over."""
    return text * (size // len(text) + 1)


def test_the_formats_are_many() -> None:
    """So many formats are tried, most of them with calls."""
    assert len(SPECS) >= len(golden_specs()) // 12
    assert len(WITH_CALLS) > len(SPECS) // 2


@pytest.mark.parametrize("golden", parameters(SPECS))
def test_nothing_but_a_literal(golden: Golden) -> None:
    """Each literal of the format over and over, and its beginning: openers, closers, headers, ends."""
    for literal in literals(golden.spec):
        for text in {literal, literal[: len(literal) // 2], literal[:-1]} - {""}:
            check(golden.spec, repeated(text, OPENERS))


@pytest.mark.parametrize("golden", parameters(WITH_CALLS))
def test_one_long_argument(golden: Golden) -> None:
    """A long text in one argument, full of characters that begin markers; the call comes out."""
    head, tail = parts(golden.spec, call("needle"), "needle")
    events = check(golden.spec, head + repeated("x<y [z {", ARGUMENT) + tail)

    assert [event.status for event in events if isinstance(event, CallEnd)] == ["complete"]


@pytest.mark.parametrize("golden", parameters(WITH_CALLS))
def test_a_closers_beginning_over_and_over(golden: Golden) -> None:
    """An argument made of the beginnings of what closes it."""
    head, tail = parts(golden.spec, call("needle"), "needle")
    for length in sorted({1, 2, len(tail) // 3, len(tail) // 2, len(tail) - 1} - {0}):
        check(golden.spec, head + repeated(tail[:length], ARGUMENT // 4))


@pytest.mark.parametrize("golden", parameters(WITH_CALLS))
def test_braces(golden: Golden) -> None:
    """Braces and brackets where the arguments, or one of them, should stand."""
    for head in (
        parts(golden.spec, call("v", "needle"), "needle")[0],
        parts(golden.spec, call("needle"), "needle")[0],
    ):
        for brace in ("{", "[", '{"a":', "[{"):
            text = head.rstrip('"{') + repeated(brace, BRACES)
            parser, _ = feed(golden.spec, text, 4096)
            assert parser.scanned <= LOOKS * len(text) + ALLOWANCE, (text[:80], parser.scanned / len(text))


@pytest.mark.parametrize("golden", parameters(WITH_CALLS))
def test_many_calls(golden: Golden) -> None:
    """So many calls in one text, whether or not the format writes more than one."""
    head, tail = parts(golden.spec, call("needle"), "needle")
    check(golden.spec, f"{head}x{tail}" * CALLS)


def held(given: Spec, pieces: Iterator[str]) -> int:
    """How many bytes a parser holds after these pieces, its events thrown away."""
    gc.collect()
    tracemalloc.start()
    try:
        parser = Parser(given, TOOLS, prompt=given.turn.header)
        for piece in pieces:
            parser.feed(piece)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("golden", parameters(WITH_CALLS))
def test_memory_does_not_grow_with_what_is_over(golden: Golden) -> None:
    """An argument goes out as it comes: four times as much of it leaves no more behind, the text for a problem aside."""
    head, _ = parts(golden.spec, call("needle"), "needle")
    limit = 1 << 16  # what a problem keeps of a broken call
    sizes = [held(golden.spec, _pieces(head, limit * times)) for times in (2, 8)]

    assert sizes[1] - sizes[0] < limit // 4


def _pieces(head: str, size: int) -> Iterator[str]:
    yield head
    for _ in range(size // 256):
        yield "lorem ipsum dolo" * 16


@cache
def _bytes_of_parsers(amount: int) -> int:
    given = spec("json_tags")
    Parser(given, TOOLS)
    gc.collect()
    tracemalloc.start()
    try:
        kept = [Parser(given, TOOLS) for _ in range(amount)]
        for parser in kept:
            parser.feed('<tool_call>\n{"name": "put", "arguments": {"text": "')
            parser.feed("The quick brown fox jumps over the lazy dog. " * 4)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def test_many_parsers_fit_in_memory() -> None:
    """10,000 parsers in the middle of a call fit in 100 MB: a thousand of them are counted."""
    assert _bytes_of_parsers(1000) * 10 <= 100_000_000


@pytest.mark.parametrize("golden", parameters(SPECS))
def test_a_flood_of_markers_is_searched_once(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one piece: what the searches themselves walk over, those of each layout for the end of a name too."""
    walked = 0
    seek = Watch.seek

    def counted(self: Watch, text: str, at: int, final: bool) -> tuple[int, str]:  # noqa: FBT001  (as it is)
        nonlocal walked
        where, token = seek(self, text, at, final)
        walked += where - at + len(token)
        return where, token

    monkeypatch.setattr(Watch, "seek", counted)
    given = golden.spec.calls
    layouts = 1 + len(given.layouts if given is not None else ())
    layouts += sum(len(addition.layouts) for addition in golden.spec.overlays)
    for marker in literals(golden.spec):
        for filling in ("", "x", "f\n"):
            text = repeated(marker + filling, OPENERS)
            walked = 0
            feed(golden.spec, text, len(text))
            most = (LOOKS + layouts * SLOT / len(marker + filling)) * len(text) + ALLOWANCE
            assert walked <= most, (marker + filling, walked / len(text))
