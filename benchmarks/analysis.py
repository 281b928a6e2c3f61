"""What inference costs beside rendering.

Time of an analysis, verification excluded (both inferences, overlays, everything), over the time of rendering the very
same variants and nothing else: all at once, in one batch, through the same warm worker.  Each measurement compiles the
template anew, so neither side profits from what the worker keeps.  The best of three counts.

    python benchmarks/analysis.py [--limit N]      our own templates, and N of the core corpus where it is synced
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from analyzer.analysis import analyze  # noqa: E402
from analyzer.corpus import is_synced, load_corpus  # noqa: E402
from analyzer.errors import TemplateError  # noqa: E402
from analyzer.render import Outcome, RenderRequest, RenderWorker  # noqa: E402
from analyzer.template import Template, load_templates  # noqa: E402

AIM: Final = 1.5
REPEATS: Final = 3


class Recorder:
    """Passes requests on and keeps each distinct one, by `mutable`."""

    def __init__(self, worker: RenderWorker) -> None:
        self.worker = worker
        self.asked: dict[tuple[bool, str], RenderRequest] = {}

    def render(
        self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False
    ) -> list[Outcome]:
        for request in requests:
            self.asked.setdefault((mutable, request.encode()), request)
        return self.worker.render(source, requests, mutable=mutable)


class Fresh:
    """Gives the template a text it never had, so that nothing kept of it counts; renders are the same."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, template: Template) -> Template:
        self.number += 1
        return replace(template, text=f"{{# {self.number} #}}{template.text}", sha256="")


def measure(template: Template, worker: RenderWorker, fresh: Fresh) -> tuple[int, float, float]:
    """Distinct renders, seconds of analysis, seconds of rendering."""
    recorder = Recorder(worker)
    analyze(template, renderer=recorder, verify=False)
    analyses, renders = [], []
    for _ in range(REPEATS):
        copy = fresh(template)
        started = time.perf_counter()
        analyze(copy, renderer=worker, verify=False)
        analyses.append(time.perf_counter() - started)
        text = fresh(template).text
        started = time.perf_counter()
        for mutable in (False, True):
            batch = [request for (changed, _), request in recorder.asked.items() if changed == mutable]
            if batch:
                worker.render(text, batch, mutable=mutable)
        renders.append(time.perf_counter() - started)
    return len(recorder.asked), min(analyses), min(renders)


def templates(limit: int) -> list[Template]:
    found = [
        one
        for path in sorted((ROOT / "corpus" / "templates").glob("*.jinja"))
        for one in load_templates(path)
    ]
    if is_synced():
        real = load_corpus()
        found += [real[number * len(real) // limit] for number in range(min(limit, len(real)))]
    return found


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--limit", type=int, default=60)
    chosen = options.parse_args()
    fresh = Fresh()
    rows: list[tuple[str, int, float, float]] = []
    with RenderWorker() as worker:
        for template in templates(chosen.limit):
            with suppress(TemplateError):  # does not compile, or never ends
                rows.append((template.name, *measure(template, worker, fresh)))
    rows.sort(key=lambda row: row[2] / row[3])
    ratios = [analysis / rendering for _, _, analysis, rendering in rows]
    table = Table(title=f"Analysis over rendering its variants: {len(rows)} templates")
    for heading in ("", "renders", "analysis, ms", "rendering, ms", "ratio"):
        table.add_column(heading, justify="left" if not heading else "right")
    shown = [("fastest", rows[0]), ("median", rows[len(rows) // 2]), ("9 of 10", rows[len(rows) * 9 // 10])]
    for word, (name, renders, analysis, rendering) in [*shown, ("slowest", rows[-1])]:
        cells = (
            f"{renders}",
            f"{analysis * 1e3:.1f}",
            f"{rendering * 1e3:.1f}",
            f"{analysis / rendering:.2f}",
        )
        table.add_row(f"{word}: {name[:40]}", *cells)
    console = Console(width=110)
    console.print(table)
    median = statistics.median(ratios)
    console.print(f"median ratio {median:.2f} (aim: at most {AIM})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
