"""What changed against what is committed: one change a template and kind, and formats that changed for several at once.

results, broken sources  ─┐
baseline (`Known`)        ├─► changes, each of a kind of `KINDS`, and format changes with their users
ledger (`Gap`)           ─┘
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from analyzer.corpus.baseline import Baseline, Known
from analyzer.corpus.differences import Difference, differences
from analyzer.corpus.golden import format_of
from analyzer.corpus.ledger import Ledger
from analyzer.corpus.result import CRASHED, Result
from analyzer.corpus.sources import BrokenSource
from analyzer.lint.diff import diff
from analyzer.spec.document import parse_spec

Severity: TypeAlias = Literal["drift", "regression", "broken"]

SEVERITIES: Final[Mapping[Severity, str]] = {
    "drift": "something is otherwise than committed, nothing is worse",
    "regression": "a template is worse off than committed, or a gap is not in the ledger",
    "broken": "of some source or template nothing can be told: it was not loaded, or its process ended",
}
"""How much a change matters, the least first."""

EXIT_CODES: Final[Mapping[Severity, int]] = {"drift": 1, "regression": 6, "broken": 7}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of change: how much it matters, and what it says."""

    severity: Severity
    meaning: str


KINDS: Final[Mapping[str, Kind]] = {
    "unfinished": Kind("broken", "the job could not be finished; nothing is told of any template"),
    "broken_source": Kind("broken", "a source could not be loaded"),
    "no_result": Kind("broken", "the process that analysed the template died or was stopped"),
    "verdict_lost": Kind("regression", "the verdict is worse than the committed one"),
    "gap_new": Kind("regression", "it should be proven, is not, and is not in the ledger"),
    "gap_open": Kind("drift", "it should be proven and is not; there is no ledger and nothing committed"),
    "format_changed": Kind("drift", "the model's turns are written in another way"),
    "verdict_won": Kind("drift", "the verdict is better than the committed one"),
    "verdict_changed": Kind("drift", "the verdict is another one, neither better nor worse"),
    "defects_changed": Kind("drift", "the template's own defects are others"),
    "calls_changed": Kind("drift", "the template renders calls now, or does not any more"),
    "gap_closed": Kind("drift", "an entry of the ledger whose template is proven now"),
    "template_changed": Kind("drift", "the template's text changed, its format did not"),
    "renamed": Kind("drift", "a committed template has another name"),
    "new": Kind("drift", "a template of which nothing is committed"),
    "vanished": Kind("drift", "a committed template that is not in the corpus any more"),
}
"""The kinds of changes, those that matter most first."""

RANKS: Final[Mapping[str, int]] = {
    "proven": 3,
    "proven_with_defects": 3,
    "described": 2,
    "no_calls": 2,
    "failed": 1,
    "refused": 0,
}
"""How good a verdict is: which way a change of verdict goes."""


@dataclass(frozen=True, slots=True)
class Change:
    """What changed of one template or source."""

    name: str
    """The template's name; the source of one that was not loaded, `corpus check` for a job that was not finished."""
    kind: str
    """What kind of change it is."""
    words: str
    """What changed, in a sentence."""
    before: str = ""
    """What is committed: a verdict, the name of a format, a hash; empty where there is nothing to be told."""
    after: str = ""
    """What was found."""

    @property
    def severity(self) -> Severity:
        """How much it matters."""
        return KINDS[self.kind].severity

    def to_json(self) -> dict[str, Any]:
        """The change as JSON data."""
        return {
            "name": self.name,
            "kind": self.kind,
            "severity": self.severity,
            "words": self.words,
            "before": self.before,
            "after": self.after,
        }


