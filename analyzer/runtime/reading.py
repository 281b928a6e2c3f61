"""A call from its first to its last character, and what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from analyzer.runtime.events import ArgumentsDelta, CallEnd, CallStart, Markup, ReasoningDelta, TextDelta
from analyzer.runtime.literals import MORE, OK
from analyzer.runtime.marks import Cue
from analyzer.runtime.mending import unwrap
from analyzer.runtime.record import Record
from analyzer.runtime.state import CALL, OVER, REASONING, SECTION, SKIP, State

if TYPE_CHECKING:
    from analyzer.runtime.call import Call


_new: Final = tuple.__new__


class ReadingState(State):
    """Reads calls."""

    __slots__ = ()

    def _begin_call(self, call: Call) -> None:
        self._call = call
        self._mode = CALL
        self._mark = self.offset
        options = self.options
        limited = options.malformed == "problem" and not options.repair
        self._record = Record(self.offset, self.options.raw_limit if limited else None)
        end = self.pos + call.cur
        call.begin()
        self.pos = end  # reported with the call's start
        if (
            options.malformed == "content" or options.repair or options.unwrap_arguments
        ) and self._hold is None:
            self._hold = []
            self._sink = self._hold

    def commit(self, call: Call, at: int) -> None:
        """The call's name is known: report its start, up to `at` in the model's text."""
        call.committed = True
        self._weak_section = False
        if call.overlay:
            call.flag("overlay", call.overlay)
        tools = self.tools
        options = self.options
        fate = ""
        if options.calls == "drop":
            fate = "drop"
        elif self._index + 1 >= (options.max_calls if options.max_calls is not None else 1 << 60) or (
            not options.parallel and self._index >= 0
        ):
            fate = "limit"
        elif tools is not None and call.name not in tools.names:
            if options.unknown_tools == "call":
                call.flag("unknown_tool", call.name)
            else:
                fate = options.unknown_tools
        if fate and self._hold is None:
            self._hold = []
            self._sink = self._hold
        self._fate = fate
        if self._record is not None and fate in {"", "drop", "limit"}:
            self._record.settle()
        self._index += 1
        start = max(self._mark, 0)
        self._sink.append(_new(CallStart, (self._index, call.id, call.name, start, max(at, 0))))

    def _step_call(self, final: bool) -> bool:
        call = self._call
        assert call is not None  # noqa: S101 - the state says so
        limit = self.options.max_call_chars
        if limit is not None and self.base + len(self.buf) > self._mark + limit:
            return self._step_limited(call, self._mark + limit - self.base, final)
        status = call.run(self, final=False)
        if status == MORE:
            if not final:
                return False
            status = call.run(self, final=True)
            if status != OK:  # so far it could have gone on, inside a key or a marker too
                self._call_cut(call)
                return False
        return self._step_after(call, status, final)

    def _step_limited(self, call: Call, room: int, final: bool) -> bool:
        """Let the call see what it may have, up to `room` in the buffer: it ends there however the text was cut."""
        text = self.buf
        self.buf = text[:room]
        status = call.run(self, final=False)
        self.buf = text
        if status == MORE:
            call.flag("call_too_long", call.name)
            self._call_failed(call)
            return True
        return self._step_after(call, status, final)

    def _step_after(self, call: Call, status: int, final: bool) -> bool:
        if status == OK:
            self._call_done(call)
            return True
        if final and self.pos == len(self.buf):
            self._call_cut(call)
            return False
        self._call_failed(call)
        return True

    def _after_call(self) -> None:
        self._call = None
        self._record = None
        self._at_start = True
        self._between = False
        if self._section:
            self._mode = SECTION
            self.tail = ""
        else:
            self._mode = self._home
            self._optional = self.compiled.between
            self._lead_in = self.compiled.lead_ins_after
        self._scan = self.pos

    def _release(self, call: Call, *, complete: bool) -> bool:
        """Let a held call go; False when it was not one after all and its text went elsewhere."""
        hold = self._hold
        if hold is None:
            return True
        self._hold = None
        self._sink = self._draft if self._draft is not None else self._out
        fate = self._fate
        if not fate and (complete or self.options.malformed == "problem"):
            if complete and self.options.unwrap_arguments:
                hold = unwrap(hold, None if self.tools is None else self.tools.parameters(call.name))
            self._sink.extend(hold)
            return True
        self._index -= 1 if call.committed else 0
        raw = self._record.text(self) if self._record is not None else ""
        end = self.offset
        start = max(self._mark, 0)
        if fate == "drop":
            kind = "unknown_tool"
            if self.options.calls == "drop":
                self._sink.append(Markup(raw, start, end))
            else:
                self._problem(kind, call.name, raw, start, end)
        elif fate == "limit":
            self._problem("too_many_calls", call.name, raw, start, end)
        else:
            self._spoken = True
            home = ReasoningDelta if self._home == REASONING else TextDelta
            self._sink.append(home(raw, start, end))
            if fate:
                self._problem("unknown_tool", call.name)
        return False

    def _call_done(self, call: Call) -> None:
        if self._fate:
            self._release(call, complete=False)
            self._after_call()
            self._fate = ""
            return
        at = max(self.base + self.pos, 0)
        for kind, about in call.flags:
            self._problem(kind, about)
        self._sink.append(_new(CallEnd, (self._index, "complete", call.native_id, at, at)))
        self._complete += 1
        if self._hold is not None:
            self._release(call, complete=True)
        self._after_call()

    def _call_failed(self, call: Call) -> None:
        """The call is broken here."""
        if not call.committed and (call.weak or self._home == REASONING):
            self._give_back()
            return
        if self._hold is not None and (self._fate or self.options.malformed == "content"):
            self._release(call, complete=False)
            self._after_call()
            self._at_start = False
            self._fate = ""
            return
        if self._hold is not None and self.options.repair and call.committed and call.json_arguments:
            self._skip_from = self.offset
            self._abandoned = call.name
            self._mode = SKIP
            self._scan = self.pos
            return
        self._release(call, complete=False)
        at = call.held_from if call.held_from >= 0 else self.offset
        if call.committed:
            for kind, about in call.flags:
                self._problem(kind, about, "", at, at)
            self._sink.append(CallEnd(self._index, "malformed", call.native_id, max(at, 0), max(at, 0)))
            self._skip_from = at
        else:
            for kind, about in call.flags:
                if kind == "unresolved_name":
                    self._problem(kind, about, "", self._mark, self._mark)
            self._skip_from = self._mark
        self._abandoned = call.name
        self._call = None
        self._mode = SKIP
        self._scan = self.pos

    def _give_back(self) -> None:
        """What looked like a call is text."""
        assert self._record is not None  # noqa: S101 - a call is being read
        raw = self._record.text(self)
        start = max(self._mark, 0)
        if self._hold is not None:
            self._hold = None
            self._sink = self._draft if self._draft is not None else self._out
        if self._weak_section:
            self._section = self._weak_section = False
        if raw:
            kind: Any = TextDelta
            if self._home == REASONING:
                kind = {"split": ReasoningDelta, "content": TextDelta, "drop": Markup}[self.options.reasoning]
            else:
                self._spoken = True
            self._sink.append(kind(raw, start, start + len(raw)))
        self._call = None
        self._record = None
        self._at_start = False
        self._mode = SECTION if self._section else self._home
        self._scan = self.pos

    def _call_cut(self, call: Call) -> None:
        """The text ended inside the call."""
        place = max(0, self.offset)
        self.pos = len(self.buf)
        if not call.committed and (call.weak or self._home == REASONING):
            self._give_back()
            return
        if self._hold is not None and (self._fate or self.options.malformed == "content"):
            self._release(call, complete=False)
            self._after_call()
            self._fate = ""
            self._section = False
            self._mode = OVER
            return
        mendable = self._hold is not None and self.options.repair and self.finish_reason != "length"
        if mendable and call.committed and call.json_arguments and self._mend(call, ""):
            self._section = False
            self._mode = OVER
            return
        self._release(call, complete=False)
        at = max(0, self.offset)
        raw = self._record.text(self) if self._record is not None else ""
        if call.committed:
            reported = call.held_from if call.held_from >= 0 else place
            for kind, about in call.flags:
                self._problem(kind, about, "", reported, reported)
            self._sink.append(CallEnd(self._index, "truncated", call.native_id, reported, reported))
            self._problem("unterminated_call", call.name, raw, reported, at)
        else:
            self._problem("unterminated_call", call.name, raw, self._mark, at)
        self._call = None
        self._record = None
        self._section = False
        self._mode = OVER

    def _mend(self, call: Call, closer: str) -> bool:
        """Try to repair a broken call's arguments, now that its whole text is here."""
        hold = self._hold or []
        raw = self._record.text(self) if self._record is not None else ""
        pieces = [event for event in hold if isinstance(event, ArgumentsDelta)]
        fixed = None
        if pieces:
            begin = pieces[0].start
            fixed = call.repaired(raw.removesuffix(closer), begin - max(self._mark, 0))
        if fixed is None:
            return False
        kept = [event for event in hold if event.end <= begin and not isinstance(event, ArgumentsDelta)]
        self._hold = [*kept, ArgumentsDelta(self._index, fixed, begin, self.offset)]
        self._sink = self._hold
        call.flag("repaired", call.name)
        self._call_done(call)
        return True

    def _step_skip(self, final: bool) -> bool:
        """Look for where a broken call's text ends."""
        mode = self.compiled.skip
        buf = self.buf
        at = max(self._scan, self.pos)
        where, token = mode.watch.seek(buf, at, final)
        self.searched += where - at + len(token)
        if not token and not final:
            self.pos = where
            self._scan = where
            return False
        marks = mode.marks.get(token, [])
        self.pos = where
        if marks and marks[0].cue == Cue.IGNORED:
            self.pos += len(token)
        if self._call is not None:
            if self._mend(self._call, token):
                return True
            self._release(self._call, complete=False)
            at = self._skip_from
            self._sink.append(CallEnd(self._index, "malformed", self._call.native_id, at, at))
        raw = self._record.text(self) if self._record is not None else ""
        self._problem("malformed_call", self._abandoned, raw, self._skip_from, self.offset)
        self._after_call()
        return True
