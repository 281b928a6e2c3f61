"""The covering array: few shapes of a reply in which every two levels of two factors meet.

Factors and levels are those of the coverage table (`analyzer.verify.coverage`).  The array is made greedily and is
always the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from typing import Final

from analyzer.verify.cases import PLACES, Place
from analyzer.verify.catalogue import TYPE_LEVELS, TypeLevel

CALLS: Final = (0, 1, 2, 3)
ARGUMENTS: Final = ("none", "one", "several")
TEXTS: Final = ("absent", "plain", "hostile")

_UNPAIRED: Final = ({"types", "place"}, {"arguments", "place"})
"""Pairs that are left out: how a value is written does not depend on what stands before the turn."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One row of the array; ``arguments`` and ``kind`` are ``None`` where there is nothing to describe."""

    calls: int
    arguments: str | None
    kind: TypeLevel | None
    content: str
    reasoning: str
    place: Place

    def levels(self) -> tuple[tuple[str, object], ...]:
        """The factors with their levels, those without meaning left out."""
        named = (
            ("calls", self.calls),
            ("arguments", self.arguments),
            ("types", self.kind),
            ("content", self.content),
            ("reasoning", self.reasoning),
            ("place", self.place),
        )
        return tuple((name, level) for name, level in named if level is not None)


def _all_shapes() -> Iterator[Shape]:
    bodies: list[tuple[int, str | None, TypeLevel | None]] = [(0, None, None)]
    for calls in CALLS[1:]:
        bodies.append((calls, "none", None))
        bodies += [(calls, arguments, kind) for arguments in ARGUMENTS[1:] for kind in TYPE_LEVELS]
    for (calls, arguments, kind), content, reasoning, place in product(bodies, TEXTS, TEXTS, PLACES):
        if calls == 0 and content == "absent":
            continue  # a turn that says nothing is no turn; with reasoning alone, templates differ in what it means
        yield Shape(calls, arguments, kind, content, reasoning, place)


@lru_cache(maxsize=1)
def covering_array() -> tuple[Shape, ...]:
    """The shapes, plainest first among equals."""
    numbers: dict[tuple[object, object], int] = {}
    masks: list[tuple[Shape, int]] = []
    for shape in _all_shapes():
        mask = 0
        for pair in combinations(shape.levels(), 2):
            if {name for name, _ in pair} in _UNPAIRED:
                continue
            mask |= 1 << numbers.setdefault(pair, len(numbers))
        masks.append((shape, mask))
    missing = (1 << len(numbers)) - 1
    chosen: list[Shape] = []
    while missing:
        shape, mask = max(masks, key=lambda item: (item[1] & missing).bit_count())
        chosen.append(shape)
        missing &= ~mask
    return tuple(chosen)
