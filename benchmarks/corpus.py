"""What a template costs the corpus job: one process, two, a cluster of two workers, and out of the cache.

The same templates each time, start of all processes included; the cluster is a scheduler and two workers on this machine,
so what it costs beyond two processes is what handing out batches costs.  Then the size of what is kept and told.

    python benchmarks/corpus.py [--limit N]      our own templates, and N of the core corpus where it is synced
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from analyzer.corpus.cache import ResultCache  # noqa: E402
from analyzer.corpus.job import Plan, check  # noqa: E402
from analyzer.corpus.result import Result  # noqa: E402
from analyzer.corpus.review import review  # noqa: E402
from analyzer.template import Template  # noqa: E402
from benchmarks.analysis import templates  # noqa: E402

WORKERS: Final = 2


def timed(job: Callable[[], list[Result]]) -> tuple[float, str]:
    """Seconds of wall clock, and the text of the result file."""
    started = time.perf_counter()
    results = job()
    return time.perf_counter() - started, json.dumps(review(results).to_json())


def cluster(stack: ExitStack) -> str:
    """The address of a cluster of separate processes; empty where the extra is not installed."""
    try:
        from distributed import LocalCluster  # noqa: PLC0415  (an extra)
    except ImportError:
        return ""
    options = {"n_workers": WORKERS, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    return str(stack.enter_context(LocalCluster(**options)).scheduler_address)


def measure(chosen: Sequence[Template], folder: Path, address: str) -> list[tuple[str, float, str]]:
    """A name, the seconds and the result file of each way."""
    ways: list[tuple[str, Plan]] = [
        ("one process", Plan(jobs=1)),
        ("two processes", Plan(jobs=2, cache=ResultCache(folder))),
        ("from the cache", Plan(jobs=2, cache=ResultCache(folder))),
    ]
    if address:
        ways.insert(2, (f"cluster, {WORKERS} workers", Plan(scheduler=address)))
    return [(name, *timed(lambda plan=plan: list(check(chosen, plan)))) for name, plan in ways]  # type: ignore[misc]


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--limit", type=int, default=100)
    chosen = templates(options.parse_args().limit)
    console = Console(width=110)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        rows = measure(chosen, Path(folder), cluster(stack))
        kept = [path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()]
    table = Table(title=f"The corpus job over {len(chosen)} templates")
    for heading in ("", "s", "ms a template", "over one process"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, seconds, _ in rows:
        cells = (f"{seconds:.1f}", f"{seconds / len(chosen) * 1e3:.1f}", f"{seconds / rows[0][1]:.2f}")
        table.add_row(name, *cells)
    console.print(table)
    files = {text for _, _, text in rows}
    told = len(rows[0][2]) / len(chosen)
    console.print(
        f"result files: {'all the same' if len(files) == 1 else 'NOT THE SAME'}, {told:.0f} bytes a template"
    )
    console.print(f"kept in the cache: {sum(kept) / max(1, len(kept)):.0f} bytes a template")
    return int(len(files) != 1)


if __name__ == "__main__":
    sys.exit(main())
