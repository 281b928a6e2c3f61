"""Reads how a model writes its turns out of its chat template, proves it, and parses with it.

    from analyzer import analyze, Parser, assemble

    analysis = analyze("chat_template.jinja")      # infer the format spec and prove it
    parser = Parser(analysis.spec)                 # parse what the model writes, in pieces or whole

The names here are imported when they are first used: `import analyzer` costs nothing, and a program that only loads
specs and parses never sees a template engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from analyzer.analysis import VERDICTS, Analysis, Note, analyze
    from analyzer.chat import Message, Tool, ToolCall, tools_from_openai
    from analyzer.errors import AnalyzerError, ExportError, SpecError, TemplateError, UsageError
    from analyzer.render import InProcessRenderer, Limits, RenderWorker
    from analyzer.runtime import (
        STRICT,
        ArgumentsDelta,
        CallEnd,
        CallStart,
        EndOfMessage,
        Event,
        Markup,
        Options,
        Parsed,
        Parser,
        Problem,
        ReasoningDelta,
        TextDelta,
        assemble,
        coalesce,
        parse,
    )
    from analyzer.spec.document import dump, dumps, load_spec
    from analyzer.spec.model import FORMAT_VERSION, Spec
    from analyzer.template import Template, load_templates
    from analyzer.verify import verified

_NAMES: Final = {
    "analyzer.analysis": ("VERDICTS", "Analysis", "Note", "analyze"),
    "analyzer.chat": ("Message", "Tool", "ToolCall", "tools_from_openai"),
    "analyzer.errors": ("AnalyzerError", "ExportError", "SpecError", "TemplateError", "UsageError"),
    "analyzer.render": ("InProcessRenderer", "Limits", "RenderWorker"),
    "analyzer.runtime": (
        "STRICT",
        "ArgumentsDelta",
        "CallEnd",
        "CallStart",
        "EndOfMessage",
        "Event",
        "Markup",
        "Options",
        "Parsed",
        "Parser",
        "Problem",
        "ReasoningDelta",
        "TextDelta",
        "assemble",
        "coalesce",
        "parse",
    ),
    "analyzer.spec.document": ("dump", "dumps", "load_spec"),
    "analyzer.spec.model": ("FORMAT_VERSION", "Spec"),
    "analyzer.template": ("Template", "load_templates"),
    "analyzer.verify": ("verified",),
}
_HOMES: Final = {name: home for home, names in _NAMES.items() for name in names}

__all__ = [
    "FORMAT_VERSION",
    "STRICT",
    "VERDICTS",
    "Analysis",
    "AnalyzerError",
    "ArgumentsDelta",
    "CallEnd",
    "CallStart",
    "EndOfMessage",
    "Event",
    "ExportError",
    "InProcessRenderer",
    "Limits",
    "Markup",
    "Message",
    "Note",
    "Options",
    "Parsed",
    "Parser",
    "Problem",
    "ReasoningDelta",
    "RenderWorker",
    "Spec",
    "SpecError",
    "Template",
    "TemplateError",
    "TextDelta",
    "Tool",
    "ToolCall",
    "UsageError",
    "analyze",
    "assemble",
    "coalesce",
    "dump",
    "dumps",
    "load_spec",
    "load_templates",
    "parse",
    "tools_from_openai",
    "verified",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
