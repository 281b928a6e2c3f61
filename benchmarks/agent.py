"""What checking and dispatching costs: 1,000 calls with 1 KB of arguments each, over just running them.

"Just running" decodes each call's arguments and calls the function (or awaits it), one after another: what any loop has
to do at least. All numbers of one table come from one run; the best of several repeats counts.

    python benchmarks/agent.py
"""

from __future__ import annotations

import asyncio
import gc
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from analyzer.agent import Registry, check, run  # noqa: E402
from analyzer.chat import Message, ToolCall  # noqa: E402

CALLS: Final = 1000
REPEATS: Final = 5


def save(path: str, text: str, mode: str = "w", lines: list[int] | None = None) -> str:
    return f"{path}: {len(text)} characters, {mode}, {lines}"


async def save_later(path: str, text: str, mode: str = "w", lines: list[int] | None = None) -> str:
    return save(path, text, mode, lines)


def turn(name: str) -> Message:
    """A turn of many calls with a kilobyte of arguments each."""
    calls = []
    for number in range(CALLS):
        head = {"path": f"src/{number}.py", "mode": "w", "lines": [1, 2, 3]}
        room = 1024 - len(json.dumps({**head, "text": ""}))
        calls.append(ToolCall(name, json.dumps({**head, "text": "x" * room}), f"id{number}"))
    return Message(tool_calls=tuple(calls))


def best(work: Callable[[], Any]) -> float:
    """Microseconds a call, the best of several times."""
    times = []
    for _ in range(REPEATS):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) / CALLS * 1e6


def main() -> None:
    tools = Registry()
    tools.add(save)
    tools.add(save_later)
    plain, later = turn("save"), turn("save_later")
    assert all(not result.is_error for result in run(tools, plain))
    assert all(not result.is_error for result in run(tools, later))
    checked, checked_later = check(plain, tools.tools), check(later, tools.tools)

    async def await_each() -> None:
        for call in later.tool_calls:
            await save_later(**json.loads(call.arguments))

    floor = best(lambda: [save(**json.loads(call.arguments)) for call in plain.tool_calls])
    floor_later = best(lambda: asyncio.run(await_each()))
    rows = [
        ("just running, plain function", floor, None),
        ("just running, async function", floor_later, None),
        ("check alone", best(lambda: check(plain, tools.tools)), None),
        ("dispatch alone, async function", best(lambda: run(tools, checked_later)), floor_later),
        ("dispatch alone, plain function (a thread each)", best(lambda: run(tools, checked)), floor),
        ("check and dispatch, async function", best(lambda: run(tools, later)), floor_later),
        ("check and dispatch, plain function (a thread each)", best(lambda: run(tools, plain)), floor),
    ]
    table = Table("what", "µs a call", "overhead, µs a call", title=f"{CALLS} calls of 1 KB")
    for name, cost, over in rows:
        table.add_row(name, f"{cost:.1f}", "" if over is None else f"{cost - over:.1f}")
    console = Console()
    console.print(table)
    console.print(f"Python {platform.python_version()}, best of {REPEATS}")


if __name__ == "__main__":
    main()
