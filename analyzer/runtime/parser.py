"""The parser: text in, events out, any way the text is cut.

`feed` appends the text to what is pending and runs the present state until it needs more. The states are few: text and
reasoning (the two *homes*), a call being entered, a call being read, the section between two calls, skipping a broken
call, and over. Before that, `feed` asks one question: is the parser inside plain text, reasoning or a string, and has this
chunk nothing in it that could matter? Then the chunk is one event, and that is all the work there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from analyzer.errors import UsageError
from analyzer.runtime.coerce import CompiledTools
from analyzer.runtime.compile import compile_spec
from analyzer.runtime.copying import assigner
from analyzer.runtime.events import ArgumentsDelta, EndOfMessage, Event, Markup, ReasoningDelta, TextDelta
from analyzer.runtime.mending import check_repair
from analyzer.runtime.options import DEFAULT, Options
from analyzer.runtime.prompts import prompt_text
from analyzer.runtime.record import Record
from analyzer.runtime.state import CALL, ENTER, OVER, REASONING, SECTION, SKIP, TEXT, State
from analyzer.runtime.steps import DONE
from analyzer.runtime.top import TopState

if TYPE_CHECKING:
    from analyzer.chat import Tool
    from analyzer.runtime.arguments import Scanner
    from analyzer.spec.model import Spec

_new: Final = tuple.__new__
PIECE: Final = 4096
"""Where calls have a longest size, so much text is looked at at once: a call is shown no more of it than it may have."""


class Parser(TopState):
    """Parses one turn of a model. See docs/runtime.md.

    `prompt` is the text that was rendered before the turn (its end is enough); without it the spec's own prompt for
    `settings` and `after` is taken. Text may come in any pieces; `finish` ends the turn.
    """

    __slots__ = ()

    def __init__(
        self,
        spec: Spec,
        tools: Sequence[Tool] | CompiledTools | None = None,
        options: Options = DEFAULT,
        prompt: str | None = None,
        settings: dict[str, Any] | None = None,
        after: str = "user",
    ) -> None:
        compiled = compile_spec(spec, options)
        if options.repair:
            check_repair()
        text, known = prompt_text(spec, compiled, prompt, settings, after)
        primed = compiled.prompts.get(text)
        if primed is None:
            self.compiled = compiled
            self.options = options
            self.tools = None
            self._prime(text, spec)
            compiled.prompts[text] = self.fork()
        else:
            self._take_state(primed)
        if tools is not None:
            self.tools = tools if isinstance(tools, CompiledTools) else CompiledTools(tools)
        if not known:
            self._problem("unknown_prompt")
        if options.reasoning == "content" and self._home == REASONING:
            opener = compiled.reasoning[self._number][0].text
            shown = opener if text.endswith(opener) else opener.rstrip()
            self._sink.append(TextDelta(shown, 0, 0))
        if self._out:
            self._plain = self._direct = self._next = None  # these come first

    def feed(self, text: str) -> list[Event]:
        """Take more text of the model; return what it says.

        Raises:
            UsageError: the turn was finished.
        """
        plain = self._plain
        if plain is not None and plain(text) is None and text:
            start = self.base
            self.base = end = start + len(text)
            keep = self._keep
            if keep is not None:
                keep(text)
                if end > self._keep_to:
                    self._keep = None
            make = self._make
            if make is ArgumentsDelta:
                return [_new(ArgumentsDelta, (self._index, text, start, end))]
            if make is not None:
                return [_new(make, (text, start, end))]
            self._pieces.append(text)
            return []
        if not text:
            return []
        step = self._next
        if step is not None:
            size = len(text)
            found = step.match(text)
            if found is not None and found.end() == size:
                self._next, build, self._plain = step.then[found.lastindex]
                start = self.base
                self.base = end = start + size
                keep = self._keep
                if keep is not None:
                    keep(text)
                    if end > self._keep_to:
                        self._keep = None
                piece = text if build is None else build(found)
                return [_new(ArgumentsDelta, (self._index, piece, start, end))]
        if self._direct is not None:
            event, rest = self._scan_directly(self._direct, text)
            if rest is None:
                return [event]
            self._sink.append(event)
            text = rest
        if self.finish_reason:
            raise UsageError(
                "this parser's turn is over",
                hint="Make a parser for each turn, or `fork` one before it ends.",
            )
        if self.options.max_call_chars is not None and len(text) > PIECE:
            return [event for piece in _pieces(text) for event in self.feed(piece)]
        self.buf = self.buf + text if self.buf else text
        self._run(final=False)
        return self._flush()

    def _scan_directly(self, scanner: Scanner, text: str) -> tuple[Event, str | None]:
        """Let the value's scanner have new text; return the event, and what it leaves, None while the value goes on."""
        if self._next is not None:
            scanner.settle(self._next)
            self._next = None
        start = self.base
        size = scanner.scan(text, 0)
        out = scanner.out
        piece = out[0] if len(out) == 1 else "".join(out)
        out.clear()
        self.base = end = start + size
        self.searched += size
        self._slow_to += size
        rest: str | None = text[size:]
        keep = self._keep
        if keep is not None:
            keep(text[:size] if rest else text)
            if end > self._keep_to:
                self._keep = None
        if not rest and scanner.state < DONE:
            self._plain = scanner.hot
            self._next = scanner.step()
            rest = None
        return _new(ArgumentsDelta, (self._index, piece, start, end)), rest

    def finish(self, finish_reason: str = "stop") -> list[Event]:
        """Say that the turn is over; return the last events, `EndOfMessage` at the end."""
        if self.finish_reason:
            return []
        self.finish_reason = finish_reason
        self._settle()
        self._plain = self._direct = self._next = None
        self._run(final=True)
        self._end_all()
        reason = finish_reason
        if finish_reason != "length" and self._complete:
            reason = "tool_calls"
        end = self.base + self.pos
        self._out.append(_new(EndOfMessage, (reason, end, end)))
        out = self._out
        self._out = self._sink = []
        return out

    def fork(self) -> Parser:
        """Return an independent copy that goes on from here."""
        self._settle()
        new = Parser.__new__(Parser)
        new._take_state(self)  # noqa: SLF001 - our own
        return new

    @property
    def in_reasoning(self) -> bool:
        """Whether the turn stands inside open reasoning; a call that is held there counts as reasoning."""
        return self._home == REASONING

    @property
    def pending(self) -> str:
        """The text that was taken and that no event speaks of yet."""
        self._settle()
        held = self.buf[self.pos :]
        if self._call is not None and self._mode == CALL:
            if not self._call.committed and self._record is not None:
                return self._record.text_to(self, len(self.buf))
            return self._call.held() + held
        return held

    def _take_state(self, other: Parser) -> None:
        _assign(self, other)
        for name in _OWN:
            value = getattr(other, name)
            if value is not None:
                setattr(self, name, value.copy())
        if self._attempts:
            self._attempts = [(attempt.copy(), mark) for attempt, mark in self._attempts]
        self._sink = (
            self._hold if self._hold is not None else self._draft if self._draft is not None else self._out
        )
        if self._plain is not None or self._direct is not None:
            self._arm()

    def _settle(self) -> None:
        """Tell the value's scanner what the chunks that passed it by have changed."""
        if self._next is not None:
            self._direct.settle(self._next)

    def _prime(self, text: str, spec: Spec) -> None:
        """Read the prompt's text, silently; its white space is soft, for it is the template's own."""
        strict = self.compiled
        if not strict.soft:
            self.compiled = compile_spec(spec, self.options.with_(soft_white_space=True))
        self._read_prompt(text)
        self.compiled = strict
        self._scan = self.pos  # strict literals begin with their white space
        if not strict.soft and self._mode in {ENTER, CALL}:
            self._read_prompt(text)
        if (
            strict.soft and not text and strict.goes_on
        ):  # what opens content is left out, and its white space may not be
            self._lead_in = strict.all_tails + self._lead_in

    def _read_prompt(self, text: str) -> None:
        self._blank()
        header = self.compiled.header.text
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
                self.tail = header[len(bare) :]
                begun = True
            else:
                sizes = range(min(len(header) - 1, len(text)), 0, -1)
                rest = next((text[-n:] for n in sizes if header.startswith(text[-n:])), text)
        self._between = not begun
        self._read_prefill(rest)
        while self._mode == OVER:  # the turn is not over where it begins: what ended stands before it
            rest = rest[len(rest) + self._over :]
            self._blank()
            self._read_prefill(rest)
        self._out = []
        if self._draft is not None:
            self._draft = []
        if self._hold is not None:
            self._hold = []
        self._sink = (
            self._hold if self._hold is not None else self._draft if self._draft is not None else self._out
        )
        self.searched = 0
        self._slow_to = self.base
        self._spoken = False
        if self._mode == TEXT:
            self._at_start = True
            self._plain = None

    def _read_prefill(self, text: str) -> None:
        self.base = -len(text)
        if text:
            self.buf = text
            self._run(final=False)
            self._flush()

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
            self._slow_to += pos
            self._scan = self._scan - pos if self._scan > pos else 0
            self.pos = 0
        self._arm()
        out = self._out
        if not out:
            return []
        if self._sink is out:
            self._out = self._sink = []
        else:
            self._out = []
        return out

    def _run(self, *, final: bool) -> None:
        """Let the states take turns until one needs more text, or the text is over."""
        again = True
        while again:
            mode = self._mode
            if mode == CALL:
                again = self._step_call(final)
            elif mode <= REASONING:
                again = self._step_text(final)
            elif mode == ENTER:
                again = self._step_enter(final)
            elif mode == SECTION:
                again = self._step_section(final)
            elif mode == SKIP:
                again = self._step_skip(final)
            else:
                again = self._step_over()

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
        if self._draft is not None:
            self._commit_draft()

    # ------------------------------------------------------------------------------------------------ the fast path

    def _arm(self) -> None:
        """Set the parser's fast path for its present state, or none."""
        self._plain = self._direct = self._next = self._keep = None
        if self.buf or self._hold is not None or self._draft is not None:
            return
        mode = self._mode
        if mode <= REASONING:
            if self._at_start or self.tail:
                return
            compiled = self.compiled
            if mode == TEXT:
                self._plain = compiled.text.watch.hot
                self._make = TextDelta
            else:
                self._plain = compiled.reasoning_modes[self._number].watch.hot
                policy = self.options.reasoning
                self._make = (
                    ReasoningDelta if policy == "split" else TextDelta if policy == "content" else Markup
                )
        elif mode == CALL and self.options.max_call_chars is None:
            call = self._call
            if call is not None and call.committed:
                call.arm(self)


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


_OWN: Final = ("_call", "_draft", "_draft_record", "_hold", "_out", "_record")
"""What a fork copies; all else is shared, and the pieces of a held value are its call's."""
_assign: Final = assigner(State.__slots__)
