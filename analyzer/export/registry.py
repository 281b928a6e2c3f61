"""The targets, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from analyzer.chat import Tool
from analyzer.errors import UsageError
from analyzer.export import gbnf, json_schema, lark, plugin, response_template, structural_tag
from analyzer.export.choice import check_choice
from analyzer.export.result import Export, Loss, Options
from analyzer.spec.model import Spec

Exporter: TypeAlias = Callable[[Spec, Sequence[Tool], Options], Export]


@dataclass(frozen=True, slots=True)
class Target:
    """One thing that a spec can be exported to."""

    name: str
    """The name on the command line."""
    summary: str
    """What loads it, in a few words."""
    run: Exporter
    """The function that makes it."""
    needs_tools: bool
    """True: the payload is made for a list of tools."""


TARGETS: Final[Mapping[str, Target]] = {
    target.name: target
    for target in (
        Target(
            response_template.TARGET,
            "the key `response_template` of tokenizer_config.json (transformers, vLLM, SGLang)",
            response_template.export,
            needs_tools=False,
        ),
        Target(
            structural_tag.TARGET,
            "constrained decoding by xgrammar (vLLM, SGLang); --legacy for llguidance backends",
            structural_tag.export,
            needs_tools=True,
        ),
        Target(
            gbnf.TARGET,
            "the grammar fields of a llama-server request (llama.cpp)",
            gbnf.export,
            needs_tools=True,
        ),
        Target(
            lark.TARGET,
            "a grammar for llguidance",
            lark.export,
            needs_tools=True,
        ),
        Target(
            json_schema.TARGET,
            "the `response_format` of calls that the prompt explains (any server)",
            json_schema.export,
            needs_tools=True,
        ),
        Target(
            plugin.VLLM,
            "a Python file with a tool parser and a reasoning parser (vLLM)",
            plugin.export_vllm,
            needs_tools=False,
        ),
        Target(
            plugin.SGLANG,
            "a Python file with both detectors, which starts the server (SGLang)",
            plugin.export_sglang,
            needs_tools=False,
        ),
    )
}
"""All targets."""


def export(target: str, spec: Spec, tools: Sequence[Tool] = (), options: Options | None = None) -> Export:
    """Return `spec` in the form of a target.

    Raises:
        UsageError: there is no such target, or no such tool choice, or tools are missing.
        ExportError: the target cannot express it.
    """
    found = TARGETS.get(target)
    if found is None:
        raise UsageError(f"there is no target {target!r}", hint=f"There are {', '.join(TARGETS)}.")
    asked = options if options is not None else Options()
    if not found.needs_tools:  # the others look at it themselves, behind whether there are calls at all
        check_choice(tools, asked)
    done = found.run(spec, tools, asked)
    unused = [
        f"`{name}`" for name, (given, readers) in _special(asked).items() if given and target not in readers
    ]
    if unused:
        loss = Loss(
            "unused_option", f"{' and '.join(unused)} means nothing to this target and changed nothing."
        )
        return Export(done.payload, (*done.losses, loss))
    return done


def _special(options: Options) -> dict[str, tuple[bool, tuple[str, ...]]]:
    """The options that only some targets know: whether each is given, and to whom it means something."""
    return {
        "tokens": (bool(options.tokens), (lark.TARGET,)),
        "legacy": (options.legacy, (structural_tag.TARGET,)),
        "exclude_closers": (options.exclude_closers, (structural_tag.TARGET,)),
    }
