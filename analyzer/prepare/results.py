"""Results: each to its call, in the calls' order, with the call's id and name.

A result belongs to the call with its id and name, else with its id, else with its name (when its id names no call of the
turn), else to the first call that has none (when it says neither).  A result of no call becomes a user message.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from analyzer.prepare.ids import IdMaker, plain
from analyzer.prepare.items import Item
from analyzer.prepare.notes import Notes
from analyzer.prepare.texts import as_content, joined
from analyzer.spec.model import Spec

_Key: TypeAlias = Any


def with_results(spec: Spec, items: Sequence[Item], notes: Notes) -> list[Item]:
    """The messages without results, each turn of calls with its own."""
    out: list[Item] = []
    at = 0
    while at < len(items):
        item = items[at]
        at += 1
        if item.role == "tool":
            out.append(_orphan(spec, item, notes))
            continue
        out.append(item)
        if not item.calls:
            continue
        run: list[Item] = []
        while at < len(items) and items[at].role == "tool":
            run.append(items[at])
            at += 1
        item.results, orphans = _in_order(item, run, notes)
        out += [_orphan(spec, one, notes) for one in orphans]
        if at < len(items) and len(item.results) < len(item.calls):
            notes.take("result_missing", item.path)
    return out


def _in_order(item: Item, run: Sequence[Item], notes: Notes) -> tuple[list[Item], list[Item]]:
    """The results in the order of the calls, and those that belong to none."""
    chosen: dict[int, Item] = {}
    left = list(run)
    known = {call["id"] for call in item.calls}
    for of_result, of_call in _WAYS:
        waiting: dict[_Key, deque[Item]] = defaultdict(deque)
        for one in left:
            key = of_result(one.message, known)
            if key is not None:
                waiting[key].append(one)
        for number, call in enumerate(item.calls):
            queue = waiting.get(of_call(call)) if number not in chosen else None
            if queue:
                chosen[number] = queue.popleft()
        taken = {id(one) for one in chosen.values()}
        left = [one for one in left if id(one) not in taken]
    found = [chosen[number] for number in sorted(chosen)]
    strays = {id(one) for one in left}
    for now, before in zip(found, [one for one in run if id(one) not in strays], strict=True):
        if now is not before:
            notes.take("result_moved", now.path)
    for number, one in chosen.items():
        one.number = number
        _complete(one, item.calls[number], notes)
    return found, left


def _by_name(result: Mapping[str, Any], known: set[Any]) -> _Key:
    """By name only when the result's id names no call of the turn."""
    return None if plain(result.get("tool_call_id")) in known - {None} else plain(result.get("name"))


def _by_place(result: Mapping[str, Any], _: set[Any]) -> _Key:
    return None if plain(result.get("tool_call_id")) or plain(result.get("name")) else True


def _by_both(result: Mapping[str, Any], _: set[Any]) -> _Key:
    identity = plain(result.get("tool_call_id"))
    return None if identity is None else (identity, result.get("name"))


_WAYS: Final[
    tuple[tuple[Callable[[Mapping[str, Any], set[Any]], _Key], Callable[[Mapping[str, Any]], _Key]], ...]
] = (
    (_by_both, lambda call: (call["id"], call["function"]["name"])),
    (lambda result, _: plain(result.get("tool_call_id")), lambda call: call["id"]),
    (_by_name, lambda call: call["function"]["name"]),
    (_by_place, lambda _: True),
)
"""The ways in which a result finds its call: the key of the result, None when it has none, and the key of a call."""


def _complete(result: Item, call: Mapping[str, Any], notes: Notes) -> None:
    """Give a result the id and the name of its call; the id is settled later, with the call's."""
    wanted = {"tool_call_id": call["id"], "name": call["function"]["name"]}
    changed = []
    for key, value in wanted.items():
        given = result.message.get(key)
        if plain(given) is None:
            changed.append(key)
        elif given != value:
            changed.append(f"{key} was {given}")
        result.message[key] = value
    if changed:
        notes.take("result_completed", result.path, ", ".join(changed))


def _orphan(spec: Spec, item: Item, notes: Notes) -> Item:
    notes.take("result_orphan", item.path)
    name = plain(item.message.get("name")) or "a tool"
    text = joined(item.message.get("content"), item.path, notes)
    return Item({"role": "user", "content": as_content(spec, f"Result of {name}: {text}")}, item.path)


def identify(spec: Spec, turns: Sequence[Item], notes: Notes) -> dict[str, str]:
    """Give every call, and its result, an id in the template's form; return the way back."""
    maker = IdMaker(spec)
    back: dict[str, str] = {}
    for turn in turns:
        for at, call in enumerate(turn.calls):
            given = plain(call["id"])
            place = f"{turn.path}.tool_calls[{at}].id"
            made = maker.fit(given, call["function"]["name"])
            if made is None:
                notes.take("id_unmatched", place, str(spec.input.ids))
                made = given or f"call_{at}"
            elif given is None:
                notes.take("id_made", place, made)
            elif made != given:
                notes.take("id_mapped", place, f"{given} -> {made}")
                back[made] = given
            call["id"] = made
        for result in turn.results:
            result.message["tool_call_id"] = turn.calls[result.number]["id"]
    return back


def split(spec: Spec, turns: Sequence[Item], notes: Notes) -> list[Item]:
    """One call a turn, where the template takes no more calls or no more results in a row."""
    if spec.input.parallel_calls and spec.input.parallel_results:
        return list(turns)
    out: list[Item] = []
    for turn in turns:
        if len(turn.calls) <= 1:
            out.append(turn)
            continue
        notes.take("calls_split", turn.path)
        results = {one.number: one for one in turn.results}
        for at, call in enumerate(turn.calls):
            message = {**(_without_text(spec, turn.message) if at else turn.message), "tool_calls": [call]}
            out.append(Item(message, turn.path, [results[at]] if at in results else []))
    return out


def _without_text(spec: Spec, message: Mapping[str, Any]) -> dict[str, Any]:
    """The message of a further call: what was said stays with the first one."""
    kept = {key: message[key] for key in ("role", "content", *spec.input.assistant_fields) if key in message}
    kept |= dict.fromkeys(spec.input.assistant_fields, "")
    if kept.get("content") and spec.input.empty_content == "empty":
        kept["content"] = ""
    return kept


def as_user(spec: Spec, item: Item, notes: Notes) -> Item:
    """A result as a user message; every other message as it is."""
    if item.role != "tool":
        return item
    notes.take("result_to_user", item.path)
    text = f"Result of {item.message['name']}: {joined(item.message['content'], item.path, notes)}"
    return Item({"role": "user", "content": as_content(spec, text)}, item.path)
