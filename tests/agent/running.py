"""Tools to dispatch to, what is left running of them, and how long to wait."""

from __future__ import annotations

import threading
from typing import Final, Literal

from analyzer.agent import Registry, ToolError

PATIENCE: Final = 60.0
"""Seconds after which what should happen counts as not happening, on a machine that has a lot else to do."""


FILES = {"pom.xml": "<project>demo</project>", "README.md": "# Demo"}
"""The files of the worked examples."""


def threads() -> list[threading.Thread]:
    """The threads of tools that run now."""
    return [thread for thread in threading.enumerate() if thread.name == "tool"]


def join() -> None:
    """Wait for the threads of tools that nothing holds any more."""
    for thread in threads():
        thread.join(PATIENCE)


def weather() -> Registry:
    """The tools of the ten cases."""
    tools = Registry()

    @tools.tool
    def get_weather(city: str, unit: Literal["c", "f"] = "c", days: int = 1) -> str:
        return f"15 {unit.upper()} in {city} for {days}"

    @tools.tool
    def fail(why: str) -> str:
        raise ToolError(f"no such station {why}; try another")

    @tools.tool
    def panic() -> str:
        raise SystemExit(101)

    return tools


def files() -> Registry:
    """One tool that reads two files."""
    tools = Registry()

    @tools.tool
    def read_file(path: str) -> str:
        if path not in FILES:
            raise LookupError(f"no such file {path}")
        return FILES[path]

    return tools
