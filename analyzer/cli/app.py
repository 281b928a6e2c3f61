"""The command group: options that all commands share, how errors end, and which file holds which command.

Commands are loaded by name (`COMMANDS`), and each imports what it needs inside its function, so that `--help` and
`--version` do not wait for a template engine.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final, NoReturn, TextIO

import click

from analyzer.cli.places import name_of
from analyzer.errors import AnalyzerError

COMMANDS: Final[Mapping[str, str]] = {
    "infer": "infer",
    "explain": "explain",
    "verify": "verify",
    "parse": "parse",
    "render": "render",
    "export": "export",
    "import-response-template": "import_response_template",
    "spec": "spec",
    "lint": "lint",
    "diff": "diff",
    "corpus": "corpus",
    "report": "report",
    "demo": "demo",
}
"""Commands in the order of the help text, and the modules beside this one that hold them as `command`."""

EXIT_CODES: Final[Mapping[int, str]] = {
    0: "done, and what was asked for holds",
    1: "done, and it does not hold: a verdict `failed`, a call that could not be read, a drift, an open gap",
    2: "a wrong option or argument, a file that cannot be read or written, a missing extra",
    3: "the template cannot be found, read, compiled or rendered",
    4: "the spec is not valid",
    5: "the spec cannot be expressed in the target asked for",
    6: "a regression: something is worse than what is committed",
    7: "a run that is broken: of some source or template nothing can be told",
    70: "a bug in this program",
    130: "interrupted",
    141: "the reader of the output went away",
}
"""What the exit status says, for all commands."""

ARGUMENTS: Final[Mapping[str, str]] = {
    "SOURCE": "SOURCE is a template: a .jinja file, a tokenizer_config.json, a model folder, a .gguf file, the id of a model on "
    "the hub, or - for standard input.",
    "SPEC": "SPEC is a format spec, as `infer -o` writes it, or - for standard input.",
}
"""What arguments of these names are, told at the end of the help of every command that has one."""

EXIT_BUG: Final = 70
EXIT_INTERRUPTED: Final = 130
EXIT_BROKEN_PIPE: Final = 141


class ReaderGoneError(Exception):
    """Nobody reads the output any more.  No `OSError`: of such a one click would make the exit status 1."""


class Application(click.Group):
    """A group that loads commands by name and ends every error as one paragraph on standard error."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (declared by the base class)
        """The commands in their own order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        found = import_module(f"analyzer.cli.{COMMANDS[cmd_name]}").command
        assert isinstance(found, click.Command)  # noqa: S101  (our own table)
        names = [
            name_of(param) for param in found.params if isinstance(param, click.Argument) and param.nargs == 1
        ]
        found.epilog = "\n\n".join(ARGUMENTS[name] for name in names if name in ARGUMENTS)
        return found

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """See click; `--help` prints here."""
        with _reader_watched():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """See click."""
        with _reader_watched():
            return super().invoke(ctx)

    def main(self, args: Sequence[str] | None = None, *more: Any, **options: Any) -> Any:
        """Run, and end the process with one of `EXIT_CODES`."""
        arguments = _shared_first(list(sys.argv[1:] if args is None else args))
        options.update(standalone_mode=False, prog_name="analyzer")
        debug = "--debug" in arguments[:2]
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # what a terminal cannot show is spelt out
        try:
            status = super().main(arguments, *more, **options)
            with _reader_watched():
                _flush(sys.stdout)
        except SystemExit:
            raise
        except BaseException as error:  # noqa: BLE001  (each is told as what it is)
            status = _ended_by(error, debug=debug)
        for stream in (sys.stdout, sys.stderr):
            _give_up(stream)
        sys.exit(status if isinstance(status, int) else 0)


def _shared_first(arguments: list[str]) -> list[str]:
    """The arguments with `--debug` and `--color` in front, so that they may stand anywhere."""
    shared: list[str] = []
    others: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            return [*sorted(set(shared), reverse=True), *others, argument, *rest]
        if argument == "--color":
            argument = f"--color={next(rest, '')}"  # noqa: PLW2901  (an option and its value are one)
        (shared if argument == "--debug" or argument.startswith("--color=") else others).append(argument)
    return [*sorted(set(shared), reverse=True), *others]


def _ended_by(error: BaseException, *, debug: bool) -> int:
    """Say what went wrong, in one paragraph; return the exit status."""
    if isinstance(error, ReaderGoneError):
        return EXIT_BROKEN_PIPE
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if debug and not isinstance(error, click.UsageError):
        import traceback  # noqa: PLC0415  (needed here only)

        with suppress(OSError):
            traceback.print_exception(error)
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        _complain("interrupted; nothing was left half-written.")
        return EXIT_INTERRUPTED
    if isinstance(error, click.ClickException):
        with suppress(OSError):
            error.show()
        return error.exit_code
    if isinstance(error, AnalyzerError):
        _complain(str(error))
        return error.exit_code
    if isinstance(error, OSError) and error.filename is not None:
        _complain(f"{error.filename}: {error.strerror or type(error).__name__}.")
        return click.UsageError.exit_code
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
        _complain(f"the output cannot be written: {error.strerror}.")
        return click.UsageError.exit_code
    text = " ".join(str(error).split())[:500]
    hint = "" if debug else " Run the command again with --debug for the traceback, and please report it."
    _complain(f"this is a bug in the program: {type(error).__name__}: {text}.{hint}")
    return EXIT_BUG


def _complain(paragraph: str) -> None:
    from analyzer.cli.output import visible  # noqa: PLC0415  (an error path)

    with suppress(OSError):
        click.echo(f"analyzer: {visible(paragraph)}", err=True)


@contextmanager
def _reader_watched() -> Iterator[None]:
    """Turn a pipe that nobody reads into a `ReaderGoneError`."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BrokenPipeError) or error.errno == errno.EPIPE:
            raise ReaderGoneError from error
        raise


