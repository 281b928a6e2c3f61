"""A call written as a sequence of literals and slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.runtime.arguments import ArgumentValue
from analyzer.runtime.call import Call
from analyzer.runtime.copying import clone
from analyzer.runtime.items import ArgumentItems
from analyzer.runtime.layouts import ARGUMENTS, ID, INDEX, LITERAL, NAME, SequenceProgram
from analyzer.runtime.literals import FAIL, MORE, OK, WHITE_CAP, Lit, white_end
from analyzer.runtime.names import name_from_id, slot, valid_name

if TYPE_CHECKING:
    from analyzer.runtime.state import State


class SequenceCall(Call):
    """Runs a sequence program."""

    __slots__ = ("_arguments", "_at_name", "_scan", "_step", "program")

    def __init__(self, program: SequenceProgram, number: int, token: int, *, opened: bool = False) -> None:
        super().__init__(number, token, weak=program.weak and not opened)
        self.program = program
        self._step = 0
        self._scan = 0
        self._arguments: ArgumentItems | ArgumentValue | None = None

    def copy(self) -> SequenceCall:
        """Return an independent copy."""
        new = clone(self)
        if new.arguments is not None:
            new.arguments.call = new
            if isinstance(new.arguments, ArgumentItems) and new.arguments.value is not None:
                new.arguments.value.call = new
        return new

    # ------------------------------------------------------------------------------------------------------ entering

    def enter(self, parser: State, final: bool) -> int:
        """Look for the opener, and for the name behind a lone one."""
        program = self.program
        buf = parser.buf
        if self._step == 0 and program.steps[0][0] == LITERAL:
            lit: Lit = program.opener
            status, end, self.lit_token = lit.match(buf, parser.pos + self.cur, self.lit_token, final)
            self.cur = end - parser.pos
            if status != OK:
                return status
            self._step = 1
            self._scan = self.cur
            self.lit_token = 0
        opener = program.opener
        if len(opener.pieces) > 1 and not self.token and opener.strong:
            return OK
        return self._look_at_name(parser, final)

    def _look_at_name(self, parser: State, final: bool) -> int:
        """The first slot and the literal behind it must follow before a lone opener counts."""
        program = self.program
        kind = program.steps[self._step][0]
        if kind not in {NAME, ID, INDEX}:
            return OK
        begin = parser.pos + self.cur
        status, where = slot(
            parser.buf, begin, parser.pos + self._scan, program.watches[self._step], final, name=kind == NAME
        )
        if status == MORE:
            self._scan = where - parser.pos
            return MORE
        if status == FAIL:
            self.cur = max(where, begin) - parser.pos
            return FAIL
        text = parser.buf[begin:where].strip()
        if kind == NAME:
            tools = parser.tools
            doubtful = self.token or not program.opener.strong
            if not valid_name(text) or (doubtful and tools is not None and text not in tools.names):
                self.cur = begin - parser.pos
                return FAIL
        following = program.steps[self._step + 1] if self._step + 1 < len(program.steps) else None
        if following is not None and following[0] == LITERAL and len(following[1].tokens) > 1:
            literal: Lit = following[1]
            status = literal.match(parser.buf, where, 0, final)[0]
            if status == FAIL:
                self.cur = where - parser.pos
            return status
        return OK

    def begin(self) -> None:
        """Slots are sought from the parser's place now."""
        self.cur = 0
        self._scan = 0

    # ------------------------------------------------------------------------------------------------------- running

    def run(self, parser: State, final: bool) -> int:
        """Run the program."""
        while self._step < len(self.program.steps):
            if self._step in self.program.forks:
                status = self._part(parser, self._step, parser.pos, final)
                if status == MORE:
                    return MORE
            kind, step = self.program.steps[self._step]
            if kind == LITERAL:
                status = self._literal(parser, step, final)
            elif kind == ARGUMENTS:
                status = self._run_arguments(parser, final)
            else:
                status = self._slot(parser, kind, final)
            if status != OK:
                return status
            self._step += 1
            self._scan = 0
        if not self.committed:
            return FAIL
        return OK

    def _part(self, parser: State, at: int, pos: int, final: bool) -> int:
        """Where several layouts part: go on in the one whose next step stands at `pos`; MORE when that may yet show."""
        if self.lit_token or self._arguments is not None:
            return OK
        waiting = False
        best = -1
        choice = self.program
        for program in (self.program, *self.program.forks[at]):
            kind, step = program.steps[at]
            if kind == LITERAL:
                begin = white_end(parser.buf, pos) if step.soft else pos
                status = step.match(parser.buf, begin, 0, final)[0]
                size = len(step.text)
            elif kind == ARGUMENTS:
                status, size = step.begin(parser.buf, pos, final), 0
            else:
                status, size = OK, 0
            waiting = waiting or status == MORE
            if status == OK and size > best:
                best, choice = size, program
        if waiting and not final:
            return MORE
        self.program = choice
        if choice.overlay and self.committed:
            self.flag("overlay", choice.overlay)
        return OK

    def _run_arguments(self, parser: State, final: bool) -> int:
        if not self.committed:
            return FAIL
        if self._arguments is None:
            arguments = self.program.arguments
            self._arguments = (
                ArgumentItems(self, arguments, parser) if arguments.item else ArgumentValue(self, arguments)
            )
        status = self._arguments.run(parser, final)
        if status == OK:
            self.arguments_done = True
        return status

    def _literal(self, parser: State, lit: Lit, final: bool) -> int:
        if self.arguments_done:
            last = self._step == len(self.program.steps) - 1
            status = self.close(parser, lit, final)
            if status == OK and not last:
                parser.tail = ""
            return status
        buf = parser.buf
        at = parser.pos
        if lit.soft and self.lit_token == 0:
            after = white_end(buf, at)
            if after == len(buf) and lit.tokens:
                if final or after - at > WHITE_CAP:
                    return FAIL
                return MORE
            if lit.tokens:
                at = after
        status, end, self.lit_token = lit.match(buf, at, self.lit_token, final)
        if end > parser.pos:  # also when it fails: however the text was cut, it fails at one place
            parser.markup(end)
        if status == OK:
            self.lit_token = 0
        return status

    def _slot(self, parser: State, kind: int, final: bool) -> int:
        if kind == NAME and self.committed and self.name:
            return self._again(parser, final)
        begin = parser.pos
        status, where = slot(
            parser.buf, begin, begin + self._scan, self.program.watches[self._step], final, name=kind == NAME
        )
        if status != OK:
            self._scan = where - begin
            return status
        text = parser.buf[begin:where].strip() if self.program.opener.soft else parser.buf[begin:where]
        if kind == NAME:
            if not valid_name(text):
                return FAIL
            self.name = text
        elif kind == ID:
            self._id(parser, text)
        parser.pos = where
        if self.committed:
            parser.put_markup(parser.base + begin, parser.base + where)
        if self.name and not self.committed and (kind == NAME or self.program.id_pattern is not None):
            status = self._delimiter(parser, final)
            if status != OK:
                parser.pos = begin
                self._scan = where - begin
                return status
            self.committed = True
            parser.commit(self, parser.offset)
        elif kind == ID and not self.name and self.program.id_pattern is not None:
            self.flag("unresolved_name", text)
            return FAIL
        return OK

    def _delimiter(self, parser: State, final: bool) -> int:
        """The whole literal behind the name must be there before the name counts."""
        if (
            self._step + 1 in self.program.forks
            and self._part(parser, self._step + 1, parser.pos, final) == MORE
        ):
            return MORE
        following = self.program.steps[self._step + 1] if self._step + 1 < len(self.program.steps) else None
        if following is None or following[0] != LITERAL or not following[1].core:
            return OK
        lit: Lit = following[1]
        return lit.match(parser.buf, parser.pos, 0, final)[0]

    def _id(self, parser: State, text: str) -> None:
        if self.committed:
            self.native_id = text
        else:
            self.id = text
        if not self.name and self.program.id_pattern is not None:
            tools = parser.tools if parser.options.id_names else None
            name, foreign = name_from_id(text, self.program.id_pattern, tools)
            self.name = name
            if foreign and name:
                self.flag("foreign_id", text)

    def _again(self, parser: State, final: bool) -> int:
        """The name stands a second time."""
        buf = parser.buf
        at = white_end(buf, parser.pos) if self.program.opener.soft else parser.pos
        if buf.startswith(self.name, at):
            parser.markup(at + len(self.name))
            return OK
        if not final and len(buf) - at < len(self.name) and self.name.startswith(buf[at:]):
            return MORE
        status, where = slot(
            buf, parser.pos, parser.pos + self._scan, self.program.watches[self._step], final, name=True
        )
        if status == OK and not valid_name(buf[parser.pos : where].strip()):
            return FAIL
        if status == OK:
            parser.markup(where)
        elif status == MORE:
            self._scan = where - parser.pos
        return status

    def arm(self, parser: State) -> None:
        """Let the text of a value pass."""
        arguments = self._arguments
        value = arguments.value if isinstance(arguments, ArgumentItems) else None
        if value is None:
            if arguments is not None:
                parser.pass_to(arguments.scanner)
        elif value.streams:
            parser.pass_text(value.watch.hot)
        elif value.holds is not None:
            parser.pass_text(value.watch.begins, value.holds)

    @property
    def arguments(self) -> ArgumentItems | ArgumentValue | None:
        """The arguments that are being read."""
        return self._arguments

    @property
    def overlay(self) -> str:
        """The overlay that the layout is from."""
        return self.program.overlay

    @property
    def json_arguments(self) -> bool:
        """True for one JSON value."""
        return isinstance(self._arguments, ArgumentValue) and self.program.arguments.single.kind == "json"

    def whole_at_end(self) -> bool:
        """One value shows its own end; a run of items does not."""
        arguments = self._arguments
        return isinstance(arguments, ArgumentValue)

    @property
    def held_from(self) -> int:
        """A value whose type shows at its end is held."""
        arguments = self._arguments
        if isinstance(arguments, ArgumentItems) and arguments.value is not None:
            return arguments.value.held_from
        return -1

    def held(self) -> str:
        """Text of a value that waits for its end."""
        return "" if self._arguments is None else self._arguments.held()
