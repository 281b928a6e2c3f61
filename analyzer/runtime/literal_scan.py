"""A streaming reader of values in other notations than JSON: Python literals, and dialects with quotes of their own.

Like the JSON scanner it gives back JSON text as the value comes in. It may need to look ahead a few characters (is this
quote the closing one?), so `scan` can stop early: the caller keeps what was not consumed and offers it again with more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from analyzer.runtime.copying import clone
from analyzer.runtime.literals import FAIL, MORE, OK, WHITE_CAP, white_end
from analyzer.runtime.python_steps import (
    AFTER,
    BEGUN,
    COLON,
    FIRST,
    KEY_OR_END,
    KEYS,
    QUOTE,
    STEPS,
    STRING,
    VALUE,
    special,
)
from analyzer.runtime.steps import BROKEN, DONE, Step
from analyzer.runtime.unclosed import OpenKeys
from analyzer.runtime.words import JSON_WORDS, WORDS, json_inner, read_escape, word_to_json

Follow = Callable[[str, int, bool], int]

_word = re.compile(r"[^\s,:\[\](){}\"']+").match
_key = re.compile(r"[^\s,:\[\](){}\"'<>|]+").match
_CLOSERS: Final = {"{": "}", "[": "]", "(": ")"}
_WORD_CAP: Final = 1 << 16


@lru_cache(maxsize=64)
def _hot(quote: str, more: str = "") -> Any:
    """What ends plain text in a string: the quote's first character, what JSON would have to escape, and `more`."""
    return re.compile(f'[{re.escape(quote[0])}"\\\\\x00-\x1f{more}]').search


def after_string(text: str, at: int, final: bool) -> int:
    """Say whether what stands at `at` can follow a string inside a value."""
    end = white_end(text, at)
    if end == len(text):
        return OK if final else (MORE if end - at <= WHITE_CAP else FAIL)
    return OK if text[end] in ",}]:" else FAIL


