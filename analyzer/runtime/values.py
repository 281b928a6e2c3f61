"""The value of one argument item: raw text, a value that ends by itself, or a nested container."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from analyzer.runtime.arguments import Scanner, report, scanner_for
from analyzer.runtime.coerce import Types, quoted, told
from analyzer.runtime.copying import clone
from analyzer.runtime.json_scan import JsonScanner
from analyzer.runtime.json_steps import NUMBER
from analyzer.runtime.layouts import LITERAL, Arguments, Closer
from analyzer.runtime.literal_scan import LiteralScanner
from analyzer.runtime.literals import FAIL, MORE, OK, WHITE_CAP, Lit, white_end
from analyzer.runtime.names import slot
from analyzer.runtime.raw import RawValue

if TYPE_CHECKING:
    from analyzer.runtime.call import Call
    from analyzer.runtime.state import State

BETWEEN, ITEM = range(2)
_NUMBERS: Final = frozenset({"integer", "number"})
_BEGUN: Final = {
    char: frozenset((kind,))
    for chars, kind in (
        ("{", "object"),
        ("[", "array"),
        ("\"'", "string"),
        ("tfTF", "boolean"),
        ("nN", "null"),
    )
    for char in chars
}
"""The types of values by their first character; all others are numbers'."""


class Frame:
    """One open container: the arguments object itself, or a nested value."""

    __slots__ = ("close", "count", "given", "key", "kind", "types")

    def __init__(self, kind: str, types: Types | None, key: str = "", close: Lit | None = None) -> None:
        self.kind = kind
        self.types = types
        self.key = key
        self.close = close
        self.count = 0
        self.given: set[str] = set()

    def copy(self) -> Frame:
        """Return an independent copy."""
        return clone(self)


