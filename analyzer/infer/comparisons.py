"""The numbered comparisons, as the modules that make them describe them at their head, and what each family finds.

A module's docstring has a line `C4  two calls against one: ...` for each comparison; those lines are the only place
where they are defined.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from dataclasses import dataclass
from functools import cache
from typing import Final

import analyzer.infer

_LINE: Final = re.compile(r"^([A-Z]\d+)  (\S.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Family:
    """Comparisons with one letter: what they are about, which facts they find, and which variants show it best."""

    letter: str
    subject: str
    facts: tuple[str, ...]
    """Labels of the facts in the summary."""
    variants: tuple[str, ...]
    """Variants of the probe, as `analyzer.observe.variants` names them."""


FAMILIES: Final = (
    Family("I", "Input: what the template takes", ("wants",), ()),
    Family("T", "Turns: where the model's turn begins and ends", ("replies", "ends with"), ("t", "t+u")),
    Family("P", "Prompts: what the model is given to continue", ("prompt",), ("base+p",)),
    Family("R", "Reasoning", ("reasoning",), ()),
    Family("C", "Calls", ("tool calls", "one call", "or", "ids"), ("c1a2", "c2a2", "c1a2+t")),
    Family("D", "Described: calls that the prompt tells of and no turn shows", ("described", "why none"), ()),
    Family("A", "Arguments", ("arguments",), ("c1a0", "c1a1", "c1a3")),
    Family("V", "Values: how each JSON type is written", ("arguments",), ()),
    Family("S", "Results of tools", ("tool results",), ("c1a2+r", "c2a2+r")),
)
"""In the order in which an explanation goes."""


@cache
def comparisons() -> dict[str, str]:
    """What is compared, by number."""
    found: dict[str, str] = {}
    for module in pkgutil.iter_modules(analyzer.infer.__path__):
        text = importlib.import_module(f"analyzer.infer.{module.name}").__doc__ or ""
        for number, words in _LINE.findall(text):
            found.setdefault(number, words)
    return dict(sorted(found.items(), key=lambda pair: (pair[0][0], int(pair[0][1:]))))
