"""Arguments as a run of items, written out as a JSON object."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.runtime.layouts import KEY, LITERAL, TYPE
from analyzer.runtime.literals import FAIL, MORE, OK, WHITE_CAP, Lit, white_end
from analyzer.runtime.names import slot
from analyzer.runtime.values import BETWEEN, ITEM, ItemValues

if TYPE_CHECKING:
    from analyzer.runtime.state import State


class ArgumentItems(ItemValues):
    """Reads items up to what follows them."""

    __slots__ = ()

    def run(self, parser: State, final: bool) -> int:
        """Consume items up to what follows them."""
        while True:
            if self._state == BETWEEN:
                status = self._between(parser, final)
                if status == OK and self._state == BETWEEN and not self._frames:
                    return OK
            else:
                status = self._item(parser, final)
            if status != OK:
                return status

    def _between(self, parser: State, final: bool) -> int:
        """Find out what comes next: a separator, an item, or the end of the items."""
        buf = parser.buf
        arguments = self.arguments
        soft = arguments.soft
        at = white_end(buf, parser.pos) if soft else parser.pos
        if at == len(buf) and not final:
            return MORE if at - parser.pos <= WHITE_CAP else FAIL
        frame = self._frames[-1]
        nested = len(self._frames) > 1
        end_lit = frame.close if nested else arguments.after
        waiting = False
        if end_lit is not None and end_lit.core and at < len(buf):
            status = (
                end_lit.match(buf, at, 0, final)[0]
                if nested or arguments.alike
                else self._starts(buf, at, end_lit.core, final)
            )
            if status == OK:
                parser.markup(at)
                return self._end_frame(parser, end_lit, final) if nested else self._end(parser)
            waiting = status == MORE
        separator = arguments.separator
        if separator.core and frame.count and not self._separated:
            status, end, _ = separator.match(buf, at, 0, final)
            if status == OK:
                parser.markup(end)
                self._separated = True
                return OK
            waiting = waiting or status == MORE
        elif arguments.opener.core:
            status = self._starts(buf, at, arguments.opener.core, final)
            if status == OK and not waiting:
                parser.markup(at)
                return self._begin_item()
            waiting = waiting or status == MORE
        elif at < len(buf) and not waiting:
            parser.markup(at)
            return self._begin_item()
        if waiting and not final:
            return MORE
        if not nested:
            return self._unclosed(parser, at, final)
        return FAIL

    def _begin_item(self) -> int:
        self._state = ITEM
        self._step = 0
        self._lit_token = 0
        self._scan = 0
        self._separated = False
        return OK

    def _unclosed(self, parser: State, at: int, final: bool) -> int:
        """No item and no closer: the call may still be whole when what follows is structure."""
        arguments = self.arguments
        if not arguments.after.core:
            return self._end(parser)
        if not parser.options.missing_close:
            return FAIL
        buf = parser.buf
        if at == len(buf):
            if not final or parser.finish_reason == "length" or not self._frames[-1].count:
                return FAIL
            return self._end(parser)
        status, token = arguments.follow.stands(buf, at, final)
        if status == OK and token != arguments.opener.core:
            return self._end(parser)
        return MORE if status == MORE else FAIL

    def _end(self, parser: State) -> int:
        frame = self._frames.pop()
        parser.put_arguments("}" if frame.count else "{}", parser.offset, parser.offset)
        return OK

    def _end_frame(self, parser: State, lit: Lit, final: bool) -> int:
        _, end, _ = lit.match(parser.buf, parser.pos, 0, final)
        frame = self._frames.pop()
        parser.markup(end)
        parser.put_arguments("}" if frame.kind == "object" else "]", parser.offset, parser.offset)
        return OK

    def _item(self, parser: State, final: bool) -> int:
        steps = self.arguments.item
        while self._step < len(steps):
            kind, step = steps[self._step]
            if kind == LITERAL:
                status = self._literal(parser, step, final)
            elif kind == KEY:
                status = self._read_key(parser, final)
            elif kind == TYPE:
                status = self._read_word(parser, final)
            else:
                status = self._read_value(parser, final)
                if status == OK:  # the value's closer has been read with it
                    break
            if status != OK:
                return status
            self._step += 1
            self._lit_token = 0
            self._scan = 0
        self._state = BETWEEN
        return OK

    def _literal(self, parser: State, lit: Lit, final: bool) -> int:
        buf = parser.buf
        at = parser.pos
        if lit.soft and self._lit_token == 0 and lit.tokens:
            at = white_end(buf, at)
            if at == len(buf):
                return FAIL if final or at - parser.pos > WHITE_CAP else MORE
        status, end, self._lit_token = lit.match(buf, at, self._lit_token, final)
        if end > parser.pos:  # also when it fails: however the text was cut, it fails at one place
            parser.markup(end)
        return status

    def _read_key(self, parser: State, final: bool) -> int:
        begin = parser.pos
        status, where = slot(
            parser.buf, begin, begin + self._scan, self.arguments.key_watch[self._step], final, name=False
        )
        if status != OK:
            self._scan = where - begin
            return status
        key = parser.buf[begin:where]
        if self.arguments.soft:
            key = key.strip()
        if "\n" in key or not key:
            return FAIL
        self._key = key
        parser.markup(where)
        return OK

    def _read_word(self, parser: State, final: bool) -> int:
        begin = parser.pos
        status, where = slot(
            parser.buf, begin, begin + self._scan, self.arguments.key_watch[self._step], final, name=False
        )
        if status != OK:
            self._scan = where - begin
            return status
        self._word = parser.buf[begin:where].strip()
        parser.markup(where)
        if self._word not in self.arguments.words:
            self.call.flag("type_word", self._key)
        return OK
