r"""Literals of a format, and the search for them in text that is still coming in.

A *literal* is kept as hard tokens with soft white space between them: `"</function>\n</tool_call>"` is two tokens. So are
two markers with nothing between them, as in `"</function></tool_call>"`: models write line breaks there that the template
does not. What the literal's own white space parts are its *pieces*, each of one or more tokens; it takes another piece, and
not just another token, to make a marker surer than its first token alone. White space at a literal's two ends (`lead`,
`tail`) is apart, because beside a slot it is removed only when exactly present. In strict mode a literal is one token,
white space and all.

A `Watch` seeks the first of several tokens. It looks at each character a constant number of times: the caller keeps the
place from which to go on, and what is held back is shorter than the longest token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

OK: Final = 1
MORE: Final = 0
FAIL: Final = -1

WHITE_CAP: Final = 256
"""The longest run of white space between two literals."""
MARKER: Final = 3
"""A literal of fewer characters marks nothing where text may stand."""
NAME_CAP: Final = 256
"""The longest name, key or id."""

_LONG: Final = 400
"""Text longer than this is searched by `str.find`."""
_WINDOW: Final = 64

WHITE: Final = " \t\r\n"
"""What is white space between literals."""
_white_run = re.compile(r"[ \t\r\n]*").match
_soft_inside = re.compile(r"(?<=[>\])}|])[ \t\r\n]+|[ \t\r\n]+(?=[<\[{(|])|[ \t\r]*\n[ \t\r\n]*")
_beside = re.compile(
    r"""(?:(?<=[\w"'/|｜]>)|(?<=^>)|(?<=[A-Za-z_/]\]))(?=<[\w/!|｜]|\[[A-Za-z_/]+\]|\[?\{|\[$)"""
)
"""Between two markers: the end of one (of which only the end may stand in the literal) and the beginning of the next.

What brackets a marker of punctuation holds (`]<]`, `[>[<`) does not matter, and neither does `[{`: no marker ends in it.
"""
_marker = re.compile(r"<[^\s<>]|\[[A-Za-z_/]+\]|[|｜]")


def white_end(text: str, start: int) -> int:
    """Return where the white space that begins at `start` ends."""
    return _white_run(text, start).end()  # type: ignore[union-attr]


class Lit:
    """One literal, compiled."""

    __slots__ = ("core", "lead", "pieces", "soft", "starts", "strong", "tail", "text", "tokens", "whole")

    def __init__(self, text: str, *, soft: bool) -> None:
        self.text = text
        self.soft = soft
        body = text.strip(WHITE) if soft else text
        if soft and body:
            at = text.index(body)
            self.lead, self.tail = text[:at], text[at + len(body) :]
            self.pieces: tuple[str, ...] = tuple(_soft_inside.split(body))
        elif soft:
            self.lead, self.tail, self.pieces = "", text, ()
        else:
            self.lead, self.tail, self.pieces = "", "", (text,) if text else ()
        self.whole = body
        """The literal as it is written, without the white space at its ends."""
        tokens: list[str] = []
        starts: list[int] = []
        for piece in self.pieces:
            starts.append(len(tokens))
            tokens += _beside.split(piece) if soft else (piece,)
        self.tokens = tuple(tokens)
        self.starts = tuple(starts)
        """The number of each piece's first token."""
        self.core = self.tokens[0] if self.tokens else ""
        self.strong = bool(_marker.search(text))

    @property
    def head(self) -> str:
        """The first piece: what literals that look alike but for their white space have in common."""
        return self.pieces[0] if self.pieces else ""

    def rest(self, token: int) -> str:
        """A piece from one of its tokens on."""
        end = next((start for start in self.starts if start > token), len(self.tokens))
        return "".join(self.tokens[token:end])

    def match(self, text: str, at: int, token: int, final: bool) -> tuple[int, int, int]:
        """Match from token number `token` on at `at`; return (OK | MORE | FAIL, where it stopped, token reached).

        White space is skipped before each token but the first.
        """
        tokens = self.tokens
        if not token and text.startswith(self.whole, at):
            return OK, at + len(self.whole), len(tokens)
        size = len(text)
        while token < len(tokens):
            if token and self.soft:
                after = white_end(text, at)
                if after - at > WHITE_CAP:
                    return FAIL, at, token
                if after == size:
                    return (FAIL if final else MORE), at, token
                at = after
            want = tokens[token]
            if not text.startswith(want, at):
                if not final and size - at < len(want) and want.startswith(text[at:]):
                    return MORE, at, token
                return FAIL, at, token
            at += len(want)
            token += 1
        return OK, at, token


class Watch:
    """Seeks the leftmost, longest of a set of tokens."""

    __slots__ = (
        "_borders",
        "_first",
        "_full",
        "_prefixes",
        "_tokens",
        "begins",
        "hot",
        "lead_prefixes",
        "longest",
        "longest_lead",
    )

    def __init__(self, tokens: Iterable[str], leads: Iterable[str] = (), also_hot: str = "") -> None:
        self._tokens = tuple(sorted({token for token in tokens if token}, key=lambda t: (-len(t), t)))
        first = "".join(sorted({token[0] for token in self._tokens}))
        self.longest = max(map(len, self._tokens), default=0)
        self._prefixes = frozenset(token[:n] for token in self._tokens for n in range(1, len(token)))
        never = re.compile(r"(?!)")
        self._first = re.compile(f"[{re.escape(first)}]").search if first else never.search
        self._full = re.compile("|".join(map(re.escape, self._tokens))).match if first else never.match
        begins = self._prefixes.union(self._tokens)
        self._borders = {token: _border(token, begins) for token in self._tokens}
        leads = [lead for lead in leads if lead]
        self.lead_prefixes = frozenset(lead[:n] for lead in leads for n in range(1, len(lead) + 1))
        self.longest_lead = max(map(len, leads), default=0)
        begin = re.escape(first + "".join(sorted({lead[0] for lead in leads})))
        self.begins = re.compile(f"[{begin}]").search if begin else never.search
        """Finds a character with which a token or its white space may begin."""
        hot = begin + also_hot
        self.hot = re.compile(f"[{hot}]").search if hot else never.search
        """Finds a character at which a token, its white space or an escape may begin; None: the chunk is plain."""

    def seek(self, text: str, at: int, final: bool) -> tuple[int, str]:
        """Return (where a token stands, the token), or (from where text must be held back, "")."""
        size = len(text)
        if size - at > _LONG:
            where, token = self._find(text, at)
            if token and (final or size - where > self.longest):
                return where, token
            at = max(
                at, min(where, size - self.longest)
            )  # a longer token that is not all here may begin before it
        first = self._first
        full = self._full
        prefixes = self._prefixes
        longest = self.longest
        candidate = first(text, at)
        while candidate is not None:
            at = candidate.start()
            if size - at < longest and not final and text[at:] in prefixes:
                return at, ""
            found = full(text, at)
            if found is not None:
                return at, found.group()
            candidate = first(text, at + 1)
        return size, ""

    def stands(self, text: str, at: int, final: bool) -> tuple[int, str]:
        """Whether a token stands right here: (OK, the token) | (MORE, "") | (FAIL, "")."""
        if len(text) - at < self.longest and not final and text[at:] in self._prefixes:
            return MORE, ""
        found = self._full(text, at)
        return (FAIL, "") if found is None else (OK, found.group())

    def _find(self, text: str, at: int) -> tuple[int, str]:
        """Seek in long text by one `str.find` a token, window by window, each twice as wide as the last."""
        size = len(text)
        width = _WINDOW
        tokens = self._tokens
        while at < size:
            end = at + width
            best, best_token = end, ""
            for token in tokens:
                where = text.find(token, at, best + len(token) - 1)
                if where >= 0:
                    best, best_token = where, token
            if best_token:
                return best, best_token
            at = end
            width *= 2
        return size, ""

    def past(self, where: int, token: str) -> int:
        """Return from where to go on when `token` at `where` meant nothing: its end may be another one's beginning."""
        return where + len(token) - self._borders[token]

    def overlaps(self, token: str) -> bool:
        """True when another token may begin inside this one."""
        return self._borders[token] > 0

    def hold(self, text: str, start: int, end: int) -> int:
        """Return where the white space before `end` that may belong to a marker begins (not before `start`)."""
        for n in range(min(self.longest_lead, end - start), 0, -1):
            if text[end - n : end] in self.lead_prefixes:
                return end - n
        return end


def _border(token: str, begins: frozenset[str]) -> int:
    """The length of the longest proper end of `token` that is a token or the beginning of one."""
    return next((n for n in range(len(token) - 1, 0, -1) if token[-n:] in begins), 0)
