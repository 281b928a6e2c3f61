"""The parser: text in, events out, any way the text is cut.

`feed` appends the text to what is pending and runs the present state until it needs more. The states are few: text and
reasoning (the two *homes*), a call being entered, a call being read, the section between two calls, skipping a broken
call, and over. Before that, `feed` asks one question: is the parser inside plain text, reasoning or a string, and has this
chunk nothing in it that could matter? Then the chunk is one event, and that is all the work there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from analyzer.runtime.arguments import ArgumentItems, ArgumentValue
from analyzer.runtime.calls import Call, JsonCall
from analyzer.runtime.coerce import CompiledTools
from analyzer.runtime.compile import Compiled, Cue, Mark, Mode, compile_spec
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
)
from analyzer.runtime.hot import arm
from analyzer.runtime.layouts import JsonProgram
from analyzer.runtime.literals import FAIL, MORE, OK, WHITE_CAP, white_end
from analyzer.runtime.options import DEFAULT, Options
from analyzer.runtime.problems import KINDS
from analyzer.runtime.record import Record
from analyzer.runtime.sequence import SequenceCall

if TYPE_CHECKING:
    from analyzer.chat import Tool
    from analyzer.spec.model import Spec

TEXT, REASONING, ENTER, CALL, SECTION, SKIP, OVER = range(7)
_new: Final = tuple.__new__


class SectionOpening:
    """The calls section's opener, with what must follow it."""

    __slots__ = ("array", "bare", "cur", "lit", "token")

    def __init__(self, mark: Mark | None, compiled: Compiled) -> None:
        self.lit = mark.lit if mark is not None else compiled.section[0]
        self.cur = 0
        self.token = 0
        self.array = compiled.array
        self.bare = False

    def copy(self) -> SectionOpening:
        """Return an independent copy."""
        new = SectionOpening.__new__(SectionOpening)
        for name in SectionOpening.__slots__:
            setattr(new, name, getattr(self, name))
        return new

    def enter(self, parser: Parser, final: bool) -> int:
        """Look whether the section begins."""
        buf = parser.buf
        status, end, self.token = self.lit.match(buf, parser.pos + self.cur, self.token, final)
        self.cur = end - parser.pos
        if status != OK:
            return status
        at = white_end(buf, end)
        if at == len(buf):
            return FAIL if final or at - end > WHITE_CAP else MORE
        if self.array:
            if buf[at] == "[":
                self.cur = at + 1 - parser.pos
                return OK
            if buf[at] == "{" and parser.options.bare_object and self.lit.core:
                self.bare = True
                return OK
            return FAIL
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
            for token in layout.opener.tokens[:2]:
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
        return MORE if waiting else FAIL


