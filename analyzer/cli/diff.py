"""`analyzer diff`: what changed between two formats."""

from __future__ import annotations

import click

from analyzer.cli.inputs import read_spec
from analyzer.cli.options import json_option
from analyzer.cli.output import console, print_json, visible
from analyzer.cli.places import Input


@click.command("diff", short_help="Say in words what changed between two specs.")
@click.argument("spec_a", type=Input())
@click.argument("spec_b", type=Input())
@json_option("Print the changes as JSON.")
def command(spec_a: str, spec_b: str, as_json: bool) -> int:
    """Say in words what SPEC_B does in another way than SPEC_A.

    What says nothing about the format (hashes, evidence, verification) is left out.

    \b
    Examples:
      analyzer diff old.yaml new.yaml
      analyzer diff default.yaml tool_use.yaml --json

    Exits with 1 when the formats differ.
    """
    from rich.text import Text  # noqa: PLC0415

    from analyzer.cli.paint import put  # noqa: PLC0415
    from analyzer.lint.diff import diff  # noqa: PLC0415

    changes = diff(read_spec(spec_a), read_spec(spec_b))
    if as_json:
        print_json([change.to_json() for change in changes])
        return int(bool(changes))
    out = console()
    for change in changes:
        put(out, Text(visible(str(change))).append(f"  ({visible(change.path)})", "dim"))
    if not changes:
        put(out, Text("The formats are alike."))
    return int(bool(changes))
