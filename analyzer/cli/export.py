"""`analyzer export`: a spec in the form that a server or an engine loads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.cli.inputs import read_json, read_spec, read_tools
from analyzer.cli.output import to_json, visible
from analyzer.cli.places import DASH, Input, InputPath, Output, OutputFile
from analyzer.files import check_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.engines import Checked
    from analyzer.export import Export


@click.command("export", short_help="Write a spec as a server or engine takes it.")
@click.argument("spec", required=False, type=Input())
@click.option("--to", "target", required=True, metavar="TARGET", help="What to export to; `list` names all.")
@click.option("--tools", metavar="FILE", type=Input(), help="The tools, as an OpenAI list or a request body.")
@click.option(
    "--tool-choice", default="auto", show_default=True, help="auto, none, required, or a tool's name."
)
@click.option("--no-parallel", is_flag=True, help="At most one call a turn.")
@click.option(
    "--tokenizer",
    metavar="FOLDER",
    type=InputPath(folder=True),
    help="Where tokenizer.json tells which markers are special tokens.",
)
@click.option("--legacy", is_flag=True, help="The older form of a target that has two.")
@click.option("--exclude-closers", is_flag=True, help="JSON strings may not hold the call's closer.")
@click.option("--strict", is_flag=True, help="Something that the target cannot say is an error.")
@click.option(
    "--check/--no-check",
    "checking",
    default=True,
    show_default=True,
    help="Load the export with the engine that reads it, where that is installed, and try a call of each tool.",
)
@click.option(
    "--into",
    metavar="FILE",
    type=Input(),
    help="A tokenizer_config.json whose copy (-o) gets the response template; see --in-place.",
)
@click.option("--in-place", is_flag=True, help="Write the file of --into itself.")
@click.option("--json", "as_json", is_flag=True, help="One object: target, payload, losses, checked.")
@click.option("-o", "--output", type=OutputFile(), help="Where to write; standard output without it.")
def command(
    spec: str | None,
    target: str,
    tools: str | None,
    tool_choice: str,
    no_parallel: bool,
    tokenizer: Path | None,
    legacy: bool,
    exclude_closers: bool,
    strict: bool,
    checking: bool,
    into: str | None,
    in_place: bool,
    as_json: bool,
    output: Output | None,
) -> int:
    """Write a spec as a target takes it; what the target cannot say is told on standard error.

    So is what the target's own engine says of the export, or that it is not installed and nothing was checked.

    \b
    Examples:
      analyzer export spec.yaml --to response-template --into model/tokenizer_config.json -o new/tokenizer_config.json
      analyzer export spec.yaml --to structural-tag --tools tools.json --tool-choice required
      analyzer export --to list

    Exits with 5 when the target cannot express the spec, when its engine refuses the export, or with --strict when something
    is lost.
    """
    from analyzer.engines import check  # noqa: PLC0415
    from analyzer.errors import ExportError  # noqa: PLC0415
    from analyzer.export import TARGETS, Options, export  # noqa: PLC0415

    if target == "list":
        for found in TARGETS.values():
            click.echo(f"{found.name:20} {found.summary}")
        return 0
    if spec is None:
        raise click.UsageError("give a SPEC to export; only --to list does without one")
    written = _output(target, into, output, in_place=in_place)
    if as_json and into is not None:
        raise click.UsageError("--json prints an object; --into writes a tokenizer_config.json: choose one.")
    options = Options(
        tool_choice,
        not no_parallel,
        _special_tokens(tokenizer) if tokenizer is not None else {},
        legacy=legacy,
        exclude_closers=exclude_closers,
    )
    loaded, offered = read_spec(spec), read_tools(tools) or ()
    done = export(target, loaded, offered, options)
    if variables := dict(loaded.input.variables):
        click.echo(f"analyzer: {target}: for renders with {_spelt(variables)}", err=True)
    for loss in done.losses:
        click.echo(f"analyzer: {target}: {visible(loss.text)}", err=True)
    if strict and done.losses:
        raise ExportError(
            f"{len(done.losses)} things cannot be said there, the first is: {done.losses[0].text}",
            target=target,
            hint="Leave out --strict to export with these losses.",
        )
    checked = check(target, loaded, offered, options, done) if checking else None
    if checked is not None:
        click.echo(f"analyzer: {target}: {checked.text}", err=True)
    if as_json:
        text = f"{to_json({**_report(target, done, checked), 'variables': variables})}\n"
    else:
        text = _text(done) if into is None else _into(into, done.payload)
    written.write(text)
    return 0


def _spelt(variables: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in variables.items())


def _output(target: str, into: str | None, output: Output | None, *, in_place: bool) -> Output:
    """Where to write; a file that is only read is never written over unless that is asked for."""
    if into is None:
        if in_place:
            raise click.UsageError("--in-place is for --into FILE.")
        return output or Output(None)
    if target != "response-template":
        raise click.UsageError("--into is for --to response-template.")
    if in_place == (output is not None):
        raise click.UsageError("--into needs -o FILE for the copy, or --in-place to write the file itself.")
    if output is not None:
        if output.path is not None and output.path.resolve() == Path(into).resolve():
            raise click.UsageError(f"{output} is the file of --into: say --in-place to write over it.")
        return output
    if into == DASH:
        raise click.UsageError("--in-place needs a file to write: --into reads standard input.")
    check_file(Path(into))
    return Output(Path(into))


def _report(target: str, done: Export, checked: Checked | None) -> dict[str, Any]:
    """What `--json` prints."""
    return {
        "target": target,
        "payload": done.payload,
        "losses": [{"kind": loss.kind, "text": loss.text} for loss in done.losses],
        "checked": None if checked is None else {"state": checked.state, "text": checked.text},
    }


def _special_tokens(folder: Path) -> dict[str, int]:
    """The special tokens of a tokenizer.json and their ids."""
    source = str(folder / "tokenizer.json")
    data = read_json(source, "a tokenizer.json")
    added = data.get("added_tokens") if isinstance(data, dict) else None
    if not isinstance(added, list):
        raise click.UsageError(f"{source}: this is no tokenizer.json: it has no added_tokens.")
    tokens = [token for token in added if isinstance(token, dict) and {"content", "id"} <= token.keys()]
    if len(tokens) < len(added):
        raise click.UsageError(f"{source}: an item of added_tokens has no content and id.")
    return {token["content"]: token["id"] for token in tokens if token.get("special")}


def _text(done: Export) -> str:
    return done.payload if isinstance(done.payload, str) else f"{to_json(done.payload)}\n"


def _into(source: str, template: Any) -> str:
    """The text of a tokenizer_config.json with the template in it."""
    config = read_json(source, "a tokenizer_config.json")
    if not isinstance(config, dict):
        raise click.UsageError(f"{source}: this is no tokenizer_config.json: it holds no object.")
    return json.dumps({**config, "response_template": template}, ensure_ascii=False, indent=2) + "\n"
