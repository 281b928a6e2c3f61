"""`analyzer demo`: the whole way in one look, on a template that comes with the package."""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Final

import click

from analyzer.cli.options import json_option
from analyzer.cli.output import console, print_json, visible

if TYPE_CHECKING:
    from analyzer.template import Template

TEMPLATES: Final = ("key_value_tags", "json_tag_reasoning_toggle")
"""The templates that come with the package, the default first."""

PIECE: Final = 7
"""How many characters of the reply arrive at a time."""


def bundled(name: str) -> Template:
    """A template of the package's own."""
    from analyzer.template import Template  # noqa: PLC0415

    file = resources.files("analyzer") / "data" / f"{name}.jinja"
    return Template(text=file.read_text(encoding="utf-8"), name=name, origin=f"bundled {name}.jinja")


@click.command("demo", short_help="Watch a bundled template being read and used.")
@click.option(
    "--template",
    "name",
    type=click.Choice(TEMPLATES),
    default=TEMPLATES[0],
    show_default=True,
    help="Which bundled template to take.",
)
@json_option("Print verdict, reply and message as JSON.")
def command(name: str, as_json: bool) -> int:
    """Watch a bundled template being read, proved and used.

    Infers the format from the template, proves it by round trips, and parses a reply with it as it streams in.
    Needs no network.
    """
    from analyzer.analysis import analyze  # noqa: PLC0415
    from analyzer.chat import Message, ToolCall  # noqa: PLC0415
    from analyzer.cli.specimen import specimens  # noqa: PLC0415
    from analyzer.render import RenderWorker  # noqa: PLC0415
    from analyzer.report.example import TOOLS  # noqa: PLC0415
    from analyzer.runtime import Parser, assemble  # noqa: PLC0415
    from analyzer.verify import write_turn  # noqa: PLC0415

    template = bundled(name)
    with RenderWorker() as renderer:
        analysis = analyze(template, renderer=renderer)
        spec = analysis.spec
        if spec is None:
            raise AssertionError("a bundled template renders")
        shown = specimens(spec, template, renderer)
    sent = Message(
        "Let me check.",
        "They want to go to Paris." if spec.reasoning else None,
        tuple(
            ToolCall(tool.name, json.dumps(arguments))
            for tool, arguments in zip(
                TOOLS, ({"city": "Paris", "days": 3}, {"city": "Paris", "filters": {"stars": 4}}), strict=True
            )
        ),
    )
    prompt = next((found.text for found in spec.turn.prompts if not found.set), spec.turn.header)
    reply = write_turn(spec, sent, prompt=prompt)
    parser = Parser(spec, TOOLS, prompt=prompt)
    steps = [
        (reply[at : at + PIECE], parser.feed(reply[at : at + PIECE])) for at in range(0, len(reply), PIECE)
    ]
    steps.append(("", parser.finish("stop")))
    parsed = assemble(event for _, events in steps for event in events)
    same = _same(sent, parsed.message)
    if as_json:
        print_json(
            {
                "template": name,
                "verdict": analysis.verdict,
                "round_trips": spec.verification.round_trips,
                "reply": reply,
                "message": parsed.message.to_openai(),
                "came_out_as_sent": same,
            }
        )
    else:
        from analyzer.cli.story import tell  # noqa: PLC0415

        tell(console(), analysis, shown, steps, parsed.message)
        click.echo()
        click.echo(f"Next: analyzer infer {visible('YOUR_TEMPLATE.jinja')}   or   analyzer --help")
    return int(not same or analysis.verdict == "failed")


def _same(sent: object, got: object) -> bool:
    from analyzer.chat import Message  # noqa: PLC0415

    def plain(message: object) -> object:
        assert isinstance(message, Message)  # noqa: S101  (both are)
        calls = [(call.name, call.decoded()) for call in message.tool_calls]
        return message.content, message.reasoning_content, calls

    return plain(sent) == plain(got)
