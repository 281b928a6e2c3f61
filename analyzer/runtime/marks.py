"""What the literals at the top level mean."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, NamedTuple

from analyzer.runtime.literals import Lit, Watch


class Cue(IntEnum):
    """What a literal at the top level means."""

    IGNORED = 0
    EMPTY = 1
    REASONING_OPEN = 2
    REASONING_CLOSE = 3
    CONTENT_OPEN = 4
    CONTENT_CLOSE = 5
    SECTION_OPEN = 6
    CALL_OPEN = 7
    SEPARATOR = 8
    SECTION_CLOSE = 9
    HEADER = 10
    END = 11


OPENS_CALLS: Final = frozenset({Cue.SECTION_OPEN, Cue.CALL_OPEN})
CLOSES: Final = frozenset({Cue.REASONING_CLOSE, Cue.CONTENT_CLOSE, Cue.SECTION_CLOSE, Cue.END})
BARE_LIST: Final = 1
"""The number of the mark that closes a section which an overlay's lone bracket opened."""


class Mark(NamedTuple):
    """One meaning of one literal: the cue, the literal, the number of the segment or layout, the token to begin at."""

    cue: Cue
    lit: Lit
    number: int
    token: int
    leads: tuple[str, ...]
    stop: bool = True
    inner: bool = False
    overlay: str = ""
    """The overlay that adds the literal, empty for the template's own."""
    led: int = 0
    """How much white space at the literal's beginning stands before the call: what marks one that nothing else does."""


class Mode:
    """What is watched for in one state of the top level."""

    __slots__ = ("marks", "watch")

    def __init__(self, marks: Iterable[Mark], more_leads: Iterable[str] = ()) -> None:
        self.marks: dict[str, list[Mark]] = {}
        leads = set(more_leads)
        marks = list(marks)
        single = {mark.lit.rest(mark.token) for mark in marks}
        for mark in marks:
            token = mark.lit.tokens[mark.token] if mark.lit.tokens else ""
            if (
                token not in single
            ):  # more must stand right behind it: found first, it would hide a shorter one
                begun = (other for other in single if other.strip() and token.startswith(other))
                token = max(begun, key=len, default=token)
            if not token.strip() and mark.cue != Cue.SEPARATOR:
                continue  # white space alone marks nothing
            self.marks.setdefault(token, []).append(mark)
            leads.update(mark.leads)
        for group in self.marks.values():
            # what says more is tried first
            group.sort(key=lambda mark: (-len(mark.lit.rest(mark.token)), mark.cue, -len(mark.lit.text)))
        self.watch = Watch(self.marks, leads)
