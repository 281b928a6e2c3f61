"""`analyzer verify`: does this spec hold for this template?"""

from __future__ import annotations

from typing import Any

import click

from analyzer.cli.inputs import read_spec
from analyzer.cli.options import json_option
from analyzer.cli.output import console, print_json, visible
from analyzer.cli.places import Input, Output, OutputFile


@click.command("verify", short_help="Prove a spec against a template.")
@click.argument("spec_file", metavar="SPEC", type=Input())
@click.argument("source", type=Input())
@click.option("-o", "--output", type=OutputFile(), help="Write the spec with its verdict to this file.")
@click.option("--variant", metavar="NAME", help="Which of several named templates to take.")
@click.option("--seed", type=int, default=0, show_default=True, help="Where the conversations come from.")
@json_option("Print the verification as JSON.")
def command(
    spec_file: str, source: str, output: Output | None, variant: str | None, seed: int, as_json: bool
) -> int:
    """Prove a spec against a template, whoever wrote it.

    Renders random conversations, parses the model's part with the strict runtime, and compares.

    \b
    Examples:
      analyzer verify format.yaml chat_template.jinja
      analyzer verify format.yaml model/ --seed 7 --json

    Exits with 1 when the verdict is `failed`.
    """
    from analyzer.analysis import try_render, with_stand_ins  # noqa: PLC0415
    from analyzer.render import RenderWorker  # noqa: PLC0415
    from analyzer.spec.document import dumps, to_data  # noqa: PLC0415
    from analyzer.template import load_templates, pick  # noqa: PLC0415
    from analyzer.verify import verified  # noqa: PLC0415

    spec = read_spec(spec_file)
    template = pick(load_templates(source), variant)
    other = bool(spec.template.sha256) and spec.template.sha256 != template.sha256
    with RenderWorker() as renderer:
        try_render(template, renderer)
        template = with_stand_ins(template)
        spec = verified(spec, template, renderer, seed)
    if output is not None:
        output.write(dumps(spec))
    if as_json:
        data: dict[str, Any] = to_data(spec.verification)
        defects = [to_data(defect) for defect in spec.defects]
        print_json({**data, "same_template": not other, "defects": defects})
    else:
        _print(spec_file, spec, other=other)
    return int(spec.verification.verdict == "failed")


def _print(name: str, spec: Any, *, other: bool) -> None:
    from rich.text import Text  # noqa: PLC0415

    from analyzer.cli.paint import VERDICT_STYLES, put  # noqa: PLC0415

    out = console()
    found = spec.verification
    line = Text(f"{visible(name)}: ").append(found.verdict.replace("_", " "), VERDICT_STYLES[found.verdict])
    line.append(f" ({found.round_trips} round trips, seed {found.seed})", "dim")
    put(out, line)
    if other:
        put(out, Text("  the spec was inferred from another template than this one", "yellow"))
    for failure in found.failures:
        put(out, Text(f"  ✗ {visible(failure)}", "red"))
    for defect in spec.defects:
        put(out, Text(f"  defect of the template, {defect.kind}: {visible(defect.message)}", "yellow"))
    for field in found.unproven:
        put(out, Text(f"  not proven: {visible(field)}", "dim"))
