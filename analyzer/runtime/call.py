"""One tool call being read: what all layouts share.

A call is *entered* when its opener and the structure behind it have matched (`enter`, which only looks), and *committed*
when its name is known. From entering on the call consumes text itself (`run`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from analyzer.runtime.copying import clone
from analyzer.runtime.literals import FAIL, MORE, OK, WHITE_CAP, Lit, white_end
from analyzer.runtime.mending import repair

if TYPE_CHECKING:
    from analyzer.runtime.state import State


class Call:
    """What is known of the call that is being read."""

    __slots__ = (
        "arguments_done", "committed", "cur", "flags", "id", "lit_token", "name", "native_id", "number", "string_hot",
        "token", "weak",
    )  # fmt: skip

    def __init__(self, number: int, token: int, *, weak: bool) -> None:
        self.number = number
        self.token = token
        """The opener's token to begin at: not 0 when the outer part of the opener is missing."""
        self.weak = weak
        self.cur = 0
        self.lit_token = token
        self.name = ""
        self.id: str | None = None
        self.native_id: str | None = None
        self.committed = False
        self.arguments_done = False
        self.flags: list[tuple[str, str]] = []
        """Problems to report when the call ends."""

    def copy(self) -> Call:
        """Return an independent copy."""
        return clone(self)

    def enter(self, parser: State, final: bool) -> int:
        """Look whether a call begins; OK, MORE or FAIL. `cur` counts from the parser's place."""
        raise NotImplementedError

    def run(self, parser: State, final: bool) -> int:
        """Consume text; OK when the call is over, MORE for more text, FAIL when it is broken at the parser's place."""
        raise NotImplementedError

    def begin(self) -> None:
        """The call was entered: the parser now stands at `cur`."""
        self.cur = 0

    def arm(self, parser: State) -> None:
        """Set the parser's fast path for what this call reads now, where there is one."""

    def flag(self, kind: str, about: str = "") -> None:
        """Remember a problem, once."""
        if (kind, about) not in self.flags:
            self.flags.append((kind, about))

    def close(self, parser: State, lit: Lit, final: bool) -> int:
        """Match the call's closer; a missing one is a warning when the call is whole."""
        buf = parser.buf
        at = parser.pos
        if lit.core:
            if not self.lit_token and lit.soft:
                after = white_end(buf, at)
                if after == len(buf) and not final:
                    if after - at <= WHITE_CAP:
                        return MORE
                elif after - at <= WHITE_CAP:
                    at = after
            status, end, self.lit_token = lit.match(buf, at, self.lit_token, final)
            if status == OK:
                parser.markup(end)
                parser.tail = lit.tail
                self.lit_token = 0
                return OK
            if self.lit_token:  # a part of the closer stands there; the white space before it is not text
                parser.markup(end)
            if status == MORE:
                return MORE
            if parser.ends_behind(lit, end, self.lit_token, final):
                self.lit_token = 0
                return OK
            if not parser.options.missing_close:
                return FAIL
            if final and parser.finish_reason == "length" and not self.whole_at_end():
                return FAIL
            self.flag("missing_close", lit.tokens[self.lit_token])
            self.lit_token = 0
            return OK
        parser.tail = lit.tail
        return OK

    def repaired(self, text: str, begin: int) -> str | None:
        """Return the arguments out of the call's broken text, in which they begin at `begin`."""
        value = repair(text[begin:])
        return None if value is None else json.dumps(value, ensure_ascii=False)

    @property
    def overlay(self) -> str:
        """The overlay that the call's layout is from, empty for the template's own."""
        return ""

    @property
    def json_arguments(self) -> bool:
        """True when the arguments are written as JSON, and a JSON repair makes sense."""
        return False

    def whole_at_end(self) -> bool:
        """True when the call is complete without its closer although the text was cut."""
        return True

    @property
    def held_from(self) -> int:
        """Where text begins that was consumed and that no event speaks of yet, -1 for none."""
        return -1

    def held(self) -> str:
        """Text consumed and not reported yet, beside what the parser holds."""
        return ""
