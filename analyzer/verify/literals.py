"""What a spec says about its own literals: those that hostile values quote, and how ids are made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from analyzer.chat import ToolCall
from analyzer.spec.model import CallsSegment, JsonLayout, Layout, SequenceLayout, Spec
from analyzer.spec.parts import (
    ArgumentsSlot,
    Codec,
    IdSlot,
    IndexSlot,
    JsonCodec,
    JsonTextCodec,
    NameSlot,
    TypeSlot,
)

DEFAULT_ID: str = "functions.{name}:{index}"
"""How an id that has to hold the name is made when the spec does not say."""


def layout_parts(layout: Layout) -> Iterator[object]:
    """The parts of a layout, its opener and closer included."""
    if isinstance(layout, JsonLayout):
        yield layout.open
        yield from layout.parts
        yield layout.close
    else:
        yield from layout.parts


def call_literals(layout: Layout) -> Iterator[str]:
    """The literals of a layout, those of its arguments' items and the words that follow a value's type among them."""
    for part in layout_parts(layout):
        if isinstance(part, str):
            yield part
        elif isinstance(part, ArgumentsSlot):
            for piece in part.item or ():
                if isinstance(piece, str):
                    yield piece
                elif isinstance(piece, TypeSlot):
                    yield from piece.words.values()


def arguments_slot(layout: Layout) -> ArgumentsSlot | None:
    """The arguments slot of a layout, None for a JSON layout without parts."""
    return next((part for part in layout_parts(layout) if isinstance(part, ArgumentsSlot)), None)


def string_codec(layout: Layout) -> Codec:
    """How a layout writes a string argument."""
    if isinstance(layout, JsonLayout):
        return JsonCodec() if layout.arguments_codec == "json" else JsonTextCodec()
    slot = arguments_slot(layout)
    if slot is not None and slot.codecs is not None:
        return slot.codecs.string
    return slot.codec if slot is not None and slot.codec is not None else JsonCodec()


def own_literal(spec: Spec) -> str:
    """A literal of the format that JSON strings can quote; empty where values are not JSON."""
    calls = spec.calls
    if calls is None or any(not isinstance(string_codec(layout), JsonCodec) for layout in calls.layouts):
        return ""
    return next((text for text in _candidates(calls) if len(text.strip()) > 1), "").strip()


def _candidates(calls: CallsSegment) -> Iterator[str]:
    first = calls.layouts[0]
    literals = [part for part in layout_parts(first) if isinstance(part, str)]
    if isinstance(first, JsonLayout):
        yield from (first.close, calls.close, first.open, calls.open)
    else:
        yield from (
            literals[-1] if literals else "",
            calls.close,
            literals[0] if literals else "",
            calls.open,
        )
    if calls.end is not None:
        yield calls.end.literal


def ids_written(spec: Spec) -> bool:
    """Whether the canonical layout writes the ids that calls were given; a counter or a made-up id is not one."""
    calls = spec.calls
    if calls is None:
        return False
    first = calls.layouts[0]
    slots = [part for part in layout_parts(first) if isinstance(part, (IdSlot, IndexSlot))]
    if slots:
        return any(isinstance(slot, IdSlot) for slot in slots)
    return isinstance(first, JsonLayout) and first.id is not None


def same_id(spec: Spec) -> Callable[[ToolCall, ToolCall], bool] | None:
    """How an id that came out is compared with the one that was sent; None when the canonical layout writes none.

    A template that makes ids itself may count through the whole conversation, so any number stands for the counter.
    """
    if not ids_written(spec) or spec.calls is None:
        return None
    for part in layout_parts(spec.calls.layouts[0]):
        if isinstance(part, IdSlot) and part.pattern is not None:
            pattern = re.escape(part.pattern).replace(re.escape("{index}"), r"\d+")
            return lambda sent, got: _made_by(pattern, got.id, sent.name)
    return lambda sent, got: sent.id == got.id


def _made_by(pattern: str, identity: str | None, name: str) -> bool:
    return (
        identity is not None
        and re.fullmatch(pattern.replace(re.escape("{name}"), re.escape(name)), identity) is not None
    )


def reserved_names(spec: Spec, names: Iterable[str]) -> dict[str, str]:
    """The tool names that stand for something else in the format, with the literal that a call of each begins like.

    Where content is addressed to `user` as a call is to its tool, no parser can tell a tool of that name.
    """
    calls = spec.calls
    told = [segment.open for segment in spec.content] + [segment.open for segment in spec.reasoning]
    openers = [opener for opener in told if opener.strip()]
    if calls is None or not openers or not isinstance(calls.layouts[0], SequenceLayout):
        return {}
    parts = calls.layouts[0].parts
    at = next((number for number, part in enumerate(parts) if isinstance(part, NameSlot)), None)
    if at is None or not all(isinstance(part, str) for part in parts[:at]):
        return {}
    before = calls.open + "".join(part for part in parts[:at] if isinstance(part, str))
    following = parts[at + 1] if at + 1 < len(parts) else ""
    after = following if isinstance(following, str) else ""
    return {
        name: opener
        for name in names
        for opener in openers
        if _alike(f"{before}{name}{after}", opener) and opener.startswith(f"{before}{name}")
    }


def _alike(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def identity_pattern(spec: Spec) -> tuple[str, int] | None:
    """The pattern and the first index of ids that are made of the name and a counter, None when ids are free."""
    calls = spec.calls
    if calls is None:
        return None
    for part in layout_parts(calls.layouts[0]):
        if isinstance(part, IdSlot) and part.pattern is not None:
            return part.pattern, part.start
    if name_comes_from_id(spec):
        overlaid = (addition.id_pattern for addition in spec.overlays if addition.id_pattern)
        return next(overlaid, DEFAULT_ID), 0
    return None


def is_marked(spec: Spec) -> bool:
    """Whether a marker tells calls from text, and not brackets alone."""
    calls = spec.calls
    if calls is None:
        return False
    first = next(iter(layout_parts(calls.layouts[0])), "")
    opening = calls.open + (first if isinstance(first, str) else "")
    return bool(opening.strip().strip("[{"))


def name_comes_from_id(spec: Spec) -> bool:
    """Whether calls hold no name but the one inside their id."""
    calls = spec.calls
    if calls is None or not isinstance(calls.layouts[0], SequenceLayout):
        return False
    kinds = {part.slot for part in calls.layouts[0].parts if not isinstance(part, str)}
    return "name" not in kinds