@dataclass(frozen=True, slots=True)
class FormatChange:
    """A committed format that became another one, for some of the templates that share it."""

    before: str
    """The name of the committed format."""
    after: str
    """The name of the format that was found."""
    differences: tuple[Difference, ...]
    """What is otherwise in it, renamed markers first."""
    templates: tuple[str, ...]
    """Those that have the other format now."""
    edited: tuple[str, ...]
    """Those of them whose text changed; the others are read in another way by this program."""
    keep: tuple[str, ...]
    """The other users of the committed format, which keep it or changed in another way."""

    @property
    def words(self) -> str:
        """Who is affected, and why, in a sentence."""
        shared = len(self.templates) + len(self.keep)
        who = (
            f"{len(self.templates)} of the {shared} templates that share it"
            if shared > 1
            else "its only user"
        )
        if len(self.edited) == len(self.templates):
            why = "the template's text changed" if len(self.templates) == 1 else "their text changed"
        elif self.edited:
            why = f"the text of {len(self.edited)} changed, the others are read in another way"
        else:
            why = "the text is the same, it is read in another way"
        return f"format {self.before} is now {self.after} for {who}; {why}"

    def to_json(self) -> dict[str, Any]:
        """The change of a format as JSON data."""
        return {
            "before": self.before,
            "after": self.after,
            "words": self.words,
            "differences": [one.to_json() for one in self.differences],
            "templates": list(self.templates),
            "edited": list(self.edited),
            "keep": list(self.keep),
        }


def compare(
    results: Sequence[Result],
    broken: Sequence[BrokenSource],
    baseline: Baseline | None,
    ledger: Ledger | None,
    expected: Collection[str] | None = None,
) -> tuple[Change, ...]:
    """The changes, those that matter most first, then by name.

    Without a `baseline` nothing is new and nothing vanished; without a `ledger` a gap counts where nothing is committed.
    `expected` are the committed names that the corpus at hand should hold; without it, all of them.
    """
    names = {result.name for result in results}
    moved = _moved(results, baseline or {})
    found = [Change(one.source, "broken_source", one.reason) for one in broken]
    for result in results:
        known = (baseline or {}).get(moved.get(result.name, result.name))
        found += _of_result(result, known, ledger, compared=baseline is not None)
    gone = {*(baseline or {})} & {*(expected if expected is not None else baseline or ())}
    gone = {name for name in gone - names - {*moved.values()} if not any(one.covers(name) for one in broken)}
    found += [
        Change(
            name, "vanished", "it is committed and not in the corpus any more", (baseline or {})[name].verdict
        )
        for name in gone
    ]
    order = list(KINDS)
    return tuple(sorted(found, key=lambda one: (order.index(one.kind), one.name.lower(), one.name)))


def _moved(results: Sequence[Result], baseline: Baseline) -> dict[str, str]:
    """The committed names of templates that have another name now."""
    names = {result.name for result in results}
    free = {
        known.sha256: name for name, known in sorted(baseline.items()) if name not in names and known.sha256
    }
    lengths = {len(sha) for sha in free}
    found: dict[str, str] = {}
    for result in results:
        short = next((sha for length in lengths if (sha := result.sha256[:length]) in free), None)
        if result.name not in baseline and short is not None:
            found[result.name] = free.pop(short)
    return found


def _of_result(
    result: Result, known: Known | None, ledger: Ledger | None, *, compared: bool
) -> Iterator[Change]:
    if result.verdict == CRASHED:
        listed = ledger is not None and result.sha256 in ledger
        if not listed and (known is None or known.verdict != CRASHED):
            was = f"was {_words(known.verdict)}; " if known is not None else ""
            before = known.verdict if known is not None else ""
            yield Change(result.name, "no_result", f"{was}{result.first_failure}", before, CRASHED)
        return
    yield from _of_gap(result, known, ledger)
    if known is None:
        if compared:
            yield Change(result.name, "new", f"new: {_words(result.verdict)}", "", result.verdict)
        return
    if known.name != result.name:
        yield Change(result.name, "renamed", f"it is committed as {known.name}", known.name, result.name)
    yield from _of_verdict(result, known)
    yield from _of_format(result, known)


