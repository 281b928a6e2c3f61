"""`analyzer lint`: what is wrong with a template itself."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from analyzer.cli.inputs import note_unread, scalars
from analyzer.cli.options import json_option, not_both, printed_option, set_option
from analyzer.cli.output import console, print_json, visible
from analyzer.cli.places import Input
from analyzer.files import with_home

if TYPE_CHECKING:
    from analyzer.lint import Finding
    from analyzer.lint.chatlint import ForeignFinding

_STYLES: Final = {"error": "red", "warning": "yellow", "note": "dim"}
_SHOWN: Final = 700


@click.command("lint", short_help="Report what is wrong with a template.")
@click.argument("source", type=Input())
@click.option("--variant", metavar="NAME", help="Which of several named templates to take.")
@set_option("findings are for it")
@json_option("Print the findings as JSON.")
@printed_option("--sarif", "as_sarif", "Print the findings as SARIF 2.1.0, for code scanning.")
@click.option(
    "--no-chatlint",
    is_flag=True,
    help="Leave out the findings of chatlint, another linter, where it is installed; they do not count for the exit status.",
)
@click.option("--short", is_flag=True, help="One line a finding: leave out evidence and conversations.")
def command(
    source: str,
    variant: str | None,
    settings: tuple[str, ...],
    as_json: bool,
    as_sarif: bool,
    no_chatlint: bool,
    short: bool,
) -> int:
    """Report what is wrong with a template, each finding with the conversation that shows it.

    \b
    Examples:
      analyzer lint chat_template.jinja
      analyzer lint model/ --json | jq '.findings[].kind'
      analyzer lint chat_template.jinja --sarif > lint.sarif

    Exits with 1 when there is an error among the findings; those of chatlint do not count.
    """
    for form in ("--json", "--sarif"):
        not_both("--short", form, "programs are told everything")
    from analyzer.lint import lint, to_sarif  # noqa: PLC0415
    from analyzer.lint.chatlint import is_installed, run_chatlint, summary  # noqa: PLC0415
    from analyzer.render import RenderWorker  # noqa: PLC0415
    from analyzer.template import load_templates, pick  # noqa: PLC0415

    variables = scalars(settings)
    template = pick(load_templates(source), variant)
    with RenderWorker() as renderer:
        findings = lint(template, renderer, variables)
    note_unread(template, variables)
    foreign = None
    if is_installed() and not no_chatlint and not as_sarif:
        foreign = run_chatlint(template.text)
    is_file = _is_file_of(template.text, source)
    if as_sarif:
        print_json(to_sarif(findings, source, _version(), lines=is_file))
    elif as_json:
        data = {"template": template.name, "findings": [found.to_json() for found in findings]}
        print_json({**data, "chatlint": summary(foreign)})
    else:
        _print(source if is_file else template.name, findings, foreign, short=short)
    return int(any(found.severity == "error" for found in findings))


def _is_file_of(text: str, source: str) -> bool:
    """Whether the source is a file that holds the template and nothing else."""
    try:
        return with_home(source).read_bytes() == text.encode("utf-8")
    except (OSError, ValueError):
        return False


def _version() -> str:
    from importlib import metadata  # noqa: PLC0415

    try:
        return metadata.version("chat-template-analyzer")
    except metadata.PackageNotFoundError:
        return "0"


def _print(
    name: str, findings: Sequence[Finding], foreign: tuple[ForeignFinding, ...] | str | None, *, short: bool
) -> None:
    from rich.text import Text  # noqa: PLC0415

    from analyzer.cli.paint import put  # noqa: PLC0415

    out = console()
    for found in findings:
        line = Text(f"{visible(name)}{'' if found.line is None else f':{found.line}'}: ")
        line.append(found.severity, _STYLES[found.severity]).append(
            f" {found.kind}: {visible(found.message)}"
        )
        put(out, line)
        if not short:
            for text in _details(found):
                put(out, Text(f"    {visible(text)}", "dim"))
    counts = {level: sum(found.severity == level for found in findings) for level in _STYLES}
    put(
        out,
        Text(", ".join(f"{number} {level}{'' if number == 1 else 's'}" for level, number in counts.items())),
    )
    if isinstance(foreign, str):
        put(out, Text(visible(foreign), "yellow"))
    elif foreign is not None:
        put(out, Text("chatlint (its findings do not count for the exit status):", "bold"))
        for one in foreign:
            line = Text("  ").append(one.severity, _STYLES[one.severity])
            line.append(f" {visible(one.prop)}, {one.times} times, first with {visible(one.shape)}: ")
            detail = next(iter(one.detail.splitlines()), "") if short else one.detail
            put(out, line.append(visible(detail)[:_SHOWN], "dim"))


def _details(found: Finding) -> list[str]:
    """The evidence and the conversation, one line each."""
    lines = [f"{key}: {_cut(value)}" for key, value in found.evidence.items()]
    messages: Any = found.conversation.get("messages", ())
    lines += [f"message: {_cut(message)}" for message in messages]
    if "tools" in found.conversation:
        lines.append(f"tools: {_cut(found.conversation['tools'])}")
    return lines


def _cut(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} ..."
