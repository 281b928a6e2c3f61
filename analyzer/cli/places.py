"""What options and arguments name: what is read, files and folders that are written; told to be wrong before any work.

`-` is standard input where something is read and standard output where a file is written, each once in a command.  An empty
name is a mistake: it is what a shell makes of a variable that is not set, and would otherwise mean the current folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import click

from analyzer.errors import UsageError
from analyzer.files import check_file, write_file

DASH: Final = "-"
"""Standard input or standard output."""

_INPUT: Final = "analyzer.cli.places.input"
_OUTPUT: Final = "analyzer.cli.places.output"


@dataclass(frozen=True, slots=True)
class Output:
    """Where a command writes a text: a file, or standard output."""

    path: Path | None
    """None: standard output."""

    def write(self, text: str) -> None:
        """Write it whole or not at all."""
        if self.path is None:
            click.echo(text, nl=False)
        else:
            write_file(self.path, text)

    def __str__(self) -> str:
        return "standard output" if self.path is None else str(self.path)


class Named(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions alone
    """A name that is not empty."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name."""
        if not str(value):
            self.fail("the name is empty; is a variable not set?", param, ctx)
        return value


class Input(Named):
    """What is read: a file, standard input for `-`, or whatever else the command knows (a hub id)."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it was given."""
        name = str(super().convert(value, param, ctx))
        if name == DASH:
            _claim(_INPUT, "be read from standard input: name a file for one of them", param, ctx)
        return name


class InputPath(Named):
    """A file or a folder that is read, by its path alone: standard input is none."""

    stream: ClassVar[str] = "standard input"

    def __init__(self, *, folder: bool = False) -> None:
        self.name = "directory" if folder else "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path."""
        if str(value) == DASH:
            found = f"{self.stream} cannot stand for a {self.name} here; ./- is one of that name"
            self.fail(found, param, ctx)
        return Path(super().convert(value, param, ctx))


class OutputPath(InputPath):
    """A folder that is written, or a file that is added to: standard output is neither.

    Whether it can be written is asked by the command, which knows whether it will be.
    """

    stream: ClassVar[str] = "standard output"


class OutputFile(Named):
    """A file that is written, `-` for standard output; it is known before the work whether it can be."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Output:
        """Where to write."""
        name = super().convert(value, param, ctx)
        if name == DASH:
            if param is not None and ctx is not None:
                claim_output(ctx, param)
            return Output(None)
        try:
            check_file(Path(name))
        except UsageError as error:
            self.fail(error.found, param, ctx)
        return Output(Path(name))


def not_over(output: Output | None, source: str, what: str) -> None:
    """Refuse to write over the file that is read; `what` says what that is."""
    path = output.path if output is not None else None
    if path is not None and path.is_file() and Path(source).exists() and path.samefile(source):
        raise click.BadParameter(f"{path} is {what}; name another file", param_hint="'-o'")


def claim_output(ctx: click.Context, param: click.Parameter) -> None:
    """Take standard output for a parameter; raises `click.UsageError` when another one has it."""
    _claim(_OUTPUT, "be written to standard output: leave one of them out", param, ctx)


def output_is_claimed(ctx: click.Context) -> bool:
    """Whether standard output belongs to what an option writes there, so that words for people must go elsewhere."""
    return _OUTPUT in ctx.meta


def name_of(param: click.Parameter) -> str:
    """How a parameter is called in messages: its long option, or its metavar."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return (param.metavar or param.name or "").upper().strip("[].")


def _claim(which: str, words: str, param: click.Parameter | None, ctx: click.Context | None) -> None:
    """Take standard input or output for a parameter; only one may have it."""
    if param is None or ctx is None:
        return
    if which in ctx.meta:
        found = f"{ctx.meta[which]} and {name_of(param)} would both {words}"
        raise click.UsageError(found, ctx)
    ctx.meta[which] = name_of(param)
