"""`analyzer infer`: from a template to a proven spec."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.cli.inputs import note_unread, scalars
from analyzer.cli.options import json_option, not_both, set_option
from analyzer.cli.output import console, print_json, visible
from analyzer.cli.places import Input, InputPath, Output, OutputFile, not_over

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.analysis import Analysis
    from analyzer.render import Renderer
    from analyzer.spec.model import Scalar


@click.command("infer", short_help="Infer a template's format spec and prove it.")
@click.argument("source", type=Input())
@click.option("-o", "--output", type=OutputFile(), help="Write the spec to this file.")
@click.option("--variant", metavar="NAME", help="Which of several named templates to take.")
@set_option("the spec is for it")
@json_option("Print spec, verdict and notes as JSON.")
@click.option("--verify/--no-verify", default=True, show_default=True, help="Prove the spec by round trips.")
@click.option("--overlay", "overlays", type=InputPath(), multiple=True, help="Add an overlay file.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Where verification's conversations come from."
)
def command(
    source: str,
    output: Output | None,
    variant: str | None,
    settings: tuple[str, ...],
    as_json: bool,
    verify: bool,
    overlays: tuple[Path, ...],
    seed: int,
) -> int:
    """Infer the format spec of a template and prove it.

    Without -o prints what the model writes, in colours, what the format is, and the spec.

    \b
    Examples:
      analyzer infer chat_template.jinja
      analyzer infer model/ --variant tool_use -o format.yaml
      analyzer infer organisation/model --json | jq .verdict
      analyzer infer chat_template.jinja --set tool_call_format=json -o json_format.yaml

    Where the template has no calls it ends by saying how to call tools all the same, by prompt.

    Exits with 1 when the verdict is `failed` or `refused`. The spec, if there is one, is written all the same, with its verdict
    in it; where a template is `refused` there is none.
    """
    from analyzer.analysis import analyze  # noqa: PLC0415
    from analyzer.render import RenderWorker  # noqa: PLC0415
    from analyzer.spec.document import dumps  # noqa: PLC0415

    not_both("--no-verify", "--seed", "the seed is that of verification")
    not_over(output, source, "the template itself")
    variables = scalars(settings)
    with RenderWorker() as renderer:
        analysis = analyze(
            source,
            variant=variant,
            renderer=renderer,
            verify=verify,
            overlays=overlays,
            variables=variables,
            seed=seed,
        )
        note_unread(analysis.template, variables)
        if variables and not analysis.calls_shown:
            _note_lost_calls(analysis, variables, renderer)
        spec = analysis.spec
        if output is not None and spec is not None:
            output.write(dumps(spec))
        if as_json:
            print_json(to_json(analysis))
        elif output is not None:
            _print_verdict(analysis, output if spec is not None else None)
        else:
            from rich.text import Text  # noqa: PLC0415

            from analyzer.cli.paint import heading, indented, print_yaml, put  # noqa: PLC0415
            from analyzer.cli.specimen import specimens  # noqa: PLC0415
            from analyzer.cli.summary import print_summary  # noqa: PLC0415

            out = console()
            shown = specimens(spec, analysis.template, renderer) if spec is not None else []
            print_summary(out, analysis, shown)
            if spec is not None:
                put(out)
                put(out, heading("The spec"))
                print_yaml(out, dumps(spec))
            if offer := _offer(analysis):
                put(out)
                put(out, heading("Calling tools all the same"))
                put(out, indented(Text(offer), 2))
    return 1 if analysis.verdict in ("failed", "refused") else 0


def _note_lost_calls(analysis: Analysis, variables: Mapping[str, Scalar], renderer: Renderer) -> None:
    """Say on standard error what the variables cost, calls or all, and what the template says to that."""
    from analyzer.analysis import analyze  # noqa: PLC0415

    usual = analyze(analysis.template, renderer=renderer, verify=False)
    if analysis.spec is None and usual.spec is not None:
        cost = "not even a plain conversation renders; by default one does"
        said = [note.message for note in analysis.notes if note.kind != "stand_in"] or analysis.failures
    elif analysis.spec is not None and usual.calls_shown:
        cost = "no call renders; by default calls do"
        said = [note.message for note in analysis.notes if note.subject == "I2"]
    else:
        return
    names = ", ".join(variables)
    click.echo(f"analyzer: with {visible(': '.join([f'{names} set so, {cost}', *said[:1]]))}", err=True)


def to_json(analysis: Analysis) -> dict[str, Any]:
    """An analysis as JSON data."""
    from analyzer.spec.document import to_data  # noqa: PLC0415

    template = analysis.template
    return {
        "template": {"name": template.name, "variant": template.variant, "sha256": template.sha256},
        "verdict": analysis.verdict,
        "calls_shown": analysis.calls_shown,
        "failures": list(analysis.failures),
        "notes": [
            {"subject": note.subject, "kind": note.kind, "message": note.message, "times": note.times}
            for note in analysis.notes
        ],
        "renders": analysis.renders,
        "seconds": dict(analysis.seconds),
        "offer": _offer(analysis),
        "spec": to_data(analysis.spec) if analysis.spec is not None else None,
    }


def _offer(analysis: Analysis) -> str | None:
    """What to do about tools where the template has no calls."""
    from analyzer.agent import OFFER  # noqa: PLC0415

    without_calls = analysis.spec is not None and analysis.spec.calls is None and not analysis.calls_shown
    return OFFER if without_calls else None


def _print_verdict(analysis: Analysis, written: Output | None) -> None:
    from rich.text import Text  # noqa: PLC0415

    from analyzer.cli.paint import VERDICT_STYLES, put  # noqa: PLC0415

    out = console(stderr=True)
    line = Text(f"{visible(analysis.template.name)}: ")
    line.append(analysis.verdict.replace("_", " "), VERDICT_STYLES[analysis.verdict])
    line.append(f"; written to {written}" if written is not None else "; there is no spec to write")
    put(out, line)
    for failure in analysis.failures:
        put(out, Text(f"  {visible(failure)}", "red"))
    if offer := _offer(analysis):
        put(out, Text(offer))
