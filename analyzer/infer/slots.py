"""C2: the slots of one call in a render, and counters in its literals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.infer.items import ItemsCut
from analyzer.infer.locate import Span, argument_span, empty_argument_span, occurrences
from analyzer.observe.lexemes import is_marker, lexemes
from analyzer.observe.needles import CallNeedles
from analyzer.spec.parts import IdSlot, IndexSlot, NameSlot, Part

_LONGEST_LINK = 3
"""Longest text between a name and a counter that are one id."""


@dataclass(frozen=True, slots=True)
class SlottedCall:
    """One call in a render: its spans in order, and the text that they stand in."""

    text: str
    spans: tuple[Span, ...]

    @property
    def start(self) -> int:
        """Where the first slot begins."""
        return self.spans[0].start

    @property
    def end(self) -> int:
        """Where the last slot ends."""
        return self.spans[-1].end

    def literals(self) -> list[str]:
        """Return the literals between the spans, one fewer than spans."""
        return [self.text[a.end : b.start] for a, b in zip(self.spans, self.spans[1:], strict=False)]


def slot_call(
    text: str, start: int, end: int, call: CallNeedles, arguments: int, items: ItemsCut | None
) -> SlottedCall | None:
    """Find the slots of `call` in `text[start:end]`; None when its name and id are absent or its arguments are not found."""
    given = call.arguments(arguments)
    if items is not None:
        argument = _items_span(text, start, end, call, arguments, items)
    elif arguments:
        argument = argument_span(text, start, end, given)
    else:
        argument = empty_argument_span(text, start, end)
    if argument is None:
        return None
    spans = [argument]
    for what, needle in (("name", call.name), ("id", call.id)):
        spans += [
            Span(at, at + len(needle), what)
            for at in occurrences(text, needle, start, end)
            if not argument.start <= at < argument.end
        ]
    if not any(span.what in ("name", "id") for span in spans):
        return None
    return SlottedCall(text, tuple(sorted(spans, key=lambda span: span.start)))


def _items_span(
    text: str, start: int, end: int, call: CallNeedles, arguments: int, items: ItemsCut
) -> Span | None:
    """Return the span of all items of a call, the item literals included."""
    if not arguments:
        return None
    first = text.find(items.open + call.keys[0] + items.middle, start, end)
    last = text.find(items.middle + call.values[arguments - 1], start, end)
    if first < 0 or last < 0:
        return None
    stop = last + len(items.middle) + len(call.values[arguments - 1])
    closing = items.close if items.close_key is None else call.keys[arguments - 1].join(items.close_key)
    if text[stop : stop + len(closing)] != closing:
        return None
    return Span(first, stop + len(closing), "arguments", "items")


def counted_literal(texts: Sequence[str]) -> list[Part] | None:
    """C3: turn the same literal of several calls into parts, counters into index slots.

    None when the texts differ in another way than by counting up.
    """
    rows = [lexemes(text) for text in texts]
    if len({len(row) for row in rows}) != 1:
        return None
    counted: dict[int, int] = {}
    for number, column in enumerate(zip(*rows, strict=True)):
        if len(set(column)) == 1:
            continue
        start = counter_start(column)
        if start is None:
            return None
        counted[number] = start
    return literal_parts(texts[0], counted)


def counter_start(column: Sequence[str]) -> int | None:
    """Return the first value of a column of lexemes that counts up by one, None when it does not."""
    if not all(piece.isascii() and piece.isdigit() for piece in column):
        return None
    numbers = [int(piece) for piece in column]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    return numbers[0]


def literal_parts(text: str, counted: dict[int, int]) -> list[Part]:
    """Turn a literal into parts, its counters into index slots."""
    parts: list[Part] = []
    pending = ""
    for number, piece in enumerate(lexemes(text)):
        if number in counted:
            if pending:
                parts.append(pending)
            parts.append(IndexSlot(start=counted[number]))
            pending = ""
        else:
            pending += piece
    if pending:
        parts.append(pending)
    return parts


def join_id(parts: Sequence[Part], before: str) -> tuple[list[Part], str]:
    """Join a name and a counter that stand together into an id slot with a pattern.

    `before` is the literal in front of the first part; the words in front of the name that belong to the id are taken off it.
    Returns the new parts and what is left of `before`.
    """
    for at in range(len(parts) - 2):
        first, link, last = parts[at : at + 3]
        if not (isinstance(first, NameSlot) and isinstance(link, str) and isinstance(last, IndexSlot)):
            continue
        if any(is_marker(piece) or not piece.strip() for piece in lexemes(link)) or len(link) > _LONGEST_LINK:
            continue
        lead = before if at == 0 else parts[at - 1]
        prefix = _word_tail(lead) if isinstance(lead, str) else ""
        slot = IdSlot(pattern=f"{prefix}{{name}}{link}{{index}}", start=last.start)
        head = list(parts[:at])
        if prefix and at > 0:
            head[-1] = lead[: len(lead) - len(prefix)] if isinstance(lead, str) else lead
        left = before[: len(before) - len(prefix)] if at == 0 else before
        return [part for part in [*head, slot, *parts[at + 3 :]] if part != ""], left
    return list(parts), before


def _word_tail(text: str) -> str:
    """Return the run of words and dots at the end of `text`."""
    tail = ""
    for piece in reversed(lexemes(text)):
        if is_marker(piece) or not (piece.isalnum() or piece in "._-" or piece.isidentifier()):
            break
        tail = piece + tail
    return tail
