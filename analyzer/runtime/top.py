"""The top level: text, reasoning, and the markers in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from analyzer.runtime.entering import EnteringState
from analyzer.runtime.events import Markup, ReasoningDelta, TextDelta
from analyzer.runtime.literals import FAIL, MORE, OK, WHITE_CAP, white_end
from analyzer.runtime.marks import CLOSES, OPENS_CALLS, Cue, Mark, Mode
from analyzer.runtime.state import OVER, REASONING, TEXT


class TopState(EnteringState):
    """Reads text and reasoning, and finds out what a marker means."""

    __slots__ = ()

    def _open_reasoning(self, number: int) -> None:
        self._number = number
        self._reasoned = True
        self._at_start = True
        self._set_home(REASONING)

    def _close_reasoning(self, where: int, leads: Sequence[str]) -> None:
        """End the reasoning at `where`; calls read inside it were drafts."""
        if self._draft is not None and self._draft_record is not None:
            start = self._draft_record.start
            text = self._draft_record.text_to(self, where)
            self._draft = self._draft_record = None
            self._sink = self._out
            self._index, self._complete = self._draft_saved
            lead = next((lead for lead in leads if text.endswith(lead)), "")
            cut = len(text) - len(lead)
            kind: Any = {"split": ReasoningDelta, "content": TextDelta, "drop": Markup}[
                self.options.reasoning
            ]
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
        self.searched += where - at + len(token)
        if self._optional or self._lead_in:
            status = self._white_literal(where, token, final)
            if status != FAIL:
                if status == MORE:
                    self._scan = where
                return status == OK
        if self._at_start:
            # Up to where the search begins there was nothing but white space.
            begin = white_end(buf, min(at, where)) if compiled.soft else pos
            if begin == size:
                if not final and begin - pos <= WHITE_CAP:
                    self._scan = where
                    return False
                if final and (self._spoken or self._reasoned or self._index >= 0):
                    self.markup(size)
                    return False
            anchored = begin < size and compiled.anchored and self._mode == TEXT and begin - pos <= WHITE_CAP
            if anchored and self._try_anchored(begin):
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

    def _white_literal(self, where: int, token: str, final: bool) -> int:
        """Look for white space (or a separator) of the format where text may begin; OK when some was dropped."""
        buf = self.buf
        pos = self.pos
        if self._mode != TEXT or (token and where == pos):
            self._optional = self._lead_in = ()
            return FAIL
        if not token and where == pos:
            return FAIL if final else MORE
        for text, overlay in self._optional:
            if buf.startswith(text, pos):
                after = pos + len(text)
                found, token = self.compiled.text.watch.seek(buf, after, final)
                marked = found == after and (token or (final and after == len(buf)))
                if marked or (self.compiled.anchored and after < len(buf) and buf[after] in "{["):
                    self.markup(after)
                    self._overlay(overlay)
                    self._optional = ()
                    return OK
                if found == after and not final:
                    return MORE
            elif not final and text.startswith(buf[pos : pos + len(text)]):
                return MORE
        self._optional = ()
        for text in self._lead_in:
            if buf.startswith(text, pos):
                self.markup(pos + len(text))
                self._lead_in = ()
                return OK
            if not final and text.startswith(buf[pos : pos + len(text)]):
                return MORE
        self._lead_in = ()
        return FAIL

    def _without_lead(self, end: int) -> int:
        """At the end of the text a stop literal may have been cut off, its white space left."""
        marks = (mark for group in self.compiled.text.marks.values() for mark in group)
        leads = [mark.lit.lead for mark in marks if mark.cue == Cue.END and mark.stop and mark.lit.lead]
        leads += self.compiled.closes_alone if self._index < 0 else self.compiled.closes_beside
        found = next((lead for lead in leads if self.buf.endswith(lead, self.pos, end)), "")
        return end - len(found)

    def _at_token(self, mode: Mode, where: int, token: str, final: bool) -> bool:
        """A watched token stands at `where`: find out what it means here."""
        attempts: list[tuple[Any, Mark | None]] = []
        other = False
        tried = self._failed == self.base + where
        for mark in mode.marks[token]:
            if mark.cue in OPENS_CALLS:
                if tried:
                    continue
                if self._home == REASONING and self.options.calls_in_reasoning == "never":
                    continue
                if not self.options.missing_header and self._headless:
                    continue
                attempts.append((self._attempt(mark), mark))
                continue
            if attempts:
                other = True
                continue
            status, end, reached = mark.lit.match(self.buf, where, mark.token, final)
            if mark.cue in CLOSES and status == FAIL and self.ends_behind(mark.lit, end, reached, final):
                status = OK
            if status == MORE:
                self._text(self._lead_before(where, mark.leads) if not self._at_start else self.pos)
                self._scan = where
                return False
            if status == OK and self._act(mark, where, end):
                self._overlay(mark.overlay)
                return True
        if attempts:
            self._text(self._lead_before(where, attempts[0][1].leads) if not self._at_start else self.pos)  # type: ignore[union-attr]
            past = mode.watch.past(where, token) if mode.watch.overlaps(token) else -1
            where += attempts[0][1].led  # type: ignore[union-attr]
            self._begin_attempts(attempts, where, where if other else past)
            self._failed = self.base + where if other else self._failed
            return True
        self._at_start = False
        self._scan = mode.watch.past(where, token)
        return True

    def _lead_before(self, where: int, leads: Sequence[str]) -> int:
        for lead in leads:
            if self.buf.endswith(lead, self.pos, where):
                return where - len(lead)
        return where

    def _closes_more(self, mark: Mark, where: int) -> bool:
        """Whether what closes reasoning closes content as well, or ends the closer of the calls that stand before it."""
        head = mark.lit.head
        if self._index >= 0 and where == self.pos and self.compiled.section[1].text.rstrip().endswith(head):
            return True
        marks = self.compiled.text.marks.get(mark.lit.tokens[mark.token], ())
        return any(other.cue == Cue.CONTENT_CLOSE for other in marks)

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
        begins = cue in {Cue.REASONING_OPEN, Cue.CONTENT_OPEN}
        if begins and self._headless and not options.missing_header:
            return False
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
            self._report_header()
            self._reasoning_markup(end)
            self._open_reasoning(mark.number)
            if options.reasoning == "content":
                self._at_start = False
            else:
                self.tail = mark.lit.tail
        elif cue == Cue.REASONING_CLOSE:
            kept = options.reasoning == "content" and self._home == REASONING
            if self._home == REASONING:
                self._close_reasoning(where, () if kept else mark.leads)
            else:
                first = not self._spoken and (self._at_start or where == self.pos) and self._index < 0
                if (
                    not options.orphan_close
                    or not (self._reasoned or first)
                    or self._closes_more(mark, where)
                ):
                    return False
                self._before(where, ())
                self._problem("orphan_close")
            if kept:
                self._reasoning_markup(end)
                self._at_start = False
                return True
            self.markup(end)
            self.tail = mark.lit.tail
            self._at_start = True
            self._lead_in = self.compiled.lead_ins
            if not mark.lit.tail:  # a closer that opens content as well
                self._lead_in = self.compiled.opener_tails.get(mark.lit.head, ()) + self._lead_in
        elif cue == Cue.EMPTY:
            if self._home == REASONING:
                if not (self._at_start and where == self.pos):
                    return False
                self._close_reasoning(where, ())
            self._before(where, ())
            self.markup(end)
            self.tail = mark.lit.tail
            self._at_start = True
        elif cue == Cue.CONTENT_OPEN:
            self._before(where, mark.leads)
            self._report_header()
            self.markup(end)
            self._wrapped = mark.number
            self.tail = mark.lit.tail
            self._at_start = True
            tails = self.compiled.opener_tails.get(mark.lit.head, ())
            if len(tails) > 1 and len(mark.lit.pieces) == 1:
                self.tail, self._lead_in = "", tails
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
            self._lead_in = self.compiled.lead_ins_after
        else:  # ignored
            self._before(where, ()) if self._at_start else self._text(where)
            self.markup(end)
        return True

    def _act_header(self, mark: Mark, where: int, end: int) -> bool:
        if not (mark.lit.strong or (self._between and self._at_start)):
            return False  # a plain word is a header between two messages only
        if self._home == REASONING:
            self._close_reasoning(where, ())
            self._problem("unterminated_reasoning")
        elif not self._between and not self._at_start:
            self._before(where, ())
        else:
            self._before(where, ())
        self.markup(end)
        self._between = self._headless = False
        self._lead_in = self.compiled.lead_ins
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
            self._headless = self.compiled.header_repeats
            self._lead_in = self.compiled.lead_ins
            self.tail = mark.lit.tail
