"""`analyzer spec`: spec files themselves."""

from __future__ import annotations

import click

from analyzer.cli.inputs import read_spec
from analyzer.cli.options import json_option
from analyzer.cli.output import console, print_json, visible
from analyzer.cli.places import Input


@click.group("spec")
def command() -> None:
    """Check spec files, and print their schema.

    \b
    Examples:
      analyzer spec check format.yaml
      analyzer spec schema > spec.schema.json
    """


@command.command("check")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=Input())
@json_option("Print the outcome as JSON.")
def check(files: tuple[str, ...], as_json: bool) -> int:
    """Check that spec files are valid.

    Says file, line and path of the first mistake of each. The verdict is what the file says of itself; `analyzer verify` proves
    it anew. Exits with 4 when one is not valid, else with 2 when one cannot be
    read.
    """
    checked = [_check(file) for file in files]
    outcomes = [outcome for outcome, _ in checked]
    status = max(status for _, status in checked)
    if as_json:
        print_json(outcomes)
        return status
    out = console()
    for outcome in outcomes:
        if outcome["valid"]:
            verdict = str(outcome["verdict"]).replace("_", " ")
            out.print(f"{visible(str(outcome['file']))}: valid; it says: {verdict}", soft_wrap=True)
        else:
            click.echo(f"analyzer: {visible(str(outcome['message']))}", err=True)
    return status


def _check(file: str) -> tuple[dict[str, object], int]:
    """What is to be said of a file, and the exit status that it alone would have."""
    from analyzer.errors import SpecError, UsageError  # noqa: PLC0415

    try:
        verdict = read_spec(file).verification.verdict
    except SpecError as error:
        place = {"line": error.line, "path": error.path, "message": str(error)}
        return {"file": file, "valid": False, **place}, error.exit_code
    except UsageError as error:
        return {"file": file, "valid": False, "message": str(error)}, error.exit_code
    return {"file": file, "valid": True, "verdict": verdict}, 0


@command.command("schema")
@json_option("Print it as JSON, as is done without this option too.")
def schema(as_json: bool) -> None:
    """Print the JSON Schema of spec files."""
    from analyzer.spec.schema import json_schema  # noqa: PLC0415

    del as_json
    print_json(json_schema())