def _flush(stream: TextIO | None) -> None:
    if stream is not None:  # it is None when the process was started with that output closed
        stream.flush()


def _give_up(stream: TextIO | None) -> None:
    """Where text is left that cannot be written, point the stream to nowhere: the interpreter's last flush must not fail."""
    try:
        _flush(stream)
    except (OSError, ValueError):
        assert stream is not None  # noqa: S101  (it could not be flushed)
        with suppress(OSError, ValueError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        try:
            version = metadata.version("chat-template-analyzer")
        except metadata.PackageNotFoundError:
            version = "(not installed)"
        click.echo(f"analyzer {version}")
        ctx.exit()


def _epilog() -> str:
    lines = [f"{code:>4}  {meaning}" for code, meaning in EXIT_CODES.items()]
    return "\b\nExit status:\n" + "\n".join(lines)


@click.group(
    cls=Application,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=_epilog(),
)
@click.option("--debug", is_flag=True, help="Show the traceback behind an error.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="When to colour; `auto` does on a terminal or with FORCE_COLOR, unless NO_COLOR is set.",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_version,
    help="Show the version and exit.",
)
@click.pass_context
def app(ctx: click.Context, debug: bool, color: str) -> None:
    """Reads how a model writes its turns out of its chat template, proves it, and parses with it.

    \b
    SOURCE is a template: a .jinja file, a tokenizer_config.json, a model folder, a .gguf file,
    the id of a model on the hub, or - for standard input.
    SPEC is a format spec, as `infer -o` writes it.

    \b
    Examples:
      analyzer demo                                     watch a bundled template being read and proved
      analyzer infer chat_template.jinja                what it says about tool calls, reasoning, results
      analyzer infer model/ -o format.yaml              write the proven spec
      analyzer parse format.yaml reply.txt              a model's text as an OpenAI message
      analyzer explain model/                           every finding with the renders it rests on
    """
    ctx.obj = {"debug": debug, "color": color}


def main() -> NoReturn:
    """The `analyzer` command."""
    app.main()
    raise AssertionError("unreachable")  # the line above ends the process
