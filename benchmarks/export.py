"""What an export costs, for 1, 10 and 50 tools of six arguments each; a target that takes no tools costs the same for all.

Servers export once a request, so this is time before the first token. The best of several repeats counts.

    python benchmarks/export.py
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from analyzer.chat import Tool  # noqa: E402
from analyzer.errors import ExportError  # noqa: E402
from analyzer.export import TARGETS, export  # noqa: E402
from analyzer.spec.document import load_spec  # noqa: E402

SPECS: Final = ("json_tag_per_call", "tagged_raw_values")
COUNTS: Final = (1, 10, 50)
REPEATS: Final = 5
PROPERTIES: Final = {
    "city": {"type": "string"},
    "days": {"type": "integer", "minimum": 1},
    "unit": {"enum": ["celsius", "fahrenheit"]},
    "exact": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "place": {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}},
}


def tools(count: int) -> tuple[Tool, ...]:
    schema = {"type": "object", "properties": PROPERTIES, "required": ["city"]}
    return tuple(Tool(f"get_weather_{number}", "The weather.", schema) for number in range(count))


def main() -> None:
    table = Table("target", "format", *(f"{count} tools, ms" for count in COUNTS), title="Export")
    for target in TARGETS.values():
        for name in SPECS:
            spec = load_spec(ROOT / "generated" / "own" / f"{name}.yaml")
            cells = []
            for count in COUNTS:
                offered = tools(count) if target.needs_tools else ()
                best = float("inf")
                for _ in range(REPEATS):
                    start = time.perf_counter()
                    try:
                        export(target.name, spec, offered)
                    except ExportError as error:
                        sys.exit(str(error))
                    best = min(best, time.perf_counter() - start)
                cells.append(f"{best * 1000:.2f}")
            table.add_row(target.name, name, *cells)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
