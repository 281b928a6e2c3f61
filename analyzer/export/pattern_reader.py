r"""Regular expressions of response templates, read as literals and slots.

Such patterns are literals with optional white space and named groups; that is what can be read. The canonical text of
optional white space is the white space itself (`\n?` is a line break); `\s*` is a line break between two literals and nothing
beside a slot: the runtime takes any white space there. Anything else is an `ExportError` that shows what could not be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from analyzer.errors import ExportError

_WHITE: Final = {"n": "\n", "r": "\r", "t": "\t"}
_ANY_WHITE: Final = "\x00"
_CLASSES: Final = frozenset("swdSWD")


@dataclass(frozen=True, slots=True)
class Group:
    """A named group, or its back-reference."""

    name: str


Piece: TypeAlias = str | Group


@dataclass(slots=True)
class Read:
    """What a pattern says."""

    pieces: list[Piece] = field(default_factory=list)
    """Literals and groups, in order."""
    optional: list[str] = field(default_factory=list)
    """Literals that may stand in front."""

    def put(self, text: str) -> None:
        """Add literal text."""
        if text and self.pieces and isinstance(self.pieces[-1], str):
            self.pieces[-1] += text
        elif text:
            self.pieces.append(text)

    @property
    def text(self) -> str:
        """The literals alone."""
        return "".join(piece for piece in self.pieces if isinstance(piece, str))


def read_pattern(pattern: str, target: str) -> Read:
    """Return what `pattern` says; of several alternatives the first."""
    out = Read()
    at = 0
    branches = split(pattern)
    pattern = next((branch for branch in branches if not branch.startswith("(?=")), branches[0])
    while at < len(pattern):
        at = _one(pattern, at, out, target)
    out.pieces = [piece for raw in out.pieces if (piece := _settled(raw))]
    return out


def _settled(piece: Piece) -> Piece:
    if isinstance(piece, Group):
        return piece
    return piece.strip(_ANY_WHITE).replace(_ANY_WHITE, "\n")


def split(pattern: str) -> list[str]:
    """The alternatives of a pattern."""
    found, start, at, depth = [], 0, 0, 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[":
            at = _class_end(pattern, at) - 1
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and not depth:
            found.append(pattern[start:at])
            start = at + 1
        at += 1
    return [*found, pattern[start:]]


def _one(pattern: str, at: int, out: Read, target: str) -> int:
    """Read the piece at a place; return the place after it."""
    char = pattern[at]
    if char == "(":
        return _group(pattern, at, out, target)
    if char == "\\":
        follow = pattern[at + 1 : at + 2]
        end, text = at + 2, _WHITE.get(follow, follow)
        if follow in _CLASSES:
            end = _after_repeat(pattern, end)
            if follow == "d":
                out.pieces.append(Group("index"))
            elif follow == "s":
                out.put(_ANY_WHITE)
            else:
                raise _unread(pattern, at, target)
            return end
    elif char in ".[*+?{":
        raise _unread(pattern, at, target)
    elif char in "^$":
        return at + 1
    else:
        end, text = at + 1, char
    after = _after_repeat(pattern, end)
    if after == end or (pattern[end] == "?" and text.isspace()) or pattern[end] == "+":
        out.put(text)
    return after


def _group(pattern: str, at: int, out: Read, target: str) -> int:
    end = _group_end(pattern, at)
    inside = pattern[at + 1 : end - 1]
    after = _after_repeat(pattern, end)
    if inside.startswith("?P<"):
        name = inside[3 : inside.index(">")]
        out.pieces.append(Group(name))
    elif inside.startswith("?P="):
        out.pieces.append(Group(inside[3:]))
    elif inside.startswith(("?=", "?!", "?<")):
        return after
    else:
        inner = read_pattern(inside.removeprefix("?:"), target)
        repeat = pattern[end:after]
        if not repeat.startswith(("?", "*")) or not inner.text.strip():
            for piece in inner.pieces:
                if isinstance(piece, str):
                    out.put(piece)
                else:
                    out.pieces.append(piece)
        elif not any(isinstance(piece, Group) for piece in inner.pieces):
            out.optional.append(inner.text)
    return after


def _group_end(pattern: str, at: int) -> int:
    depth = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[":
            at = _class_end(pattern, at) - 1
        elif char in "()":
            depth += 1 if char == "(" else -1
            if not depth:
                return at + 1
        at += 1
    return len(pattern)


def _class_end(pattern: str, at: int) -> int:
    at += 2 if pattern[at + 1 : at + 2] == "^" else 1
    at += 1 if pattern[at : at + 1] == "]" else 0
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _after_repeat(pattern: str, at: int) -> int:
    if pattern[at : at + 1] in {"?", "*", "+"}:
        at += 1
        if pattern[at : at + 1] in {"?", "+"}:
            at += 1
    return at


def _unread(pattern: str, at: int, target: str) -> ExportError:
    return ExportError(
        f"the pattern {pattern!r} cannot be read at {pattern[at:]!r}",
        target=target,
        hint="Readable are literals, optional white space and named groups.",
    )
