"""`analyzer import-response-template`: a hand-written response template as a spec."""

from __future__ import annotations

from typing import Final

import click

from analyzer.cli.inputs import read_json
from analyzer.cli.output import to_json
from analyzer.cli.places import Input, Output, OutputFile, not_over

NOTE: Final = (
    "what only the chat template shows is not in a response template: results, further prompts, defects"
)
"""Why the spec is `unverified`."""


@click.command("import-response-template", short_help="Read a response template as a spec.")
@click.argument("source", metavar="FILE", type=Input())
@click.option("--json", "as_json", is_flag=True, help="One object instead of YAML: spec, verdict, notes.")
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    default="-",
    help="Where to write the spec; standard output without it.",
)
def command(source: str, as_json: bool, output: Output) -> int:
    """Read a response template, or the tokenizer_config.json that holds one, and write it as a spec.

    \b
    Examples:
      analyzer import-response-template model/tokenizer_config.json -o spec.yaml
      analyzer import-response-template template.json

    FILE may be - for standard input. The spec is `unverified`: what only the chat template shows is not in a response
    template; `verify` holds it against one.
    """
    from analyzer.errors import UsageError  # noqa: PLC0415
    from analyzer.export import import_response_template  # noqa: PLC0415
    from analyzer.spec.document import dumps, to_data  # noqa: PLC0415

    not_over(output, source, "the file to read from")
    data = read_json(source, "a response template, or a tokenizer_config.json")
    if not isinstance(data, dict):
        raise UsageError(f"{source}: this is no object")
    spec = import_response_template(data)
    if as_json:
        verdict = spec.verification.verdict
        note = {"subject": "response template", "kind": verdict, "message": NOTE, "times": 1}
        output.write(f"{to_json({'verdict': verdict, 'notes': [note], 'spec': to_data(spec)})}\n")
    else:
        output.write(dumps(spec))
    return 0
