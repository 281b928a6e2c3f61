"""The states of a value in Python notation that is being scanned, and what may be taken at once in a list of strings."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from analyzer.runtime.steps import WHITE, Build, Step

VALUE, FIRST, KEY_OR_END, KEY, COLON, AFTER, STRING, QUOTE = range(8)
"""The states of a `LiteralScanner`; in `QUOTE` an opening quote was read that may be the first of three."""
special: Final = {quote: re.compile(rf'[{quote}"\\\x00-\x1f]').search for quote in "'\""}
"""Finds what needs a look inside a Python string: its quote, and what JSON would have to escape."""
KEYS: Final = frozenset({KEY, KEY_OR_END})
BEGUN: Final = frozenset({FIRST, KEY_OR_END})
"""The states in which a container may end behind its opening bracket or a comma."""
_PLAIN: Final = r"""[^'"\\\x00-\x1f]+"""
_OPENED: Final = rf"""{WHITE}(?:'(?:({_PLAIN})|())|"(?:({_PLAIN})|())"""
"""A quote and, where it is here, its string's beginning: four groups. The other branch is left to who uses it."""
_Key: TypeAlias = tuple[int, str, bool]


def _steps() -> dict[_Key, Step]:
    """The graph of a `LiteralScanner` in a list, by state, quote, and whether a comma waits for what follows it.

    A comma goes out with what follows it, for there may be nothing: `[1, ]`.
    """
    steps: dict[_Key, Step] = {}
    marked = rf"{WHITE}(?:,{_OPENED}|())"
    for quote in "'\"":
        ended = rf"(?:{quote}{marked}|())|)"
        rest = rf'[^{quote}"\\\x00-\x1f]'
        steps[STRING, quote, False] = Step(rf"({rest}*){ended}", (STRING, quote, False))
        for comma in (False, True):
            steps[QUOTE, quote, comma] = Step(rf"({rest}+){ended}", (QUOTE, quote, comma))
    steps[AFTER, "", False] = Step(rf"{marked}|)", (AFTER, "", False))
    for comma in (False, True):
        steps[FIRST, "", comma] = Step(rf"{_OPENED}|)", (FIRST, "", comma))
    for (state, quote, comma), step in steps.items():
        if quote:
            head = "" if state == STRING else _string_head(comma=comma)
            step.then[1] = (steps[STRING, quote, False], _join(head, 1), None)
            group = _link_opened(steps, step, 2, comma=True, before=(head, 1, '"'))
            step.then[group] = (steps[FIRST, "", True], _join(head, 1, '"'), None)
            step.then[group + 1] = (steps[AFTER, "", False], _join(head, 1, '"'), None)
        elif state == AFTER:
            step.then[None] = (step, _join(), None)
            group = _link_opened(steps, step, 1, comma=True, before=())
            step.then[group] = (steps[FIRST, "", True], _join(), None)
        else:
            step.then[None] = (step, _join(), None)
            _link_opened(steps, step, 1, comma=comma, before=())
    for quote, search in special.items():
        step = steps[STRING, quote, False]
        step.then[1] = (step.long(1, None, search), None, None)
    return steps


def _link_opened(
    steps: dict[_Key, Step], step: Step, group: int, *, comma: bool, before: tuple[str | int, ...]
) -> int:
    """The outcomes of `_OPENED`, whose groups begin at `group`, behind what `before` makes; return the group after them."""
    for quote in "'\"":
        made = _join(*before, _string_head(comma=comma), group)
        step.then[group] = (steps[STRING, quote, False], made, None)
        step.then[group + 1] = (steps[QUOTE, quote, comma], _join(*before), None)
        group += 2
    return group


def _string_head(*, comma: bool) -> str:
    return ', "' if comma else '"'


def _join(*parts: str | int) -> Build:
    """Return what joins texts and groups; the usual shapes without a loop."""
    if not parts:
        return lambda _: ""
    if len(parts) == 2 and isinstance(parts[1], int):  # noqa: PLR2004 - a text and a group
        head, group = parts
        return lambda found: f"{head}{found[group]}"
    if len(parts) == 3:  # noqa: PLR2004 - a text, a group, a text
        head, group, tail = parts
        return lambda found: f"{head}{found[group]}{tail}"
    head, group, tail, more, last = parts
    between = f"{tail}{more}"
    return lambda found: f"{head}{found[group]}{between}{found[last]}"


STEPS: Final = _steps()
