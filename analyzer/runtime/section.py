"""The calls section: its opener, and what stands between two calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.runtime.call import Call
from analyzer.runtime.compile import Compiled
from analyzer.runtime.copying import clone
from analyzer.runtime.events import Markup
from analyzer.runtime.json_call import JsonCall
from analyzer.runtime.layouts import JsonProgram
from analyzer.runtime.literals import FAIL, MARKER, MORE, NAME_CAP, OK, WHITE_CAP, Lit, white_end
from analyzer.runtime.marks import BARE_LIST, Cue, Mark, Mode
from analyzer.runtime.reading import ReadingState
from analyzer.runtime.record import Record
from analyzer.runtime.sequence import SequenceCall
from analyzer.runtime.state import ENTER

if TYPE_CHECKING:
    from analyzer.runtime.state import State


class SectionOpening:
    """The calls section's opener, with what must follow it."""

    __slots__ = ("array", "bare", "cur", "inner", "late", "lit", "seen", "token", "weak")

    def __init__(self, lit: Lit, compiled: Compiled) -> None:
        self.lit = lit
        self.cur = 0
        self.token = 0
        self.array = compiled.array
        self.bare = False
        self.weak = not (self.lit.strong or len(self.lit.core) >= MARKER)
        """Nothing marks the section: it counts only when its first call does."""
        self.inner: list[Call] | None = None
        self.late: list[Call] | None = None
        """Calls that may begin behind text: one of them makes the text before it a part of the section."""
        self.seen = 0
        """Up to where (from the parser's place) no marker was found."""

    def copy(self) -> SectionOpening:
        """Return an independent copy."""
        new = clone(self)
        if self.inner is not None:
            new.inner = [call.copy() for call in self.inner]
        if self.late is not None:
            new.late = [call.copy() for call in self.late]
        return new

    def enter(self, parser: State, final: bool) -> int:
        """Look whether the section begins."""
        buf = parser.buf
        status, end, self.token = self.lit.match(buf, parser.pos + self.cur, self.token, final)
        self.cur = end - parser.pos
        if status != OK:
            return status
        at = white_end(buf, end) if self.lit.soft or self.array else end
        if at == len(buf):
            return FAIL if final or at - end > WHITE_CAP else MORE
        if self.array:
            if buf[at] == "[":
                return self._inside(parser, at + 1, final)
            if buf[at] == "{" and parser.options.bare_object and self.lit.core:
                self.bare = True
                return OK
            return FAIL
        if self.weak:
            return self._inside(parser, end, final)
        waiting = False
        compiled = parser.compiled
        for layout in compiled.layouts:
            core = layout.opener.core
            if not core:
                if isinstance(layout, JsonProgram):
                    if buf[at] == "{":
                        return OK
                elif buf[at].isalnum() or buf[at] == "_":
                    return OK
                continue
            for token in (layout.opener.tokens[start] for start in layout.opener.starts[:2]):
                if buf.startswith(token, at):
                    return OK
                if not final and len(buf) - at < len(token) and token.startswith(buf[at:]):
                    waiting = True
        close = compiled.section[1].core
        if close:
            if buf.startswith(close, at):
                return OK
            if not final and len(buf) - at < len(close) and close.startswith(buf[at:]):
                waiting = True
        if waiting:
            return MORE
        return self._behind_text(parser, at, final) if parser.options.text_in_section else FAIL

    def _behind_text(self, parser: State, at: int, final: bool) -> int:
        """Look for a call behind a little text: the first marker there has to be a call's, and the call has to be entered."""
        buf = parser.buf
        pos = parser.pos
        mode = parser.compiled.text
        if self.late is None:
            begin = max(at, pos + self.seen)
            where, token = mode.watch.seek(buf, begin, final)
            parser.searched += where - begin + len(token)
            self.seen = where - pos
            if where - at > NAME_CAP:
                return FAIL
            if not token:
                return FAIL if final else MORE
            marks = [mark for mark in mode.marks[token] if mark.cue == Cue.CALL_OPEN]
            self.late = [call_of(parser.compiled, mark.number, mark.token, opened=True) for mark in marks]
            for call in self.late:
                call.cur = where - pos
        while self.late:
            status = self.late[0].enter(parser, final)
            if status != FAIL:
                return status
            self.late.pop(0)
        return FAIL

    def _inside(self, parser: State, at: int, final: bool) -> int:
        """Behind the opener: without a marker the first call must be entered too."""
        if not self.weak:
            self.cur = at - parser.pos
            return OK
        if self.inner is None:
            self.inner = [
                call_of(parser.compiled, number, 0) for number in range(len(parser.compiled.layouts))
            ]
            for call in self.inner:
                call.cur = at - parser.pos
        while self.inner:
            status = self.inner[0].enter(parser, final)
            if status != FAIL:
                return status
            self.inner.pop(0)
        return FAIL


