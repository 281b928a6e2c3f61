"""`analyzer render`: the prompt that a template makes of a conversation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.cli.inputs import assignments, read_messages, read_tools
from analyzer.cli.output import print_json
from analyzer.errors import TemplateError, UsageError

if TYPE_CHECKING:
    from analyzer.template import Template


@click.command("render")
@click.argument("source")
@click.option(
    "--messages",
    "messages_file",
    metavar="FILE",
    required=True,
    help="Messages, or a request body; - reads standard input.",
)
@click.option("--tools", "tools_file", metavar="FILE", help="The tools to declare, as JSON.")
@click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help="A variable of the template.")
@click.option(
    "--generation-prompt/--no-generation-prompt",
    default=True,
    show_default=True,
    help="End with what opens the model's turn.",
)
@click.option(
    "--arguments",
    type=click.Choice(["as-given", "mapping", "text"]),
    default="as-given",
    show_default=True,
    help="The shape in which the template is given call arguments.",
)
@click.option(
    "--tokenizer",
    metavar="FOLDER",
    type=click.Path(exists=True, path_type=Path),
    help="Count tokens with this folder's tokenizer.",
)
@click.option("--variant", metavar="NAME", help="Which of several named templates to take.")
@click.option("--json", "as_json", is_flag=True, help="Print prompt and counts as JSON.")
def command(
    source: str,
    messages_file: str,
    tools_file: str | None,
    settings: tuple[str, ...],
    generation_prompt: bool,
    arguments: str,
    tokenizer: Path | None,
    variant: str | None,
    as_json: bool,
) -> None:
    """Render a conversation as transformers does, and print the prompt.

    With --tokenizer also says on standard error how many tokens it has, with and without the tools.

    \b
    Examples:
      analyzer render model/ --messages chat.json --tools tools.json
      analyzer render chat_template.jinja --messages chat.json --set enable_thinking=false
      analyzer render model/ --messages request.json --tokenizer model/ --json
    """
    from analyzer.template import load_templates, pick  # noqa: PLC0415

    template = pick(load_templates(source), variant)
    messages, tools = read_messages(messages_file)
    declared = read_tools(tools_file)
    if declared is not None:
        tools = [tool.to_openai() for tool in declared]
    messages = [_shaped(message, arguments) for message in messages]
    variables = assignments(settings)
    toolsets = [tools, None] if tokenizer is not None and tools else [tools]
    texts = _render(template, messages, toolsets, variables, generation_prompt=generation_prompt)
    counts = {}
    if tokenizer is not None:
        numbers = count_tokens(tokenizer, texts)
        counts = {"with_tools": numbers[0], "without_tools": numbers[-1]} if tools else {"prompt": numbers[0]}
    if as_json:
        print_json({"prompt": texts[0], **({"tokens": counts} if counts else {})})
        return
    click.echo(texts[0], nl=False)
    if counts:
        words = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
        click.echo(f"analyzer: tokens: {words}", err=True)


def _shaped(message: Mapping[str, Any], arguments: str) -> dict[str, Any]:
    """The message with its calls' arguments in the shape asked for."""
    out = dict(message)
    if arguments == "as-given" or not isinstance(out.get("tool_calls"), list):
        return out
    calls = []
    for call in out["tool_calls"]:
        function = dict(call.get("function") or {})
        value = function.get("arguments")
        try:
            if arguments == "mapping" and isinstance(value, str):
                function["arguments"] = json.loads(value)
        except json.JSONDecodeError:
            raise UsageError(f"the arguments of a call are not JSON: {value!r}") from None
        if arguments == "text" and not isinstance(value, str):
            function["arguments"] = json.dumps(value, ensure_ascii=False)
        calls.append({**call, "function": function})
    out["tool_calls"] = calls
    return out


def _render(
    template: Template,
    messages: Sequence[Mapping[str, Any]],
    toolsets: Sequence[list[dict[str, Any]] | None],
    variables: Mapping[str, Any],
    *,
    generation_prompt: bool,
) -> list[str]:
    """The prompt for each set of tools; raises `TemplateError` with the template's own words."""
    from analyzer.render import RenderFailure, RenderRequest, RenderWorker, as_transformers  # noqa: PLC0415

    requests = [
        RenderRequest(as_transformers(messages), tools, generation_prompt, template.special_tokens, variables)
        for tools in toolsets
    ]
    with RenderWorker() as worker:
        outcomes = worker.render(template.text, requests)
    texts = []
    for outcome in outcomes:
        if isinstance(outcome, RenderFailure):
            found = {
                "raised": "the template refuses this conversation",
                "syntax": "the template does not compile",
            }
            why = found.get(outcome.kind, f"the template cannot render this conversation ({outcome.kind})")
            raise TemplateError(f"{why}: {outcome.message}", source=template.name, line=outcome.line)
        texts.append(outcome.text)
    return texts


def count_tokens(folder: Path, texts: Sequence[str]) -> list[int]:
    """How many tokens each text has; the prompt holds its special tokens, so none are added.

    Reads `tokenizer.json` with the tokenizers package where there is one, else lets transformers load the folder.
    """
    missing = UsageError(
        "counting tokens needs the transformers package",
        hint="Install it with: pip install 'chat-template-analyzer[hf]'",
    )
    file = folder / "tokenizer.json" if folder.is_dir() else folder
    try:
        if file.is_file():
            from tokenizers import Tokenizer  # noqa: PLC0415  (an extra)

            fast = Tokenizer.from_file(str(file))
            return [len(fast.encode(text, add_special_tokens=False).ids) for text in texts]
        from transformers import AutoTokenizer  # noqa: PLC0415  (an extra)

        slow = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        return [len(slow.encode(text, add_special_tokens=False)) for text in texts]
    except ImportError:
        raise missing from None
    except Exception as error:  # whatever a loader raises for a damaged file
        raise UsageError(f"{folder}: the tokenizer cannot be loaded: {error}") from error
