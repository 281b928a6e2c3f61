"""The variables that a template reads from outside, and the values worth trying for each."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from analyzer.render.facts import TemplateFacts
from analyzer.render.outcome import STANDARD_VARIABLES
from analyzer.spec.model import Scalar

MOST_VARIABLES: Final = 16
MOST_VALUES: Final = 6
"""How many of the strings that a variable is compared with are tried."""

_TOKENS: Final = "_token"
"""What the names of special tokens end in: they are part of the tokenizer, not choices."""


def variable_choices(facts: TemplateFacts, known: Container[str] = ()) -> dict[str, tuple[Scalar, ...]]:
    """Return the values worth trying for each variable that the template reads from outside, those `known` left out."""
    out: dict[str, tuple[Scalar, ...]] = {}
    for name in facts.variables:
        if (
            name in STANDARD_VARIABLES
            or name.endswith(_TOKENS)
            or name in known
            or len(out) >= MOST_VARIABLES
        ):
            continue
        values: list[Scalar] = list[Scalar](facts.compared.get(name, ()))[:MOST_VALUES]
        if name in facts.switches or not values:
            values = [True, False, *values]
        out[name] = tuple(values)
    return out
