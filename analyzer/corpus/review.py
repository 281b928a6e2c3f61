"""What a run of the job tells: figures, changes, results; and what each of its outputs is made from.

Nothing in it was measured, so the same templates and the same committed specs give the same bytes in every output, on one
machine or on many, in one go or after having been killed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from analyzer.corpus.baseline import Baseline
from analyzer.corpus.changes import (
    EXIT_CODES,
    KINDS,
    SEVERITIES,
    Change,
    FormatChange,
    Severity,
    compare,
    format_changes,
)
from analyzer.corpus.ledger import Ledger
from analyzer.corpus.result import Result, Summary, summarise
from analyzer.corpus.sources import BrokenSource

STATUS: Final[Mapping[Severity | None, str]] = {
    None: "nothing changed",
    "drift": "drift: something is otherwise than committed, nothing is worse",
    "regression": "regression: something is worse than committed",
    "broken": "broken run: of some source or template nothing can be told",
}
"""The outcome of a run in words."""


@dataclass(frozen=True, slots=True)
class Review:
    """The outcome of a run."""

    summary: Summary
    changes: tuple[Change, ...]
    """What changed, by template and kind, what matters most first."""
    formats: tuple[FormatChange, ...]
    """The formats that changed, each with its differences and its users."""
    broken: tuple[BrokenSource, ...]
    """The sources that could not be loaded."""
    results: tuple[Result, ...]
    """What was found of each template, by name."""

    @property
    def severity(self) -> Severity | None:
        """How much the change that matters most matters; None when nothing changed."""
        order = list(SEVERITIES)
        return max((change.severity for change in self.changes), key=order.index, default=None)

    @property
    def exit_code(self) -> int:
        """0 when nothing changed, else the one of the severity."""
        return EXIT_CODES[self.severity] if self.severity is not None else 0

    @property
    def status(self) -> str:
        """The outcome in a sentence."""
        return STATUS[self.severity]

    @property
    def counts(self) -> Mapping[str, int]:
        """How many changes there are of each kind, in the order of `KINDS`."""
        counted = Counter(change.kind for change in self.changes)
        return {kind: counted[kind] for kind in KINDS if counted[kind]}

    def formats_by_template(self) -> Mapping[str, FormatChange]:
        """The change of the format of each template that has another one."""
        return {name: one for one in self.formats for name in one.templates}

    def to_json(self) -> dict[str, Any]:
        """The outcome as JSON data."""
        return {
            "format_version": 1,
            "status": self.severity or "unchanged",
            "summary": {**self.summary.to_json(), "broken_sources": len(self.broken), "changes": self.counts},
            "changes": [change.to_json() for change in self.changes],
            "formats": [change.to_json() for change in self.formats],
            "broken_sources": [one.to_json() for one in self.broken],
            "results": [result.found() for result in self.results],
        }


def review(
    results: Sequence[Result],
    broken: Sequence[BrokenSource] = (),
    baseline: Baseline | None = None,
    ledger: Ledger | None = None,
    expected: Collection[str] | None = None,
) -> Review:
    """Hold results against what is committed; see `analyzer.corpus.changes.compare` for the arguments.

    Raises `SpecError` when the file of a committed format is missing or not valid.
    """
    ordered = tuple(sorted(results, key=lambda result: (result.name.lower(), result.name, result.sha256)))
    changes = compare(ordered, broken, baseline, ledger, expected)
    formats = format_changes(changes, ordered, baseline or {})
    found = Review(summarise(ordered), changes, formats, tuple(broken), ordered)
    told = found.formats_by_template()
    worded = (_told(change, told) if change.kind == "format_changed" else change for change in changes)
    return replace(found, changes=tuple(worded))


def _told(change: Change, formats: Mapping[str, FormatChange]) -> Change:
    """The change of a template's format, with the first difference in its words."""
    first, *more = formats[change.name].differences
    return replace(change, words=f"{change.words}: {first.words}{f' (and {len(more)} more)' if more else ''}")