def call_of(compiled: Compiled, number: int, token: int, *, opened: bool = False) -> Call:
    """Return a call of a layout, to be entered."""
    program = compiled.layouts[number]
    if isinstance(program, JsonProgram):
        return JsonCall(program, number, token, opened=opened)
    return SequenceCall(program, number, token, opened=opened)


class SectionState(ReadingState):
    """Reads what stands between calls."""

    __slots__ = ()

    def _call_of(self, number: int, token: int) -> Call:
        return call_of(self.compiled, number, token, opened=self._section or self._bare_section)

    def _try_anchored(self, begin: int) -> bool:
        """At the start of a region a call may begin without a marker."""
        compiled = self.compiled
        char = self.buf[begin]
        attempts: list[tuple[Any, Mark | None]] = []
        if compiled.array and not compiled.section_open:
            if char == "[":
                attempts.append((SectionOpening(compiled.section[0], compiled), None))
            elif char == "{" and self.options.bare_object:
                attempts += [(self._call_of(n, 0), None) for n in compiled.starts]
                for call, _ in attempts:
                    call.flag("bare_object")
        elif compiled.section_open:
            attempts += [
                (SectionOpening(lit, compiled), None) for lit in compiled.anchors if lit.core.startswith(char)
            ]
        else:
            for number, program in enumerate(compiled.layouts):
                core = program.opener.core
                if not core and isinstance(program, JsonProgram):
                    if char == "{":
                        attempts.append((self._call_of(number, 0), None))
                elif not core or (len(core) < MARKER and core.startswith(char)):
                    attempts.append((self._call_of(number, 0), None))
        if not attempts:
            return False
        self._begin_attempts(attempts, begin, begin)  # in vain: a marker may stand there
        return True

    def _begin_attempts(self, attempts: list[tuple[Any, Mark | None]], where: int, again: int = -1) -> None:
        """Let several readings of what stands at `where` compete, the first that is entered wins."""
        self._attempts = attempts
        self._enter_at = where - self.pos
        self._again = again - self.pos if again >= 0 else -1
        for attempt, _ in attempts:
            attempt.cur = self._enter_at
        self._where_enter = self._mode
        self._mode = ENTER

    def _junk(self, end: int) -> None:
        """Text in the section that is no call."""
        record = self._record
        if record is None:
            if end == self.pos:
                return
            record = Record(self.offset, self.options.raw_limit)
            record.settle()
        self.pos = end
        self._record = None
        raw = record.text(self)
        start = max(record.start, 0)
        if raw.strip():
            self._problem("unexpected_text", "", raw, start, self.offset)
        elif raw:
            self._sink.append(Markup(raw, start, self.offset))

    def _step_section(self, final: bool) -> bool:
        """Inside the section, where only calls, separators and the closer belong."""
        compiled = self.compiled
        buf = self.buf
        junk = self._record is not None
        if not junk and self._scan <= self.pos and (compiled.soft or compiled.array):
            at = white_end(buf, self.pos)
            if at > self.pos:
                self.markup(at)
            self._scan = self.pos
        pos = self.pos
        size = len(buf)
        if pos == size:
            if final:
                self._junk(pos)
                self._section_unclosed()
            return False
        if self._scan == pos and not junk:
            if self._bare_section and buf[pos] != "{":
                self._bare_section = self._section = False
                self._after_section(pos)
                return True
            slots = [n for n in compiled.starts if not isinstance(compiled.layouts[n], JsonProgram)]
            if slots and (buf[pos].isalnum() or buf[pos] == "_") and self._failed != self.offset:
                self._begin_attempts([(self._call_of(n, 0), None) for n in slots], pos, pos)
                self._failed = self.offset  # in vain: the section's close may be a word
                return True
        mode = compiled.section_mode
        where, token = mode.watch.seek(buf, self._scan, final)
        self.searched += where - self._scan + len(token)
        if not token:
            if where > pos:
                if not junk:
                    self._record = Record(self.offset, self.options.raw_limit)
                    self._record.settle()
                self.pos = where
            self._scan = where
            if final:
                self._junk(size)
                self._section_unclosed()
            return False
        return self._section_token(mode, where, token, final)

    def _section_token(self, mode: Mode, where: int, token: str, final: bool) -> bool:
        attempts: list[tuple[Any, Mark | None]] = []
        for mark in mode.marks[token]:
            if mark.cue == Cue.CALL_OPEN:
                attempts.append((self._call_of(mark.number, mark.token), mark))
                continue
            if attempts:
                continue
            status, end, _ = mark.lit.match(self.buf, where, mark.token, final)
            if mark.cue == Cue.SECTION_CLOSE and mark.number == BARE_LIST and not self._bare_list:
                continue
            if mark.cue == Cue.SECTION_CLOSE:
                self._junk(where)
                if not self.compiled.array:
                    return self._section_close(where, mark.lit, final)
                self.markup(where + 1)
                self._section = False
                return self._after_section(self.pos)
            if status == MORE:
                self._scan = where
                return False
            if status != OK:
                continue
            self._junk(where)
            if mark.cue == Cue.SEPARATOR:
                self.markup(end)
                self._overlay(mark.overlay)
                self._scan = self.pos
                return True
            self._section_unclosed()
            self._at_start = True
            self._mode = self._home
            self._scan = self.pos
            return True
        if attempts:
            if self._failed_before(where):
                self._take_junk(where)
            self._begin_attempts(attempts, where)
            return True
        self._scan = mode.watch.past(where, token)
        return True

    def _failed_before(self, where: int) -> bool:
        """Whether a marker that no call followed stands before this place: what it was is decided, and need not wait."""
        return where > self.pos and bool(self.buf[self.pos : where].strip())

    def _take_junk(self, where: int) -> None:
        """Take text among calls into the record, so that it is not held until the next call."""
        if self._record is None:
            self._record = Record(self.offset, self.options.raw_limit)
            self._record.settle()
        self.pos = where
        self._scan = where

    def _section_close(self, where: int, lit: Any, final: bool) -> bool:
        status, end, reached = lit.match(self.buf, where, 0, final)
        if status == MORE and not final:
            self._scan = where
            return False
        self.markup(end)
        if status != OK and not self.ends_behind(lit, end, reached, final):
            self._problem("missing_close", lit.tokens[reached])
        self._section = False
        self._mode = self._home
        self._at_start = True
        self._lead_in = self.compiled.lead_ins_after
        self.tail = lit.tail if status == OK else ""
        self._scan = self.pos
        return True

    def _after_section(self, pos: int) -> bool:
        """Behind the array: the rest of the section's closer, if it has one."""
        self._mode = self._home
        self._at_start = True
        self._lead_in = self.compiled.lead_ins_after
        self._scan = pos
        if self.compiled.section[1].core:
            self._implicit = True
        else:
            self.tail = self.compiled.section[1].text
        return True

    def _section_unclosed(self) -> None:
        closer = self.compiled.section[1].core or ("]" if self.compiled.array else "")
        if self._section and closer and not self._bare_section:
            self._problem("missing_close", closer)
        self._section = False
