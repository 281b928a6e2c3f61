"""What a template can do, in one word for each column of the matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from analyzer.spec.model import CallsSegment, JsonLayout, Spec
from analyzer.spec.parts import ArgumentsSlot, IdSlot, IndexSlot
from analyzer.verify.literals import layout_parts, string_codec

COLUMNS: Final[Mapping[str, str]] = {
    "calls": "how a call is written",
    "parallel": "whether a turn may have several calls",
    "ids": "whether the id of a call is written",
    "reasoning": "where the history keeps reasoning",
    "results": "the role in which results go back",
    "encoding": "how a text argument is written",
}
"""The columns of the matrix, with what each says."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One row of the matrix: the fields are `COLUMNS`."""

    calls: str = "none"
    """`none`, `described`, `JSON`, `JSON array`, `items` (a literal for each argument), or `name + value`."""
    parallel: str = "–"
    """`yes`, `no`, or `–` without calls."""
    ids: str = "–"
    """`written`, `made` (of name or counter), `no`, or `–` without calls."""
    reasoning: str = "none"
    """`none`, or where the history keeps it: `always`, `current turn`, `beside calls`, `never`."""
    results: str = "none"
    """`none`, `own role`, `user role` or `in turn`."""
    encoding: str = "–"
    """The codec of a text argument, such as `JSON` or `raw`."""

    def to_json(self) -> dict[str, str]:
        """The row as JSON data."""
        return asdict(self)


_CODECS: Final = {
    "json": "JSON",
    "raw": "raw",
    "python": "Python",
    "json_text": "JSON in a string",
    "quoted": "quoted",
    "dialect": "dialect",
    "nested": "nested",
    "escaped": "escaped",
    "cdata": "CDATA",
}


def capabilities(spec: Spec | None) -> Capabilities:
    """The row of a spec; of nothing at all when there is none."""
    if spec is None:
        return Capabilities()
    calls = spec.calls
    kept = spec.reasoning[0].kept.replace("_", " ") if spec.reasoning else "none"
    results = _results(spec)
    if calls is None:
        return Capabilities(reasoning=kept, results=results)
    described = any(one.described for found in spec.evidence.values() for one in found)
    return Capabilities(
        calls="described" if described else _calls(calls),
        parallel="yes" if calls.parallel and spec.input.parallel_calls else "no",
        ids=_ids(calls),
        reasoning=kept,
        results=results,
        encoding=_CODECS[string_codec(calls.layouts[0]).kind],
    )


def _calls(calls: CallsSegment) -> str:
    layout = calls.layouts[0]
    if isinstance(layout, JsonLayout):
        return "JSON array" if calls.array else "JSON"
    slot = next(part for part in layout.parts if isinstance(part, ArgumentsSlot))
    return "items" if slot.item is not None else "name + value"


def _ids(calls: CallsSegment) -> str:
    layout = calls.layouts[0]
    slots = [part for part in layout_parts(layout) if isinstance(part, (IdSlot, IndexSlot))]
    if any(isinstance(slot, IndexSlot) or slot.pattern for slot in slots):
        return "made"
    written = bool(slots) or (isinstance(layout, JsonLayout) and layout.id is not None)
    return "written" if written else "no"


def _results(spec: Spec) -> str:
    results = spec.results
    if results is None:
        return "none"
    if results.grouping == "in_turn":
        return "in turn"
    return "user role" if results.role == "user" else "own role"
