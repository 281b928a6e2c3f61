"""`prepare`: the steps, in their order.

    tools        complete, `[]` absent
    roles        developer -> system, function -> tool
    messages     calls, arguments, reasoning, content, one message at a time
    results      to their calls, in the calls' order, with ids and names
    ids          in the template's form
    one call     turns of several calls split where the template takes one
    system       joined at the beginning, merged into the user's message where it is refused

What was given is never changed in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.chat import Tool
from analyzer.prepare.calls import plain_calls, plain_tools, shaped_arguments
from analyzer.prepare.ids import IdMaker, plain
from analyzer.prepare.notes import Notes, Prepared
from analyzer.prepare.texts import joined, shaped_content, take_reasoning
from analyzer.spec.model import Spec


@dataclass(slots=True)
class _Item:
    """A message at work, and where it stood."""

    message: dict[str, Any]
    path: str
    results: list[_Item] = field(default_factory=list)
    """The results of its calls, in the order of the calls; only for a turn with calls."""


def prepare(
    spec: Spec,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any] | Tool] | None = None,
) -> Prepared:
    """Make a conversation acceptable to the template that a spec was inferred from.

    Each change leaves a note, and so does what the template may still refuse.
    """
    notes = Notes()
    given = None if tools is None else [t.to_openai() if isinstance(t, Tool) else t for t in tools]
    ready_tools = plain_tools(given, notes)
    items = [_message(spec, message, f"messages[{at}]", notes) for at, message in enumerate(messages)]
    turns = _with_results(items, notes)
    ids = _identify(spec, turns, notes)
    turns = _split(spec, turns, notes)
    flat = [one for turn in turns for one in (turn, *turn.results)]
    flat = _systems(spec, flat, notes)
    if "tool" in spec.input.roles_refused:
        flat = [_as_user(spec, one, notes) for one in flat]
    _note_turns(flat, notes)
    return Prepared(tuple(one.message for one in flat), ready_tools, tuple(notes), ids)


def _message(spec: Spec, given: Mapping[str, Any], path: str, notes: Notes) -> _Item:
    message = dict(given)
    if message.get("role") == "developer":
        notes.take("developer_to_system", path)
        message["role"] = "system"
    if message.get("role") == "function":
        notes.take("function_to_tool", path)
        message["role"] = "tool"
    reasoning: dict[str, Any] = {}
    if message.get("role") == "assistant":
        calls = plain_calls(message, path, notes)
        message.pop("function_call", None)
        message.pop("tool_calls", None)
        if calls is not None:
            for at, call in enumerate(calls):
                place = f"{path}.tool_calls[{at}].function.arguments"
                arguments = call["function"]["arguments"]
                call["function"]["arguments"] = shaped_arguments(spec, arguments, place, notes)
            message["tool_calls"] = calls
        reasoning, rest = take_reasoning(spec, message, path, notes)
        message = dict(rest)
    message["content"] = shaped_content(spec, message, path, notes)
    return _Item({**message, **reasoning}, path)


# ----------------------------------------------------------------------------------------------------------- results


def _with_results(items: Sequence[_Item], notes: Notes) -> list[_Item]:
    """The messages without results, each turn of calls with its own."""
    out: list[_Item] = []
    at = 0
    while at < len(items):
        item = items[at]
        at += 1
        if item.message.get("role") == "tool":
            out.append(_orphan(item, notes))
            continue
        out.append(item)
        if not item.message.get("tool_calls"):
            continue
        run: list[_Item] = []
        while at < len(items) and items[at].message.get("role") == "tool":
            run.append(items[at])
            at += 1
        item.results, orphans = _in_order(item, run, notes)
        out += [_orphan(one, notes) for one in orphans]
        if at < len(items) and len(item.results) < len(item.message["tool_calls"]):
            notes.take("result_missing", item.path)
    return out


def _in_order(item: _Item, run: Sequence[_Item], notes: Notes) -> tuple[list[_Item], list[_Item]]:
    """The results in the order of the calls, and those that belong to none."""
    calls = item.message["tool_calls"]
    left = list(run)
    chosen: list[_Item | None] = [None] * len(calls)
    for fits in (_by_both, _by_id, _by_name, _by_place):
        for number, call in enumerate(calls):
            if chosen[number] is None:
                chosen[number] = next((one for one in left if fits(one, call, calls)), None)
                left = [one for one in left if one is not chosen[number]]
    found = [one for one in chosen if one is not None]
    for now, before in zip(
        found, [one for one in run if not any(one is other for other in left)], strict=True
    ):
        if now is not before:
            notes.take("result_moved", now.path)
    for one, call in ((one, call) for one, call in zip(chosen, calls, strict=True) if one is not None):
        _complete(one, call, notes)
    return found, left


def _by_both(result: _Item, call: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> bool:
    return _by_id(result, call, calls) and result.message.get("name") == call["function"]["name"]


def _by_id(result: _Item, call: Mapping[str, Any], _: Sequence[Mapping[str, Any]]) -> bool:
    identity = plain(result.message.get("tool_call_id"))
    return identity is not None and identity == call["id"]


def _by_name(result: _Item, call: Mapping[str, Any], calls: Sequence[Mapping[str, Any]]) -> bool:
    """By name only when the result's id names no call of the turn."""
    identity = plain(result.message.get("tool_call_id"))
    known = identity is not None and identity in {one["id"] for one in calls}
    return not known and plain(result.message.get("name")) == call["function"]["name"]


