"""Arguments as one self-delimiting value, and the scanners for such values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from analyzer.runtime.copying import clone
from analyzer.runtime.json_scan import JsonScanner
from analyzer.runtime.layouts import Arguments
from analyzer.runtime.literal_scan import LiteralScanner
from analyzer.runtime.literals import FAIL, MORE, OK, WHITE_CAP, white_end
from analyzer.runtime.unclosed import OpenKeys

if TYPE_CHECKING:
    from analyzer.runtime.call import Call
    from analyzer.runtime.state import State

Scanner: TypeAlias = JsonScanner | LiteralScanner


def scanner_for(codec: Any, parser: State, *, container: bool = False) -> Scanner:
    """Return the scanner of a self-delimiting codec."""
    options = parser.options
    kind = codec.kind
    if kind == "dialect":
        return LiteralScanner(codec.quote, foreign=options.foreign_quotes, bare=False)
    if kind == "python":
        return LiteralScanner(bare=options.foreign_quotes and not container)
    return JsonScanner(lenient=options.control_characters, escapes=options.invalid_escapes)


def report(scanner: Scanner, call: Call, key: str) -> None:
    """Note on the call which rules a value needed."""
    if isinstance(scanner, JsonScanner):
        if scanner.raw_controls:
            call.flag("control_character")
        if scanner.repaired:
            call.flag("invalid_escape")
        return
    if scanner.foreign_used:
        call.flag("foreign_quotes")
    if scanner.inner_used:
        call.flag("inner_quote")
    for unclosed in scanner.keys.unclosed if scanner.keys is not None else ():
        call.flag("missing_value_close", unclosed)
    if scanner.python_used and scanner.quote:
        call.flag("python_value", key)


class ArgumentValue:
    """Arguments as one value."""

    __slots__ = ("_started", "arguments", "call", "scanner")

    def __init__(self, call: Call, arguments: Arguments) -> None:
        self.call = call
        self.arguments = arguments
        self.scanner: Scanner | None = None
        self._started = False

    def copy(self) -> ArgumentValue:
        """Return an independent copy that still belongs to the same call."""
        call, self.call = self.call, None  # type: ignore[assignment]
        new = clone(self)
        self.call = new.call = call
        return new

    def held(self) -> str:
        """Text consumed and not reported yet."""
        return "" if self.scanner is None else self.scanner.held

    def run(self, parser: State, final: bool) -> int:
        """Consume the value."""
        if self.scanner is None:
            status = self._start(parser, final)
            if status != OK or self.scanner is None:
                return status
        scanner = self.scanner
        buf = parser.buf
        at = parser.pos
        end = scanner.scan(buf, at, final) if scanner.open else at
        parser.searched += end - at
        text = "".join(scanner.out)
        scanner.out.clear()
        if end > at or text:
            parser.arguments(text, end)
        if scanner.broken:
            return FAIL
        if scanner.done:
            report(scanner, self.call, "")
            return OK
        return FAIL if final else MORE

    def _start(self, parser: State, final: bool) -> int:
        buf = parser.buf
        at = white_end(buf, parser.pos) if self.arguments.soft else parser.pos
        if at == len(buf) and not final and at - parser.pos <= WHITE_CAP:
            return MORE
        after = self.arguments.after
        if at < len(buf) and buf[at] in "{(":
            if at > parser.pos:
                parser.markup(at)
            self.scanner = scanner_for(self.arguments.single, parser)
            if isinstance(self.scanner, LiteralScanner) and self.scanner.quote:
                self.scanner.keys = self._keys(parser)
            return OK
        if at < len(buf) and buf[at] == '"' and self.arguments.single.kind == "json_text":
            return FAIL
        if after.core and self.arguments.soft and parser.options.missing_arguments:
            status = after.match(buf, at, 0, final)[0]
            if status == OK:
                if at > parser.pos:
                    parser.markup(at)
                self.call.flag("missing_arguments", self.call.name)
                parser.put_arguments("{}", parser.offset, parser.offset)
            return status
        return FAIL

    def _keys(self, parser: State) -> OpenKeys | None:
        """The declared arguments, when one of them may end the value before it."""
        types = None if parser.tools is None else parser.tools.parameters(self.call.name)
        if types is None or not types.keys or not parser.options.missing_value_close:
            return None
        return OpenKeys(types.keys)
