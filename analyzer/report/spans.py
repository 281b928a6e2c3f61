"""What each stretch of a rendered conversation is: the spec's writer laid over the template's text.

The writer (`analyzer.verify.writer`) says what a turn is made of, literal by literal and value by value; here its pieces
are found in the text that the template wrote.  Where a piece does not stand at its place, the nearest piece that stands
somewhere behind it is gone to, and what lies between is `unexplained`: nothing is coloured by a guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from analyzer.spec.model import Evidence, Spec
from analyzer.verify.pieces import Piece, fits

KINDS: Final[Mapping[str, str]] = {
    "prompt": "what stands before the model's turn",
    "header": "the header of the model's turn",
    "reasoning": "reasoning",
    "content": "text for the user",
    "section": "what holds all calls",
    "call": "the frame of one call",
    "name": "the tool's name",
    "key": "an argument's name",
    "value": "an argument's value",
    "id": "the call's id",
    "result": "a tool's result",
    "end": "the end of the turn",
    "unexplained": "not explained by the spec",
}
"""The kinds of spans, with what each is."""

_SLOTS: Final = {"index": "id", "call": "call", "arguments": "value"}
_ANCHOR: Final = 4
"""How many characters a piece needs for the reading to go on at it after something that was not explained."""
_LOOK_AHEAD: Final = 40
_LEFT_OUT: Final = 6
"""How many characters of distance a piece that is left out counts for."""
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+|[{}\[\],:]|\s+')


class Span(NamedTuple):
    """A stretch of text, what it is, and the field of the spec that says so."""

    start: int
    end: int
    kind: str
    """One of `KINDS`."""
    path: str = ""
    """The field of the spec, empty where none speaks of it."""
    marker: bool = False
    """True: a literal of the format; False: a value."""


class Found(NamedTuple):
    """A piece in a text, by its number; None for a stretch that no piece explains."""

    start: int
    end: int
    number: int | None


def locate(pieces: Sequence[Piece], text: str, start: int = 0) -> Iterator[Found]:
    """Where the pieces stand in a text from `start` on; what is yielded tiles it."""
    at, number = start, 0
    while number < len(pieces):
        end = fits(pieces[number], text, at)
        if end is None:
            found = _nearest(pieces, number, text, at)
            if found is None:
                break
            number, begin = found
            yield Found(at, begin, None)
            at = begin
            continue
        yield Found(at, end, number)
        at, number = end, number + 1
    if at < len(text):
        yield Found(at, len(text), None)


def explain(spec: Spec, pieces: Sequence[Piece], text: str, found: Iterable[Found]) -> tuple[Span, ...]:
    """The spans of the pieces that were found in a text."""
    segments = {f"turn.segments[{n}]": segment.kind for n, segment in enumerate(spec.turn.segments)}
    return tuple(_merged(_spans(segments, pieces, text, found)))


def _spans(
    segments: Mapping[str, str], pieces: Sequence[Piece], text: str, found: Iterable[Found]
) -> Iterator[Span]:
    layout = ""
    last = Span(0, 0, "unexplained")
    for start, end, number in found:
        if number is None:
            # white space between two pieces belongs to the marker before it
            space = last.marker and not text[start:end].strip()
            yield last._replace(start=start, end=end) if space else Span(start, end, "unexplained")
            continue
        layout = _layout_of(pieces[number]) or layout
        for last in _spans_of(segments, pieces[number], text, (start, end), layout):
            yield last


def _nearest(pieces: Sequence[Piece], number: int, text: str, at: int) -> tuple[int, int] | None:
    """The piece, of those that come next, that stands nearest: few characters on, and few pieces left out for it."""
    best: tuple[int, int] | None = None
    least = 0
    for ahead in range(number, min(len(pieces), number + _LOOK_AHEAD)):
        word = pieces[ahead].text
        begin = text.find(word, at) if len(word.strip()) >= _ANCHOR else -1
        cost = begin - at + _LEFT_OUT * (ahead - number)
        if begin >= 0 and (best is None or cost < least):
            best, least = (ahead, begin), cost
    return best


def _merged(spans: Iterator[Span]) -> Iterator[Span]:
    """The spans without empty ones, neighbours that are alike as one."""
    last: Span | None = None
    for span in spans:
        if span.start == span.end:
            continue
        if last is not None and (last.kind, last.path, last.marker) == (span.kind, span.path, span.marker):
            last = last._replace(end=span.end)
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last


def _layout_of(piece: Piece) -> str:
    found = re.match(r"turn\.segments\[\d+\]\.layouts\[\d+\]", piece.path)
    return found.group() if found else ""


def _spans_of(
    segments: Mapping[str, str], piece: Piece, text: str, place: tuple[int, int], layout: str
) -> Iterator[Span]:
    start, end = place
    if piece.slot in ("arguments", "call") and piece.codec is not None:
        yield from _inside(piece, text, start, end, layout)
    elif piece.slot:
        kind = _SLOTS.get(piece.slot, piece.slot)
        path = layout if kind in ("name", "key", "id", "value") else ""
        yield Span(start, end, kind, f"{path}.codecs" if path and kind == "value" else path)
    else:
        yield Span(start, end, kind_of(piece.path, segments), piece.path, marker=True)


def kind_of(path: str, segments: Mapping[str, str]) -> str:
    """What a literal at this path of a spec belongs to, one of `KINDS`; `segments`: the kind of each, by its path."""
    if path == "turn.header":
        return "header"
    if path.startswith("results."):
        return "result"
    if path.endswith(".end.literal"):
        return "end"
    if ".layouts[" in path:
        return "call"
    kind = segments[path.rpartition(".")[0]]
    return "section" if kind == "calls" else kind


def _inside(piece: Piece, text: str, start: int, end: int, layout: str) -> Iterator[Span]:
    """The spans of arguments that are one value: its keys, its values, and what holds them together."""
    keys, values = _words(piece.content)
    for found in _TOKEN.finditer(text, start, end):
        word = found.group()
        behind = text[found.end() : end].lstrip()
        if word.isspace() or word in "{}[],:":
            kind = "call"
        elif behind.startswith(":") and _plain(word) in keys:
            kind = "key"
        else:
            kind = "value" if piece.slot == "arguments" or _plain(word) in values else "call"
        yield Span(found.start(), found.end(), kind, f"{layout}.codecs" if kind == "value" else layout)


def _words(value: Any) -> tuple[set[str], set[str]]:
    """The keys and the plain values in a JSON value."""
    keys: set[str] = set()
    values: set[str] = set()
    if isinstance(value, Mapping):
        for key, item in value.items():
            keys.add(str(key))
            more, plain = _words(item)
            keys |= more
            values |= plain
    elif isinstance(value, (list, tuple)):
        for item in value:
            more, plain = _words(item)
            keys |= more
            values |= plain
    else:
        values.add(value if isinstance(value, str) else json.dumps(value))
    return keys, values


def _plain(word: str) -> str:
    return word.strip("\"'")


def evidence_for(spec: Spec, path: str) -> tuple[tuple[str, Evidence], ...]:
    """What a span's field rests on, each with the field it stands at: that of the nearest fields that have any."""
    for fields in _nearest_fields(path):
        found = tuple((field, one) for field in fields for one in spec.evidence.get(field, ()))
        if found:
            return found
    return ()


def _nearest_fields(path: str) -> Iterator[tuple[str, ...]]:
    """Fields whose evidence speaks of this one, the nearest first.

    It itself; of a call, what shows where one begins and ends, or, inside an argument, how one is written; then what
    stands around it, and the opener, whose evidence names both ends.
    """
    yield (path,)
    call = re.match(r"(?P<segment>turn\.segments\[\d+\])\.layouts\[\d+\]", path)
    if call is not None:
        layout, segment = call.group(), call["segment"]
        item = ".item" in path or path.endswith(".codecs")
        yield (f"{layout}.parts",) if item else (f"{segment}.separator", layout)
        yield layout, f"{layout}.parts"
        yield (f"{segment}.open",)
    at = path
    while at:
        around = re.sub(r"(\.[a-z_]+|\[\d+\])$", "", at)
        if around == at:
            return
        yield (f"{around}.open",)
        yield (around,)
        at = around
