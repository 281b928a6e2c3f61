"""C1 to C3: where the calls of a render stand, and the parts of one.

A body is a call without what opens and closes it: a JSON value, or everything from the first slot to the last.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from analyzer.infer.items import ItemsCut, cut_items
from analyzer.infer.locate import (
    JsonBody,
    Span,
    argument_span,
    at_path,
    json_bodies,
    leaves,
    occurrences,
    path_to,
)
from analyzer.infer.slots import SlottedCall, counted_literal, slot_call
from analyzer.infer.turn import Regions
from analyzer.observe.session import Session
from analyzer.observe.variants import Variants
from analyzer.spec.parts import ArgumentsSlot, IdSlot, JsonCodec, JsonTextCodec, NameSlot, Part, PythonCodec


@dataclass(frozen=True, slots=True)
class Bodies:
    """The calls of one render: where each body begins and ends in `text`, and its parts."""

    text: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class FoundBody:
    """Bodies in the render of one call and of two, and how to find the body elsewhere."""

    one: Bodies
    two: Bodies | None


# -------------------------------------------------------------------------------------------------------------- JSON


def find_json(
    session: Session, one: str, two: str | None, three: str | None
) -> tuple[FoundBody, dict[str, object]] | None:
    """C1: find calls that are JSON values, in the renders of one, two and three calls; None when they are none."""
    calls = session.needles.calls
    single = json_bodies(one, 0, calls[:1], 2)
    if single is None:
        return None
    pair = json_bodies(two, 0, calls[:2], 2) if two is not None else None
    if two is not None and pair is None:
        return None
    triple = json_bodies(three, 0, calls[:3], 2) if three is not None and pair is not None else None
    value, call = single[0].value, calls[0]
    arguments = call.arguments(2)
    name: tuple[str, ...] | str | None = path_to(value, call.name)
    path = path_to(value, arguments)
    codec = "json"
    if path is None:
        path = next(
            (at for at, leaf in leaves(value) if isinstance(leaf, str) and _encodes(leaf, arguments)), None
        )
        codec = "json_text"
    if name is None and path == (call.name,):
        name, path = "key", ()
    if name is None or path is None:
        return None
    bodies = triple or pair or single
    text = three if triple else two if pair else one
    assert text is not None  # noqa: S101  (one of the three)
    id_path = path_to(value, call.id)
    if id_path is None and len(bodies) > 1:
        id_path = _counter_path(bodies)
    parts = _json_parts(session, text, bodies)
    if parts is None:
        return None
    body = FoundBody(
        Bodies(one, tuple((b.start, b.end) for b in single)),
        Bodies(two, tuple((b.start, b.end) for b in pair)) if pair is not None and two is not None else None,
    )
    details: dict[str, object] = {
        "kind": "json",
        "parts": tuple(parts),
        "name": name,
        "arguments": path,
        "arguments_codec": codec,
        "id": id_path,
    }
    return body, details


def _encodes(text: str, arguments: dict[str, object]) -> bool:
    try:
        return bool(json.loads(text) == arguments)
    except ValueError:
        return False


def _counter_path(bodies: Sequence[JsonBody]) -> tuple[str, ...] | None:
    for path, leaf in leaves(bodies[0].value):
        if not isinstance(leaf, str) or not leaf.isdigit():
            continue
        values = [at_path(body.value, path) for body in bodies]
        if all(isinstance(v, str) and v.isdigit() for v in values):
            numbers = [int(v) for v in values]
            if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
                return path
    return None


def _json_parts(session: Session, text: str, bodies: Sequence[JsonBody]) -> list[Part] | None:
    slotted = []
    for call, body in zip(session.needles.calls, bodies, strict=False):
        found = slot_call(text, body.start, body.end, call, 2, None)
        if found is None:
            return None
        slotted.append(found)
    openings = [text[body.start : call.start] for body, call in zip(bodies, slotted, strict=True)]
    opening = counted_literal(openings)
    parts = _parts_of(slotted)
    if parts is None or opening is None:
        return None
    last = text[slotted[0].end : bodies[0].end]
    return [*opening, *parts, *([last] if last else [])]


# ---------------------------------------------------------------------------------------------------------- sequences


def find_sequence(
    session: Session, seen: Variants, regions: Regions, one: str, two: str | None, three: str | None
) -> tuple[FoundBody, dict[str, object]] | None:
    """C2 and C3: find calls that are literals and slots; None when name or arguments are not found."""
    calls = session.needles.calls
    whole = argument_span(one, 0, len(one), calls[0].arguments(2))
    items = None if whole is not None else _items(session, seen, regions, one)
    if whole is None and items is None:
        return None
    single = slotted(one, calls[:1], items)
    pair = slotted(two, calls[:2], items)
    triple = slotted(three, calls[:3], items)
    if single is None:
        return None
    chosen = triple or pair or single
    parts = _parts_of(chosen) or _parts_of(single)
    if parts is None:
        return None
    body = FoundBody(
        Bodies(one, tuple((c.start, c.end) for c in single)),
        Bodies(two, tuple((c.start, c.end) for c in pair)) if pair is not None and two is not None else None,
    )
    details: dict[str, object] = {"kind": "sequence", "parts": tuple(parts), "items": items}
    if whole is not None:
        details["arguments_codec"] = whole.detail
    return body, details


def _items(session: Session, seen: Variants, regions: Regions, one: str) -> ItemsCut | None:
    call = session.needles.calls[0]
    single, zero = regions.cut(seen["c1a1"]), regions.cut(seen["c1a0"])
    texts = [_after_name(text, call.name, call.id, call.keys[0]) for text in (zero, single, one)]
    if texts[1] is None or texts[2] is None:
        return None
    return cut_items(texts[0], texts[1], texts[2], call)


def _after_name(text: str | None, name: str, call_id: str, key: str) -> str | None:
    """Return what follows the last name or id before the first key."""
    if text is None:
        return None
    limit = text.find(key)
    limit = len(text) if limit < 0 else limit
    ends = [at + len(needle) for needle in (name, call_id) for at in occurrences(text, needle, 0, limit)]
    return text[max(ends) :] if ends else None


def slotted(text: str | None, calls: Sequence[object], items: ItemsCut | None) -> list[SlottedCall] | None:
    """Find the slots of all `calls` in `text`, each between the end of the call before and the first needle of the next."""
    if text is None:
        return None
    out: list[SlottedCall] = []
    at = 0
    for index, call in enumerate(calls):
        limit = len(text)
        if index + 1 < len(calls):
            following = calls[index + 1]
            starts = [text.find(n, at) for n in (following.name, following.id)]  # type: ignore[attr-defined]
            starts = [start for start in starts if start >= 0]
            if not starts:
                return None
            limit = min(starts)
        found = slot_call(text, at, limit, call, 2, items)  # type: ignore[arg-type]
        if found is None:
            return None
        out.append(found)
        at = found.end
    return out


def _parts_of(calls: Sequence[SlottedCall]) -> list[Part] | None:
    """Turn slotted calls, which must agree but for counters, into parts."""
    if len({tuple((s.what, s.detail) for s in call.spans) for call in calls}) != 1:
        return None
    parts: list[Part] = []
    columns = zip(*(call.literals() for call in calls), strict=True)
    literals = [counted_literal(column) for column in columns]
    for number, span in enumerate(calls[0].spans):
        parts.append(_part(span))
        if number < len(literals):
            literal = literals[number]
            if literal is None:
                return None
            parts += literal
    return parts


def _part(span: Span) -> Part:
    if span.what == "name":
        return NameSlot()
    if span.what == "id":
        return IdSlot()
    codecs = {
        "json": JsonCodec(),
        "json_text": JsonTextCodec(),
        "python": PythonCodec(),
        "items": JsonCodec(),
    }
    return ArgumentsSlot(codec=codecs[span.detail])
