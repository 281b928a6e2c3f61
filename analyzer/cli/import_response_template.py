"""`analyzer import-response-template`: a hand-written response template as a spec."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer.cli.inputs import read_json
from analyzer.files import write_file


@click.command("import-response-template")
@click.argument("source")
@click.option("-o", "--output", metavar="FILE", help="Where to write the spec; standard output without it.")
def command(source: str, output: str | None) -> int:
    """Read a response template, or the tokenizer_config.json that holds one, and write it as a spec.

    \b
    Examples:
      analyzer import-response-template model/tokenizer_config.json -o spec.yaml
      analyzer import-response-template template.json

    The spec is `unverified`: what only the chat template shows is not in a response template.
    """
    from analyzer.errors import UsageError  # noqa: PLC0415
    from analyzer.export import import_response_template  # noqa: PLC0415
    from analyzer.spec.document import dumps  # noqa: PLC0415

    data = read_json(source, "a response template, or a tokenizer_config.json")
    if not isinstance(data, dict):
        raise UsageError(f"{source}: this is no object")
    text = dumps(import_response_template(data))
    if output is None:
        click.echo(text, nl=False)
    else:
        write_file(Path(output), text)
    return 0
