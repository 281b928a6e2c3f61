"""`analyzer spec`: spec files themselves."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.cli.output import console, print_json


@click.group("spec")
def command() -> None:
    """Check spec files, and print their schema.

    \b
    Examples:
      analyzer spec check format.yaml
      analyzer spec schema > spec.schema.json
    """


@command.command("check")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def check(files: tuple[Path, ...], as_json: bool) -> int:
    """Check that spec files are valid.

    Says file, line and path of the first mistake of each. Exits with 4 when one is not valid.
    """
    outcomes = [_check(file) for file in files]
    if as_json:
        print_json(outcomes)
        return _status(outcomes)
    out = console()
    for outcome in outcomes:
        if outcome["valid"]:
            out.print(f"{outcome['file']}: valid, {str(outcome['verdict']).replace('_', ' ')}")
        else:
            click.echo(f"analyzer: {outcome['message']}", err=True)
    return _status(outcomes)


def _check(file: Path) -> dict[str, object]:
    from analyzer.errors import SpecError  # noqa: PLC0415
    from analyzer.spec import load_spec  # noqa: PLC0415

    try:
        verdict = load_spec(file).verification.verdict
    except SpecError as error:
        place = {"line": error.line, "path": error.path, "message": str(error)}
        return {"file": str(file), "valid": False, **place}
    return {"file": str(file), "valid": True, "verdict": verdict}


def _status(outcomes: list[dict[str, object]]) -> int:
    from analyzer.errors import SpecError  # noqa: PLC0415

    return 0 if all(outcome["valid"] for outcome in outcomes) else SpecError.exit_code


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of spec files."""
    from analyzer.spec.schema import json_schema  # noqa: PLC0415

    print_json(json_schema())
