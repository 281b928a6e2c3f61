"""A streaming JSON scanner: takes text, gives back valid JSON text, and knows where the value ends.

`scan` consumes all of the text it is given, up to the end of the value, and never looks back: what it must hold (half an
escape, a word) is a few characters. What goes out is the model's own text, except that with leniency raw control
characters are escaped and a backslash that begins no escape is doubled.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from analyzer.runtime.copying import clone
from analyzer.runtime.json_steps import (
    AFTER,
    ARRAY,
    COLON,
    ESCAPE,
    FIRST,
    KEY,
    KEY_OR_END,
    KEYS,
    NUMBER,
    OBJECT,
    STEPS,
    STRING,
    VALUE,
    WORD,
    special,
)
from analyzer.runtime.literals import WHITE
from analyzer.runtime.steps import BROKEN, DONE, Step

_hex4 = re.compile(r"[0-9a-fA-F]{0,4}").match
_white = re.compile(r"[ \t\r\n]*").match
_STEPPED: Final = frozenset(',:"' + WHITE)
"""What a step may begin with, strings aside."""
_WORDS: Final = ("true", "false", "null")
# number states: after the sign, after a leading zero, in digits, after the point, in the fraction, after e, after its sign, exponent
_SIGN, _ZERO, _INT, _POINT, _FRACTION, _E, _E_SIGN, _EXPONENT = range(8)
# sets with names in them are built anew each time they are written in place
_NUMBER_END: Final = frozenset({_ZERO, _INT, _FRACTION, _EXPONENT})
_IN_WHOLE: Final = frozenset({_ZERO, _INT})
_BEFORE_EXPONENT: Final = frozenset({_ZERO, _INT, _FRACTION})
_IN_EXPONENT: Final = frozenset({_E, _E_SIGN})
_DIGITS: Final = frozenset("0123456789")


def refuse(_: str) -> None:
    """Refuse `NaN` and `Infinity`."""
    raise ValueError


_decoder = json.JSONDecoder(parse_int=len, parse_float=len, parse_constant=refuse)
_UNICODE: Final = len("\\u0000")
_SHORTCUT: Final = 200


class JsonScanner:
    """Scans one JSON value."""

    __slots__ = (
        "_held",
        "_in_key",
        "_number",
        "_stack",
        "escapes",
        "lenient",
        "out",
        "raw_controls",
        "repaired",
        "state",
    )

    def __init__(self, *, lenient: bool = True, escapes: bool = True) -> None:
        self.state = VALUE
        self.lenient = lenient
        self.escapes = escapes
        self.out: list[str] = []
        """The valid JSON text of what was consumed since the list was emptied."""
        self.raw_controls = False
        self.repaired = False
        self._stack = bytearray()
        self._held = ""
        self._in_key = False
        self._number = 0

    def reset(self) -> None:
        """Begin with another value, where the last one was whole."""
        self.state = VALUE
        self.out.clear()
        self.raw_controls = self.repaired = False

    def copy(self) -> JsonScanner:
        """Return an independent copy."""
        return clone(self)

    @property
    def held(self) -> str:
        """Text that was consumed and is not in `out` yet."""
        return self._held

    @property
    def open(self) -> bool:
        """True while more text is needed."""
        return self.state < DONE

    @property
    def done(self) -> bool:
        """True when the value is whole."""
        return self.state == DONE

    @property
    def broken(self) -> bool:
        """True when the value cannot be read."""
        return self.state == BROKEN

    @property
    def hot(self) -> Any:
        """Inside a string: finds a character that needs a look; None elsewhere."""
        return special if self.state == STRING else None

    @property
    def fresh(self) -> bool:
        """True until the value's first character."""
        return self.state == VALUE and not self._stack

    @property
    def depth(self) -> int:
        """How many containers are open."""
        return len(self._stack)

    def finish(self) -> bool:
        """Say that no more text follows; return whether the value is whole."""
        if self.state == NUMBER and not self._stack and self._number in _NUMBER_END:
            self.state = DONE
        return self.state == DONE

    def step(self) -> Step | None:
        """Return the state as one in which a chunk may be taken at once, None when it is not one."""
        stack = self._stack
        return STEPS[stack[-1]][self._in_key][self.state] if stack else None

    def settle(self, step: Step) -> None:
        """Go on from a state that was reached by such chunks."""
        self.state, self._in_key = step.fields

    def scan(self, text: str, at: int, final: bool = False) -> int:  # noqa: ARG002 - as `LiteralScanner`
        """Consume `text` from `at` on; return where the value ended, else the text's end (see `state`)."""
        size = len(text)
        out = self.out
        stack = self._stack
        start = at
        state = self.state
        if state == VALUE and not stack:
            if size - at > _SHORTCUT:
                end = self._whole(text, at)
                if end >= 0:
                    return end
            if text.startswith('"', at):
                at += 1
                state = STRING
        while at < size:
            if stack and (state == STRING or (state < STRING and text[at] in _STEPPED)):
                step = STEPS[stack[-1]][self._in_key][state]
                if step is not None:
                    found = step.match(text, at)
                    end = found.end()
                    if end > at:
                        at = end
                        state, self._in_key = step.then[found.lastindex][0].fields
                        continue
            if state < STRING:
                char = text[at]
                if char in WHITE:
                    at = _white(text, at).end()  # type: ignore[union-attr]
                    continue
                state = self._structure(state, char)
                if state == BROKEN:
                    break
                if state == WORD:
                    if at > start:
                        out.append(text[start:at])
                    self._held = char
                    start = at + 1
                at += 1
                if state == DONE:
                    break
            elif state == STRING:
                found = special(text, at)
                if found is None:
                    at = size
                    break
                at = found.start()
                char = text[at]
                if char == '"':
                    at += 1
                    state = COLON if self._in_key else AFTER if stack else DONE
                    if state == DONE:
                        break
                    continue
                if char != "\\" and not self.lenient:
                    state = BROKEN
                    break
                if at > start:
                    out.append(text[start:at])
                at += 1
                start = at
                if char == "\\":
                    self._held = "\\"
                    state = ESCAPE
                else:
                    out.append(_escaped(char))
                    self.raw_controls = True
            elif state == ESCAPE:
                self.state = state
                at = start = self._escape(text, at)
                state = self.state
                if state == BROKEN:
                    break
            elif state == NUMBER:
                self.state = state
                at = self._digits(text, at)
                state = self.state
                if state >= DONE:
                    break
            elif state == WORD:
                held = self._held + text[at]
                if not held.isalpha():
                    state = BROKEN
                    break
                at += 1
                start = at
                self._held = held
                if not any(word.startswith(held) for word in _WORDS):
                    state = BROKEN
                    break
                if held in _WORDS:
                    out.append(held)
                    self._held = ""
                    state = AFTER if stack else DONE
                    if state == DONE:
                        break
        self.state = state
        if at > start and not (self._held and state != BROKEN):
            out.append(text[start:at])
        return at

    def _structure(self, state: int, char: str) -> int:
        """Take a character outside of strings, numbers and words; return the state behind it."""
        stack = self._stack
        if state == AFTER:
            if char == ",":
                return KEY if stack[-1] == OBJECT else VALUE
            if char != ("}" if stack[-1] == OBJECT else "]"):
                return BROKEN
            stack.pop()
            return AFTER if stack else DONE
        if state == COLON:
            self._in_key = False
            return VALUE if char == ":" else BROKEN
        if char == '"':
            self._in_key = state in KEYS
            return STRING
        if (state == KEY_OR_END and char == "}") or (state == FIRST and char == "]"):
            stack.pop()
            return AFTER if stack else DONE
        if state in KEYS:
            return BROKEN
        if char == "{":
            stack.append(OBJECT)
            return KEY_OR_END
        if char == "[":
            stack.append(ARRAY)
            return FIRST
        if char == "-" or char in _DIGITS:
            self._number = _SIGN if char == "-" else _ZERO if char == "0" else _INT
            return NUMBER
        return WORD if char in "tfn" else BROKEN

    def _whole(self, text: str, at: int) -> int:
        """Take the whole value at once with the library's decoder, if it is all here."""
        begin = _white(text, at).end()  # type: ignore[union-attr]
        if not text.startswith(("{", "[", '"'), begin):
            return -1
        try:
            _, end = _decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            return -1
        self.out.append(text[at:end])
        self.state = DONE
        return end

    def _escape(self, text: str, at: int) -> int:
        held = self._held
        char = text[at]
        if held == "\\":
            if char in '"\\/bfnrt':
                self.out.append(held + char)
                self._held = ""
                self.state = STRING
                return at + 1
            if char == "u":
                self._held = "\\u"
                return at + 1
            if not self.escapes:
                self.state = BROKEN
                return at
            self.out.append("\\\\")
            self.repaired = True
            self._held = ""
            self.state = STRING
            return at
        digits = _hex4(text, at, min(len(text), at + 6 - len(held))).group()  # type: ignore[union-attr]
        held += digits
        at += len(digits)
        if len(held) == _UNICODE:
            self.out.append(held)
            self._held = ""
            self.state = STRING
        elif at < len(text):
            if not self.escapes:
                self.state = BROKEN
                return at
            self.out.append("\\" + held)
            self.repaired = True
            self._held = ""
            self.state = STRING
        else:
            self._held = held
        return at

    def _digits(self, text: str, at: int) -> int:
        number = self._number
        size = len(text)
        while at < size:
            char = text[at]
            if char in _DIGITS:
                if number == _SIGN:
                    number = _ZERO if char == "0" else _INT
                elif number == _ZERO:
                    self.state = BROKEN
                    return at
                elif number == _POINT:
                    number = _FRACTION
                elif number in _IN_EXPONENT:
                    number = _EXPONENT
            elif char == "." and number in _IN_WHOLE:
                number = _POINT
            elif char in "eE" and number in _BEFORE_EXPONENT:
                number = _E
            elif char in "+-" and number == _E:
                number = _E_SIGN
            elif number in _NUMBER_END:
                self.state = AFTER if self._stack else DONE
                return at
            else:
                self.state = BROKEN
                return at
            at += 1
        self._number = number
        return at


def _escaped(char: str) -> str:
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}.get(
        char
    ) or f"\\u{ord(char):04x}"


def decode_string(text: str) -> str:
    """Decode a JSON string."""
    decoded: str = json.loads(text) if "\\" in text else text[1:-1]
    return decoded


def unescape(text: str) -> str:
    """Decode the inside of a JSON string whose escapes are whole."""
    if "\\" not in text:
        return text
    decoded: str = json.loads(f'"{text}"', strict=False)
    return decoded
