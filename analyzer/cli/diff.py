"""`analyzer diff`: what changed between two formats."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.cli.output import console, print_json, visible


@click.command("diff")
@click.argument("spec_a", type=click.Path(dir_okay=False))
@click.argument("spec_b", type=click.Path(dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON.")
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
    from analyzer.spec import load_spec  # noqa: PLC0415

    changes = diff(load_spec(Path(spec_a)), load_spec(Path(spec_b)))
    if as_json:
        print_json([change.to_json() for change in changes])
        return int(bool(changes))
    out = console()
    for change in changes:
        put(out, Text(visible(str(change))).append(f"  ({visible(change.path)})", "dim"))
    if not changes:
        put(out, Text("The formats are alike."))
    return int(bool(changes))
