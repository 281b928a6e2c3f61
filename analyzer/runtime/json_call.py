"""A call written as one JSON value: keys in any order, the arguments as they come."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from analyzer.runtime.call import Call
from analyzer.runtime.json_scan import JsonScanner, decode_string
from analyzer.runtime.json_text import TextArguments
from analyzer.runtime.layouts import JsonProgram
from analyzer.runtime.literal_scan import LiteralScanner
from analyzer.runtime.literals import FAIL, MORE, NAME_CAP, OK, WHITE, WHITE_CAP, white_end
from analyzer.runtime.mending import repair
from analyzer.runtime.steps import BROKEN, DONE

if TYPE_CHECKING:
    from analyzer.runtime.state import State

OBJECT, KEY_OR_END, KEY, COLON, PLACE, AFTER, CLOSE = range(7)
_KEYS: Final = frozenset({KEY_OR_END, KEY})


class JsonCall(Call):
    """A call as one JSON value."""

    __slots__ = (
        "_arguments_end", "_arguments_start", "_json_text", "_key", "_path", "_pieces", "_role", "_scanner", "_seen",
        "_spare", "_state", "_usual", "program",
    )  # fmt: skip

    def __init__(self, program: JsonProgram, number: int, token: int, *, opened: bool = False) -> None:
        super().__init__(number, token, weak=program.weak and not opened)
        self.program = program
        self._state = OBJECT
        self._path: tuple[str, ...] = ()
        self._key = ""
        self._scanner: Any = None
        self._spare: JsonScanner | None = None
        self._role = ""
        self._pieces: list[str] = []
        self._arguments_start = self._arguments_end = -1
        self._json_text: TextArguments | None = None
        self._usual = program.usual is not None and not self.weak
        """True while the object's beginning is the template's own."""
        self._seen = 0

    def enter(self, parser: State, final: bool) -> int:
        """Look for the opener and the object's brace."""
        lit = self.program.opener
        buf = parser.buf
        status, end, self.lit_token = lit.match(buf, parser.pos + self.cur, self.lit_token, final)
        self.cur = end - parser.pos
        if status != OK:
            return status
        at = white_end(buf, end) if lit.soft else end
        if at == len(buf):
            return FAIL if final or at - end > WHITE_CAP else MORE
        if buf[at] != "{":
            return FAIL
        self.cur = at - parser.pos
        self.lit_token = 0
        return OK

    # ------------------------------------------------------------------------------------------------------ reading

    def run(self, parser: State, final: bool) -> int:
        """Read the object, then the closer."""
        if self._usual:
            status = self._read_usual(parser, final)
            if status != OK:
                return status
        while True:
            if self._scanner is not None:
                status = self._scan(parser, final)
            elif self._state == CLOSE:
                return self._close(parser, final)
            else:
                status = self._structure(parser, final)
            if status != OK:
                return status

    def _read_usual(self, parser: State, final: bool) -> int:
        """Read up to the arguments where the text is the template's own; OK when the rest reads on from here."""
        head = self.program.usual
        status = FAIL
        if head is not None and not final and parser.options.max_call_chars is None:
            buf = parser.buf
            at = parser.pos
            status = OK
            if not self.committed:
                begin = at + len(head.before)
                status, where = head.name(buf, at, self._seen)
                if status == MORE:
                    parser.searched += where - self._seen
                    self._seen = where
                elif status == OK:
                    parser.searched += where - begin
                    self.name = buf[begin:where]
                    self._path = self.program.name[:-1]
                    self._state = AFTER
                    at = parser.pos = where + 1
                    self._commit(parser)
            if status == OK:
                status, where = head.arguments(buf, at)
                if status == OK:
                    parser.markup(where)
                    self._key = self.program.arguments[-1]
                    self._arguments_start = parser.base + where
                    self._begin(parser, "arguments")
        self._usual = status == MORE
        return MORE if status == MORE else OK

    def _structure(self, parser: State, final: bool) -> int:
        """Read braces, colons and commas up to a string or another value; OK when that begins, or nothing is left to read."""
        buf = parser.buf
        size = len(buf)
        at = parser.pos
        while self._scanner is None and self._state != CLOSE:
            if at < size and buf[at] in WHITE:
                at = white_end(buf, at)
            if at == size:
                parser.markup(at)
                return self._structure_over(parser, final)
            char = buf[at]
            state = self._state
            if state == AFTER:
                if char == ",":
                    self._state = KEY
                elif char == "}":
                    self._ascend()
                else:
                    parser.markup(at)
                    return self._missing_brace(parser, final)
                at += 1
            elif state == PLACE:
                parser.markup(at)
                if not self._value(parser, char):
                    return FAIL
                at = parser.pos
            elif state == COLON and char == ":":
                at += 1
                self._state = PLACE
            elif state in _KEYS and char == '"':
                parser.markup(at)
                self._begin(parser, "key")
            elif state == KEY_OR_END and char == "}":
                at += 1
                self._ascend()
            elif state == OBJECT:
                at += 1
                self._state = KEY_OR_END
            else:
                parser.markup(at)
                return FAIL
        parser.markup(at)
        return OK

    def _structure_over(self, parser: State, final: bool) -> int:
        """The text ends in the middle of the object."""
        if not final:
            return MORE
        if not (self._unbraced and parser.finish_reason != "length" and parser.options.missing_brace):
            return FAIL
        self.flag("missing_brace")
        self._state = CLOSE
        return OK

    def _missing_brace(self, parser: State, final: bool) -> int:
        """Something else than a comma or a brace follows a value: the call may still be whole."""
        if not (self.arguments_done and self.committed and parser.options.missing_brace):
            return FAIL
        status = self.program.closer.match(parser.buf, parser.pos, 0, final)[0]
        if status == MORE:
            return MORE
        if status == FAIL or not self.program.closer.core:
            return FAIL
        self.flag("missing_brace")
        self._state = CLOSE
        return OK

    @property
    def _unbraced(self) -> bool:
        """True when nothing but closing braces is missing."""
        return self._state == AFTER and self.arguments_done and self.committed

    def _ascend(self) -> None:
        if self._path:
            self._path = self._path[:-1]
            self._state = AFTER
        else:
            self._state = CLOSE

    def _begin(self, parser: State, role: str) -> None:
        self._role = role
        scanner = self._spare
        if scanner is None:
            options = parser.options
            scanner = JsonScanner(lenient=options.control_characters, escapes=options.invalid_escapes)
        else:
            scanner.reset()
            self._spare = None
        self._scanner = scanner

    def _value(self, parser: State, char: str) -> bool:
        """Decide what the value of the present key is; False when the call cannot go on."""
        program = self.program
        path = (*self._path, self._key)
        if program.by_key:
            self.name = self._key
            return self._arguments(parser, char)
        if path == program.arguments:
            return self._arguments(parser, char)
        if path == program.name:
            if char != '"':
                return False
            self._begin(parser, "name")
        elif path == program.id:
            self._begin(parser, "id")
        elif char == "{" and any(
            target and target[: len(path)] == path for target in (program.name, program.arguments, program.id)
        ):
            self._path = path
            parser.markup(parser.pos + 1)
            self._state = KEY_OR_END
        else:
            self._begin(parser, "skip")
        return True

    def _arguments(self, parser: State, char: str) -> bool:
        program = self.program
        options = parser.options
        if self._arguments_start >= 0:
            self.flag("duplicate_argument", self._key)
            return False
        if self.weak and not self.committed and self.name and not self._may_commit(parser):
            return False
        self._arguments_start = parser.offset
        if not self.committed and self.name:
            self._commit(parser)
        if program.codec == "python" and char != '"':
            self._role = "arguments"
            self._scanner = LiteralScanner()
            return True
        if char == '"':
            if program.codec != "json_text":
                if not options.arguments_as_text:
                    return False
                self.flag("arguments_as_text")
            self._json_text = TextArguments(
                lenient=options.control_characters, escapes=options.invalid_escapes
            )
            self._begin(parser, "arguments")
            return True
        if char == "n":
            self._begin(parser, "null")
            return True
        if char != "{":
            return False
        if program.codec == "json_text" and not options.arguments_as_text:
            return False
        self._begin(parser, "arguments")
        return True

    def _may_commit(self, parser: State) -> bool:
        tools = parser.tools
        return tools is None or self.name in tools.names

    def _scan(self, parser: State, final: bool) -> int:
        scanner = self._scanner
        at = end = parser.pos
        if scanner.state < DONE:  # else the fast path has seen its end
            end = scanner.scan(parser.buf, at, final)
            parser.searched += end - at
        role = self._role
        done = scanner.state == DONE
        good = True
        if role == "arguments":
            good = self._take_arguments(parser, end, done)
        else:
            if role == "skip":
                scanner.out.clear()
            parser.markup(end)
        if done and good:
            return self._scanned(parser, role)
        return FAIL if final or not good or scanner.state == BROKEN else MORE

    def _take_arguments(self, parser: State, end: int, done: bool) -> bool:
        """Take what the scanner gave of the arguments up to `end`; False when they cannot be read."""
        pieces = self._scanner.out
        if self._json_text is None:
            text = pieces[0] if len(pieces) == 1 else "".join(pieces)
            pieces.clear()
            good = True
        else:
            text, good = self._json_text.take(pieces, done)
        if not self.committed:
            if text:
                self._pieces.append(text)
            parser.pos = end
        elif text or end > parser.pos:
            parser.arguments(text, end)
        return good

    def _scanned(self, parser: State, role: str) -> int:
        scanner = self._scanner
        self._scanner = None
        if isinstance(scanner, JsonScanner):
            self._spare = scanner
            if scanner.raw_controls:
                self.flag("control_character")
            if scanner.repaired:
                self.flag("invalid_escape")
        if role == "key":
            key = decode_string("".join(scanner.out))
            self._key, overlay = self.program.aliases.get(key, (key, ""))
            if overlay:
                self.flag("overlay", overlay)
            if (
                self.weak
                and not self._path
                and not self.program.by_key
                and self._key not in self.program.keys
            ) and self._key != "type":
                return FAIL
            self._state = COLON
            return OK
        self._state = AFTER
        if role == "arguments":
            self._arguments_end = parser.offset
            self.arguments_done = True
        elif role == "null":
            if "".join(scanner.out) != "null" or not parser.options.missing_arguments:
                return FAIL
            self._arguments_start = -1  # as if the key were not there
        elif role == "name" and self.committed:
            return FAIL  # a second name: which tool is meant?
        elif role == "name":
            self.name = decode_string("".join(scanner.out))
            if not self.name or len(self.name) > NAME_CAP:
                return FAIL
            if self._arguments_start >= 0 or not self.weak:
                if self.weak and not self._may_commit(parser):
                    return FAIL
                self._commit(parser)
        elif role == "id":
            value = "".join(scanner.out)
            text = decode_string(value) if value.startswith('"') else value
            if not self.committed:
                self.id = text
            else:
                self.native_id = text
        return OK

    def _commit(self, parser: State) -> None:
        self.committed = True
        if self._arguments_start >= 0 and self._arguments_start != parser.offset:
            parser.commit(self, self._arguments_start)
            parser.put_arguments("".join(self._pieces), self._arguments_start, self._arguments_end)
            parser.put_markup(self._arguments_end, parser.offset)
        else:
            parser.commit(self, parser.offset)
        self._pieces.clear()

    def _close(self, parser: State, final: bool) -> int:
        if not self.committed:
            if not self.name or self.weak or not parser.options.missing_arguments:
                return FAIL
            self._commit(parser)
        if not self.arguments_done:
            if self.weak or not parser.options.missing_arguments:
                return FAIL
            self.flag("missing_arguments", self.name)
            parser.put_arguments("{}", parser.offset, parser.offset)
            self.arguments_done = True
        return self.close(parser, self.program.closer, final)

    def repaired(self, text: str, begin: int) -> str | None:  # noqa: ARG002 - see `Call`
        """Repair the whole body, for its braces are part of the trouble."""
        value: Any = repair(text[text.find("{") :])
        for key in (self.name,) if self.program.by_key else self.program.arguments:
            keys = [key, *(alias for alias, (usual, _) in self.program.aliases.items() if usual == key)]
            value = next((value[k] for k in keys if isinstance(value, dict) and k in value), None)
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else None

    @property
    def overlay(self) -> str:
        """The overlay that the layout is from."""
        return self.program.overlay

    @property
    def json_arguments(self) -> bool:
        """JSON it is."""
        return self.program.codec == "json"

    def held(self) -> str:
        """Half an escape, say."""
        scanner = self._scanner
        return "" if scanner is None else scanner.held

    def arm(self, parser: State) -> None:
        """Let the arguments' text pass, unless something else has to look at it."""
        if self._role == "arguments" and self._json_text is None:
            parser.pass_to(self._scanner)
