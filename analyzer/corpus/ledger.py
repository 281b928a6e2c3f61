"""The ledger: templates known not to be proven, each with its reason.

A gap belongs to a template by its sha256; the slug is there for people.  The check fails when a template is not proven
and has no entry, when one with an entry is proven now (somebody closed the gap: the entry must go), and when an entry
gives no reason.  An entry whose template is not in the corpus at hand is left alone: it may be in a larger one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from analyzer.corpus.result import Result
from analyzer.errors import UsageError

_KEYS: Final = {"slug", "sha256", "reason"}


@dataclass(frozen=True, slots=True)
class Gap:
    """One entry: why this template is not proven."""

    slug: str
    sha256: str
    reason: str


Ledger = Mapping[str, Gap]
"""Gaps by the sha256 of the template."""


def load_ledger(path: Path, *, new: bool = False) -> Ledger:
    """The ledger in a file; with ``new`` one that is not there yet is empty.

    Raises `UsageError` when it is missing, cannot be read or is not valid.
    """
    if new and not path.exists():
        return {}
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"{path}: there is no such ledger", hint="--update-ledger writes a new one."
        ) from None
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise UsageError(f"{path}: the ledger cannot be read: {error}") from error
    return {gap.sha256: gap for gap in _gaps(path, data)}


def _gaps(path: Path, data: Any) -> Iterator[Gap]:
    mapping = {} if data is None else data
    entries = mapping.get("gaps") or [] if isinstance(mapping, dict) and set(mapping) <= {"gaps"} else None
    if not isinstance(entries, list):
        raise UsageError(f"{path}: a ledger is a mapping with the list `gaps` and nothing else")
    seen: set[str] = set()
    for entry in entries:
        if not isinstance(entry, dict) or set(entry) != _KEYS or not all(map(_is_text, entry.values())):
            raise UsageError(f"{path}: an entry has slug, sha256 and reason, all text; found {entry!r}")
        if entry["sha256"] in seen:
            raise UsageError(f"{path}: {entry['slug']} stands twice")
        seen.add(entry["sha256"])
        yield Gap(**entry)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def complaints(results: Iterable[Result], ledger: Ledger) -> list[str]:
    """Where results and ledger disagree, one sentence each."""
    found = []
    for result in results:
        gap = ledger.get(result.sha256)
        if gap is None and result.is_gap:
            found.append(f"{result.name}: {result.verdict}, and not in the ledger: {result.first_failure}")
        if gap is not None and not result.is_gap:
            found.append(
                f"{result.name}: closed unnoticed: it is {result.verdict} now; take it out of the ledger"
            )
    return found


def write_entries(results: Iterable[Result], ledger: Ledger) -> str:
    """The ledger that these results call for, as YAML: reasons kept, new gaps with their first failure."""
    from analyzer.spec.writer import write_yaml  # noqa: PLC0415  (only when a ledger is written)

    by_sha = {result.sha256: result for result in results}
    gaps = {sha: gap for sha, gap in ledger.items() if sha not in by_sha or by_sha[sha].is_gap}
    for sha, result in by_sha.items():
        if result.is_gap and sha not in gaps:
            gaps[sha] = Gap(result.name, sha, f"{result.verdict}: {result.first_failure}"[:200])
    entries = sorted(gaps.values(), key=lambda gap: (gap.slug.lower(), gap.sha256))
    listed = [{"slug": gap.slug, "sha256": gap.sha256, "reason": gap.reason} for gap in entries]
    return write_yaml({"gaps": listed})
