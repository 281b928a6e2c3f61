"""`analyzer parse`: a model's text in, an OpenAI message or its deltas out."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from analyzer.cli.inputs import assignments, read_spec, read_tools, spoken
from analyzer.cli.options import json_option, not_both, printed_option
from analyzer.cli.output import print_json, to_json, visible
from analyzer.cli.places import DASH, Input
from analyzer.errors import UsageError

if TYPE_CHECKING:
    from analyzer.runtime import Parser, Problem
    from analyzer.spec.model import Scalar, Spec

PIECE: Final = 1 << 16


@click.command("parse")
@click.argument("spec_file", metavar="SPEC", type=Input())
@click.argument("file", required=False, default=DASH, type=Input())
@printed_option("--stream", "stream", "Print deltas, one JSON object a line, as the text comes in.")
@click.option(
    "--tools", "tools_file", metavar="FILE", type=Input(), help="The tools that were declared, as JSON."
)
@click.option("--prompt", metavar="TEXT", help="The prompt's end, as the model saw it.")
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A variable the prompt was rendered with; may be given again.",
)
@click.option(
    "--after",
    type=click.Choice(["user", "result"]),
    default="user",
    show_default=True,
    help="The role of the last message in the prompt.",
)
@click.option("--strict", is_flag=True, help="Tolerate nothing that the template does not write.")
@click.option(
    "--calls",
    type=click.Choice(["parse", "text", "drop"]),
    default="parse",
    show_default=True,
    help='What to do with calls; `text` and `drop` are for tool_choice "none".',
)
@click.option(
    "--finish-reason", default="stop", show_default=True, help="Why generation ended, such as stop or length."
)
@click.option(
    "--piece",
    type=click.IntRange(min=1),
    help="Feed the text in pieces of so many characters, as a server would.",
)
@json_option("Print the message together with all problems.")
def command(
    spec_file: str,
    file: str,
    stream: bool,
    tools_file: str | None,
    prompt: str | None,
    settings: tuple[str, ...],
    after: str,
    strict: bool,
    calls: str,
    finish_reason: str,
    piece: int | None,
    as_json: bool,
) -> int:
    """Parse what a model wrote, with a spec.

    FILE holds the model's text; without it, or with -, standard input is read; SPEC may be - where FILE is a file. Prints
    one OpenAI message; with --stream its deltas, each as soon as it is certain. Problems go to standard error, or stand in
    the JSON.

    \b
    Examples:
      analyzer parse format.yaml reply.txt --tools tools.json
      generate | analyzer parse format.yaml --stream --set enable_thinking=false
      analyzer parse format.yaml reply.txt --json --strict

    Exits with 1 when a call could not be read, with --strict when there was any problem.
    """
    from analyzer.runtime import STRICT, Options, Parser, assemble  # noqa: PLC0415

    not_both("--prompt", "--set", "--set chooses one of the spec's prompts, --prompt gives another")
    spec = read_spec(spec_file)
    start = prompt if prompt is not None else prompt_of(spec, assignments(settings), after)
    options = (STRICT if strict else Options()).with_(calls=calls)
    parser = Parser(spec, tools=read_tools(tools_file), options=options, prompt=start)
    pieces = _pieces(file, piece)
    if stream:
        return _stream(parser, pieces, finish_reason, strict=strict)
    events = [event for text in pieces for event in parser.feed(text)]
    parsed = assemble([*events, *parser.finish(finish_reason)])
    if as_json:
        from analyzer.cli.deltas import problem  # noqa: PLC0415

        problems = [problem(found) for found in parsed.problems]
        print_json({"message": parsed.message.to_openai(), "problems": problems})
    else:
        print_json(parsed.message.to_openai())
        for found in parsed.problems:
            _complain(found)
    return _status(parsed.problems, strict=strict)


def prompt_of(spec: Spec, settings: Mapping[str, Any], after: str) -> str:
    """The generation prompt for these variables and this last role; the default one when the setting changes nothing."""
    from analyzer.runtime.prompts import prompt_for  # noqa: PLC0415

    fixed = spec.input.variables
    for name in sorted(fixed.keys() & settings):
        if settings[name] != fixed[name]:
            hint = f"Infer another with: analyzer infer SOURCE --set {name}={settings[name]}"
            raise UsageError(f"this spec is for {name}={fixed[name]}, not for {settings[name]}", hint=hint)
    settings = {name: value for name, value in settings.items() if name not in fixed}
    known = {name for prompt in spec.turn.prompts for name in prompt.set} | set(spec.input.settings)
    strangers = sorted(set(settings) - known)
    if strangers:
        hint = f"It knows {', '.join(sorted(known))}." if known else "It knows none."
        raise UsageError(f"no prompt of this spec depends on {strangers[0]}", hint=hint)
    _note_unknown_values(spec, settings)
    return prompt_for(spec, settings, after) if spec.turn.prompts else spec.turn.header


def _note_unknown_values(spec: Spec, settings: Mapping[str, Any]) -> None:
    """Say on standard error which values no prompt is for: the reply is read as if they were not set."""
    known = {name: _known_values(spec, name) for name in settings}
    unknown = [name for name, value in settings.items() if value not in known[name]]
    taken = "the default prompt is taken" if len(unknown) == len(settings) else "it changes nothing"
    for name in unknown:
        words = " or ".join(to_json(one, line=True) for one in known[name])
        found = f"this spec knows {name} as {words}, not as {to_json(settings[name], line=True)}"
        click.echo(f"analyzer: {visible(found)}: {taken}", err=True)


def _known_values(spec: Spec, name: str) -> list[Scalar]:
    found = list(spec.input.settings.get(name, ()))
    written = (prompt.set[name] for prompt in spec.turn.prompts if name in prompt.set)
    return found + [value for value in dict.fromkeys(written) if value not in found]


def _pieces(file: str, size: int | None) -> Iterator[str]:
    """The text in pieces: as it arrives, or cut to `size` characters."""
    if size is None:
        yield from _arriving(file)
        return
    held = ""
    for text in _arriving(file):
        held += text
        whole = len(held) - len(held) % size
        for start in range(0, whole, size):
            yield held[start : start + size]
        held = held[whole:]
    if held:
        yield held


def _arriving(file: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with sys.stdin.buffer if file == DASH else Path(file).open("rb") as source:
            read = getattr(source, "read1", source.read)
            while data := read(PIECE):
                yield decoder.decode(data)
            yield decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise UsageError(f"{spoken(file)}: this is not text in UTF-8 ({error.reason})") from error
    except OSError as error:
        raise UsageError(f"{spoken(file)}: {error.strerror or type(error).__name__}") from error


def _stream(parser: Parser, pieces: Iterator[str], finish_reason: str, *, strict: bool) -> int:
    from analyzer.cli.deltas import deltas  # noqa: PLC0415
    from analyzer.runtime import Problem  # noqa: PLC0415

    problems: list[Problem] = []

    def tell(events: list[Any]) -> None:
        problems.extend(event for event in events if isinstance(event, Problem))
        for delta in deltas(events):
            print_json(delta, line=True)
        sys.stdout.flush()

    for text in pieces:
        tell(list(parser.feed(text)))
    tell(list(parser.finish(finish_reason)))
    return _status(problems, strict=strict)


def _complain(found: Problem) -> None:
    raw = visible(found.raw if len(found.raw) <= 80 else f"{found.raw[:77]}...")  # noqa: PLR2004  (one line)
    place = f"{found.severity} at {found.start}: {found.kind}: {found.message}"
    click.echo(f"analyzer: {visible(place)} {raw!r}", err=True)


def _status(problems: Any, *, strict: bool) -> int:
    return int(any(strict or found.severity == "error" for found in problems))
