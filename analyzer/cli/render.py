"""`analyzer render`: the prompt that a template makes of a conversation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer.chat import Tool, tools_from_openai
from analyzer.cli.inputs import assignments, note_unread, read_messages, read_tools
from analyzer.cli.options import json_option
from analyzer.cli.output import print_json, say_after
from analyzer.cli.places import Input
from analyzer.errors import TemplateError, UsageError

if TYPE_CHECKING:
    from analyzer.agent import Cost, Size
    from analyzer.render import Renderer, RenderRequest
    from analyzer.template import Template


@click.command("render", short_help="Render a conversation and print the prompt.")
@click.argument("source", type=Input())
@click.option(
    "--messages",
    "messages_file",
    metavar="FILE",
    required=True,
    type=Input(),
    help="Messages, or a request body; - reads standard input.",
)
@click.option("--tools", "tools_file", metavar="FILE", type=Input(), help="The tools to declare, as JSON.")
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A variable of the template; may be given again.",
)
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
@json_option("Print prompt and counts as JSON.")
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

    With tools says on standard error what they add to the prompt, tool by tool: in characters, and with --tokenizer in
    tokens.

    \b
    Examples:
      analyzer render model/ --messages chat.json --tools tools.json
      analyzer render chat_template.jinja --messages chat.json --set enable_thinking=false
      analyzer render model/ --messages request.json --tokenizer model/ --json
    """
    from analyzer.agent import Size  # noqa: PLC0415
    from analyzer.render import RenderRequest, RenderWorker, as_transformers  # noqa: PLC0415
    from analyzer.template import load_templates, pick  # noqa: PLC0415

    template = pick(load_templates(source), variant)
    messages, tools = read_messages(messages_file)
    declared = read_tools(tools_file)
    if declared is not None:
        tools = [tool.to_openai() for tool in declared]
    messages = [_shaped(message, arguments) for message in messages]
    variables = assignments(settings)
    note_unread(template, variables)
    count = token_counter(tokenizer) if tokenizer is not None else None
    with RenderWorker() as worker:

        def prompt_with(shown: list[dict[str, Any]] | None) -> str:
            request = RenderRequest(
                as_transformers(messages), shown, generation_prompt, template.special_tokens, variables
            )
            return _rendered(template, worker, request)

        prompt = prompt_with(tools)
        size = Size(len(prompt), None if count is None else count(prompt))
        cost = _cost(prompt_with, tools, count) if tools else None
    if as_json:
        print_json({"prompt": prompt, **_sizes(size, cost)})
        return
    click.echo(prompt, nl=False)
    if cost is not None:
        say_after(prompt, str(cost))
    elif count is not None:
        say_after(prompt, f"prompt: {size}")


def _shaped(message: Mapping[str, Any], arguments: str) -> dict[str, Any]:
    """The message with its calls' arguments in the shape asked for."""
    out = dict(message)
    if arguments == "as-given" or not isinstance(out.get("tool_calls"), list):
        return out
    calls = []
    for call in out["tool_calls"]:
        if not isinstance(call, dict) or not isinstance(call.get("function"), dict):
            calls.append(call)  # the template may know what it is
            continue
        function = dict(call["function"])
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


def _rendered(template: Template, worker: Renderer, request: RenderRequest) -> str:
    """The prompt; raises `TemplateError` with the template's own words."""
    from analyzer.render import Rendered  # noqa: PLC0415

    (outcome,) = worker.render(template.text, [request])
    if isinstance(outcome, Rendered):
        return outcome.text
    found = {
        "raised": "the template refuses this conversation",
        "syntax": "the template does not compile",
    }
    why = found.get(outcome.kind, f"the template cannot render this conversation ({outcome.kind})")
    raise TemplateError(f"{why}: {outcome.message}", source=template.place, line=outcome.line)


def _cost(
    prompt_with: Callable[[list[dict[str, Any]] | None], str],
    tools: list[dict[str, Any]],
    count: Callable[[str], int] | None,
) -> Cost | None:
    """What the tools add; None where the template does not render this conversation without one of them."""
    from analyzer.agent import tool_cost  # noqa: PLC0415

    try:
        read = tools_from_openai(tools)
    except (KeyError, TypeError, AttributeError):
        return None  # the template rendered them all the same
    given = {id(tool): data for tool, data in zip(read, tools, strict=True)}

    def render(shown: Sequence[Tool]) -> str:
        return prompt_with([given[id(tool)] for tool in shown] or None)

    try:
        return tool_cost(render, read, count)
    except TemplateError:
        return None


def _sizes(size: Size, cost: Cost | None) -> dict[str, Any]:
    """How long the prompt is, and what the tools add to it, as JSON data."""
    if cost is None:
        return {"size": _size(size)}
    return {
        "size": _size(size),
        "cost": {
            "without_tools": _size(cost.without_tools),
            "tools": _size(cost.tools),
            "each": [{"name": name, **_size(each)} for name, each in cost.each],
            "around_them": _size(cost.frame),
        },
    }


def _size(size: Size) -> dict[str, int]:
    tokens = {} if size.tokens is None else {"tokens": size.tokens}
    return {"characters": size.characters, **tokens}


def token_counter(folder: Path) -> Callable[[str], int]:
    """Counts the tokens of a text; the prompt holds its special tokens, so none are added.

    Reads `tokenizer.json` with the tokenizers package where there is one, else lets transformers load the folder.
    """
    file = folder / "tokenizer.json" if folder.is_dir() else folder
    try:
        if file.is_file():
            from tokenizers import Tokenizer  # noqa: PLC0415  (an extra)

            fast = Tokenizer.from_file(str(file))
            return lambda text: len(fast.encode(text, add_special_tokens=False).ids)
        from transformers import AutoTokenizer  # noqa: PLC0415  (an extra)

        slow = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    except ImportError:
        raise UsageError(
            "counting tokens needs the transformers package",
            hint="Install it with: pip install 'chat-template-analyzer[hf]'",
        ) from None
    except Exception as error:  # whatever a loader raises for a damaged file
        raise UsageError(f"{folder}: the tokenizer cannot be loaded: {error}") from error
    return lambda text: len(slow.encode(text, add_special_tokens=False))
