"""A raw value: text without quotes or escapes, which ends where its closer, followed by structure, stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from analyzer.runtime.coerce import Types, decode_text, starts_like_value, told
from analyzer.runtime.copying import clone
from analyzer.runtime.layouts import LITERAL
from analyzer.runtime.literal_scan import LiteralScanner
from analyzer.runtime.literals import FAIL, MORE, NAME_CAP, OK, WHITE_CAP, Lit, Watch, white_end
from analyzer.runtime.words import json_inner

if TYPE_CHECKING:
    from analyzer.runtime.call import Call
    from analyzer.runtime.layouts import Arguments, Closer
    from analyzer.runtime.state import State

UNDECIDED, STREAM, HOLD = range(3)
_key = re.compile(r"[\w.-]*").match


class RawValue:
    """Reads one raw value and writes it as JSON: a string as it comes, other types when they end."""

    __slots__ = (
        "_given",
        "_how",
        "_key",
        "_lit",
        "_names",
        "_null",
        "_pieces",
        "_probe",
        "_said",
        "_scan",
        "_schema",
        "_start",
        "_unread",
        "arguments",
        "call",
        "closers",
        "watch",
    )

    def __init__(
        self,
        call: Call,
        arguments: Arguments,
        key: str,
        names: frozenset[str] | None,
        schema: Types | None,
        given: set[str],
    ) -> None:
        self.call = call
        self.arguments = arguments
        self._key = key
        self._names = names
        self._said: frozenset[str] | None = None
        """The types that the closer speaks of, once it has been read."""
        self._schema = schema
        self._given = given
        self._scan = 0
        self._start = -1
        self._pieces: list[str] = []
        self._probe: LiteralScanner | None = None
        """Follows a list or object that only separators end, to tell those inside of it."""
        self._unread = ""
        self._lit: Lit
        self.watch: Watch
        lenient = arguments.soft
        self._lit, self.watch = arguments.closer(key, lenient=lenient)
        self.closers: tuple[Closer, ...] = ()
        """What may close the value, where that depends on its type."""
        self._null = "None" if arguments.codecs.null.kind == "python" else "null"
        plain = arguments.codecs.string.kind == "raw"
        text_only = names is not None and "string" in names and "null" not in names
        self._how = HOLD if not plain else STREAM if text_only else UNDECIDED

    def copy(self) -> RawValue:
        """Return an independent copy that still belongs to the same call."""
        call, self.call = self.call, None  # type: ignore[assignment]
        new = clone(self)
        self.call = new.call = call
        return new

    @property
    def streams(self) -> bool:
        """True while the value goes out as a string as it comes."""
        return self._how == STREAM and self._start >= 0

    @property
    def held_from(self) -> int:
        """Where the text that was consumed and not reported begins, -1 for none."""
        return self._start if self._pieces else -1

    @property
    def holds(self) -> list[str] | None:
        """Where more text of a value that goes out at its end belongs, None when that is not settled."""
        return self._pieces if self._how == HOLD and self._pieces and self._probe is None else None

    def held(self) -> str:
        """Text consumed and not reported yet."""
        return "".join(self._pieces)

    def run(self, parser: State, final: bool) -> int:
        """Consume the value and its closer."""
        buf = parser.buf
        watch = self.watch
        if self._start < 0:
            self._start = parser.offset
            if self._how == STREAM:
                parser.put_arguments('"', self._start, self._start)
        while True:
            at = parser.pos + self._scan
            where, token = watch.seek(buf, at, final)
            parser.searched += where - at + len(token)
            if not token:
                hold = len(buf) if final else watch.hold(buf, parser.pos, where)
                self._take(parser, hold)
                self._scan = where - parser.pos
                return FAIL if final else MORE
            status, end, lead = self._ends(parser, buf, where, token, final)
            if status == MORE:
                self._take(parser, max(parser.pos, watch.hold(buf, parser.pos, where)))
                self._scan = where - parser.pos
                return MORE
            if status == OK:
                cut = where
                if lead and buf.endswith(lead, parser.pos, where):
                    cut -= len(lead)
                self._take(parser, cut)
                self._finish(parser)
                parser.markup(end)
                return OK
            self._scan = watch.past(where, token) - parser.pos

    # ------------------------------------------------------------------------------------------------------ the end

    def _ends(self, parser: State, buf: str, where: int, token: str, final: bool) -> tuple[int, int, str]:
        """Judge a candidate at `where`: (OK | MORE | FAIL, where the value's closer ends, white space before it)."""
        lit = self._lit
        arguments = self.arguments
        waiting = False
        if self.closers:
            status, end, lead = self._ends_by_type(buf, where, token, final)
            if status == OK:
                return OK, end, lead
            waiting = status == MORE
        elif lit.core and token == lit.core:
            status, end, _ = lit.match(buf, where, 0, final)
            if status == OK:
                status = self._followed(buf, end, final, arguments.follow)
            if status == OK:
                return OK, end, lit.lead
            waiting = status == MORE
        if self._in_container(parser, where):
            return FAIL, where, ""
        after = arguments.after
        if token == after.core and after.core:
            status = self._whole_end(parser, buf, where, final)
            if status == OK:
                if lit.core:
                    self.call.flag("missing_value_close", self._key)
                    return OK, where, lit.lead or after.lead
                return OK, where, after.lead
            waiting = waiting or status == MORE
        if not lit.core and token == arguments.separator.core:
            status, end, _ = arguments.separator.match(buf, where, 0, final)
            if status == OK:
                status = self._next_item(buf, end, final)
            if status == FAIL and waiting:
                status = MORE
            return status, where, arguments.separator.lead
        if token == arguments.opener.core and lit.core and not waiting:
            status, end, _ = arguments.opener.match(buf, where, 0, final)
            if status == OK:
                status = self._next_declared(parser, buf, end, final)
            if status == OK:
                self.call.flag("missing_value_close", self._key)
                return OK, where, lit.lead or arguments.opener.lead
            waiting = status == MORE
        return (MORE if waiting else FAIL), where, ""

    def _ends_by_type(self, buf: str, where: int, token: str, final: bool) -> tuple[int, int, str]:
        """Judge a candidate where each type has its own closer; the one that stands there says the type."""
        waiting = False
        for lit, kinds in self.closers:
            if not lit.core or not token.startswith(lit.core):
                continue
            status, end, _ = lit.match(buf, where, 0, final)
            if status == OK:
                status = self._followed(buf, end, final, self.arguments.follow)
            if status == OK:
                self._said = kinds
                return OK, end, lit.lead
            waiting = waiting or status == MORE
        return MORE if waiting else FAIL, where, ""

    def _in_container(self, parser: State, where: int) -> bool:
        """True while `where` is inside a list or object: what stands there ends nothing."""
        if self._how == STREAM or self._lit.core or (self._names is not None and "string" in self._names):
            return False
        if self._probe is None:
            begin = "".join(self._pieces) + parser.buf[parser.pos : where]
            if begin.lstrip()[:1] not in {"[", "{"}:
                return False
            self._probe = LiteralScanner()
            self._follow("".join(self._pieces))  # all of it may be here already
        self._take(parser, where)
        return self._probe.open

    def _next_item(self, buf: str, at: int, final: bool) -> int:
        """A separator inside a value ends it only when another item begins behind it."""
        arguments = self.arguments
        if arguments.soft:
            at = white_end(buf, at)
        if arguments.opener.core:
            return arguments.opener.match(buf, at, 0, final)[0]
        end = _key(buf, at).end()  # type: ignore[union-attr]
        if end - at > NAME_CAP:
            return FAIL
        if end == len(buf) and not final:
            return MORE
        if end == at or len(arguments.item) < 2 or arguments.item[1][0] != LITERAL:  # noqa: PLR2004
            return FAIL if end == at else OK
        return arguments.item[1][1].match(buf, end, 0, final)[0]  # type: ignore[no-any-return]

    def _followed(self, buf: str, at: int, final: bool, follow: Watch) -> int:
        arguments = self.arguments
        if not arguments.opener.core and not arguments.separator.core and not arguments.after.core:
            return OK
        end = white_end(buf, at) if arguments.soft else at
        if end - at > WHITE_CAP:
            return FAIL
        if end == len(buf):
            return OK if final else MORE
        where, token = follow.seek(buf[end : end + 256], 0, final)
        if where != 0:
            return FAIL
        return OK if token else MORE

    def _whole_end(self, parser: State, buf: str, where: int, final: bool) -> int:
        """The call's closer inside a value ends it only when it is whole and structure follows."""
        if self._lit.core and not parser.options.missing_value_close:
            return FAIL
        after = self.arguments.after
        status, end, reached = after.match(buf, where, 0, final)
        if status == MORE and not final:
            return MORE
        if status == FAIL and reached == 0:
            return FAIL
        if len(after.pieces) > 1 and status == OK:
            return OK
        return self._followed(buf, end, final, self.arguments.call_follow)

    def _next_declared(self, parser: State, buf: str, at: int, final: bool) -> int:
        """An item's opener ends the value only when its key is declared and not yet given."""
        if self._schema is None or not parser.options.missing_value_close:
            return FAIL
        watch = self.arguments.key_watch.get(1)
        if watch is None:
            return FAIL
        where, token = watch.seek(buf[at : at + NAME_CAP + 64], 0, final)
        if not token:
            return MORE if not final and len(buf) - at < NAME_CAP else FAIL
        key = buf[at : at + where].strip()
        return OK if key not in self._given and self._schema.is_known(key) else FAIL

    # ----------------------------------------------------------------------------------------------------- the text

    def _take(self, parser: State, end: int) -> None:
        """Consume up to `end` as part of the value."""
        pos = parser.pos
        if end <= pos:
            return
        text = parser.buf[pos:end]
        if self._how == UNDECIDED:
            self._decide(parser, "".join(self._pieces) + text)
        if self._how == STREAM:
            if self._pieces:
                text = "".join(self._pieces) + text
                self._pieces.clear()
                parser.put_arguments(json_inner(text), self._start, parser.base + end)
                parser.pos = end
            else:
                parser.arguments(json_inner(text), end)
        else:
            self._pieces.append(text)
            parser.pos = end
            self._follow(text)

    def _follow(self, text: str) -> None:
        """Let the probe see more of the value, where there is one."""
        if self._probe is not None:
            text = self._unread + text
            self._unread = text[self._probe.scan(text, 0) :]
            self._probe.out.clear()

    def _decide(self, parser: State, text: str) -> None:
        """Say by all that is here of the value whether it goes out as a string; not by how it was cut."""
        names = self._names
        if names is not None and "string" in names:  # text, or null
            if not self._null.startswith(text):
                self._how = STREAM
        elif names is not None:
            self._how = HOLD
        elif text.strip():
            self._how = HOLD if starts_like_value(text) else STREAM
        if self._how == STREAM:
            parser.put_arguments('"', self._start, self._start)

    def _finish(self, parser: State) -> None:
        if self._how == STREAM:
            parser.put_arguments('"', parser.offset, parser.offset)
            return
        if self._said is not None:
            self._names = told(self._said, self._names)
        text = "".join(self._pieces)
        self._pieces.clear()
        codec = self.arguments.codecs
        string = codec.string
        if string.kind == "escaped":
            if not self._is_container(text):
                text = _unescaped(text, string.escapes)
        elif string.kind == "cdata" and text.startswith(string.open) and text.endswith(string.close):
            text = text[len(string.open) : len(text) - len(string.close)]
        value, problem = self._decoded(text, python=parser.options.python_values)
        if problem:
            self.call.flag(problem, self._key)
        start = self._start
        parser.put_arguments(value, start, parser.offset)

    def _decoded(self, text: str, *, python: bool) -> tuple[str, str]:
        codec = self.arguments.codecs
        usual = "python" in {codec.array.kind, codec.object.kind, codec.null.kind, codec.boolean.kind}
        return decode_text(text, self._names, python=python, null=self._null, usual=usual)

    def _is_container(self, text: str) -> bool:
        """True for an array or object, which is not escaped as strings are."""
        begin = text.lstrip()[:1]
        if begin not in {"{", "["} or (self._names is not None and "string" in self._names):
            return False
        codecs = self.arguments.codecs
        codec = codecs.object if begin == "{" else codecs.array
        return codec.kind in {"json", "python"} and self._decoded(text, python=True)[0][0] in "{["


def _unescaped(text: str, escapes: Mapping[str, str]) -> str:
    """Undo the spelling of escaped characters, the ampersand's last."""
    for char, spelling in escapes.items():
        if char != "&":
            text = text.replace(spelling, char)
    return text.replace(escapes["&"], "&") if "&" in escapes else text
