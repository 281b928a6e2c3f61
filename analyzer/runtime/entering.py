"""Where a marker stands: is a call, or the section of calls, entered there?"""

from __future__ import annotations

from typing import Any

from analyzer.runtime.call import Call
from analyzer.runtime.literals import MORE, OK
from analyzer.runtime.marks import Cue, Mark
from analyzer.runtime.record import Record
from analyzer.runtime.section import SectionOpening, SectionState
from analyzer.runtime.state import REASONING, SECTION, TEXT


class EnteringState(SectionState):
    """Tries what a marker may begin."""

    __slots__ = ()

    def _attempt(self, mark: Mark) -> Any:
        if mark.cue == Cue.SECTION_OPEN:
            return SectionOpening(self.compiled.section[0] if mark.led else mark.lit, self.compiled)
        return self._call_of(mark.number, mark.token)

    def _step_enter(self, final: bool) -> bool:
        failed = self._enter_at
        while self._attempts:
            attempt, mark = self._attempts[0]
            before = attempt.cur
            status = attempt.enter(self, final)
            self.searched += max(0, attempt.cur - before) + 1
            if status == MORE and not final:
                return False
            if status == OK:
                self._enter(attempt, mark)
                return True
            failed = max(failed, attempt.cur)
            self._attempts.pop(0)
            if not self._attempts and mark is not None:
                self._report_lone(mark)
        self._mode = self._where_enter
        self._at_start = False
        if failed == self._enter_at:
            failed += 1
        self._scan = min(self.pos + (failed if self._again < 0 else self._again), len(self.buf))
        return True

    def _report_lone(self, mark: Mark) -> None:
        """Say, once a turn, that a marker stands in the text and no call follows it: it is text."""
        other = self._failed == self.offset + self._enter_at  # the same literal means something else, too
        if self._where_enter == TEXT and mark.lit.strong and not other and not self._lone:
            self._lone = True
            self._problem("lone_marker", mark.lit.tokens[mark.token])

    def _enter(self, attempt: Any, mark: Mark | None) -> None:
        self._attempts = []
        at = self.pos + self._enter_at
        attempt.cur -= self._enter_at
        inner = attempt.inner[0] if isinstance(attempt, SectionOpening) and attempt.inner else None
        if inner is not None:
            inner.cur -= self._enter_at
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
        if self._headless and self._where_enter != SECTION:
            self._report_header()
        if isinstance(attempt, SectionOpening):
            self._section = True
            self._bare_list = attempt.lit.core == "[" and attempt.lit is not self.compiled.section[0]
            overlay = self.compiled.added_opens.get(attempt.lit.text, "")
            if inner is not None:
                if overlay:
                    inner.flag("overlay", overlay)
                self._weak_section = True
                self._begin_call(inner)
                return
            self._mode = SECTION
            self._bare_section = attempt.bare
            self.markup(self.pos + attempt.cur)
            self._overlay(overlay)
            self._scan = self.pos
            return
        call: Call = attempt
        if self._bare_section:
            call.flag("bare_object")
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

    def _report_header(self) -> None:
        """A message begins where another one ended: say that its header is missing."""
        if self._headless:
            self._problem("missing_header", self.compiled.header.core)
            self._headless = self._between = False
