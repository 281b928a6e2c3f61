"""The fast path: when the parser stands inside plain text, which chunks need no work at all."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from analyzer.runtime.arguments import ArgumentItems, ArgumentValue
from analyzer.runtime.calls import Call, JsonCall
from analyzer.runtime.events import ArgumentsDelta, Markup, ReasoningDelta, TextDelta
from analyzer.runtime.json_scan import JsonScanner
from analyzer.runtime.literal_scan import LiteralScanner
from analyzer.runtime.sequence import SequenceCall

if TYPE_CHECKING:
    from analyzer.runtime.parser import Parser

_json_hot = re.compile(r'["\\\x00-\x1f]').search
_TEXT, _REASONING, _CALL = 0, 1, 3


@lru_cache(maxsize=64)
def _hot(chars: str) -> Any:
    return re.compile(f"[{re.escape(chars)}\x00-\x1f]").search


def arm(parser: Parser) -> None:
    """Set the parser's fast path for its present state, or none."""
    parser._plain = None
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
            plain = _call_hot(parser._call)
            if plain is not None:
                parser._plain = plain
                parser._make = ArgumentsDelta


def _call_hot(call: Call) -> Any:
    if isinstance(call, JsonCall):
        return _json_hot if call.in_plain_arguments else None
    if isinstance(call, SequenceCall):
        arguments = call.arguments
        if isinstance(arguments, ArgumentValue):
            return _scanner_hot(arguments.scanner)
        if isinstance(arguments, ArgumentItems):
            if arguments.value is not None:
                return arguments.value.watch.hot if arguments.value.streams else None
            return _scanner_hot(arguments.scanner)
    return None


def _scanner_hot(scanner: JsonScanner | LiteralScanner | None) -> Any:
    if scanner is None or not scanner.in_plain_string:
        return None
    if isinstance(scanner, JsonScanner):
        return _json_hot
    return _hot(scanner.string_hot)
