"""V-comparisons: how a value of each JSON type is written.

V1  an integer against a text value in the same slot: quotes, and words that follow the type (`string="true"`)
V2  every other JSON type in the slot
V3  nasty text: quotes, backslash, line break, non-ASCII, `<`, `&`
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from analyzer.infer.closers import around_word, closers_by_type
from analyzer.spec.parts import (
    CdataCodec,
    Codec,
    Codecs,
    DialectCodec,
    EscapedCodec,
    JsonCodec,
    JsonTextCodec,
    JsonType,
    NestedCodec,
    PythonCodec,
    QuotedCodec,
    RawCodec,
    TypeSlot,
)

INTEGER = 73914
NUMBER = 48.125
NASTY_QUOTES = "Zq\"x'y\\z\nw é漢"
NASTY_TAGS = "Zq<b>&amp;</b>w"


def typed_values(inner_key: str, inner_text: str) -> dict[JsonType, Any]:
    """Return one probe value for each JSON type but string; containers hold the needles given."""
    return {
        "integer": INTEGER,
        "number": NUMBER,
        "boolean": True,
        "null": None,
        "array": [inner_text, 5],
        "object": {inner_key: inner_text},
    }


SCHEMAS: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "null": {"type": ["string", "null"]},
    "array": {"type": "array", "items": {}},
    "object": {"type": "object", "properties": {}},
}


@dataclass(frozen=True, slots=True)
class ValueTexts:
    """What follows the key in renders of one argument, by probe."""

    plain: str
    plain_value: str
    typed: Mapping[JsonType, tuple[Any, str]]
    """The probe value and the text after the key; a type whose render failed is missing."""
    nasty: tuple[tuple[str, str], ...]
    """Nasty strings and the text after the key."""


@dataclass(frozen=True, slots=True)
class ValueCut:
    """The literals around a value, and its codecs."""

    middle: tuple[str | TypeSlot, ...]
    close: str
    """What closes a string; quotes are its codec's."""
    codecs: Codecs
    closers: Mapping[JsonType, str] = field(default_factory=dict)
    """What closes a value of each type, where that is not the same for all."""


def cut_values(
    texts: ValueTexts, middle: str, close: str, item_open: str, *, one_closer: bool = False
) -> ValueCut:
    """Learn the codecs of values that stand after `middle` and before `close` (as seen around a plain string).

    `one_closer`: what closes a value does not depend on its type, as it is made of the argument's name.
    """
    tail = texts.plain.partition(texts.plain_value)[2]
    closers = closers_by_type(texts.typed, middle, close, tail) if close and not one_closer else None
    if closers is not None:
        texts = replace(texts, typed=closers.alike)
    quotes, words, middle_now, tail_now = _compare_integer(texts, middle, tail)
    if quotes is not None:
        close = close[len(quotes[1]) :]
    parts: tuple[str | TypeSlot, ...] = (middle_now,) if middle_now else ()
    spelled: dict[str, str] = {}
    found: dict[str, Codec] = {}
    for json_type, (value, text) in texts.typed.items():
        slot = _slot_text(text, middle_now, tail_now, words, spelled, json_type)
        if slot is not None:
            codec = _codec_of(value, slot, quotes, item_open, tail_now)
            if codec is not None:
                found[json_type] = codec
    if words is not None:
        spelled["string"] = words.string
        filled = {json_type: spelled.get(json_type, words.other) for json_type in SCHEMAS}
        parts = (words.before, TypeSlot(words=filled), words.after)
    strings = _string_slots(texts, middle if quotes is None else middle_now, tail_now, words)
    found["string"] = _string_codec(strings, quotes)
    return ValueCut(parts, close, Codecs(**found), closers.words if closers is not None else {})


@dataclass(frozen=True, slots=True)
class _Words:
    before: str
    after: str
    string: str
    other: str


def _compare_integer(
    texts: ValueTexts, middle: str, tail: str
) -> tuple[tuple[str, str] | None, _Words | None, str, str]:
    """V1. Return the quotes of strings, the words of types, and the literals around an unquoted value."""
    probe = texts.typed.get("integer")
    if probe is None:
        return None, None, middle, tail
    before, found, after = probe[1].partition(str(INTEGER))
    if not found or (before, after) == (middle, tail):
        return None, None, middle, tail
    if (
        middle.startswith(before)
        and tail.endswith(after)
        and len(middle) > len(before)
        and len(tail) > len(after)
    ):
        quotes = (middle[len(before) :], tail[: len(tail) - len(after)])
        return quotes, None, before, after
    quote = tail[: len(tail) - len(after)] if tail.endswith(after) else ""
    if quote and middle.endswith(quote):  # quoted strings, and a word that follows the type
        _, words, unquoted, _ = _compare_integer(_unquoted(texts, quote), middle[: -len(quote)], after)
        return (quote, quote), words, unquoted, after
    if after == tail:
        lead, end = around_word(middle, before)
        words = _Words(
            lead, end, middle[len(lead) : len(middle) - len(end)], before[len(lead) : len(before) - len(end)]
        )
        return None, words, middle, tail
    return None, None, middle, tail