def _by_place(result: _Item, _: Mapping[str, Any], __: Sequence[Mapping[str, Any]]) -> bool:
    return not plain(result.message.get("tool_call_id")) and not plain(result.message.get("name"))


def _complete(result: _Item, call: Mapping[str, Any], notes: Notes) -> None:
    """Give a result the id and the name of its call; the id is settled later, with the call's."""
    added = []
    if not plain(result.message.get("tool_call_id")):
        added.append("tool_call_id")
    if not plain(result.message.get("name")):
        added.append("name")
    if added:
        notes.take("result_completed", result.path, ", ".join(added))
    result.message["tool_call_id"] = call["id"]
    result.message["name"] = call["function"]["name"]


def _orphan(item: _Item, notes: Notes) -> _Item:
    notes.take("result_orphan", item.path)
    text = joined(item.message.get("content"), item.path, notes)
    return _Item({"role": "user", "content": f"Result of a tool: {text}"}, item.path)


# --------------------------------------------------------------------------------------------------------------- ids


def _identify(spec: Spec, turns: Sequence[_Item], notes: Notes) -> dict[str, str]:
    """Give every call, and its result, an id in the template's form; return the way back."""
    maker = IdMaker(spec)
    back: dict[str, str] = {}
    for turn in turns:
        for at, call in enumerate(turn.message.get("tool_calls", ())):
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
            for result in turn.results:
                mine = result.message["name"] == call["function"]["name"]
                if mine and result.message["tool_call_id"] == call["id"] and "_id" not in result.message:
                    result.message["_id"] = made
                    break
            call["id"] = made
        for result in turn.results:
            result.message["tool_call_id"] = result.message.pop("_id", result.message["tool_call_id"])
    return back


def _split(spec: Spec, turns: Sequence[_Item], notes: Notes) -> list[_Item]:
    """One call a turn, where the template takes no more."""
    if spec.input.parallel_calls:
        return list(turns)
    out: list[_Item] = []
    for turn in turns:
        calls = turn.message.get("tool_calls", ())
        if len(calls) <= 1:
            out.append(turn)
            continue
        notes.take("calls_split", turn.path)
        for at, call in enumerate(calls):
            rest = {
                key: value for key, value in turn.message.items() if key in ("role", "content", "tool_calls")
            }
            if at and rest["content"]:
                rest["content"] = ""
            message = {**(rest if at else turn.message), "tool_calls": [call]}
            results = [one for one in turn.results if one.message["tool_call_id"] == call["id"]]
            out.append(_Item(message, turn.path, results))
    return out


# ------------------------------------------------------------------------------------------------------------ system


def _systems(spec: Spec, items: list[_Item], notes: Notes) -> list[_Item]:
    """One system message, at the beginning, or none."""
    systems = [item for item in items if item.message.get("role") == "system"]
    if not systems:
        return items
    others = [item for item in items if item.message.get("role") != "system"]
    first = systems[0]
    if len(systems) > 1 or items[0] is not first:
        for item in systems:
            if item is not items[0]:
                notes.take("system_hoisted", item.path)
        texts = [joined(item.message["content"], item.path, notes) for item in systems]
        message = {**first.message, "content": "\n\n".join(text for text in texts if text)}
        if spec.input.content == "parts":
            message["content"] = [{"type": "text", "text": message["content"]}]
        first = _Item(message, first.path)
    if spec.input.system != "refused" and "system" not in spec.input.roles_refused:
        return [first, *others]
    return list(_merged(spec, first, others, notes))


def _merged(spec: Spec, system: _Item, others: Sequence[_Item], notes: Notes) -> Iterator[_Item]:
    notes.take("system_merged", system.path)
    text = joined(system.message["content"], system.path, notes)
    parts = spec.input.content == "parts"
    target = next((item for item in others if item.message.get("role") == "user"), None)
    if target is None:
        yield _Item(
            {"role": "user", "content": [{"type": "text", "text": text}] if parts else text}, system.path
        )
    for item in others:
        if item is not target:
            yield item
            continue
        content = item.message["content"]
        merged: Any = f"{text}\n\n{content}"
        if not isinstance(content, str):
            merged = [{"type": "text", "text": f"{text}\n\n"}, *content]
        yield _Item({**item.message, "content": merged}, item.path)


def _note_turns(items: Sequence[_Item], notes: Notes) -> None:
    """Say where user and assistant do not take turns; calls and results between them do not count."""
    before = ""
    for item in items:
        role = str(item.message.get("role"))
        if role not in ("user", "assistant") or item.message.get("tool_calls"):
            continue
        if role == before:
            notes.take("not_alternating", item.path)
        before = role


def _as_user(spec: Spec, item: _Item, notes: Notes) -> _Item:
    if item.message.get("role") != "tool":
        return item
    notes.take("result_to_user", item.path)
    text = f"Result of {item.message['name']}: {joined(item.message['content'], item.path, notes)}"
    content: Any = [{"type": "text", "text": text}] if spec.input.content == "parts" else text
    return _Item({"role": "user", "content": content}, item.path)