class Parser:
    """Parses one turn of a model. See docs/runtime.md.

    `prompt` is the text that was rendered before the turn (its end is enough); without it the spec's own prompt for
    `settings` and `after` is taken. Text may come in any pieces; `finish` ends the turn.
    """

    __slots__ = (
        "_abandoned", "_attempts", "_at_start", "_between", "_bare_section", "_call", "_complete", "_draft", "_draft_record",
        "_direct", "_draft_saved", "_enter_at", "_fate", "_hold", "_home", "_implicit", "_index", "_make", "_mark", "_mode",
        "_number", "_out", "_over", "_pieces", "_plain", "_reasoned", "_record", "_scan", "_section", "_sink", "_skip_from",
        "_spoken", "_where_enter", "_wrapped", "base", "buf", "compiled", "finish_reason", "options", "pos",
        "scanned", "tail", "tools",
    )  # fmt: skip

    def __init__(
        self,
        spec: Spec,
        tools: Sequence[Tool] | CompiledTools | None = None,
        options: Options = DEFAULT,
        prompt: str | None = None,
        settings: dict[str, Any] | None = None,
        after: str = "user",
    ) -> None:
        self.compiled = compile_spec(spec, options)
        self.options = options
        if tools is None or isinstance(tools, CompiledTools):
            self.tools = tools
        else:
            self.tools = CompiledTools(tools)
        text, known = _prompt_text(spec, prompt, settings or {}, after)
        start = self.compiled.prompts.get(text)
        if start is None:
            start = _primed(self, spec, text)
            self.compiled.prompts[text] = start
        self._take_state(start)
        if not known:
            self._problem("unknown_prompt")

    # ----------------------------------------------------------------------------------------------------- public

    def feed(self, text: str) -> list[Event]:
        """Take more text of the model; return what it says."""
        plain = self._plain
        if plain is not None and plain(text) is None:
            start = self.base
            self.base = end = start + len(text)
            self.scanned += end - start
            if self._record is not None:
                self._record.write(text)
            make = self._make
            if make is ArgumentsDelta:
                return [_new(ArgumentsDelta, (self._index, text, start, end))]
            if make is not None:
                return [_new(make, (text, start, end))]
            self._pieces.append(text)
            return []
        if not text:
            return []
        scanner = self._direct
        if scanner is not None:
            size = len(text)
            end = scanner.scan(text, 0)
            self.scanned += end
            out = scanner.out
            piece = out[0] if len(out) == 1 else "".join(out)
            out.clear()
            start = self.base
            event = _new(ArgumentsDelta, (self._index, piece, start, start + end))
            if self._record is not None:
                self._record.write(text if end == size else text[:end])
            self.base = start + end
            if end == size and scanner.open:
                self._plain = scanner.hot
                return [event]
            self._sink.append(event)
            text = text[end:]
        self.buf = self.buf + text if self.buf else text
        self._run(final=False)
        return self._flush()

    def finish(self, finish_reason: str = "stop") -> list[Event]:
        """Say that the turn is over; return the last events, `EndOfMessage` at the end."""
        if self.finish_reason:
            return []
        self.finish_reason = finish_reason
        self._plain = self._direct = None
        self._run(final=True)
        self._end_all()
        reason = finish_reason
        if finish_reason != "length" and self._complete:
            reason = "tool_calls"
        end = self.base + self.pos
        self._out.append(EndOfMessage(reason, end, end))
        out = self._out
        self._out = self._sink = []
        return out

    def fork(self) -> Parser:
        """Return an independent copy that goes on from here."""
        new = Parser.__new__(Parser)
        new._take_state(self)
        return new

    @property
    def pending(self) -> str:
        """The text that was taken and that no event speaks of yet."""
        held = self.buf[self.pos :]
        if self._call is not None and self._mode == CALL:
            if not self._call.committed and self._record is not None:
                return self._record.text(self)
            return self._call.held() + held
        return held

    @property
    def offset(self) -> int:
        """The place of the parser in the model's text."""
        return self.base + self.pos

    # ---------------------------------------------------------------------------------------------------- plumbing

    def _take_state(self, other: Parser) -> None:
        mine = {"tools", "options", "compiled"} if hasattr(self, "compiled") else set()
        for name in Parser.__slots__:
            if name not in mine:
                setattr(self, name, getattr(other, name))
        self._out = other._out[:]
        self._sink = self._out
        if other._draft is not None:
            self._draft = other._draft[:]
            self._sink = self._draft
            self._draft_record = other._draft_record.copy()
        if other._hold is not None:
            self._hold = other._hold[:]
            self._sink = self._hold
        if other._record is not None:
            self._record = other._record.copy()
        if other._call is not None:
            self._call = other._call.copy()
        if other._attempts:
            self._attempts = [(attempt.copy(), mark) for attempt, mark in other._attempts]
        if self._plain is not None or self._direct is not None:
            arm(self)

    def _blank(self) -> None:
        self.buf = ""
        self.pos = 0
        self.base = 0
        self.tail = ""
        self.scanned = 0
        self.finish_reason = ""
        self._out = self._sink = []
        self._mode = self._home = TEXT
        self._number = 0
        self._wrapped = -1
        self._at_start = True
        self._scan = 0
        self._call: Call | None = None
        self._attempts: list[tuple[Any, Mark | None]] = []
        self._enter_at = 0
        self._where_enter = TEXT
        self._mark = 0
        self._record: Record | None = None
        self._index = -1
        self._complete = 0
        self._reasoned = self._spoken = self._section = self._implicit = self._bare_section = False
        self._between = True
        self._draft: list[Event] | None = None
        self._draft_record: Any = None
        self._draft_saved: tuple[int, int] = (-1, 0)
        self._hold: list[Event] | None = None
        self._fate = ""
        self._skip_from = -1
        self._over = -1
        self._plain: Any = None
        self._make: Any = None
        self._pieces: list[str] = []
        self._direct: Any = None
        self._abandoned = ""

    def _flush(self) -> list[Event]:
        """Drop consumed text, set up the fast path, hand the events out."""
        pos = self.pos
        if pos:
            if self._record is not None:
                self._record.take(self)
            if self._draft_record is not None:
                self._draft_record.take(self)
            self.buf = self.buf[pos:]
            self.base += pos
            self._scan = max(0, self._scan - pos)
            self.pos = 0
        arm(self)
        out = self._out
        if not out:
            return []
        if self._sink is out:
            self._out = self._sink = []
        else:
            self._out = []
        return out

    def _run(self, *, final: bool) -> None:
        while self._step(final):
            pass

    def _step(self, final: bool) -> bool:
        mode = self._mode
        if mode <= REASONING:
            return self._step_text(final)
        if mode == CALL:
            return self._step_call(final)
        if mode == ENTER:
            return self._step_enter(final)
        if mode == SECTION:
            return self._step_section(final)
        if mode == SKIP:
            return self._step_skip(final)
        return self._step_over()

    # ------------------------------------------------------------------------------------------------- giving out

    def markup(self, end: int) -> None:
        """Consume up to `end` (an index into the buffer) as part of the format."""
        pos = self.pos
        if end > pos:
            if self._call is None or self._call.committed or self._mode != CALL:
                self._put(Markup, pos, end)
            self.pos = end

    def arguments(self, text: str, end: int) -> None:
        """Consume up to `end` as arguments that read `text` in JSON."""
        start = self.base + self.pos
        self.pos = end
        self._sink.append(_new(ArgumentsDelta, (self._index, text, max(start, 0), max(self.base + end, 0))))

    def put_arguments(self, text: str, start: int, end: int) -> None:
        """Report arguments that stand from `start` to `end` in the model's text."""
        self._sink.append(_new(ArgumentsDelta, (self._index, text, max(start, 0), max(end, 0))))

    def put_markup(self, start: int, end: int) -> None:
        """Report consumed text from `start` to `end` as part of the format."""
        if end > max(start, 0):
            text = self._record.between(self, max(start, 0), end) if self._record is not None else ""
            self._sink.append(Markup(text, max(start, 0), end))

    def _put(self, kind: Any, start: int, end: int) -> None:
        first = self.base + start
        text = self.buf[start:end]
        if first < 0:
            text = text[-first:]
            if not text:
                return
            first = 0
        self._sink.append(_new(kind, (text, first, self.base + end)))

    def _text(self, end: int) -> None:
        """Consume up to `end` as text of the present home."""
        pos = self.pos
        if end <= pos:
            return
        if self._home == REASONING:
            policy = self.options.reasoning
            self._put(
                ReasoningDelta if policy == "split" else TextDelta if policy == "content" else Markup,
                pos,
                end,
            )
        else:
            self._put(TextDelta, pos, end)
            if self.base + end > 0:
                self._spoken = True
        self.pos = end
        self._at_start = False

    def _reasoning_markup(self, end: int) -> None:
        """Consume a reasoning marker."""
        if self.options.reasoning == "content":
            self._put(TextDelta, self.pos, end)
            self.pos = end
        else:
            self.markup(end)

    def _problem(
        self, kind: str, about: str = "", raw: str = "", start: int | None = None, end: int | None = None
    ) -> None:
        entry = KINDS[kind]
        at = max(0, self.base + self.pos)
        message = entry.message.replace("{0}", f"`{about}`" if about else "")
        self._sink.append(
            Problem(
                kind, entry.severity, " ".join(message.split()), raw or about,
                at if start is None else max(0, start), at if end is None else max(0, end),
            )
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------- text and reasoning

    def _step_text(self, final: bool) -> bool:
        compiled = self.compiled
        buf = self.buf
        pos = self.pos
        if self.tail:
            tail = self.tail
            if buf.startswith(tail, pos):
                self.tail = ""
                self.markup(pos + len(tail))
                return True
            if not final and tail.startswith(buf[pos : pos + len(tail)]):
                return False
            self.tail = ""
        size = len(buf)
        if pos == size:
            return False
        mode = compiled.text if self._mode == TEXT else compiled.reasoning_modes[self._number]
        watch = mode.watch
        at = max(self._scan, pos)
        where, token = watch.seek(buf, at, final)
        self.scanned += where - at + len(token)
        if self._at_start:
            begin = white_end(buf, pos) if compiled.soft else pos
            if begin == size:
                if not final and begin - pos <= WHITE_CAP:
                    return False
                if final and (self._spoken or self._reasoned or self._index >= 0):
                    self.markup(size)
                    return False
            if begin < size and compiled.anchored and self._mode == TEXT and begin - pos <= WHITE_CAP:
                if self._try_anchored(begin):
                    return True
            if begin < where or begin - pos > WHITE_CAP:
                self._at_start = False
        if token:
            return self._at_token(mode, where, token, final)
        if final:
            end = size
            if self._mode == TEXT and self.finish_reason == "stop":
                end = self._without_lead(end)
            self._text(end)
            self.markup(size)
            return False
        if not self._at_start:
            self._text(watch.hold(buf, pos, where))
        self._scan = where
        return False

    def _without_lead(self, end: int) -> int:
        """At the end of the text a stop literal may have been cut off, its white space left."""
        for mark in (mark for marks in self.compiled.text.marks.values() for mark in marks):
            if mark.cue == Cue.END and mark.stop and mark.lit.lead:
                if self.buf.endswith(mark.lit.lead, self.pos, end):
                    return end - len(mark.lit.lead)
        return end

    def _at_token(self, mode: Mode, where: int, token: str, final: bool) -> bool:
        """A watched token stands at `where`: find out what it means here."""
        attempts: list[tuple[Any, Mark | None]] = []
        for mark in mode.marks[token]:
            if mark.cue in {Cue.SECTION_OPEN, Cue.CALL_OPEN}:
                if self._home == REASONING and self.options.calls_in_reasoning == "never":
                    continue
                attempts.append((self._attempt(mark), mark))
                continue
            if attempts:
                continue
            status, end, _ = mark.lit.match(self.buf, where, mark.token, final)
            if status == MORE:
                self._text(self._lead_before(where, mark.leads) if not self._at_start else self.pos)
                self._scan = where
                return False
            if status == OK and self._act(mark, where, end):
                return True
        if attempts:
            self._text(self._lead_before(where, attempts[0][1].leads) if not self._at_start else self.pos)  # type: ignore[union-attr]
            self._begin_attempts(attempts, where)
            return True
        self._at_start = False
        self._scan = where + len(token)
        return True

    def _lead_before(self, where: int, leads: Sequence[str]) -> int:
        for lead in leads:
            if self.buf.endswith(lead, self.pos, where):
                return where - len(lead)
        return where

    def _before(self, where: int, leads: Sequence[str]) -> None:
        """Give out the text before a marker; its own white space is markup."""
        if where > self.pos:
            if not self._at_start:
                self._text(self._lead_before(where, leads))
            self.markup(where)

    def _act(self, mark: Mark, where: int, end: int) -> bool:
        """Do what a marker says; False when it means nothing here."""
        cue = mark.cue
        options = self.options
        if cue == Cue.REASONING_OPEN:
            if self._home == REASONING:
                if not (self._at_start and options.repeated_open):
                    return False
                self._before(where, ())
                self.markup(end)
                self._problem("repeated_open")
                self.tail = mark.lit.tail
                return True
            self._before(where, mark.leads)
            self._reasoning_markup(end)
            self._open_reasoning(mark.number)
            self.tail = mark.lit.tail
        elif cue == Cue.REASONING_CLOSE:
            if self._home == REASONING:
                self._close_reasoning(where, mark.leads)
            else:
                first = not self._spoken and (self._at_start or where == self.pos) and self._index < 0
                if not options.orphan_close or not (self._reasoned or first):
                    return False
                self._before(where, ())
                self._problem("orphan_close")
            self._reasoning_markup(end)
            self.tail = mark.lit.tail
            self._at_start = True
        elif cue == Cue.EMPTY:
            self._before(where, ())
            self.markup(end)
            self.tail = mark.lit.tail
            self._at_start = True
        elif cue == Cue.CONTENT_OPEN:
            self._before(where, ())
            self.markup(end)
            self._wrapped = mark.number
            self.tail = mark.lit.tail
            self._at_start = True
        elif cue == Cue.CONTENT_CLOSE:
            if self.compiled.content[mark.number].open.strip() and self._wrapped < 0:
                return False
            self._before(where, mark.leads)
            self.markup(end)
            self._wrapped = -1
            self.tail = mark.lit.tail
            self._at_start = True
        elif cue == Cue.HEADER:
            return self._act_header(mark, where, end)
        elif cue == Cue.END:
            self._act_end(mark, where, end)
        elif cue == Cue.SECTION_CLOSE:
            if not self._implicit:
                return False
            self._before(where, ())
            self.markup(end)
            self._implicit = False
            self.tail = mark.lit.tail
            self._at_start = True
        else:  # ignored
            self._before(where, ()) if self._at_start else self._text(where)
            self.markup(end)
        return True

    def _act_header(self, mark: Mark, where: int, end: int) -> bool:
        if self._home == REASONING:
            self._close_reasoning(where, ())
            self._problem("unterminated_reasoning")
        elif not self._between and not self._at_start:
            self._before(where, ())
        else:
            self._before(where, ())
        self.markup(end)
        self._between = False
        self._wrapped = -1
        self.tail = mark.lit.tail
        self._at_start = True
        return True

    def _act_end(self, mark: Mark, where: int, end: int) -> None:
        if self._home == REASONING:
            closer = self.compiled.reasoning[self._number][1]
            if closer.core and mark.stop:
                self._before(where, mark.leads)
                self._problem("unterminated_reasoning")
                self._commit_draft()
            else:
                self._close_reasoning(where, mark.leads)
                if closer.core:
                    self._problem("unterminated_reasoning")
            self._set_home(TEXT)
        else:
            self._before(where, mark.leads)
        self.markup(end)
        self._section = self._implicit = False
        self._wrapped = -1
        self._at_start = True
        if mark.stop:
            self._mode = OVER
            self._over = self.offset
        else:
            self._between = True
            self.tail = mark.lit.tail

    def _set_home(self, home: int) -> None:
        self._home = self._mode = home
        self._scan = self.pos

    def _open_reasoning(self, number: int) -> None:
        self._number = number
        self._reasoned = True
        self._at_start = True
        self._set_home(REASONING)

    def _close_reasoning(self, where: int, leads: Sequence[str]) -> None:
        """End the reasoning at `where`; calls read inside it were drafts."""
        if self._draft is not None:
            start = self._draft_record.start
            text = self._draft_record.text_to(self, where)
            self._draft = self._draft_record = None
            self._sink = self._out
            self._index, self._complete = self._draft_saved
            lead = next((lead for lead in leads if text.endswith(lead)), "")
            cut = len(text) - len(lead)
            kind = {"split": ReasoningDelta, "content": TextDelta, "drop": Markup}[self.options.reasoning]
            first = max(start, 0)
            self._sink.append(kind(text[:cut], first, first + cut))
            if lead:
                self._sink.append(Markup(lead, first + cut, first + cut + len(lead)))
            self.pos = where
        else:
            self._before(where, leads)
        self._set_home(TEXT)

    def _commit_draft(self) -> None:
        if self._draft is not None:
            self._out.extend(self._draft)
            self._draft = self._draft_record = None
            self._sink = self._out
            self._problem("call_in_reasoning")

    # -------------------------------------------------------------------------------------------- entering a call

    def _attempt(self, mark: Mark) -> Any:
        if mark.cue == Cue.SECTION_OPEN:
            return SectionOpening(mark, self.compiled)
        return self._call_of(mark.number, mark.token)

    def _call_of(self, number: int, token: int) -> Call:
        program = self.compiled.layouts[number]
        opened = self._section or self._bare_section
        if isinstance(program, JsonProgram):
            return JsonCall(program, number, token, opened=opened)
        return SequenceCall(program, number, token, opened=opened)

    def _try_anchored(self, begin: int) -> bool:
        """At the start of a region a call may begin without a marker."""
        compiled = self.compiled
        char = self.buf[begin]
        attempts: list[tuple[Any, Mark | None]] = []
        if compiled.array and not compiled.section_open:
            if char == "[":
                attempts.append((SectionOpening(None, compiled), None))
            elif char == "{" and self.options.bare_object:
                attempts += [(self._call_of(n, 0), None) for n in compiled.starts]
        elif compiled.section_open:
            lit = compiled.section_open[0]
            if lit.core.startswith(char):
                opening = SectionOpening(None, compiled)
                attempts.append((opening, None))
        else:
            for number, program in enumerate(compiled.layouts):
                core = program.opener.core
                if not core and isinstance(program, JsonProgram):
                    if char == "{":
                        attempts.append((self._call_of(number, 0), None))
                elif not core or (len(core) < 3 and core.startswith(char)):
                    attempts.append((self._call_of(number, 0), None))
        if not attempts:
            return False
        self._begin_attempts(attempts, begin)
        return True

    def _begin_attempts(self, attempts: list[tuple[Any, Mark | None]], where: int) -> None:
        self._attempts = attempts
        self._enter_at = where - self.pos
        for attempt, _ in attempts:
            attempt.cur = self._enter_at
        self._where_enter = self._mode
        self._mode = ENTER

    def _step_enter(self, final: bool) -> bool:
        failed = self._enter_at
        while self._attempts:
            attempt, mark = self._attempts[0]
            before = attempt.cur
            status = attempt.enter(self, final)
            self.scanned += max(0, attempt.cur - before) + 1
            if status == MORE and not final:
                return False
            if status == OK:
                self._enter(attempt, mark)
                return True
            failed = max(failed, attempt.cur)
            self._attempts.pop(0)
        self._mode = self._where_enter
        self._at_start = False
        if failed == self._enter_at:
            failed += 1
        self._scan = min(self.pos + failed, len(self.buf))
        return True

    def _enter(self, attempt: Any, mark: Mark | None) -> None:
        self._attempts = []
        at = self.pos + self._enter_at
        attempt.cur -= self._enter_at
        self._enter_at = 0
        if self._where_enter == SECTION:
            self._junk(at)
        else:
            self.markup(at)
        if self._home == REASONING and self._draft is None:
            self._draft = []
            self._draft_saved = (self._index, self._complete)
            self._sink = self._draft
            self._draft_record = Record(self.offset)
        if isinstance(attempt, SectionOpening):
            self._mode = SECTION
            self._section = True
            self._bare_section = attempt.bare
            self.markup(self.pos + attempt.cur)
            self._scan = self.pos
            return
        call: Call = attempt
        if (
            mark is not None
            and not self._section
            and self.compiled.section_open
            and mark.cue == Cue.CALL_OPEN
        ):
            self._implicit = True
            call.flag("missing_open", self.compiled.section_open[0].core)
        if call.token:
            call.flag("missing_open", self.compiled.layouts[call.number].opener.tokens[0])
        self._begin_call(call)

    def _begin_call(self, call: Call) -> None:
        self._call = call
        self._mode = CALL
        self._mark = self.offset
        limited = self.options.malformed == "problem"
        self._record = Record(self.offset, self.options.raw_limit if limited else None)
        end = self.pos + call.cur
        call.begin()
        self.pos = end  # reported with the call's start
        if self.options.malformed == "content" and self._hold is None:
            self._hold = []
            self._sink = self._hold

    # ---------------------------------------------------------------------------------------------------- in a call

    def commit(self, call: Call, at: int) -> None:
        """The call's name is known: report its start, up to `at` in the model's text."""
        call.committed = True
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
        self._sink.append(CallStart(self._index, call.id, call.name, max(self._mark, 0), max(at, 0)))

    def _step_call(self, final: bool) -> bool:
        call = self._call
        assert call is not None  # noqa: S101 - the state says so
        status = call.run(self, final)
        limit = self.options.max_call_chars
        if status == MORE and not final:
            if limit is not None and self.offset - self._mark > limit:
                call.flag("call_too_long", call.name)
                self._call_failed(call)
                return True
            return False
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
        self._scan = self.pos

    def _release(self, call: Call, *, complete: bool) -> bool:
        """Let a held call go; False when it was not one after all and its text went elsewhere."""
        hold = self._hold
        if hold is None:
            return True
        self._hold = None
        self._sink = self._draft if self._draft is not None else self._out
        fate = self._fate
        if not fate and complete:
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
        at = self.offset
        if self._fate:
            self._release(call, complete=False)
            self._after_call()
            self._fate = ""
            return
        for kind, about in call.flags:
            self._problem(kind, about)
        self._sink.append(CallEnd(self._index, "complete", call.native_id, max(at, 0), max(at, 0)))
        self._complete += 1
        self._release(call, complete=True)
        self._after_call()

    def _call_failed(self, call: Call) -> None:
        """The call is broken here."""
        if not call.committed and (call.weak or self._home == REASONING):
            self._give_back(call)
            return
        if self._hold is not None:
            kept = self._hold
            self._release(call, complete=False)
            del kept
            self._after_call()
            self._at_start = False
            self._fate = ""
            return
        at = self.offset
        if call.committed:
            for kind, about in call.flags:
                self._problem(kind, about)
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

    def _give_back(self, call: Call) -> None:
        """What looked like a call is text."""
        assert self._record is not None  # noqa: S101 - a call is being read
        raw = self._record.text(self)
        start = max(self._mark, 0)
        if self._hold is not None:
            self._hold = None
            self._sink = self._draft if self._draft is not None else self._out
        if self._section and not self._implicit and self.compiled.section_open == []:
            self._section = False
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
        if not call.committed and (call.weak or self._home == REASONING):
            self._give_back(call)
            return
        if self._hold is not None:
            self._release(call, complete=False)
            self._after_call()
            self._fate = ""
            self._section = False
            self._mode = OVER
            return
        at = max(0, self.offset)
        raw = self._record.text(self) if self._record is not None else ""
        if call.committed:
            for kind, about in call.flags:
                self._problem(kind, about)
            self._sink.append(CallEnd(self._index, "truncated", call.native_id, at, at))
            self._problem("unterminated_call", call.name, raw)
        else:
            self._problem("unterminated_call", call.name, raw, self._mark, at)
        self._call = None
        self._record = None
        self._section = False
        self._mode = OVER

    # ------------------------------------------------------------------------------------------------- between calls

    def _step_section(self, final: bool) -> bool:
        """Inside the section, where only calls, separators and the closer belong."""
        compiled = self.compiled
        buf = self.buf
        junk = self._record is not None
        if not junk and self._scan <= self.pos:
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
            if slots and (buf[pos].isalnum() or buf[pos] == "_"):
                self._begin_attempts([(self._call_of(n, 0), None) for n in slots], pos)
                return True
        mode = compiled.section_mode
        where, token = mode.watch.seek(buf, self._scan, final)
        self.scanned += where - self._scan + len(token)
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
                self._scan = self.pos
                return True
            self._section_unclosed()
            self._at_start = True
            self._mode = self._home
            self._scan = self.pos
            return True
        if attempts:
            self._begin_attempts(attempts, where)
            return True
        self._scan = where + len(token)
        return True

    def _section_close(self, where: int, lit: Any, final: bool) -> bool:
        status, end, reached = lit.match(self.buf, where, 0, final)
        if status == MORE and not final:
            self._scan = where
            return False
        self.markup(end)
        if status != OK:
            self._problem("missing_close", lit.tokens[reached])
        self._section = False
        self._mode = self._home
        self._at_start = True
        self.tail = lit.tail if status == OK else ""
        self._scan = self.pos
        return True

    def _after_section(self, pos: int) -> bool:
        """Behind the array: the rest of the section's closer, if it has one."""
        self._mode = self._home
        self._at_start = True
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

    def _step_skip(self, final: bool) -> bool:
        """Look for where a broken call's text ends."""
        mode = self.compiled.skip
        buf = self.buf
        at = max(self._scan, self.pos)
        where, token = mode.watch.seek(buf, at, final)
        self.scanned += where - at + len(token)
        if not token and not final:
            self.pos = where
            self._scan = where
            return False
        marks = mode.marks.get(token, [])
        self.pos = where
        if marks and marks[0].cue == Cue.IGNORED:
            self.pos += len(token)
        raw = self._record.text(self) if self._record is not None else ""
        self._problem("malformed_call", self._abandoned, raw, self._skip_from, self.offset)
        self._after_call()
        return True

    # ------------------------------------------------------------------------------------------------------ the end

    def _step_over(self) -> bool:
        if self._over >= 0 and self.pos < len(self.buf):
            if self._record is None:
                self._record = Record(self._over, self.options.raw_limit)
                self._record.settle()
            self.pos = len(self.buf)
        return False

    def _end_all(self) -> None:
        if self._mode == OVER and self._over >= 0 and self.offset > self._over:
            raw = self._record.text(self) if self._record is not None else ""
            if raw.strip():
                self._problem("text_after_end", "", raw, self._over, self.offset)
            else:
                self._sink.append(Markup(raw, self._over, self.offset))
        if self._home == REASONING:
            if self.pos < len(self.buf):
                self._text(len(self.buf))
            self._problem("unterminated_reasoning")
        self._commit_draft()


def _prompt_text(spec: Spec, prompt: str | None, settings: dict[str, Any], after: str) -> tuple[str, bool]:
    """Return (the text of the spec's prompt that the turn begins with, is the given prompt one of them)."""
    prompts = spec.turn.prompts
    if prompt is not None:
        found = [p.text for p in prompts if prompt.endswith(p.text)]
        if found:
            return max(found, key=len), True
        return ("", False) if prompts or prompt else ("", True)
    for wanted in (settings, {}):
        for candidate in prompts:
            if candidate.after == after and candidate.set == wanted:
                return candidate.text, True
    return (prompts[0].text if prompts else ""), True


def _primed(parser: Parser, spec: Spec, text: str) -> Parser:
    """Return a parser that has read a prompt's text."""
    start = Parser.__new__(Parser)
    start.compiled = parser.compiled
    start.options = parser.options
    start.tools = None
    start._blank()
    header = spec.turn.header
    rest = text
    begun = False
    if header:
        at = text.rfind(header)
        bare = header.rstrip()
        if at >= 0:
            rest = text[at + len(header) :]
            begun = True
        elif bare and text.rstrip().endswith(bare):
            rest = ""
            start.tail = header[len(bare) :]
            begun = True
        else:
            rest = next(
                (
                    text[-n:]
                    for n in range(min(len(header) - 1, len(text)), 0, -1)
                    if header.startswith(text[-n:])
                ),
                "",
            )
    start._between = not begun
    start.base = -len(rest)
    if rest:
        start.buf = rest
        start._run(final=False)
        start._flush()
    start._out = start._sink = []
    if start._draft is not None:
        start._draft = []
        start._sink = start._draft
    start.scanned = 0
    start._spoken = False
    if start._mode == TEXT:
        start._at_start = True
        start._plain = None
    return start


__all__ = ["CALL", "FAIL", "REASONING", "TEXT", "ArgumentItems", "ArgumentValue", "Parser"]