def _unquoted(texts: ValueTexts, quote: str) -> ValueTexts:
    """Return the texts with the quotes of the plain string taken off."""
    before, value, after = texts.plain.partition(texts.plain_value)
    return replace(texts, plain=before[: -len(quote)] + value + after[len(quote) :])


def _slot_text(
    text: str, middle: str, tail: str, words: _Words | None, spelled: dict[str, str], json_type: str
) -> str | None:
    """Return the value's text between the literals; notes the type's word in `spelled`."""
    if not text.endswith(tail):
        return None
    inner = text[: len(text) - len(tail)]
    if words is None:
        return inner[len(middle) :] if inner.startswith(middle) else None
    if not inner.startswith(words.before):
        return None
    word, found, value = inner[len(words.before) :].partition(words.after)
    if not found:
        return None
    spelled[json_type] = word
    return value


def _string_slots(texts: ValueTexts, middle: str, tail: str, words: _Words | None) -> list[tuple[str, str]]:
    out = []
    for value, text in texts.nasty:
        slot = _slot_text(text, middle, tail, words, {}, "string")
        if slot is not None:
            out.append((value, slot))
    return out


def _string_codec(strings: list[tuple[str, str]], quotes: tuple[str, str] | None) -> Codec:
    """V3. Classify the spelling of strings."""
    candidates: list[Codec] = [RawCodec()] if quotes is None else []
    if quotes is not None:
        if quotes == ('"', '"'):
            candidates.append(JsonCodec())
        if quotes[0] in ("'", '"'):
            candidates.append(PythonCodec())
        candidates.append(QuotedCodec(open=quotes[0], close=quotes[1]))
    else:
        candidates += [JsonTextCodec(), EscapedCodec(escapes=_escapes(strings)), CdataCodec()]
    for codec in candidates:
        if strings and all(text in spellings(codec, value) for value, text in strings):
            return codec
    return candidates[0] if quotes is None else candidates[-1]


def _escapes(strings: Iterable[tuple[str, str]]) -> dict[str, str]:
    seen = "".join(text for _, text in strings)
    known = (
        ("&", "&amp;"),
        ("<", "&lt;"),
        (">", "&gt;"),
        ('"', "&#34;"),
        ('"', "&quot;"),
        ("'", "&#39;"),
        ("'", "&#x27;"),
    )
    return {character: entity for character, entity in known if entity in seen}


def spellings(codec: Codec, value: str) -> set[str]:
    """Return the texts that `codec` may write for the string `value`."""
    if isinstance(codec, RawCodec):
        return {value}
    if isinstance(codec, JsonCodec):
        return {json.dumps(value, ensure_ascii=ascii_only) for ascii_only in (True, False)}
    if isinstance(codec, PythonCodec):
        return {repr(value)}
    if isinstance(codec, QuotedCodec):
        return {codec.open + value + codec.close}
    if isinstance(codec, JsonTextCodec):
        return {json.dumps(json.dumps(value, ensure_ascii=False), ensure_ascii=False)}
    if isinstance(codec, EscapedCodec):
        table = str.maketrans(codec.escapes)
        return {value.translate(table), html.escape(value)} if codec.escapes else set()
    if isinstance(codec, CdataCodec):
        return {value, codec.open + value + codec.close}
    return set()


def _codec_of(
    value: Any, text: str, quotes: tuple[str, str] | None, item_open: str, tail: str
) -> Codec | None:
    """V2. Classify the spelling of a value that is no string."""
    if _json_equal(text, value):
        return JsonCodec()
    if text.strip() == repr(value):
        return PythonCodec()
    if text.startswith('"') and _json_equal_text(text, value):
        return JsonTextCodec()
    if quotes is not None and isinstance(value, (list, dict)) and quotes[0] in text:
        needle = value[0] if isinstance(value, list) else next(iter(value))
        bare = isinstance(value, list) or f'"{needle}"' not in text
        return DialectCodec(quote=quotes[0], bare_keys=bare)
    if item_open.strip() and text.startswith(item_open) and isinstance(value, (list, dict)):
        key = text[len(item_open) :].split(tail[:1] or ">", maxsplit=1)[0]
        key = key[
            : next((at for at, char in enumerate(key) if not (char.isalnum() or char in "_-")), len(key))
        ]
        if isinstance(value, list) and key:
            return NestedCodec(array_key=key)
        if isinstance(value, dict):
            return NestedCodec(array_key="item")
    if isinstance(value, str):
        return RawCodec() if text == value else None
    return None


def _json_equal(text: str, value: Any) -> bool:
    try:
        decoded: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return bool(decoded == value and type(decoded) is type(value))


def _json_equal_text(text: str, value: Any) -> bool:
    try:
        decoded: Any = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(decoded, str) and _json_equal(decoded, value)
