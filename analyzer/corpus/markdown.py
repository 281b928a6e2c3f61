"""The outcome of a run as a page of Markdown, such as a CI service shows as a job's summary.

Names and texts come from templates, which are not trusted: they stand in code spans or are escaped, on one line each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from analyzer.corpus.changes import KINDS
from analyzer.corpus.review import Review

SHOWN: Final = 100
"""How many changes of one kind, formats and names in a list are told; services cut long pages off."""
NAMES: Final = 12

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#!|~&])")
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def to_markdown(review: Review) -> str:
    """The page."""
    figures = _figures(review) if review.results or review.broken else ()
    lines = [f"## Corpus check: {review.status}", "", *figures, *_changes(review), *_refused(review)]
    return "\n".join(lines).rstrip() + "\n"


def _figures(review: Review) -> Iterator[str]:
    found = review.summary
    same = "" if found.distinct == found.templates else f", {found.distinct} of them distinct"
    yield f"{counted(found.templates, 'template')}{same}, {counted(found.formats, 'format')}."
    if found.share is not None:
        yield f"{found.proven} of {found.renders_calls} that render calls are proven ({found.share:.1%})."
    yield from ("", "| Verdict | Templates |", "| --- | ---: |")
    for verdict, count in found.verdicts.items():
        yield f"| {escaped(verdict.replace('_', ' '))} | {count} |"
    if review.broken:
        yield f"| (broken sources) | {len(review.broken)} |"
    yield ""


def _changes(review: Review) -> Iterator[str]:
    if not review.changes:
        return
    yield from ("| Change | Severity | Templates | Meaning |", "| --- | --- | ---: | --- |")
    for kind, count in review.counts.items():
        known = KINDS[kind]
        yield f"| {escaped(kind.replace('_', ' '))} | {known.severity} | {count} | {known.meaning} |"
    yield ""
    if review.formats:
        yield from _formats(review)
    for kind in review.counts:
        if kind == "format_changed":
            continue  # told by format, above
        yield from (f"### {kind.replace('_', ' ').capitalize()}", "")
        lines = [f"- {code(one.name)}: {escaped(one.words)}" for one in review.changes if one.kind == kind]
        yield from (*_first(lines, SHOWN), "")


def _refused(review: Review) -> Iterator[str]:
    if review.refused:
        yield from ("### Refused", "")
        yield from _first([f"- {code(one.name)}: {escaped(one.reason)}" for one in review.refused], SHOWN)


def _formats(review: Review) -> Iterator[str]:
    yield from ("### Formats that changed", "")
    for change in review.formats[:SHOWN]:
        yield f"- {escaped(change.words)}"
        yield f"  - changed: {', '.join(_first([code(name) for name in change.templates], NAMES))}"
        if change.keep:
            yield f"  - not changed: {', '.join(_first([code(name) for name in change.keep], NAMES))}"
        yield from _first([f"  - {escaped(one.words)}" for one in change.differences], SHOWN, "  - ")
    if len(review.formats) > SHOWN:
        yield f"- and {len(review.formats) - SHOWN} more"
    yield ""


def _first(lines: Iterable[str], most: int, bullet: str = "") -> list[str]:
    found = list(lines)
    more = [f"{bullet}and {len(found) - most} more"] if len(found) > most else []
    return [*found[:most], *more]


def counted(number: int, noun: str) -> str:
    """The number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def escaped(text: str) -> str:
    """The text on one line, shown as it is: nothing in it is Markdown or HTML."""
    return _SPECIAL.sub(r"\\\1", _plain(text))


def code(text: str) -> str:
    """The text as a code span; the fence is longer than any row of backticks in it."""
    plain = _plain(text)
    longest = max((len(row) for row in re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    space = " " if plain.startswith("`") or plain.endswith("`") or not plain.strip() else ""
    return f"{fence}{space}{plain}{space}{fence}"


def _plain(text: str) -> str:
    one_line = " ".join(text.split())
    return _CONTROLS.sub(lambda found: f"\\u{ord(found.group()):04x}", one_line)
