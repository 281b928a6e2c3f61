"""Reading a model's text with the strict runtime, in random pieces."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from analyzer.chat import Message, Tool
from analyzer.runtime import STRICT, Parser, assemble
from analyzer.spec.model import Prompt, Spec

_TOLERATED: Final = frozenset({"inner_quote", "lone_marker"})
"""What is no fault: a string without escapes that holds the format's own quotes, and text that mentions a marker."""

_CUTS: Final = 5


@dataclass(frozen=True, slots=True)
class Reading:
    """What the runtime made of a text: the message and the problems it saw, as short lines."""

    message: Message
    problems: tuple[str, ...] = ()
    kinds: tuple[tuple[str, int, str], ...] = ()
    """The kind, the place and the text of each problem."""


def read(
    spec: Spec,
    text: str,
    tools: tuple[Tool, ...],
    prompt: str | None,
    chance: random.Random,
    *,
    overlays: bool = False,
    soft: bool = False,
) -> Reading:
    """Parse in pieces that ``chance`` cuts; nothing that the runtime tolerates outside of strict mode passes.

    ``overlays`` is for formats that write no name: how an id holds one is an overlay's to say.  ``soft`` is for generation
    prompts that space the same literals otherwise than history does.
    """
    options = STRICT.with_(overlays=overlays, soft_white_space=soft)
    parser = Parser(spec, tools=tools, options=options, prompt=prompt)
    cuts = sorted(chance.randrange(len(text) + 1) for _ in range(_CUTS))
    events = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        events += parser.feed(text[start:end])
    events += parser.finish("stop")
    parsed = assemble(events)
    seen = [
        problem
        for problem in parsed.problems
        if problem.kind not in _TOLERATED and not (soft and problem.kind == "white_space")
    ]
    return Reading(
        parsed.message,
        tuple(f"{problem.kind} at {problem.start}: {problem.raw[:60]!r}" for problem in seen),
        tuple((problem.kind, problem.start, problem.raw) for problem in seen),
    )


def from_header(spec: Spec) -> Spec:
    """The spec for a turn that is read from history: its prompt is the bare header."""
    turn = spec.turn.model_copy(update={"prompts": (Prompt(text=spec.turn.header),)})
    return spec.model_copy(update={"turn": turn})
