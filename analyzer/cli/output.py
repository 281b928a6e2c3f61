"""Output: the console, JSON, files that are never half-written, and text that cannot drive a terminal."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Final

import click
from rich.console import Console

from analyzer.cli.places import output_is_claimed
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
    """The console for readable output: colours as `--color` says, else on a terminal without NO_COLOR, or with FORCE_COLOR.

    Where an option writes something else to standard output, words for people go to standard error.
    """
    context = click.get_current_context(silent=True)
    stderr = stderr or (context is not None and output_is_claimed(context))
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


def say_after(printed: str, paragraph: str) -> None:
    """Say something on standard error after a text on standard output that need not end its line.

    Where both go to the same terminal, file or pipe, the line is ended first; the text itself stays as it is.
    """
    unended = bool(printed) and not printed.endswith("\n")
    click.echo("\n" * (unended and _is_one_place()) + f"analyzer: {visible(paragraph)}", err=True)


def _is_one_place() -> bool:
    """Whether standard output and standard error are the same file."""
    try:
        out, err = (os.fstat(stream.fileno()) for stream in (sys.stdout, sys.stderr))
    except (OSError, ValueError, AttributeError):  # closed, or no files at all
        return False
    return os.path.samestat(out, err)


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
