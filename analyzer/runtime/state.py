"""What a parser knows, and how it gives out events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from analyzer.runtime.events import ArgumentsDelta, Event, Markup, Problem, ReasoningDelta, TextDelta
from analyzer.runtime.literals import white_end
from analyzer.runtime.problems import KINDS
from analyzer.runtime.steps import DONE

if TYPE_CHECKING:
    from analyzer.runtime.arguments import Scanner
    from analyzer.runtime.call import Call
    from analyzer.runtime.coerce import CompiledTools
    from analyzer.runtime.compile import Compiled
    from analyzer.runtime.literals import Lit
    from analyzer.runtime.marks import Mark
    from analyzer.runtime.options import Options
    from analyzer.runtime.record import Record
    from analyzer.runtime.steps import Step

TEXT, REASONING, ENTER, CALL, SECTION, SKIP, OVER = range(7)
"""The states: two homes, a call being entered, a call, the section between calls, a broken call, the end."""

_new: Final = tuple.__new__


class State:
    """The parser's memory. Everything below `buf`, `pos` and `base` is about the text before that place."""

    __slots__ = (
        "_abandoned",
        "_again",
        "_at_start",
        "_attempts",
        "_bare_list",
        "_bare_section",
        "_between",
        "_call",
        "_complete",
        "_direct",
        "_draft",
        "_draft_record",
        "_draft_saved",
        "_enter_at",
        "_failed",
        "_fate",
        "_headless",
        "_hold",
        "_home",
        "_implicit",
        "_index",
        "_keep",
        "_keep_to",
        "_lead_in",
        "_lone",
        "_make",
        "_mark",
        "_mode",
        "_next",
        "_number",
        "_optional",
        "_out",
        "_over",
        "_pieces",
        "_plain",
        "_reasoned",
        "_record",
        "_scan",
        "_section",
        "_sink",
        "_skip_from",
        "_slow_to",
        "_spoken",
        "_weak_section",
        "_where_enter",
        "_wrapped",
        "base",
        "buf",
        "compiled",
        "finish_reason",
        "options",
        "pos",
        "searched",
        "tail",
        "tools",
    )  # fmt: skip

    compiled: Compiled
    options: Options
    tools: CompiledTools | None
    buf: str
    """Text that is not consumed yet, from `pos` on; `base` is the place of its first character in the model's text."""
    pos: int
    base: int
    tail: str
    """White space of a marker that was just read, dropped if it is exactly what follows."""
    searched: int
    """How many characters were searched so far, those of the fast path aside; see `scanned`."""
    finish_reason: str
    _out: list[Event]
    _sink: list[Event]
    """Where events go: `_out`, or the list of a call that may yet turn out to be none."""
    _mode: int
    _home: int
    _number: int
    """The reasoning segment that is open."""
    _wrapped: int
    _at_start: bool
    """Nothing but white space since the last marker."""
    _scan: int
    _call: Call | None
    _attempts: list[tuple[Any, Mark | None]]
    _enter_at: int
    _failed: int
    """Where (in the model's text) openers were tried in vain: what else the literal there means comes next."""
    _again: int
    """From where to search again when no attempt succeeds, -1 for the place of the failure."""
    _where_enter: int
    _mark: int
    """Where the call that is being read begins."""
    _record: Record | None
    _index: int
    _complete: int
    _reasoned: bool
    _spoken: bool
    _section: bool
    _weak_section: bool
    """The section has no marker, and its first call is not certain yet."""
    _implicit: bool
    """A call was read outside its section: the section's closer may follow."""
    _bare_list: bool
    """A lone bracket opened the section, so that a lone one closes it."""
    _bare_section: bool
    _between: bool
    _headless: bool
    """A message ended, and the header of the next one, which the format writes, has not come."""
    _lone: bool
    """A marker that no call follows was reported."""
    _draft: list[Event] | None
    """Events of calls inside open reasoning, until it is known whether they count."""
    _draft_record: Record | None
    _draft_saved: tuple[int, int]
    _hold: list[Event] | None
    """Events of one call that is given out whole or not at all."""
    _fate: str
    _skip_from: int
    _abandoned: str
    _over: int
    _lead_in: tuple[str, ...]
    """White space that opens a text or stands for a missing segment, and may follow."""
    _optional: tuple[tuple[str, str], ...]
    """Literals, each with its overlay, that count only when a marker follows: what separates calls without a section."""
    _plain: Any
    _make: Any
    _pieces: list[str]
    _direct: Any
    _next: Step | None
    """The state of `_direct`, while chunks pass it by: it is told by `settle` when it has to know."""
    _keep: Any
    """Keeps a chunk of the fast path for the call's problem, None when nothing has to be kept."""
    _keep_to: int
    """From this place on nothing has to be kept."""
    _slow_to: int
    """What `base` would be without the chunks of the fast path."""

    def _blank(self) -> None:
        self.buf = ""
        self.pos = 0
        self.base = 0
        self.tail = ""
        self.searched = 0
        self.finish_reason = ""
        self._out = self._sink = []
        self._mode = self._home = TEXT
        self._number = 0
        self._wrapped = -1
        self._at_start = True
        self._scan = 0
        self._call = None
        self._attempts = []
        self._enter_at = 0
        self._failed = -1 << 60
        self._again = -1
        self._where_enter = TEXT
        self._mark = 0
        self._record = None
        self._index = -1
        self._complete = 0
        self._reasoned = self._spoken = self._section = self._implicit = self._bare_section = False
        self._between = True
        self._lone = self._headless = False
        self._lead_in = self.compiled.lead_ins
        self._weak_section = self._bare_list = False
        self._optional = ()
        self._draft = None
        self._draft_record = None
        self._draft_saved = (-1, 0)
        self._hold = None
        self._fate = ""
        self._skip_from = -1
        self._over = -1
        self._plain = None
        self._make = None
        self._pieces = []
        self._direct = None
        self._next = None
        self._keep = None
        self._keep_to = 0
        self._slow_to = 0
        self._abandoned = ""

    # ------------------------------------------------------------------------------------- the fast path, armed by a call

    def pass_to(self, scanner: Scanner | None) -> None:
        """Let new text go to this scanner at once, by chunks that pass it by where that is possible."""
        if scanner is not None and scanner.state < DONE:
            self._keep_record()
            self._direct = scanner
            self._next = scanner.step()
            self._plain = scanner.hot
            self._make = ArgumentsDelta

    def pass_text(self, search: Any, pieces: list[str] | None = None) -> None:
        """Let chunks in which `search` finds nothing be arguments, or be held as `pieces`."""
        self._keep_record()
        self._plain = search
        if pieces is None:
            self._make = ArgumentsDelta
        else:
            self._make = None
            self._pieces = pieces

    def _keep_record(self) -> None:
        record = self._record
        if record is not None:
            self._keep_to = until = record.until
            if self.base <= until:
                self._keep = record.writer

    # ------------------------------------------------------------------------------------------------------- the events

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

    def commit(self, call: Call, at: int) -> None:
        """The call's name is known: report its start, up to `at` in the model's text."""
        raise NotImplementedError

    def ends_behind(self, lit: Lit, at: int, reached: int, final: bool) -> bool:
        """Whether the text ends here inside `lit`, between two of its markers, and no more is missing than the turn's end.

        Servers take the end of the turn off, also where the template writes it in one with what it stands behind.
        """
        return (
            final
            and reached > 0
            and self.compiled.end_tokens.issuperset(lit.tokens[reached:])
            and white_end(self.buf, at) == len(self.buf)
        )

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

    def _overlay(self, name: str) -> None:
        """Report the use of an overlay's spelling, if it was one's."""
        if name:
            self._problem("overlay", name)

    @property
    def scanned(self) -> int:
        """How many characters were searched so far, for the tests of linearity; the fast path looks at each once."""
        return self.searched + self.base - self._slow_to

    @property
    def offset(self) -> int:
        """The place of the parser in the model's text."""
        return self.base + self.pos

    def _set_home(self, home: int) -> None:
        self._home = self._mode = home
        self._scan = self.pos
