"""Pictures as SVG: the bar of verdicts, the map of formats, the chart of runs.  `Markup.format` escapes every text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from markupsafe import Markup

from analyzer.report.families import Family
from analyzer.report.history import Run
from analyzer.report.layout import Point
from analyzer.visible import visible

WIDTH: Final = 1160
MAP_HEIGHT: Final = 760
CHART_HEIGHT: Final = 240

CALL_COLOURS: Final[Mapping[str, str]] = {
    "JSON": "c-json",
    "JSON array": "c-array",
    "items": "c-items",
    "name + value": "c-value",
    "described": "c-described",
    "none": "c-none",
}
"""The class of a disc, by how calls are written."""

_LABELLED: Final = 24
"""How many of the largest families may have their label on the map."""
_LETTER: Final = 6.9
_LINE: Final = 14
"""The width and height of a label's letters, about."""


def bar(counts: Mapping[str, int], *, height: int = 22) -> Markup:
    """Verdicts side by side, each as wide as its share."""
    total = sum(counts.values()) or 1
    said = ", ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in counts.items())
    parts, at = [], 0.0
    for verdict, count in counts.items():
        width = WIDTH * count / total
        parts.append(
            Markup('<rect x="{}" y="0" width="{}" height="{}" class="f-{}"/>').format(
                f"{at:.2f}", f"{width:.2f}", height, verdict
            )
        )
        at += width
    return _svg(WIDTH, height, said, Markup("").join(parts))


def share(count: int, total: int) -> Markup:
    """One bar: how many of all."""
    width = max(2.0, 600 * count / (total or 1))
    inner = Markup(
        '<rect width="600" height="8" rx="4" class="f-unverified" opacity=".35"/><rect width="{}" height="8" rx="4" class="f-described"/>'
    )
    return _svg(600, 8, f"{count} of {total}", inner.format(f"{width:.1f}"))


def radius(family: Family) -> float:
    """The radius of a family's disc: its area is the number of templates."""
    return 4.0 * math.sqrt(len(family.members))


def map_of(families: Sequence[Family], points: Sequence[Point]) -> Markup:
    """The map of formats: discs that link to their family."""
    discs = []
    for family, (x, y) in zip(families, points, strict=True):
        count = len(family.members)
        name = (
            f"{_short(family.label)}, {count} template{'s' if count > 1 else ''}, calls: {family.can.calls}"
        )
        discs.append(
            Markup(
                '<a href="#f-{}" aria-label="{}"><title>{}</title><circle cx="{}" cy="{}" r="{}" class="{}"/></a>'
            ).format(
                family.key,
                name,
                name,
                f"{x:.1f}",
                f"{y:.1f}",
                f"{radius(family):.1f}",
                CALL_COLOURS[family.can.calls],
            )
        )
    labels = [
        Markup('<text class="label" x="{}" y="{}" text-anchor="middle" aria-hidden="true">{}</text>').format(
            f"{x:.1f}", f"{y + 4:.1f}", text
        )
        for x, y, text in _labels(families, points)
    ]
    inner = Markup("").join([*discs, *labels])
    return _svg(WIDTH, MAP_HEIGHT, "Map of formats", inner, role="group")


def _labels(families: Sequence[Family], points: Sequence[Point]) -> Iterator[tuple[float, float, str]]:
    """Labels of the largest families, with their places; one that would cover another is left out."""
    taken: list[tuple[float, float, float]] = []
    for family, (x, y) in list(zip(families, points, strict=True))[:_LABELLED]:
        text = _short(family.label, 18)
        half = len(text) * _LETTER / 2
        at = min(max(x, half), WIDTH - half)
        free = all(abs(at - other) > half + room or abs(y - line) > _LINE for other, line, room in taken)
        if free and len(family.members) > 1:
            taken.append((at, y, half))
            yield at, y, text


def chart(runs: Sequence[Run], order: Sequence[str]) -> Markup:
    """The runs side by side, each a column of its verdicts."""
    most = max((len(run.verdicts) for run in runs), default=0) or 1
    room = (WIDTH - 60) / max(len(runs), 8)
    parts = []
    for number, run in enumerate(runs):
        at = float(CHART_HEIGHT - 24)
        left = 50 + number * room
        counts = run.counts
        for verdict in order:
            height = (CHART_HEIGHT - 40) * counts.get(verdict, 0) / most
            at -= height
            if height:
                parts.append(
                    Markup(
                        '<rect x="{}" y="{}" width="{}" height="{}" class="f-{}"><title>{}</title></rect>'
                    ).format(
                        f"{left:.1f}",
                        f"{at:.2f}",
                        f"{room * 0.8:.1f}",
                        f"{height:.2f}",
                        verdict,
                        f"{run.time}: {counts[verdict]} {verdict.replace('_', ' ')}",
                    )
                )
        if number in (0, len(runs) - 1) or room > 70:  # noqa: PLR2004  (a date is that wide)
            parts.append(
                Markup('<text x="{}" y="{}">{}</text>').format(f"{left:.1f}", CHART_HEIGHT - 6, run.time[:10])
            )
    parts.append(Markup('<text x="4" y="24">{}</text>').format(most))
    return _svg(WIDTH, CHART_HEIGHT, f"Verdicts of {len(runs)} runs", Markup("").join(parts))


def _svg(width: int, height: int, label: str, inner: Markup, *, role: str = "img") -> Markup:
    head = Markup('<svg viewBox="0 0 {} {}" width="{}" height="{}" role="{}" aria-label="{}">')
    return head.format(width, height, width, height, role, label) + inner + Markup("</svg>")


def _short(text: str, most: int = 40) -> str:
    line = visible(text).replace("\n", "↵")
    return line if len(line) <= most else f"{line[: most - 1]}…"