def _of_gap(result: Result, known: Known | None, ledger: Ledger | None) -> Iterator[Change]:
    why = f"{_words(result.verdict)}: {result.first_failure}"
    if ledger is None:
        if result.is_gap and known is None:
            yield Change(result.name, "gap_open", why, "", result.verdict)
        return
    listed = result.sha256 in ledger
    if result.is_gap and not listed:
        yield Change(result.name, "gap_new", f"not in the ledger: {why}", "", result.verdict)
    if listed and not result.is_gap:
        words = f"closed unnoticed: it is {_words(result.verdict)} now; take it out of the ledger"
        yield Change(result.name, "gap_closed", words, ledger[result.sha256].reason, result.verdict)


def _of_verdict(result: Result, known: Known) -> Iterator[Change]:
    if known.verdict != result.verdict:
        by = RANKS.get(result.verdict, 0) - RANKS.get(known.verdict, 0)
        kind = "verdict_won" if by > 0 else "verdict_lost" if by < 0 else "verdict_changed"
        why = f": {result.first_failure}" if result.failures else ""
        words = f"was {_words(known.verdict)}, is {_words(result.verdict)}{why}"
        yield Change(result.name, kind, words, known.verdict, result.verdict)
    if known.defects != result.defects:
        more = [f"new: {kind}" for kind in result.defects if kind not in known.defects]
        less = [f"gone: {kind}" for kind in known.defects if kind not in result.defects]
        before, after = ", ".join(known.defects), ", ".join(result.defects)
        yield Change(result.name, "defects_changed", "; ".join([*more, *less]), before, after)
    if known.renders_calls is not None and known.renders_calls != result.renders_calls:
        words = "it renders calls now" if result.renders_calls else "it renders no calls any more"
        yield Change(
            result.name, "calls_changed", words, *map(_yes, (known.renders_calls, result.renders_calls))
        )


def _of_format(result: Result, known: Known) -> Iterator[Change]:
    if known.format and result.format and known.format != result.format:
        words = f"format {known.format} is now {result.format}"
        yield Change(result.name, "format_changed", words, known.format, result.format)
    elif known.format == result.format and not result.sha256.startswith(known.sha256):
        before, after = known.sha256[:12], result.sha256[:12]
        yield Change(result.name, "template_changed", "its text changed, its format did not", before, after)


def format_changes(
    changes: Sequence[Change], results: Sequence[Result], baseline: Baseline
) -> tuple[FormatChange, ...]:
    """The formats that changed, each with what changed in it and with its users.

    Raises `UsageError` when the file of a committed format cannot be read, `SpecError` when it is not valid.
    """
    by_name = {result.name: result for result in results}
    committed = {change.after: change.before for change in changes if change.kind == "renamed"}
    users: dict[str, list[str]] = {}
    for name, known in baseline.items():
        users.setdefault(known.format, []).append(name)
    groups: dict[tuple[str, str], list[tuple[Result, Known]]] = {}
    for change in changes:
        if change.kind == "format_changed":
            pair = (by_name[change.name], baseline[committed.get(change.name, change.name)])
            groups.setdefault((change.before, change.after), []).append(pair)
    return tuple(_format_change(names, group, users[names[0]]) for names, group in sorted(groups.items()))


def _format_change(
    names: tuple[str, str], group: Sequence[tuple[Result, Known]], users: Sequence[str]
) -> FormatChange:
    result, known = group[0]
    changed = {known.name for _, known in group}
    return FormatChange(
        before=names[0],
        after=names[1],
        differences=differences(diff(format_of(known.spec()), format_of(parse_spec(result.spec)))),
        templates=tuple(result.name for result, _ in group),
        edited=tuple(result.name for result, known in group if not result.sha256.startswith(known.sha256)),
        keep=tuple(sorted(name for name in users if name not in changed)),
    )


def _words(verdict: str) -> str:
    return verdict.replace("_", " ")


def _yes(value: bool) -> str:  # noqa: FBT001  (what it says)
    return "yes" if value else "no"
