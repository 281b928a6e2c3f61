"""Thin adapters around the parser: other shapes of input, none of them part of the engine.

Bytes and token ids become text piece by piece; what cannot be text yet (half a character) is held here.
"""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from analyzer.runtime.events import Event
    from analyzer.runtime.parser import Parser


_PATIENCE: Final = 8
"""After so many tokens a character that is not whole is broken: none has more than four bytes, and a token has one at least."""


class Tokenizer(Protocol):
    """What `TokenParser` needs of a tokenizer: decoding that keeps special tokens."""

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        """Return the text of token ids."""
        ...


class BytesParser:
    """Takes UTF-8 in pieces that may end inside a character; broken bytes become U+FFFD."""

    __slots__ = ("_decoder", "parser")

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def feed(self, data: bytes) -> list[Event]:
        """Take more bytes."""
        return self.parser.feed(self._decoder.decode(data))

    def fork(self) -> BytesParser:
        """Return an independent copy that goes on from here."""
        new = BytesParser(self.parser.fork())
        new._decoder.setstate(self._decoder.getstate())
        return new

    def finish(self, finish_reason: str = "stop") -> list[Event]:
        """Say that the turn is over."""
        events = self.parser.feed(self._decoder.decode(b"", final=True))
        return events + self.parser.finish(finish_reason)


class TokenParser:
    """Takes token ids. A token may hold a part of a character: its text waits for the rest.

    Decoding a token needs the tokens before it (word pieces, byte pieces), so a short window is decoded each time: from
    the last place where the text was whole.
    """

    __slots__ = ("_begin", "_done", "_ids", "_tokenizer", "parser")

    def __init__(self, parser: Parser, tokenizer: Tokenizer) -> None:
        self.parser = parser
        self._tokenizer = tokenizer
        self._ids: list[int] = []
        self._begin = 0
        """Tokens from here on are decoded for context; those from `_done` on are new."""
        self._done = 0

    def feed(self, ids: Iterable[int]) -> list[Event]:
        """Take more token ids."""
        events: list[Event] = []
        for token in ids:
            self._ids.append(token)
            events += self._advance()
        return events

    def fork(self) -> TokenParser:
        """Return an independent copy that goes on from here."""
        new = TokenParser(self.parser.fork(), self._tokenizer)
        new._ids = list(self._ids)
        new._begin, new._done = self._begin, self._done
        return new

    def finish(self, finish_reason: str = "stop") -> list[Event]:
        """Say that the turn is over."""
        events = self._advance(final=True)
        return events + self.parser.finish(finish_reason)

    def _advance(self, *, final: bool = False) -> list[Event]:
        before = self._decode(self._ids[self._begin : self._done])
        after = self._decode(self._ids[self._begin :])
        waiting = len(after) <= len(before) or after.endswith("\ufffd")
        if waiting and not final and len(self._ids) - self._done < _PATIENCE:
            return []
        self._begin = self._done
        self._done = len(self._ids)
        if self._begin > 64:  # noqa: PLR2004 - only the window's tokens are ever decoded again
            del self._ids[: self._begin]
            self._done -= self._begin
            self._begin = 0
        return self.parser.feed(after[len(before) :])

    def _decode(self, ids: Sequence[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=False) if ids else ""


class AsyncParser:
    """Events of an asynchronous stream of text."""

    __slots__ = ("parser",)

    def __init__(self, parser: Parser) -> None:
        self.parser = parser

    async def events(self, chunks: AsyncIterable[str], finish_reason: str = "stop") -> AsyncIterator[Event]:
        """Yield the events of the whole stream, the last ones when it ends."""
        async for chunk in chunks:
            for event in self.parser.feed(chunk):
                yield event
        for event in self.parser.finish(finish_reason):
            yield event


def events(parser: Parser, chunks: Iterable[str], finish_reason: str = "stop") -> Iterator[Event]:
    """Yield the events of a stream of text."""
    for chunk in chunks:
        yield from parser.feed(chunk)
    yield from parser.finish(finish_reason)
