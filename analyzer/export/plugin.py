"""Targets `vllm-plugin` and `sglang-plugin`: one Python file that makes a server parse with our runtime on a spec.

The file holds the spec's text and one call of `register` (`analyzer.integrations.vllm`, `.sglang`), so this package must be
installed beside the server. Tools, tool choice and parallel calls are a request's own affair there, not the export's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from analyzer.chat import Tool
from analyzer.errors import ExportError
from analyzer.export import structural_tag
from analyzer.export.result import Export, Losses, Options
from analyzer.spec.document import dumps
from analyzer.spec.model import Spec, Verification

VLLM: Final = "vllm-plugin"
SGLANG: Final = "sglang-plugin"
_ANY: Final = Tool("any_tool", "", {"type": "object", "properties": {"text": {"type": "string"}}})
"""The tool with which the structural tag of a spec is tried."""

_VLLM: Final = '''\
"""Parsers of vLLM for {title}, made by `analyzer export --to vllm-plugin`.

    vllm serve MODEL --enable-auto-tool-choice \\
        --tool-parser-plugin /PATH/OF/THIS_FILE --tool-call-parser {name} \\
        --reasoning-parser-plugin /PATH/OF/THIS_FILE --reasoning-parser {name}

The package `chat-template-analyzer` must be installed beside vLLM.
"""

from analyzer.integrations.vllm import register

NAME = "{name}"
SPEC = (
{spec}
)

register(NAME, SPEC)
'''

_SGLANG: Final = '''\
"""Parsers of SGLang for {title}, made by `analyzer export --to sglang-plugin`.

    python THIS_FILE --model-path MODEL --tool-call-parser {name}{reasoning}

starts SGLang's server with them; all options are the server's own. Importing the file registers them and starts nothing.
The package `chat-template-analyzer` must be installed beside SGLang.
"""

import runpy

from analyzer.integrations.sglang import register

NAME = "{name}"
SPEC = (
{spec}
)

register(NAME, SPEC)

if __name__ == "__main__":
    runpy.run_module("sglang.launch_server", run_name="__main__")
'''


def export_vllm(spec: Spec, tools: Sequence[Tool], options: Options) -> Export:
    """Return the text of the file for vLLM."""
    losses = _losses(spec, tools, options, VLLM)
    if not spec.reasoning:
        losses.add(
            "no_reasoning", "The format has no reasoning: leave the options of the reasoning parser out."
        )
    return Export(_written(_VLLM, spec), losses.all())


def export_sglang(spec: Spec, tools: Sequence[Tool], options: Options) -> Export:
    """Return the text of the file for SGLang."""
    losses = _losses(spec, tools, options, SGLANG)
    losses.add(
        "no_stops", "SGLang lets no parser set stops: give those of the spec's grammar with each request."
    )
    if spec.reasoning:
        losses.add(
            "prompt_unknown",
            "SGLang shows no parser the prompt: reasoning begins as the request's own wish for it says.",
        )
    return Export(_written(_SGLANG, spec), losses.all())


def plugin_name(spec: Spec) -> str:
    """Return the name that a spec's parsers are registered under: never one of a server's own."""
    slug = re.sub(r"[^a-z0-9]+", "_", spec.template.name.lower()).strip("_")
    return f"analyzer_{slug or 'spec'}"


def _losses(spec: Spec, tools: Sequence[Tool], options: Options, target: str) -> Losses:
    if tools or options.tool_choice != "auto" or not options.parallel:
        raise ExportError(
            "tools, tool choice and parallel calls come with each request there",
            target=target,
            hint="Export without them.",
        )
    if spec.calls is None and not spec.reasoning:
        raise ExportError(
            "the spec has neither calls nor reasoning", target=target, hint="There is nothing to parse."
        )
    losses = Losses()
    if spec.calls is None:
        losses.add("no_calls", "The format has no calls: leave the option of the tool parser out.")
        return losses
    try:
        for choice in ("auto", "required"):
            for loss in structural_tag.export(spec, [_ANY], Options(choice)).losses:
                losses.add(loss.kind, f"Where calls are constrained: {loss.text}")
    except ExportError as error:
        losses.add("unconstrained", f"Calls cannot be constrained ({error.found}); forced ones are refused.")
    return losses


def _written(template: str, spec: Spec) -> str:
    """The file; the spec goes in line by line, without what tells of its inference and of the template's defects."""
    verdict = Verification(verdict=spec.verification.verdict)
    text = dumps(spec.model_copy(update={"evidence": {}, "defects": (), "verification": verdict}))
    lines = "\n".join(f"    {line!r}" for line in text.splitlines(keepends=True))
    name = plugin_name(spec)
    title = repr(spec.template.name)[1:-1].replace('"', "'") or "a format spec"
    reasoning = f" --reasoning-parser {name}" if spec.reasoning else ""
    return template.format(title=title, name=name, spec=lines, reasoning=reasoning)
