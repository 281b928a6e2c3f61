"""What a run of the job tells: figures, changes, results; and what each of its outputs is made from.

Nothing in it was measured, so the same templates and the same committed specs give the same bytes in every output, on one
machine or on many, in one go or after having been killed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
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
from analyzer.corpus.result import REFUSED, Result, Summary, summarise
from analyzer.corpus.sources import BrokenSource

STATUS: Final[Mapping[Severity | None, str]] = {
    None: "nothing changed",
    "drift": "drift: something is otherwise than committed, nothing is worse",
    "regression": "regression: something is worse than committed",
    "broken": "broken run: of some source or template nothing can be told",
}
"""The outcome of a run in words."""


JOB: Final = "corpus check"
"""The name under which outputs tell what became of the job itself."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A template that renders not even a plain conversation, and is not known to."""

    name: str
    """The template's name."""
    reason: str
    """Why: file, line and message, as far as they are known."""

    def to_json(self) -> dict[str, str]:
        """The refusal as JSON data."""
        return {"name": self.name, "reason": self.reason}


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
    refused: tuple[Refusal, ...] = ()
    """The templates with the verdict `refused` that neither the committed specs nor the ledger know as such."""

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
            "refused": [one.to_json() for one in self.refused],
            "results": [result.found() for result in self.results],
        }


def review(
    results: Sequence[Result],
    broken: Sequence[BrokenSource] = (),
    baseline: Baseline | None = None,
    ledger: Ledger | None = None,
    expected: Collection[str] | None = None,
    origins: Mapping[str, str] | None = None,
) -> Review:
    """Hold results against what is committed; see `analyzer.corpus.changes.compare` for the arguments.

    `origins` says by name where templates come from: a file or a hub id.

    Raises `UsageError` when the file of a committed format cannot be read, `SpecError` when it is not valid.
    """
    ordered = tuple(sorted(results, key=lambda result: (result.name.lower(), result.name, result.sha256)))
    changes = compare(ordered, broken, baseline, ledger, expected)
    formats = format_changes(changes, ordered, baseline or {})
    refused = tuple(_refusals(ordered, baseline or {}, ledger or {}, origins or {}))
    found = Review(summarise(ordered), changes, formats, tuple(broken), ordered, refused)
    told = found.formats_by_template()
    worded = (_told(change, told) if change.kind == "format_changed" else change for change in changes)
    return replace(found, changes=tuple(worded))


def unfinished(reason: str) -> Review:
    """The outcome of a job that ended before its end.

    It holds the reason alone: with the results that there are, templates that nobody looked at would pass for vanished ones,
    and the figures for those of the corpus.
    """
    return Review(summarise(()), (Change(JOB, "unfinished", reason),), (), (), ())


def _refusals(
    results: Sequence[Result], baseline: Baseline, ledger: Ledger, origins: Mapping[str, str]
) -> Iterator[Refusal]:
    for result in results:
        known = baseline.get(result.name)
        if result.verdict != REFUSED or result.sha256 in ledger or (known and known.verdict == REFUSED):
            continue
        found = " ".join("; ".join(result.failures or ("no reason given",)).split())
        origin = origins.get(result.name, "")
        mark = ", " if found.startswith("line ") else ": "  # a place begins with its file
        yield Refusal(result.name, f"{origin}{mark}{found}" if origin else found)


def _told(change: Change, formats: Mapping[str, FormatChange]) -> Change:
    """The change of a template's format, with the first difference in its words."""
    first, *more = formats[change.name].differences
    return replace(change, words=f"{change.words}: {first.words}{f' (and {len(more)} more)' if more else ''}")
