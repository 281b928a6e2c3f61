"""The fast path: when the parser stands inside plain text, which chunks need no work at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.runtime.arguments import ArgumentItems, ArgumentValue
from analyzer.runtime.calls import Call, JsonCall
from analyzer.runtime.events import ArgumentsDelta, Markup, ReasoningDelta, TextDelta
from analyzer.runtime.json_scan import JsonScanner
from analyzer.runtime.literal_scan import LiteralScanner
from analyzer.runtime.sequence import SequenceCall

if TYPE_CHECKING:
    from analyzer.runtime.parser import Parser

_TEXT, _REASONING, _CALL = 0, 1, 3


def arm(parser: Parser) -> None:
    """Set the parser's fast path for its present state, or none."""
    parser._plain = parser._direct = None
    if parser.buf or parser._hold is not None or parser._draft is not None:
        return
    mode = parser._mode
    if mode <= _REASONING:
        if parser._at_start or parser.tail:
            return
        compiled = parser.compiled
        if mode == _TEXT:
            parser._plain = compiled.text.watch.hot
            parser._make = TextDelta
        else:
            parser._plain = compiled.reasoning_modes[parser._number].watch.hot
            policy = parser.options.reasoning
            parser._make = (
                ReasoningDelta if policy == "split" else TextDelta if policy == "content" else Markup
            )
    elif mode == _CALL and parser._call is not None and parser._call.committed:
        if parser.options.max_call_chars is None:
            _arm_call(parser, parser._call)


def _arm_call(parser: Parser, call: Call) -> None:
    scanner: JsonScanner | LiteralScanner | None = None
    if isinstance(call, JsonCall):
        scanner = call.direct
    elif isinstance(call, SequenceCall):
        arguments = call.arguments
        if isinstance(arguments, ArgumentItems) and arguments.value is not None:
            value = arguments.value
            if value.streams:
                parser._plain = value.watch.hot
                parser._make = ArgumentsDelta
            elif value.holds is not None:
                parser._plain = value.watch.hot
                parser._make = None
                parser._pieces = value.holds
            return
        if arguments is not None:
            scanner = arguments.scanner
    if scanner is not None and scanner.open:
        parser._direct = scanner
        parser._plain = scanner.hot
        parser._make = ArgumentsDelta
