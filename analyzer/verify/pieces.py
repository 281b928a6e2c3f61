"""Pieces of a written turn, how values are spelt, and how a render is held against pieces."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analyzer.spec.parts import (
    CdataCodec,
    Codec,
    DialectCodec,
    EscapedCodec,
    JsonCodec,
    JsonTextCodec,
    PythonCodec,
    QuotedCodec,
)

_DECODER: Final = json.JSONDecoder(strict=False)
_CDATA_NEEDED: Final = "<>&\n\r\"'"


@dataclass(frozen=True, slots=True)
class Piece:
    """A literal (``path`` says which field of the spec) or the value of a slot (``codec``, ``None`` for plain text)."""

    text: str
    path: str = ""
    content: Any = None
    codec: Codec | None = None
    counter: bool = False
    slot: str = ""
    """What a value is: `content`, `reasoning`, `call` (all of it), `name`, `id`, `index`, `key`, `value`, `arguments`, `result`."""

    @classmethod
    def literal(cls, text: str, path: str) -> Piece:
        """A literal of the spec."""
        return cls(text, path)

    @classmethod
    def raw(cls, text: str, slot: str = "") -> Piece:
        """Plain text of a slot."""
        return cls(text, slot=slot)

    @classmethod
    def number(cls, number: int) -> Piece:
        """A counter; a template may count through the whole conversation, so any number stands for it."""
        return cls(str(number), counter=True, slot="index")

    @classmethod
    def value(cls, content: Any, codec: Codec, slot: str = "", *, inside: bool = False) -> Piece:
        """A value by its codec; ``inside``: the quotes around it are literals."""
        text = write_value(content, codec)
        return cls(text[1:-1], slot=slot) if inside else cls(text, content=content, codec=codec, slot=slot)


def write_value(value: Any, codec: Codec) -> str:
    """A value as its codec spells it (not for `nested`, which needs the item it nests)."""
    if isinstance(codec, PythonCodec):
        return repr(value)
    if isinstance(codec, JsonTextCodec):
        return _json(_json(value))
    if isinstance(codec, DialectCodec):
        return _dialect(value, codec)
    if isinstance(codec, JsonCodec) or not isinstance(value, str):
        return _json(value)
    if isinstance(codec, QuotedCodec):
        return f"{codec.open}{value}{codec.close}"
    if isinstance(codec, EscapedCodec):
        return "".join(codec.escapes.get(character, character) for character in value)
    if isinstance(codec, CdataCodec) and any(character in value for character in _CDATA_NEEDED):
        return f"{codec.open}{value}{codec.close}"
    return value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _dialect(value: Any, codec: DialectCodec) -> str:
    if isinstance(value, str):
        return f"{codec.quote}{value}{codec.quote}"
    if isinstance(value, Mapping):
        items = (
            (key if codec.bare_keys else f"{codec.quote}{key}{codec.quote}", item)
            for key, item in value.items()
        )
        return "{" + ",".join(f"{key}:{_dialect(item, codec)}" for key, item in items) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_dialect(item, codec) for item in value) + "]"
    return _json(value)


def mismatch(pieces: Sequence[Piece], text: str, *, exact: bool = False) -> int | None:
    """How far the pieces explain the text: ``None`` for to its end, else the offset of the first that does not fit.

    Text after the last piece does not fit; white space does, unless ``exact``.
    """
    found = misfit(pieces, text, exact=exact)
    return None if found is None else found[0]


def misfit(pieces: Sequence[Piece], text: str, *, exact: bool = False) -> tuple[int, Piece | None] | None:
    """As `mismatch`, with the piece that does not fit; no piece where text is left over."""
    at = 0
    for piece in pieces:
        end = fits(piece, text, at)
        if end is None:
            return at, piece
        at = end
    left = text[at:] if exact else text[at:].strip()
    return (at, None) if left else None


def fits(piece: Piece, text: str, at: int) -> int | None:
    """Where the piece ends in the text, ``None`` where it does not stand at this place."""
    if text.startswith(piece.text, at):
        return at + len(piece.text)
    if piece.counter:
        end = at
        while end < len(text) and text[end].isdigit():
            end += 1
        return end if end > at else None
    if isinstance(piece.codec, (JsonCodec, JsonTextCodec)):
        return _fits_json(piece, text, at)
    if isinstance(piece.codec, CdataCodec) and isinstance(piece.content, str):
        for spelling in (piece.content, f"{piece.codec.open}{piece.content}{piece.codec.close}"):
            if text.startswith(spelling, at):
                return at + len(spelling)
    if isinstance(piece.codec, DialectCodec):
        spelling = _dialect(_sorted(piece.content), piece.codec)
        return at + len(spelling) if text.startswith(spelling, at) else None
    return None


def _fits_json(piece: Piece, text: str, at: int) -> int | None:
    try:
        value, end = _DECODER.raw_decode(text, at)
        if isinstance(piece.codec, JsonTextCodec):
            value = json.loads(value)
    except (ValueError, TypeError):
        return None
    return end if same(value, piece.content) else None


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value, key=str.lower)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: numbers by value, booleans no numbers, keys in any order."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one == other
    return type(one) is type(other) and bool(one == other)
