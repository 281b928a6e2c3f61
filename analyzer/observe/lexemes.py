"""Lexemes: the smallest pieces of text that comparisons may cut between.

Comparing characters finds that `<|call_end|>` and `<|calls_end|>` share a beginning; comparing lexemes finds that they share
nothing. A lexeme is a whole marker (`<...>`, `<<...>>`, `>>...<<`, `[...]`, `«...»`, `【...】`, `@@...`, `%...{` without
white space inside, `<|...|>` and `<:...:>` with it, `BEGIN ...:`), a word, a run of digits, a run of white space, or one other character.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_SIDE: Final = "(?:BEGIN|START|END|STOP)"
_SHAPES: Final = (
    r"\]<\][^<>\s]{1,40}\[>\[<[^<>\s]{1,120}>",
    r"<<<[^<>\s]{1,120}>>>",
    r"<<[^<>\s]{1,120}>>",
    r">>>[^<>\s]{1,120}<<<",
    r">>[^<>\s]{1,120}<<",
    r"<([|:])[^<>|\n]{1,80}\1>",
    r"<[^<>\s]{1,120}>",
    r"\[/?[^\W\d][\w|/ -]{0,80}\]",
    r"«[^«»\s]{1,60}»",
    r"»[^«»\s]{1,60}«",
    r"【[^【】\s]{1,60}】",
    rf"@@/?(?:(?!{_SIDE} [A-Z])\w){{1,60}}",
    r"%\w{1,60}\{",
    r"\}\w{1,60}%",
    rf"{_SIDE} [A-Z][A-Z_]{{0,60}}[:.]",
)
_MARKS = "|".join(_SHAPES)
_FIRST: Final = frozenset("]<>[«»【@%}BSE")
"""What markers begin with."""
KEPT_TEXTS: Final = 128
KEPT_CHARS: Final = 4_000
"""How many texts' lexemes are kept, and of how many characters at most."""
_LEXEME = re.compile(rf"{_MARKS}|\s+|\d+|\w+|.", re.DOTALL)
_MARKER = re.compile(_MARKS, re.DOTALL)


def lexemes(text: str) -> list[str]:
    """Return the lexemes of `text`; joined they are `text`."""
    return list(_kept(text)) if len(text) <= KEPT_CHARS else _cut(text)


@lru_cache(maxsize=KEPT_TEXTS)
def _kept(text: str) -> tuple[str, ...]:
    """The lexemes of a text that several comparisons may look at, one after the other."""
    return tuple(_cut(text))


def _cut(text: str) -> list[str]:
    return [found.group() for found in _LEXEME.finditer(text)]


def is_marker(lexeme: str) -> bool:
    """Tell whether a lexeme is a whole marker such as `<tool_call>` or `[TOOL_CALLS]`."""
    return lexeme[:1] in _FIRST and _MARKER.fullmatch(lexeme) is not None


def common_prefix(*texts: str) -> str:
    """Return the longest common beginning of all `texts`, in whole lexemes of each."""
    return "".join(_common(*(lexemes(text) for text in texts)))


def common_start(*texts: str) -> str:
    """Return the longest common beginning in whole lexemes, white space counted character by character."""
    shared = common_prefix(*texts)
    spaces = [text[len(shared) : len(text) - len(text[len(shared) :].lstrip())] for text in texts]
    count = 0
    while all(len(space) > count and space[count] == spaces[0][count] for space in spaces):
        count += 1
    return shared + spaces[0][:count]


def common_suffix(*texts: str) -> str:
    """Return the longest common ending of all `texts`, in whole lexemes of each."""
    reversed_common = _common(*(lexemes(text)[::-1] for text in texts))
    return "".join(reversed(reversed_common))


def _common(*lists: list[str]) -> list[str]:
    out = []
    for row in zip(*lists, strict=False):
        if any(lexeme != row[0] for lexeme in row):
            break
        out.append(row[0])
    return out


def split_space(text: str) -> tuple[str, str, str]:
    """Return the white space before, the core, and the white space after; a text of white space only is all `before`."""
    core = text.strip()
    if not core:
        return text, "", ""
    start = text.index(core)
    return text[:start], core, text[start + len(core) :]
