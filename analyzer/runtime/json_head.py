"""The beginning of a call in JSON as its template writes it: what stands before the name, and between it and the arguments.

Models write what the template writes, word for word, and telling it so takes a comparison a chunk, where keys and strings that
may stand in any order take a scanner each. Nothing is taken before a literal or the name stands there in full: a text that
turns out to be spelled otherwise is read from its beginning in the general way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from analyzer.runtime.literals import FAIL, MORE, NAME_CAP, OK

_plain = re.compile(r'[^"\\\x00-\x1f]*').match


class UsualHead:
    """The two literals around the name: `{"name": "` and, behind the quote that ends it, `, "arguments": `."""

    __slots__ = ("before", "between")

    def __init__(self, before: str, between: str) -> None:
        self.before = before
        self.between = between

    def name(self, text: str, at: int, seen: int) -> tuple[int, int]:
        """Look for the name's end, where the object begins at `at` and `seen` characters of the name were looked at before.

        Returns (OK, where its quote stands) | (MORE, how much of the name is here) | (FAIL, 0).
        """
        begin = at + len(self.before)
        if not text.startswith(self.before, at):
            return (MORE if len(text) < begin and self.before.startswith(text[at:]) else FAIL), 0
        end = _plain(text, begin + seen).end()  # type: ignore[union-attr]
        size = end - begin
        if size > NAME_CAP:
            return FAIL, 0
        if end == len(text):
            return MORE, size
        return (OK, end) if size and text[end] == '"' else (FAIL, 0)

    def arguments(self, text: str, at: int) -> tuple[int, int]:
        """Look whether an object of arguments follows the name, which ends at `at`: (OK, where) | (MORE, 0) | (FAIL, 0)."""
        begin = at + len(self.between)
        if len(text) <= begin:
            return (MORE if self.between.startswith(text[at:]) else FAIL), 0
        return (OK, begin) if text[begin] == "{" and text.startswith(self.between, at) else (FAIL, 0)


def usual_head(
    parts: Sequence[Any], name: tuple[str, ...], arguments: tuple[str, ...], other: tuple[str, ...] | None
) -> UsualHead | None:
    """Return the head that a layout's parts begin with, given the paths of the keys in it; None where they begin otherwise.

    `other` is the path of what must not stand in it.
    """
    slots = [getattr(part, "slot", "") for part in parts[:4]]
    if slots != ["", "name", "", "arguments"] or name[:-1] != arguments[:-1]:
        return None
    before, between = parts[0], parts[2]
    try:
        value = json.loads(f"{before}x{between}{{}}{'}' * len(arguments)}")
    except ValueError:
        return None
    if _at_path(value, name) != "x" or _at_path(value, arguments) != {}:
        return None
    if other is not None and _at_path(value, other) is not None:
        return None
    return UsualHead(before, between[1:])


def _at_path(value: Any, path: Iterable[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
