"""Junctions: white space between two literals of different segments, which a template may write otherwise.

What stands between two segments that nothing is said in (the closer of reasoning, then the opener of calls) is one run
of white space in a render and two pieces in a spec.  A template that writes the pieces beside text and something else
between them is no contradiction, and the runtime takes any white space there.  Next to a slot every blank counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from analyzer.verify.pieces import Piece, fits


@dataclass(frozen=True, slots=True)
class Junction:
    """White space that the template writes otherwise than the spec's parts give."""

    paths: tuple[str, ...]
    """The literals that meet."""
    wanted: str
    seen: str

    def __str__(self) -> str:
        return f"{' + '.join(self.paths)}: the template writes {self.seen!r} between them, the parts give {self.wanted!r}"


@dataclass(frozen=True, slots=True)
class _Space:
    paths: tuple[str, ...]
    text: str


def soft_misfit(
    pieces: Sequence[Piece], text: str, *, inside: bool = False
) -> tuple[tuple[int, Piece | None] | None, tuple[Junction, ...]]:
    """As `pieces.misfit`, with any white space at junctions; and the junctions that are written otherwise.

    `inside`: where two literals of one segment meet, white space is free too.
    """
    at = 0
    found: list[Junction] = []
    for item in _softened(pieces, inside=inside):
        if isinstance(item, Piece):
            end = fits(item, text, at)
            if end is None:
                return (at, item), tuple(found)
        else:
            end = at + len(text[at:]) - len(text[at:].lstrip())
            if text[at:end] != item.text:
                found.append(Junction(item.paths, item.text, text[at:end]))
        at = end
    return ((at, None) if text[at:].strip() else None), tuple(found)


def _softened(pieces: Sequence[Piece], *, inside: bool) -> Iterator[Piece | _Space]:
    run: list[Piece] = []
    for piece in pieces:
        if piece.path:
            run.append(piece)
            continue
        yield from _soft_run(run, inside=inside)
        run = []
        yield piece
    yield from _soft_run(run, inside=inside)


def _soft_run(run: Sequence[Piece], *, inside: bool) -> Iterator[Piece | _Space]:
    """A run of literals, cut at the white space where two segments meet; the ends of the run stand beside slots."""
    whole = "".join(piece.text for piece in run)
    done = offset = 0
    for one, other in pairwise(run):
        offset += len(one.text)
        start = len(whole[:offset].rstrip())
        stop = len(whole) - len(whole[offset:].lstrip())
        if (not inside and _segment(one.path) == _segment(other.path)) or start < done:
            continue
        if start == 0 or stop == len(whole):
            continue
        yield Piece(whole[done:start], _paths(run, done, start)[0])
        yield _Space(_paths(run, max(start - 1, 0), stop + 1), whole[start:stop])
        done = stop
    if whole[done:]:
        yield Piece(whole[done:], _paths(run, done, len(whole))[0])


def _paths(run: Sequence[Piece], start: int, stop: int) -> tuple[str, ...]:
    """The literals that have a character between two offsets of a run."""
    found, at = [], 0
    for piece in run:
        if at < stop and at + len(piece.text) > start:
            found.append(piece.path)
        at += len(piece.text)
    return tuple(found)


def _segment(path: str) -> str:
    """The segment that a literal belongs to; what ends a message belongs to its last one."""
    return path[: path.index("]")] if path.startswith("turn.segments[") else path
