"""The targets, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from analyzer.chat import Tool
from analyzer.errors import ExportError
from analyzer.export import gbnf, json_schema, lark, plugin, response_template, structural_tag
from analyzer.export.result import Export, Options
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
    engine: str
    """The package whose own reader proves it in the tests."""


TARGETS: Final[Mapping[str, Target]] = {
    target.name: target
    for target in (
        Target(
            response_template.TARGET,
            "the key `response_template` of tokenizer_config.json (transformers, vLLM, SGLang)",
            response_template.export,
            needs_tools=False,
            engine="transformers",
        ),
        Target(
            structural_tag.TARGET,
            "constrained decoding by xgrammar (vLLM, SGLang); --legacy for llguidance backends",
            structural_tag.export,
            needs_tools=True,
            engine="xgrammar",
        ),
        Target(
            gbnf.TARGET,
            "the grammar fields of a llama-server request (llama.cpp)",
            gbnf.export,
            needs_tools=True,
            engine="xgrammar",
        ),
        Target(
            lark.TARGET,
            "a grammar for llguidance",
            lark.export,
            needs_tools=True,
            engine="llguidance",
        ),
        Target(
            json_schema.TARGET,
            "the `response_format` of calls that the prompt explains (any server)",
            json_schema.export,
            needs_tools=True,
            engine="jsonschema",
        ),
        Target(
            plugin.VLLM,
            "a Python file with a tool parser and a reasoning parser (vLLM)",
            plugin.export_vllm,
            needs_tools=False,
            engine="vllm",
        ),
        Target(
            plugin.SGLANG,
            "a Python file with both detectors, which starts the server (SGLang)",
            plugin.export_sglang,
            needs_tools=False,
            engine="sglang",
        ),
    )
}
"""All targets."""


def export(target: str, spec: Spec, tools: Sequence[Tool] = (), options: Options | None = None) -> Export:
    """Return `spec` in the form of a target; raises `ExportError` when it cannot be expressed there."""
    found = TARGETS.get(target)
    if found is None:
        raise ExportError(f"there is no target {target!r}", hint=f"There are {', '.join(TARGETS)}.")
    return found.run(spec, tools, options if options is not None else Options())
