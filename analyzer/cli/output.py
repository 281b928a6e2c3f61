"""Output: the console, JSON, files that are never half-written, and text that cannot drive a terminal."""

from __future__ import annotations

import json
from typing import Any, Final

import click
from rich.console import Console

from analyzer.visible import visible

__all__ = ["WIDTH", "console", "print_json", "to_json", "visible"]

WIDTH: Final = 110
"""How wide text is set where there is no terminal to ask."""


class _Console(Console):
    """A console that leaves a broken pipe to the command group."""

    def on_broken_pipe(self) -> None:
        """Raise: the group ends the process quietly."""
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """The console for readable output: colours as `--color` says, else on a terminal without NO_COLOR."""
    context = click.get_current_context(silent=True)
    choice = (context.obj or {}).get("color", "auto") if context is not None else "auto"
    made = _Console(
        stderr=stderr,
        highlight=False,
        emoji=False,
        markup=False,
        soft_wrap=False,
        force_terminal={"always": True, "never": False}.get(choice),
        no_color=True if choice == "never" else (False if choice == "always" else None),
    )
    if not made.is_terminal or made.width < 20:  # noqa: PLR2004  (a terminal that does not tell its size)
        made.width = WIDTH
    return made


def print_json(value: Any, *, line: bool = False) -> None:
    """Print a value as JSON: indented, or on one line, written out at once."""
    click.echo(to_json(value, line=line))


def to_json(value: Any, *, line: bool = False) -> str:
    """A value as JSON text; characters that cannot be encoded are escaped."""
    indent = None if line else 2
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text
