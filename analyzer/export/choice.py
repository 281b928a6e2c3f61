"""`tool_choice`, written once for all targets.

choice      what the model may write                                   tools in the grammar
auto        free text until a call's trigger, then the grammar         all
none        anything: no grammar, no parsing; tools stay in the prompt  none
required    one or more calls from the first character                 all
a name      exactly one call of that tool                              that one
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from analyzer.chat import Tool
from analyzer.errors import ExportError, UsageError
from analyzer.export.result import Losses, Options
from analyzer.spec.model import CallsSegment, Spec

WORDS: Final = ("auto", "none", "required")
"""The choices that are no tool's name."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A resolved choice."""

    mode: Literal["auto", "none", "forced"]
    """`forced`: the turn begins with a call."""
    tools: tuple[Tool, ...]
    """The tools that may be called."""
    single: bool
    """True: at most one call."""


def resolve(
    spec: Spec,
    tools: Sequence[Tool],
    options: Options,
    losses: Losses,
    target: str,
    *,
    prompted: bool = False,
) -> Choice:
    """Return what is asked for. `prompted`: without the format's own calls.

    Raises:
        UsageError: the choice is none that there is, or needs tools; says what is allowed.
        ExportError: the target cannot express it.
    """
    word = options.tool_choice
    parallel = prompted or word == "none" or calls_of(spec, target).parallel
    check_choice(tools, options)
    names = [tool.name for tool in tools]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ExportError(f"two tools are named {twice[0]!r}", target=target, hint="Rename one of them.")
    if word == "none":
        return Choice("none", (), single=False)
    if not tools:
        raise UsageError(
            f"{target}: tool choice {word!r} needs tools",
            hint="Give a list of tools (--tools FILE), or choose none (--tool-choice none).",
        )
    kept = tuple(tools) if word in WORDS else tuple(tool for tool in tools if tool.name == word)
    single = word not in WORDS or not options.parallel or not parallel
    if single and not parallel and options.parallel and word in WORDS:
        losses.add("one_call", "The template writes one call a turn, so the grammar allows one.")
    return Choice("auto" if word == "auto" else "forced", kept, single)


def check_choice(tools: Sequence[Tool], options: Options) -> None:
    """Raise `UsageError` when the choice is neither a word that there is nor the name of one of the tools."""
    names = [tool.name for tool in tools]
    if options.tool_choice not in (*WORDS, *names):
        raise UsageError(
            f"tool choice {options.tool_choice!r} is neither one of {', '.join(WORDS)} nor the name of a tool that is offered",
            hint=f"Offered: {', '.join(names) or 'no tool'}.",
        )


def calls_of(spec: Spec, target: str) -> CallsSegment:
    """Return the calls segment; `ExportError` when the format has no calls."""
    segment = spec.calls
    if segment is None:
        raise ExportError("the spec has no calls", target=target, hint="Nothing can be exported for tools.")
    return segment
