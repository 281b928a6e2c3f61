"""An agent in a hundred lines: two tools, and a loop over any server that speaks Chat Completions.

    python examples/agent.py http://127.0.0.1:8080/v1 "What is in pom.xml?"

Each turn is streamed and put together, its calls are checked and run, and one result for each goes back. What was wrong
with a call goes back too, so that the model can try again.
"""

# ruff: noqa: INP001, T201 - a script that prints

from __future__ import annotations

import json
import os
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analyzer.agent import (
    ChatStream,
    Limits,
    ModelTurn,
    Registry,
    ToolError,
    check,
    run,
    to_openai,
    turn_messages,
)

SYSTEM = "You answer questions about the files of a workspace. Look before you answer."
MAX_STEPS = 10


def workspace_tools(root: Path) -> Registry:
    """The two tools; both stay inside the workspace."""
    root = root.resolve()
    tools = Registry()

    def inside(path: str) -> Path:
        place = (root / path).resolve()
        if not place.is_relative_to(root):
            raise ToolError(f"{path} is outside the workspace; give a path relative to its root")
        return place

    @tools.tool
    def list_files(directory: str = ".") -> list[str]:
        """List the files of a directory.

        Args:
            directory: Path relative to the workspace root.
        """
        place = inside(directory)
        if not place.is_dir():
            raise ToolError(f"there is no directory {directory}")
        return sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in place.iterdir())

    @tools.tool
    def read_file(path: str) -> str:
        """Read a text file from the workspace.

        Args:
            path: Path relative to the workspace root.
        """
        place = inside(path)
        if not place.is_file():
            raise ToolError(f"there is no file {path}; list_files shows what there is")
        return place.read_text(encoding="utf-8", errors="replace")

    return tools


def lines_of(url: str, body: dict[str, Any]) -> Iterator[bytes]:
    """The lines of a streamed completion."""
    headers = {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {os.environ.get('API_KEY', 'none')}",
    }
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode(), headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=600) as response:  # noqa: S310  (the user's own address)
        yield from response


def ask(url: str, model: str, messages: list[dict[str, Any]], tools: Registry) -> ModelTurn:
    """One turn of the model."""
    stream = ChatStream(tools.tools)
    body = {"model": model, "messages": messages, "tools": to_openai(tools.tools), "stream": True}
    for line in lines_of(url, body):
        stream.feed(line)
    return stream.finish()


def answer(url: str, question: str, tools: Registry, model: str = "local") -> str:
    """Run turns until the model answers."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": question},
    ]
    for _ in range(MAX_STEPS):
        turn = ask(url, model, messages, tools)
        checked = check(turn, tools.tools, strict=True)
        for problem in checked.problems:
            print(f"! {problem}", file=sys.stderr)
        if not turn.calls:
            return turn.content or "(the model said nothing)"
        results = run(tools, checked, limits=Limits(timeout=30, max_bytes=20_000))
        for call, result in zip(turn.calls, results, strict=True):
            print(f"> {call.name} {call.arguments} -> {result.status}", file=sys.stderr)
        messages += turn_messages(turn.message, results)
    return "(no answer after so many steps)"


if __name__ == "__main__":
    if len(sys.argv) != 3:  # noqa: PLR2004  (the program, the server, the question)
        raise SystemExit(__doc__)
    print(answer(sys.argv[1].rstrip("/"), sys.argv[2], workspace_tools(Path.cwd())))
