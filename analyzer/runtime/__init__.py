"""The runtime: one streaming, linear parser that reads any format spec.

parser = Parser(spec, tools)
for chunk in chunks:
    for event in parser.feed(chunk):
        ...
events = parser.finish("stop")
"""

from __future__ import annotations

from analyzer.runtime.assemble import Parsed, assemble, parse
from analyzer.runtime.coerce import CompiledTools
from analyzer.runtime.events import (
    ArgumentsDelta,
    CallEnd,
    CallStart,
    EndOfMessage,
    Event,
    Markup,
    Problem,
    ReasoningDelta,
    TextDelta,
    coalesce,
)
from analyzer.runtime.options import STRICT, Options
from analyzer.runtime.parser import Parser

__all__ = [
    "STRICT",
    "ArgumentsDelta",
    "CallEnd",
    "CallStart",
    "CompiledTools",
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
]
