"""`analyzer explain`: every finding with the comparison and the renders that it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from analyzer.cli.inputs import note_unread, scalars
from analyzer.cli.options import json_option, set_option
from analyzer.cli.output import console, print_json, visible
from analyzer.cli.places import Input

if TYPE_CHECKING:
    from rich.console import Console

    from analyzer.analysis import Analysis
    from analyzer.cli.renders import Shown
    from analyzer.spec.model import Evidence, Spec


@click.command("explain", short_help="Explain what is inferred, and from what.")
@click.argument("source", type=Input())
@click.option("--variant", metavar="NAME", help="Which of several named templates to take.")
@set_option("what is inferred is for it")
@click.option("--only", metavar="LETTER", help="Only the comparisons with this letter, such as C or R.")
@json_option("Print findings, evidence and renders as JSON.")
def command(
    source: str, variant: str | None, settings: tuple[str, ...], only: str | None, as_json: bool
) -> None:
    """Explain what is inferred from a template, and from what.

    Goes through the numbered comparisons: what is compared, what that shows, and the renders, with the made-up values
    in colours.

    \b
    Examples:
      analyzer explain chat_template.jinja
      analyzer explain model/ --only C
      analyzer explain model/ --json | jq .findings
    """
    from analyzer.analysis import analyze  # noqa: PLC0415
    from analyzer.cli.renders import renders  # noqa: PLC0415
    from analyzer.infer.comparisons import FAMILIES  # noqa: PLC0415
    from analyzer.render import RenderWorker  # noqa: PLC0415

    letters = [family.letter for family in FAMILIES]
    only = only.upper() if only is not None else None
    if only is not None and only not in letters:
        raise click.BadParameter(f"{only!r} is none of {', '.join(letters)}", param_hint="'--only'")
    variables = scalars(settings)
    with RenderWorker() as renderer:
        analysis = analyze(source, variant=variant, renderer=renderer, verify=False, variables=variables)
        if analysis.spec is not None and not analysis.calls_shown:
            # whether history shows what a model writes is known by verification alone
            analysis = analyze(analysis.template, renderer=renderer, variables=variables)
        note_unread(analysis.template, variables)
        spec = analysis.spec
        wanted = [name for family in FAMILIES if only in (None, family.letter) for name in family.variants]
        if spec is not None:
            wanted += [name for _, one in _evidence(spec, only) for name in one.variants]
        shown = renders(spec, analysis.template, renderer, _known(wanted)) if spec is not None else {}
    if as_json:
        print_json(_json(analysis, shown, only))
        return
    _print(console(), analysis, shown, only)


def _known(names: list[str]) -> list[str]:
    """The variants that the probe can make; evidence may name others, in words."""
    from analyzer.observe.variants import BASIC, FOLLOWED  # noqa: PLC0415

    return [name for name in names if name in BASIC or name in FOLLOWED]


def _json(analysis: Analysis, shown: dict[str, Shown], only: str | None) -> dict[str, Any]:
    from analyzer.infer.comparisons import FAMILIES, comparisons  # noqa: PLC0415
    from analyzer.spec.document import to_data  # noqa: PLC0415

    spec = analysis.spec
    labels = {label for family in FAMILIES if only in (None, family.letter) for label in family.facts}
    findings = [] if spec is None else [{"path": path, **to_data(one)} for path, one in _evidence(spec, only)]
    facts = [] if spec is None else [(label, text) for label, text in _facts(spec) if label in labels]
    return {
        "template": {"name": analysis.template.name, "sha256": analysis.template.sha256},
        "comparisons": {number: words for number, words in comparisons().items() if _is_of(number, only)},
        "findings": findings,
        "facts": [{"subject": label, "found": text} for label, text in facts],
        "renders": {
            name: {"text": one.text, "needles": [asdict(n) for n in one.needles]}
            for name, one in shown.items()
        },
        "refusals": [asdict(note) for note in analysis.notes if _is_of(note.subject, only)],
    }


def _is_of(number: str, only: str | None) -> bool:
    """Whether a comparison is wanted."""
    return only is None or number.startswith(only)


def _facts(spec: Spec) -> Iterator[tuple[str, str]]:
    from analyzer.cli.summary import facts  # noqa: PLC0415

    for label, text in facts(spec):
        yield label, text.plain


def _evidence(spec: Spec, only: str | None) -> Iterator[tuple[str, Evidence]]:
    for path, found in spec.evidence.items():
        for one in found:
            if _is_of(one.comparison, only):
                yield path, one


def _print(out: Console, analysis: Analysis, shown: dict[str, Shown], only: str | None) -> None:
    from rich.text import Text  # noqa: PLC0415

    from analyzer.cli.paint import heading, indented, put, row  # noqa: PLC0415
    from analyzer.cli.renders import NEEDLE_STYLES  # noqa: PLC0415
    from analyzer.cli.summary import facts  # noqa: PLC0415
    from analyzer.infer.comparisons import FAMILIES, comparisons  # noqa: PLC0415
    from analyzer.observe.variants import describe  # noqa: PLC0415
    from analyzer.spec.markers import markers  # noqa: PLC0415

    spec = analysis.spec
    put(
        out,
        Text(visible(analysis.template.name), "bold"),
        Text(f"sha256 {analysis.template.sha256[:12]}", "dim"),
    )
    legend = Text("made-up values: ", "dim")
    for kind, style in NEEDLE_STYLES.items():
        legend.append(kind, style).append(" ")
    put(out, legend)
    for family in FAMILIES:
        if only is not None and family.letter != only:
            continue
        put(out)
        put(out, heading(f"{family.letter}  {family.subject}"))
        for number, words in comparisons().items():
            if number[0] == family.letter:
                put(out, Text(f"  {number}  ", "bold").append(words, "dim"))
        if spec is not None:
            for label, text in facts(spec):
                if label in family.facts:
                    put(out, row(label, text, 4))
            _print_evidence(out, spec, family.letter)
        for name in family.variants:
            if name in shown:
                put(out, Text(f"    {name}  ", "bold").append(describe(name), "dim"))
                put(out, indented(shown[name].painted(markers(spec)), 8))
    refused = [note for note in analysis.notes if _is_of(note.subject, only)]
    refused = [note for note in refused if note.kind not in ("described", "no_format")]
    if refused:
        put(out)
        put(out, heading("What the template refuses"))
    for note in refused:
        times = f" ({note.times} times)" if note.times > 1 else ""
        put(
            out,
            Text(f"  {note.subject}  ", "bold").append(
                f"{note.kind}: {visible(note.message)}{times}", "default"
            ),
        )


def _print_evidence(out: Console, spec: Spec, letter: str) -> None:
    from rich.text import Text  # noqa: PLC0415

    from analyzer.cli.paint import put  # noqa: PLC0415

    for path, one in _evidence(spec, letter):
        line = (
            Text(f"    {one.comparison}  ", "bold")
            .append(path, "cyan")
            .append(f": {visible(one.found)}", "default")
        )
        line.append(f"  from {', '.join(one.variants)}" if one.variants else "", "dim")
        line.append("  described, not rendered" if one.described else "", "yellow")
        line.append(f"  {visible(one.note)}" if one.note else "", "dim")
        put(out, line)
