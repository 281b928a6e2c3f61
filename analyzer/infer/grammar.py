"""What constrains decoding, from the segments of a turn: triggers, tokens to preserve, stops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from analyzer.infer.turn import Frame
from analyzer.observe.lexemes import is_marker, lexemes
from analyzer.spec.model import (
    CallsSegment,
    Grammar,
    Turn,
)
from analyzer.spec.parts import ArgumentsSlot, JsonType, Part


def grammar_of(turn: Turn, frame: Frame) -> Grammar:
    """Return what a server's grammar needs of a turn: what begins calls, the markers to keep in the text, what ends the turn."""
    literals: list[str] = []
    stops: list[str] = []
    for segment in turn.segments:
        if segment.kind == "calls":
            first = segment.open + _first_literal(segment)
            literals.append(first)
        if segment.end is not None and segment.end.stop:
            stops.append(segment.end.literal)
    stops += [core for text in (frame.tail, frame.end) if (core := text.strip()) and len(lexemes(core)) == 1]
    closers = {
        segment.end.literal for segment in turn.segments if segment.end is not None and not segment.end.stop
    }
    triggers = [marks[0] for text in literals if (marks := _markers(text))]
    return Grammar(
        triggers=tuple(dict.fromkeys(triggers)),
        preserved_tokens=tuple(dict.fromkeys(mark for text in _written(turn) for mark in _markers(text))),
        stops=tuple(stop for stop in dict.fromkeys(stops) if stop not in closers),
    )


def _markers(text: str) -> list[str]:
    return [piece for piece in lexemes(text) if is_marker(piece)]


def _written(turn: Turn) -> Iterator[str]:
    """Yield the literals that a server must leave in the model's text: those of reasoning, wrappers of text, and calls."""
    for segment in turn.segments:
        yield segment.open
        yield segment.close
        if segment.kind == "calls":
            yield segment.separator
            for layout in segment.layouts:
                if layout.kind == "json":
                    yield layout.open
                    yield layout.close
                else:
                    yield from _literals(layout.parts)


def _literals(parts: Sequence[Part]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif part.slot == "arguments":
            for piece in part.item or ():
                if isinstance(piece, str):
                    yield piece
                elif piece.slot == "type":
                    yield from dict.fromkeys(piece.words.values())
            yield part.separator
            yield from _quotes(part)


def _quotes(slot: ArgumentsSlot) -> Iterator[str]:
    """Yield what the codecs of a slot write around values."""
    codecs = [slot.codec] if slot.codec is not None else []
    if slot.codecs is not None:
        codecs += [slot.codecs.of(json_type) for json_type in get_args(JsonType)]
    for codec in codecs:
        if codec.kind == "dialect":
            yield codec.quote
        elif codec.kind == "quoted":
            yield codec.open
            yield codec.close


def _first_literal(segment: CallsSegment) -> str:
    layout = segment.layouts[0]
    if layout.kind == "json":
        return layout.open
    first = layout.parts[0]
    return first if isinstance(first, str) else ""