class ItemValues:
    """Reads values, for `ArgumentItems`."""

    __slots__ = (
        "_begun",
        "_frames",
        "_key",
        "_lit_token",
        "_scan",
        "_scanner",
        "_separated",
        "_state",
        "_step",
        "_value",
        "_word",
        "arguments",
        "call",
    )

    def __init__(self, call: Call, arguments: Arguments, parser: State) -> None:
        self.call = call
        self.arguments = arguments
        types = None if parser.tools is None else parser.tools.parameters(call.name)
        self._frames = [Frame("object", types)]
        self._state = BETWEEN
        self._step = 0
        self._lit_token = 0
        self._scan = 0
        self._key = ""
        self._word = ""
        self._begun = _NUMBERS
        """The types that the value may have by its first character, where its closer depends on that."""
        self._value: RawValue | None = None
        self._scanner: Scanner | None = None
        self._separated = False

    def copy(self) -> ItemValues:
        """Return an independent copy that still belongs to the same call."""
        call, self.call = self.call, None  # type: ignore[assignment]
        new = clone(self)
        self.call = new.call = call
        new._frames = [frame.copy() for frame in self._frames]  # noqa: SLF001 - our own
        return new

    def held(self) -> str:
        """Text consumed and not reported yet."""
        if self._scanner is not None:
            return self._scanner.held
        return "" if self._value is None else self._value.held()

    @property
    def value(self) -> RawValue | None:
        """The raw value that is being read."""
        return self._value

    @property
    def scanner(self) -> Scanner | None:
        """The scanner of the value that is being read."""
        return self._scanner

    def _starts(self, buf: str, at: int, core: str, final: bool) -> int:
        if buf.startswith(core, at):
            return OK
        if not final and len(buf) - at < len(core) and core.startswith(buf[at:]):
            return MORE
        return FAIL

    def _types(self) -> tuple[frozenset[str] | None, Types | None]:
        """The types that the present value may have (None: not known), and its schema."""
        frame = self._frames[-1]
        schema = frame.types
        child = None
        names: frozenset[str] | None = None
        if schema is not None:
            child = schema.child(None if frame.kind == "array" else self._key)
            if child is not None and child.names is not None:
                names = child.names
            elif schema.closed or child is not None:
                names = frozenset({"string"})
        if self.arguments.words and self._word in self.arguments.words:
            names = told(self.arguments.words[self._word], names)
        return names, child

    def _read_value(self, parser: State, final: bool) -> int:
        if self._value is None and self._scanner is None:
            status = self._start_value(parser, final)
            if status != OK:
                return status
        if self._value is None and self._scanner is None:
            return OK  # a nested container was opened
        if self._value is not None:
            status = self._value.run(parser, final)
            if status == OK:
                self._value = None
            return status
        return self._scan_value(parser, final)

    def _start_value(self, parser: State, final: bool) -> int:
        arguments = self.arguments
        buf = parser.buf
        pos = parser.pos
        before = arguments.item[arguments.value_at - 1] if arguments.value_at else None
        tail = before[1].tail if before is not None and before[0] == LITERAL else ""
        names, child = self._types()
        if not arguments.raw:
            at = white_end(buf, pos) if arguments.soft else pos
            if at == len(buf) and not final:
                return MORE if at - pos <= WHITE_CAP else FAIL
            if at > pos:
                parser.markup(at)
            scanner = self._pick_scanner(parser, buf, at, final)
            if scanner is None:
                return MORE
            if isinstance(scanner, LiteralScanner):
                scanner.stops = arguments.stops
            if arguments.by_type:
                self._begun = self._kinds_at(buf, at)
            self._scanner = scanner
            self._put_key(parser)
            return OK
        if arguments.nested and not (names is not None and "string" in names):
            status = self._nested(parser, final, child)
            if status != FAIL:
                return status
        if tail:
            if buf.startswith(tail, pos):
                parser.markup(pos + len(tail))
            elif not final and tail.startswith(buf[pos:]):
                return MORE
        self._put_key(parser)
        frame = self._frames[-1]
        self._value = RawValue(self.call, arguments, self._key, names, frame.types, frame.given)
        if arguments.by_type:
            self._value.closers = self._closers()
        return OK

    def _put_key(self, parser: State) -> None:
        frame = self._frames[-1]
        head = ("{" if frame.kind == "object" else "[") if not frame.count else ", "
        key = "" if frame.kind == "array" else f"{quoted(self._key)}: "
        if frame.kind == "object" and self._key in frame.given:
            self.call.flag("duplicate_argument", self._key)
        frame.given.add(self._key)
        frame.count += 1
        parser.put_arguments(head + key, parser.offset, parser.offset)

    def _nested(self, parser: State, final: bool, child: Types | None) -> int:
        """Open a nested container when an item's opener and key stand where the value begins; FAIL: it is a leaf."""
        arguments = self.arguments
        buf = parser.buf
        at = white_end(buf, parser.pos)
        if at == len(buf) and not final and at - parser.pos <= WHITE_CAP:
            return MORE
        names = None if child is None else child.names
        close = arguments.closer_behind(self._key, "array" if names and "array" in names else "object")
        status = self._starts(buf, at, close.core, final)
        if status != FAIL:
            if status == MORE:
                return MORE
            if names is not None and names & {"array", "object"}:
                kind = "array" if "array" in names else "object"
                self._put_key(parser)
                end = close.match(buf, at, 0, final)[1]
                parser.markup(end)
                parser.put_arguments("[]" if kind == "array" else "{}", parser.offset, parser.offset)
                return OK
            return FAIL
        status, begin, _ = arguments.opener.match(buf, at, 0, final)
        if status != OK:
            return status
        status, where = slot(buf, begin, begin, arguments.key_watch[1], final, name=False)
        if status != OK:
            return status
        key = buf[begin:where].strip()
        kind = (
            "array"
            if key == arguments.nested and not (names is not None and "array" not in names)
            else "object"
        )
        self._put_key(parser)
        parser.markup(at)
        frame = Frame(kind, child, self._key, arguments.closer_behind(self._key, kind))
        self._frames.append(frame)
        self._state = BETWEEN
        return OK

    def _pick_scanner(self, parser: State, buf: str, at: int, final: bool) -> Scanner | None:
        codecs = self.arguments.codecs
        string = codecs.string
        if string.kind == "quoted":
            status = self._starts(buf, at, string.open, final)
            if status == MORE:
                return None
            if status == OK:
                return LiteralScanner(string.open, string.close, foreign=False, follow=self._follows)
        char = buf[at] if at < len(buf) else ""
        codec = self._codec_at(char)
        if string.kind == "dialect":
            codec = string
        words = parser.options.python_values or self.arguments.stops_in_words
        if codec.kind == "json" and words and char not in '"{[':
            return LiteralScanner(bare=parser.options.foreign_quotes)
        if codec.kind in {"python", "dialect", "json"}:
            return scanner_for(codec, parser)
        return LiteralScanner(bare=parser.options.foreign_quotes)

    def _codec_at(self, char: str) -> Any:
        """The codec of a value that begins with `char`."""
        codecs = self.arguments.codecs
        if char == "{":
            return codecs.object
        if char == "[":
            return codecs.array
        if char in {'"', "'"}:
            return codecs.string
        if char in "tfnTFN":
            python = next((c for c in (codecs.boolean, codecs.null) if c.kind == "python"), None)
            return python if python is not None and char in "TFN" else codecs.boolean
        return codecs.integer if codecs.integer.kind != "raw" else codecs.number

    def _follows(self, text: str, at: int, final: bool) -> int:
        """Say whether what stands at `at` can follow a whole value."""
        arguments = self.arguments
        at = white_end(text, at)
        if at == len(text):
            return OK if final else MORE
        waiting = False
        for core in arguments.stops:
            status = self._starts(text, at, core, final)
            if status == OK:
                return OK
            waiting = waiting or status == MORE
        return MORE if waiting else FAIL

    def _scan_value(self, parser: State, final: bool) -> int:
        scanner = self._scanner
        assert scanner is not None  # noqa: S101 - the caller has looked
        buf = parser.buf
        at = parser.pos
        if scanner.open:
            end = scanner.scan(buf, at, final)
            parser.searched += end - at
            text = "".join(scanner.out)
            scanner.out.clear()
            if end > at or text:
                parser.arguments(text, end)
            if isinstance(scanner, JsonScanner) and not scanner.done and (final or scanner.state == NUMBER):
                at = parser.pos
                if final:
                    scanner.finish()
        if scanner.broken:  # the fast path may have seen it
            return FAIL
        if not scanner.done:
            return FAIL if final else MORE
        status, end = self._closed(buf, parser.pos, final)
        if status != OK:
            return status
        if end > parser.pos:
            parser.markup(end)
        report(scanner, self.call, self._key)
        self._scanner = None
        return OK

    def _closed(self, buf: str, at: int, final: bool) -> tuple[int, int]:
        """Match what closes the value that ends at `at`: strictly, only what stands behind values of its own type."""
        waiting = False
        arguments = self.arguments
        for closer, kinds in self._closers():
            if kinds is not None and not arguments.soft and not kinds & self._begun:
                continue
            if not closer.core:
                return OK, at
            begin = white_end(buf, at) if closer.soft else at
            if begin - at > WHITE_CAP:
                return FAIL, at
            if begin == len(buf) and not final:
                return MORE, at
            status, end, _ = closer.match(buf, begin, 0, final)
            if status == OK:
                return OK, end
            waiting = waiting or status == MORE
        return MORE if waiting else FAIL, at

    def _closers(self) -> tuple[Closer, ...]:
        """What may close the value; where a word before it says the type, only that type's closers."""
        found = self.arguments.closers(self._key)
        said = self.arguments.words.get(self._word) if self.arguments.by_type else None
        return found if said is None else tuple(one for one in found if one[1] is None or one[1] & said)

    def _kinds_at(self, buf: str, at: int) -> frozenset[str]:
        """The types of a value that begins at `at`."""
        string = self.arguments.codecs.string
        opener = string.open if string.kind == "quoted" else string.quote if string.kind == "dialect" else ""
        if opener and buf.startswith(opener, at):
            return frozenset({"string"})
        return _BEGUN.get(buf[at : at + 1], _NUMBERS)