class LiteralScanner:
    """Scans one value."""

    __slots__ = (
        "_comma", "_escapes", "_in_key", "_quote", "_quotes", "_seen", "_stack", "bare", "follow", "foreign",
        "foreign_used", "inner_used", "keys", "out", "python_used", "quote", "quote_close", "state", "stops",
    )  # fmt: skip

    def __init__(
        self,
        quote: str = "",
        quote_close: str = "",
        *,
        foreign: bool = True,
        bare: bool = False,
        follow: Follow = after_string,
    ) -> None:
        self.state = VALUE
        self.quote = quote
        self.quote_close = quote_close or quote
        self.foreign = foreign
        """Python and JSON quotes are accepted beside the format's own."""
        self.bare = bare
        """Bare words are strings."""
        self.follow = follow
        self.keys: OpenKeys | None = None
        """The arguments that may follow, where the value is the whole argument object and they are declared."""
        self.stops: tuple[str, ...] = ()
        """Literals that end a word outside of any container."""
        self.out: list[str] = []
        self.foreign_used = self.inner_used = self.python_used = False
        self._stack: list[str] = []
        self._quote = ""
        self._quotes = 0
        self._seen = 0
        self._comma = False
        self._escapes = True
        self._in_key = False

    def copy(self) -> LiteralScanner:
        """Return an independent copy."""
        return clone(self)

    @property
    def held(self) -> str:
        """Text that was consumed and is not in `out` yet: opening quotes. All else is left with the caller."""
        return self._quote * self._quotes if self.state == QUOTE else ""

    @property
    def open(self) -> bool:
        """True while more text is needed."""
        return self.state < DONE

    @property
    def done(self) -> bool:
        """True when the value is whole."""
        return self.state == DONE

    @property
    def broken(self) -> bool:
        """True when the value cannot be read."""
        return self.state == BROKEN

    @property
    def hot(self) -> Any:
        """Inside a string: finds a character that needs a look; None elsewhere."""
        if self.state != STRING:
            return None
        return _hot(self._quote, "," if self._may_be_unclosed else "")

    @property
    def _may_be_unclosed(self) -> bool:
        """True inside an argument's own string in quotes that do not stand for themselves inside it."""
        return self.keys is not None and len(self._stack) == 1 and not self._escapes and not self._in_key

    def finish(self) -> bool:
        """Say that no more text follows; return whether the value is whole."""
        return self.state == DONE

    def scan(self, text: str, at: int, final: bool = False) -> int:
        """Consume what can be decided of `text` from `at` on; return where it stopped (see `state`)."""
        size = len(text)
        while self.state < DONE:
            if self._stack and self._stack[-1] == "]" and not self.quote:
                at = self._run(text, at)
                if at == size and not (final and self.state == QUOTE):
                    return at
            if self.state == STRING:
                before = at
                at = self._string(text, at, final)
                if self.state == STRING and (at == before or at >= size):
                    return at
                if self.state == STRING:
                    continue
                if self._in_key:
                    self.state = COLON
                continue
            if self.state == QUOTE:
                if at == size and not final:
                    return at
                at = self._second_quote(text, at)
                if at < 0:
                    return size
                continue
            at = white_end(text, at)
            if at >= size:
                return at
            char = text[at]
            state = self.state
            if state == AFTER:
                if char == ",":
                    self.state = KEY_OR_END if self._stack[-1] == "}" else FIRST
                    self._comma = True
                    at += 1
                elif char == self._stack[-1]:
                    at = self._close(at)
                else:
                    self.state = BROKEN
            elif state == COLON:
                if char != ":":
                    self.state = BROKEN
                    return at
                self.out.append(": ")
                self.state = VALUE
                at += 1
            elif state in BEGUN and char == self._stack[-1]:
                at = self._close(at)
            else:
                self._in_key = state in KEYS
                opened = self._opening_quote(text, at, final)
                if opened < 0:
                    return at
                if opened > 0:
                    at += opened
                elif self._in_key:
                    done = self._bare(text, at, final)
                    if done < 0:
                        return at
                    at = done
                elif char in _CLOSERS:
                    self._stack.append(_CLOSERS[char])
                    self.state = KEY_OR_END if char == "{" else FIRST
                    self._append("{" if char == "{" else "[")
                    at += 1
                else:
                    done = self._bare(text, at, final)
                    if done < 0:
                        return at
                    at = done
        return at

    def step(self) -> Step | None:
        """Return the state as one in which a chunk may be taken at once, None when it is not one."""
        if self.quote or not self._stack or self._stack[-1] != "]":
            return None
        state = self.state
        quote = self._quote if state == STRING or (state == QUOTE and self._quotes == 1) else ""
        return STEPS.get((state, quote, self._comma))

    def settle(self, step: Step) -> None:
        """Go on from a state that was reached by such chunks."""
        self.state, self._quote, self._comma = step.fields
        self._quotes = 1
        self._escapes = True
        self._in_key = False

    def _run(self, text: str, at: int) -> int:
        """Take in one step what is plain inside a list of strings; return where it ends."""
        step = self.step()
        found = None if step is None else step.match(text, at)
        if step is None or found is None or found.end() == at:
            return at
        after, build, _ = step.then[found.lastindex]
        piece = found[0] if build is None else build(found)
        if piece:
            self.out.append(piece)
        self.settle(after)
        return int(found.end())

    def _append(self, piece: str) -> None:
        if self._comma:
            self._comma = False
            self.out.append(", ")
        self.out.append(piece)

    def _close(self, at: int) -> int:
        closer = self._stack.pop()
        self._comma = False  # a trailing comma
        self.out.append("}" if closer == "}" else "]")
        self.state = AFTER if self._stack else DONE
        return at + 1

    def _opening_quote(self, text: str, at: int, final: bool) -> int:
        """Return the length of the quote at `at`, 0 for none, -1 when more text is needed."""
        quote = self.quote
        if quote:
            if text.startswith(quote, at):
                self._begin(self.quote_close, escapes=False)
                return len(quote)
            if not final and len(text) - at < len(quote) and quote.startswith(text[at:]):
                return -1
        char = text[at]
        if char not in "'\"" or (quote and not self.foreign):
            return 0
        if not quote:
            self._quote = char
            self._quotes = 1
            self.state = QUOTE
            return 1
        self._begin(char, escapes=True)
        self.foreign_used = True
        return 1

    def _second_quote(self, text: str, at: int) -> int:
        """Behind an opening quote: find out whether it is one, one of three, or an empty string; -1: the text is over."""
        quote = self._quote
        if text.startswith(quote, at):
            self._quotes += 1
            if self._quotes == len("'''"):
                self._begin(quote * 3, escapes=True)
            return at + 1
        if self._quotes == 1 and at == len(text):
            return -1
        empty = self._quotes > 1
        self._begin(quote, escapes=True)
        if empty:
            self._end_string()
        return at

    def _begin(self, closer: str, *, escapes: bool) -> None:
        self._quote = closer
        self._escapes = escapes
        self._append('"')
        self.state = STRING

    def _end_string(self) -> None:
        self.out.append('"')
        self.state = COLON if self._in_key else (AFTER if self._stack else DONE)

    def _string(self, text: str, at: int, final: bool) -> int:
        return self._escaped_string(text, at, final) if self._escapes else self._raw_string(text, at, final)

    def _raw_string(self, text: str, at: int, final: bool) -> int:
        closer = self._quote
        where = text.find(closer, at)
        if where < 0:
            end = len(text)
            if not final:
                for n in range(min(len(closer) - 1, end - at), 0, -1):
                    if closer.startswith(text[end - n :]):
                        end -= n
                        break
                if self._may_be_unclosed and self.keys is not None:
                    end = self.keys.before(text, at, end, whole=False)
            if end > at:
                self.out.append(json_inner(text[at:end]))
            return end
        after = where + len(closer)
        verdict = self.follow(text, after, final) if not self._stack else after_string(text, after, final)
        cut = where
        if verdict != OK and self._may_be_unclosed and self.keys is not None:
            cut = self.keys.before(text, at, where, whole=True)
        if cut > at:
            self.out.append(json_inner(text[at:cut]))
        if verdict == MORE:
            return cut
        if cut < where and self.keys is not None:
            self.keys.close()
            self._end_string()
            return cut
        if verdict == OK:
            self._end_string()
            return after
        self.out.append('\\"' if self.foreign else json_inner(closer))
        self.inner_used = True
        return after

    def _escaped_string(self, text: str, at: int, final: bool) -> int:
        closer = self._quote
        size = len(text)
        found_at = special[closer[0]]
        while at < size:
            found = found_at(text, at)
            if found is None:
                self.out.append(json_inner(text[at:]))
                return size
            where = found.start()
            if where > at:
                self.out.append(text[at:where])
            at = where
            char = text[at]
            if char == "\\":
                length, decoded = read_escape(text, at, final)
                if length == 0:
                    return at
                if decoded is None:
                    self.out.append(json_inner(text[at : at + length]))
                else:
                    self.out.append(json_inner(decoded))
                at += length
            elif char == closer[0]:
                if text.startswith(closer, at):
                    self._end_string()
                    return at + len(closer)
                if not final and size - at < len(closer) and closer.startswith(text[at:]):
                    return at
                self.out.append(json_inner(char))
                at += 1
            else:
                self.out.append(json_inner(char))
                at += 1
        return at

    def _stop(self, text: str, at: int, end: int, final: bool) -> int:
        """Where the word that would end at `end` ends because of a literal; -1 when more text is needed to say."""
        for stop in self.stops:
            where = text.find(stop, max(at, at + self._seen - len(stop)), end + len(stop) - 1)
            if where >= 0:
                end = where
        if not final:
            size = len(text)
            for stop in self.stops:
                for where in range(max(at, size - len(stop) + 1), end):
                    if stop.startswith(text[where:]):
                        return -1
        return end

    def _bare(self, text: str, at: int, final: bool) -> int:
        """Read a number, a word or a bare key; -1: more text is needed."""
        found = (_key if self._in_key else _word)(text, at + self._seen)
        end = at + self._seen if found is None else found.end()
        stop = end if self._stack or not self.stops else self._stop(text, at, end, final)
        if (stop < 0 or (stop == end == len(text) and not final)) and end > at:
            if end - at <= _WORD_CAP + max(map(len, self.stops), default=0):
                self._seen = end - at
                return -1
            stop = end
        self._seen = 0
        if stop == at or stop - at > _WORD_CAP:
            self.state = BROKEN
            return at
        end = stop
        word = text[at:end]
        if self.quote and self.quote in word:
            self.state = BROKEN
            return at
        value = json_inner(word).join('""') if self._in_key else word_to_json(word)
        if value is None:
            if not self.bare:
                self.state = BROKEN
                return at
            value = json_inner(word).join('""')
            self.foreign_used = True
        elif word in WORDS and word not in JSON_WORDS:
            self.python_used = True
        if self._in_key and self.keys is not None and len(self._stack) == 1:
            self.keys.give(word)
        self._append(value)
        self.state = COLON if self._in_key else (AFTER if self._stack else DONE)
        return end
