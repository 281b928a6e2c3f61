"""The coverage table: which levels of which factors have met in a round trip that held.

A *cell* is a pair of levels of two different factors, such as (2 calls, an array).  A cell is *covered* when a case
with both passed, *refused* when the template takes no such conversation, and else it is not proven.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, product
from typing import Final, TypeAlias

from analyzer.verify.cases import Case, json_type, looks_typed
from analyzer.verify.catalogue import TYPE_LEVELS
from analyzer.verify.covering import ARGUMENTS, CALLS
from analyzer.verify.samples import cases

Level: TypeAlias = tuple[str, str]
Cell: TypeAlias = tuple[Level, Level]

FACTORS: Final[dict[str, tuple[str, ...]]] = {
    "calls": tuple(map(str, CALLS)),
    "arguments": ARGUMENTS,
    "types": TYPE_LEVELS,
    "content": ("absent", "present"),
    "reasoning": ("absent", "present"),
    "after": ("user", "result"),
}
"""The factors whose levels are the same for every template; `setting` comes from the spec."""

_EXTRA: Final = 24
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ .")


def levels_of(case: Case, setting: str = "default") -> frozenset[Level]:
    """The levels that a case has: several of `arguments` and `types` when its calls differ."""
    reply = case.reply
    found: set[Level] = {
        ("calls", str(len(reply.calls))),
        ("content", "present" if reply.content else "absent"),
        ("reasoning", "present" if reply.reasoning else "absent"),
        ("after", "result" if case.place == "result" else "user"),
        ("setting", setting),
    }
    for call in reply.calls:
        found.add(("arguments", ARGUMENTS[min(len(call.arguments), 2)]))
        found.update(("types", _type_level(value)) for value in call.arguments.values())
    return frozenset(found)


def _type_level(value: object) -> str:
    if not isinstance(value, str):
        return json_type(value)
    if looks_typed(value) or not value:
        return "typed-looking text"
    return "text" if _PLAIN.issuperset(value) and value == value.strip() else "hostile text"


def cells_of(levels: Iterable[Level]) -> Iterator[Cell]:
    """The cells that these levels cover, `_impossible` ones left out."""
    for one, other in combinations(sorted(levels), 2):
        if one[0] != other[0] and not _impossible(one, other):
            yield one, other


def _impossible(one: Level, other: Level) -> bool:
    """Whether no conversation has both levels, or both say nothing about each other (in the order of `sorted`)."""
    pair = {one[0], other[0]}
    none = ("calls", "0") in (one, other)
    if none and (pair & {"arguments", "types"} or ("content", "absent") in (one, other)):
        return True
    if pair == {"arguments", "types"} and ("arguments", "none") in (one, other):
        return True
    return "after" in pair and bool(pair & {"arguments", "types"})


@lru_cache(maxsize=64)
def all_cells(settings: tuple[str, ...]) -> frozenset[Cell]:
    """Every cell of the table for a template with these settings."""
    factors = {**FACTORS, "setting": settings}
    found: set[Cell] = set()
    for one, other in combinations(sorted(factors), 2):
        for pair in product(factors[one], factors[other]):
            found.update(cells_of(((one, pair[0]), (other, pair[1]))))
    return frozenset(found)


@lru_cache(maxsize=64)
def plan(seed: int, effort: str, settings: int) -> tuple[tuple[int, int], ...]:
    """Which case (by number) to render under which setting (by number), so that cells with settings are covered too.

    Each case comes once; some come again under another setting when settings are many.
    """
    known = cases(seed, effort)
    if settings == 1:
        return tuple((number, 0) for number in range(len(known)))
    labels = tuple(map(str, range(settings)))
    cells = {
        (number, setting): frozenset(cells_of(levels_of(case, labels[setting])))
        for number, case in enumerate(known)
        for setting in range(settings)
        if setting == 0 or case.place in ("first", "result")
    }
    missing = set(all_cells(labels))
    chosen: list[tuple[int, int]] = []
    for number in range(len(known)):
        options = [(number, setting) for setting in range(settings) if (number, setting) in cells]
        best = max(options, key=lambda option: len(cells[option] & missing))
        chosen.append(best)
        missing -= cells[best]
    while missing and len(chosen) < len(known) + _EXTRA:
        best = max(cells, key=lambda option: len(cells[option] & missing))
        if not cells[best] & missing:
            break
        chosen.append(best)
        missing -= cells[best]
    return tuple(chosen)


@dataclass(slots=True)
class Coverage:
    """The table, filled while cases are tried."""

    settings: tuple[str, ...]
    covered: set[Cell] = field(default_factory=set)
    refused: dict[Cell, str] = field(default_factory=dict)

    def passed(self, levels: Iterable[Level]) -> None:
        """Notes a case that held."""
        self.covered.update(cells_of(levels))

    def refuse(self, levels: Iterable[Level], reason: str) -> None:
        """Notes a case that the template does not take."""
        for cell in cells_of(levels):
            self.refused.setdefault(cell, reason)

    def refuse_level(self, level: Level, reason: str) -> None:
        """Notes that the template takes no conversation with this level."""
        for cell in all_cells(self.settings):
            if level in cell:
                self.refused.setdefault(cell, reason)

    def counts(self) -> dict[str, int]:
        """The numbers for `Verification.coverage`."""
        cells = all_cells(self.settings)
        covered = len(self.covered & cells)
        refused = sum(cell in self.refused for cell in cells - self.covered)
        return {"total": len(cells), "covered": covered, "refused": refused}

    def missing(self) -> Sequence[Cell]:
        """The cells that are neither covered nor refused, in order."""
        return sorted(all_cells(self.settings) - self.covered - self.refused.keys())


def describe(cells: Sequence[Cell]) -> Iterator[str]:
    """One line for each level that has gaps, with the levels it did not meet."""
    by_level: dict[Level, list[str]] = {}
    for one, other in cells:
        by_level.setdefault(one, []).append(f"{other[0]} {other[1]}")
    for (factor, level), others in by_level.items():
        yield f"coverage: {factor} {level} was not tried with {', '.join(others)}: no conversation of the plan with both held"
