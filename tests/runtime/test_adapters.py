"""Bytes, token ids and asynchronous streams give the same events as text."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from analyzer.runtime import Event, Parser, coalesce
from analyzer.runtime.adapters import AsyncParser, BytesParser, TokenParser, events
from tests.runtime.checks import run
from tests.runtime.specs import spec

TEXT = '<tool_call>\n{"name": "say", "arguments": {"text": "🏳️‍🌈 café e\u0301 大连"}}\n</tool_call>'


class ByteTokens:
    """A tokenizer whose tokens are single bytes, and one special token."""

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        """Decode bytes; half a character at the end shows as U+FFFD."""
        assert not skip_special_tokens
        return bytes(ids).decode("utf-8", errors="replace")


@given(st.lists(st.integers(0, len(TEXT.encode())), max_size=8))
def test_bytes_cut_anywhere(places: list[int]) -> None:
    """A character cut in two is held until it is whole."""
    data = TEXT.encode()
    cuts = [0, *sorted(places), len(data)]
    parser = BytesParser(Parser(spec("json_tags")))
    got: list[Event] = []
    for begin, end in itertools.pairwise(cuts):
        got += parser.feed(data[begin:end])
    got += parser.finish()

    assert coalesce(got) == coalesce(run(spec("json_tags"), [TEXT]))


def test_token_ids() -> None:
    """Token ids are decoded as they come, special tokens kept."""
    parser = TokenParser(Parser(spec("json_tags")), ByteTokens())
    got: list[Event] = []
    for byte in TEXT.encode():
        got += parser.feed([byte])
    got += parser.finish()

    assert coalesce(got) == coalesce(run(spec("json_tags"), [TEXT]))


def test_half_a_character_at_the_end() -> None:
    """What never becomes a character is not lost."""
    parser = BytesParser(Parser(spec("json_tags")))
    got = parser.feed("é".encode()[:1]) + parser.finish()

    assert coalesce(got) == coalesce(run(spec("json_tags"), ["\ufffd"]))


def test_streams() -> None:
    """Synchronous and asynchronous iterators."""

    async def chunks() -> AsyncIterator[str]:
        for char in TEXT:
            yield char

    async def collect() -> list[Event]:
        return [event async for event in AsyncParser(Parser(spec("json_tags"))).events(chunks())]

    expected = coalesce(run(spec("json_tags"), [TEXT]))

    assert coalesce(events(Parser(spec("json_tags")), TEXT)) == expected
    assert coalesce(asyncio.run(collect())) == expected
