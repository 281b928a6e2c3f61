"""Who speaks when: system messages where templates look for them, and sides that take turns where that is demanded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from analyzer.prepare.items import Item
from analyzer.prepare.notes import Notes
from analyzer.prepare.texts import as_content, joined, text_parts
from analyzer.spec.model import Spec

_GAP: Final = "\n\n"
"""What stands between texts of several messages that become one."""


def with_systems(spec: Spec, items: list[Item], notes: Notes) -> list[Item]:
    """One system message, at the beginning, or none."""
    systems = [item for item in items if item.role == "system"]
    if not systems:
        return items
    others = [item for item in items if item.role != "system"]
    first = systems[0]
    if len(systems) > 1 or items[0] is not first:
        for item in systems:
            if item is not items[0]:
                notes.take("system_hoisted", item.path)
        texts = [joined(item.message["content"], item.path, notes) for item in systems]
        text = _GAP.join(text for text in texts if text)
        first = Item({**first.message, "content": as_content(spec, text)}, first.path)
    if spec.input.system != "refused" and "system" not in spec.input.roles_refused:
        return [first, *others]
    return list(_merged(spec, first, others, notes))


def _merged(spec: Spec, system: Item, others: Sequence[Item], notes: Notes) -> Iterator[Item]:
    notes.take("system_merged", system.path)
    text = joined(system.message["content"], system.path, notes)
    target = next((item for item in others if item.role == "user"), None)
    if target is None:
        yield Item({"role": "user", "content": as_content(spec, text)}, system.path)
    for item in others:
        if item is not target:
            yield item
            continue
        yield Item({**item.message, "content": both(text, item.message["content"])}, item.path)


def both(first: Any, second: Any) -> Any:
    """Two contents, each a text or parts, as one."""
    if isinstance(first, str) and isinstance(second, str):
        return _GAP.join(text for text in (first, second) if text)
    parts = [
        [] if one in ("", None) else text_parts(one) if isinstance(one, str) else list(one)
        for one in (first, second)
    ]
    gap = text_parts(_GAP) if all(parts) else []
    return [*parts[0], *gap, *parts[1]]


def alternating(spec: Spec, items: Sequence[Item], notes: Notes) -> list[Item]:
    """Where the template demands turns, join messages of one side that follow each other, and say where turns are missing still.

    Turns of calls and their results stand between user and assistant without counting as either.
    """
    if spec.input.turns == "any":
        return list(items)
    out: list[Item] = []
    for item in items:
        last = out[-1] if out else None
        if last is not None and _joins(last, item):
            notes.take("messages_joined", item.path)
            message = {**last.message, "content": both(last.message["content"], item.message["content"])}
            out[-1] = Item(message, last.path)
        else:
            out.append(item)
    before = "assistant"
    for item in out:
        if item.role not in ("user", "assistant") or item.calls:
            continue
        if item.role == before:
            notes.take("not_alternating", item.path)
        before = item.role
    return out


def _joins(last: Item, item: Item) -> bool:
    """Whether two messages are of one side, and hold nothing but content."""
    if last.role != item.role or item.role not in ("user", "assistant"):
        return False
    return all(set(one.message) <= {"role", "content"} for one in (last, item))
