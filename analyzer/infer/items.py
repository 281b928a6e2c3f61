"""A-comparisons: arguments that are written one by one, as items.

A1  two arguments against one: item opener, text between key and value, closer, separator
A2  no argument against one: what belongs to the call and not to the item
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from analyzer.observe.alignment import align
from analyzer.observe.lexemes import common_prefix, lexemes
from analyzer.observe.needles import CallNeedles


@dataclass(frozen=True, slots=True)
class ItemsCut:
    """Arguments as items: the text before and after all items, and the item's own literals.

    `middle` is the text between key and value with the key's second occurrence cut out (None where it stands once);
    an item is `open KEY middle VALUE close`, where `close` may hold the key once more (`close_key`: text before and after it).
    """

    before: str
    after: str
    open: str
    middle: str
    close: str
    close_key: tuple[str, str] | None
    separator: str


def cut_items(zero: str | None, one: str, two: str, call: CallNeedles) -> ItemsCut | None:
    """Cut the text after the name for zero, one and two arguments; None when keys and values do not alternate."""
    found = _pairs(two, call, 2)
    single = _pairs(one, call, 1)
    if found is None or single is None:
        return None
    (key1, middle, value1_end), (key2, middle2, value2_end) = found
    if middle != middle2:
        return None
    before, between, after = two[:key1], two[value1_end:key2], two[value2_end:]
    close_key = None
    first, second = call.keys[0], call.keys[1]
    if first in between and second in after:
        head, _, between_rest = between.partition(first)
        head2, _, after_rest = after.partition(second)
        if head != head2:
            return None
        cut = align(before, between_rest, after_rest)
        close_key = (head, cut.close)
        lead, opener, separator, outer = cut.outer_open, cut.open, cut.separator, cut.outer_close
        close = head + cut.close
    else:
        cut = align(before, between, after)
        lead, opener, separator, outer, close = (
            cut.outer_open,
            cut.open,
            cut.separator,
            cut.outer_close,
            cut.close,
        )
    lead, opener, close, close_key, outer = _separate(zero, lead, opener, close, close_key, outer)
    whole = ItemsCut(lead, outer, opener, middle, close, close_key, separator)
    turned = next((one for one in _turned(whole) if one.before + one.after == zero), whole)
    return _rotated(turned)


def _rotated(cut: ItemsCut) -> ItemsCut:
    """Give a marker that begins the closer, and that the alignment left at its end too, to the opener.

    `]<x>[<a>1]<x>[</a>]<x>[<b>` can be cut behind each `]<x>[`; what directly follows a raw value begins a marker.
    """
    head, tail = cut.close_key if cut.close_key is not None else (cut.close, cut.close)
    pieces = lexemes(tail)
    for at in range(len(pieces)):
        shared = "".join(pieces[at:])
        if (
            not shared.strip()
            or not (cut.before.endswith(shared) and head.startswith(shared))
            or shared == head
        ):
            continue
        shorter = tail[: -len(shared)]
        return replace(
            cut,
            before=cut.before[: -len(shared)],
            open=shared + cut.open,
            close=cut.close[: -len(shared)],
            close_key=None if cut.close_key is None else (head, shorter),
            after=shared + cut.after,
        )
    return cut


def _turned(cut: ItemsCut) -> Iterator[ItemsCut]:
    """Yield the cut and those in which the separator belongs to each item's closer or opener."""
    yield cut
    separator = cut.separator
    if separator and cut.after.startswith(separator):
        close_key = None if cut.close_key is None else (cut.close_key[0], cut.close_key[1] + separator)
        yield replace(
            cut,
            close=cut.close + separator,
            close_key=close_key,
            separator="",
            after=cut.after[len(separator) :],
        )
    if separator and cut.before.endswith(separator):
        yield replace(cut, open=separator + cut.open, separator="", before=cut.before[: -len(separator)])


def _separate(
    zero: str | None, lead: str, opener: str, close: str, close_key: tuple[str, str] | None, outer: str
) -> tuple[str, str, str, tuple[str, str] | None, str]:
    """A2: give back to the call what the text without arguments shows to be the call's."""
    if zero is None:
        return lead, opener, close, close_key, outer
    shared = common_prefix(zero, lead + opener)
    if shared not in (zero, lead + opener):
        shared = shared.rstrip("<")  # it opens two tags that have nothing else in common
    if len(shared) > len(lead) and shared != lead + opener:
        moved = shared[len(lead) :]
        if _starts_marker_after_value(close, moved):
            return lead, opener, close, close_key, outer
        # a turned item: what the opener loses in front its closer must gain, or it belongs to the call alone
        return lead + moved, opener[len(moved) :], close, close_key, outer
    return lead, opener, close, close_key, outer


def _starts_marker_after_value(close: str, moved: str) -> bool:
    """Tell whether `moved`, which begins the item's closer too (behind a quote), is the start of every marker."""
    return bool(moved.strip()) and close.lstrip("'\"").startswith(moved)


def _pairs(text: str, call: CallNeedles, count: int) -> list[tuple[int, str, int]] | None:
    """Return (start of key, text between key and value, end of value) for the first `count` arguments."""
    out = []
    at = 0
    for key, value in zip(call.keys[:count], call.values[:count], strict=True):
        key_at = text.find(key, at)
        value_at = text.find(value, key_at + len(key)) if key_at >= 0 else -1
        if value_at < 0:
            return None
        middle = text[key_at + len(key) : value_at]
        if key in middle:
            return None
        out.append((key_at, middle, value_at + len(value)))
        at = value_at + len(value)
    return out
