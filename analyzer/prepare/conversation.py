"""`prepare`: the steps, in their order.

    tools        complete, bare where the template wants them so, `[]` absent
    roles        developer -> system, function -> tool
    messages     calls, arguments, reasoning, content, one message at a time
    results      to their calls, in the calls' order, with ids and names
    ids          in the template's form
    one call     turns of several calls split where the template takes one
    system       joined at the beginning, merged into the user's message where it is refused
    results      user messages where the template takes none
    turns        messages of one side joined where the template demands turns

What was given is never changed in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from analyzer.chat import Tool
from analyzer.errors import UsageError
from analyzer.prepare.calls import bare_call, plain_calls, shaped_arguments
from analyzer.prepare.items import Item
from analyzer.prepare.notes import Notes, Prepared
from analyzer.prepare.reasoning import take_reasoning
from analyzer.prepare.results import as_user, identify, split, with_results
from analyzer.prepare.texts import shaped_content
from analyzer.prepare.tools import plain_tools
from analyzer.prepare.turns import alternating, with_systems
from analyzer.spec.model import Spec

_ROLES: Final = {"developer": ("system", "developer_to_system"), "function": ("tool", "function_to_tool")}
"""Roles that templates know under another name, with the note's kind."""


def prepare(
    spec: Spec,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any] | Tool] | None = None,
) -> Prepared:
    """Make a conversation acceptable to the template that a spec was inferred from.

    Each change leaves a note, and so does what the template may still refuse.

    Raises:
        UsageError: what was given is no conversation: a message without a role, a call without a name, a value that JSON has
            no word for; the error names the place.
    """
    notes = Notes()
    if isinstance(messages, (str, Mapping)) or not isinstance(messages, Sequence):
        raise UsageError(f"messages is a {type(messages).__name__}, not a list of messages")
    ready_tools = plain_tools(spec, _openai_tools(tools), notes)
    items = [_message(spec, message, f"messages[{at}]", notes) for at, message in enumerate(messages)]
    turns = with_results(spec, items, notes)
    ids = identify(spec, turns, notes)
    turns = split(spec, turns, notes)
    flat = [one for turn in turns for one in (turn, *turn.results)]
    flat = with_systems(spec, flat, notes)
    if "tool" in spec.input.roles_refused:
        flat = [as_user(spec, one, notes) for one in flat]
    flat = alternating(spec, flat, notes)
    ready = tuple(_with_bare_calls(spec, one, notes) for one in flat)
    return Prepared(ready, ready_tools, tuple(notes), ids)


def _openai_tools(tools: Any) -> Any:
    """Tools as everybody exchanges them; what is no list is passed on, to be refused with its place."""
    if not isinstance(tools, Sequence) or isinstance(tools, str):
        return tools
    return [one.to_openai() if isinstance(one, Tool) else one for one in tools]


def _message(spec: Spec, given: Any, path: str, notes: Notes) -> Item:
    if not isinstance(given, Mapping):
        raise UsageError(
            f"{path} is a {type(given).__name__}, not a message", hint="A message is {role, content}."
        )
    message = dict(given)
    role = message.get("role")
    if not isinstance(role, str) or not role:
        raise UsageError(f"{path} has no role", hint="Roles are system, user, assistant and tool.")
    if role in _ROLES:
        message["role"], kind = _ROLES[role]
        notes.take(kind, path)
    if role == "assistant":
        message = _assistant(spec, message, path, notes)
    return Item(shaped_content(spec, message, path, notes), path)


def _assistant(spec: Spec, message: dict[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    """A message of the assistant with its calls and its reasoning in shape."""
    calls = plain_calls(spec, message, path, notes)
    message = {key: value for key, value in message.items() if key != "function_call" or not value}
    message.pop("tool_calls", None)
    for at, call in enumerate(calls or ()):
        function, place = call["function"], f"{path}.tool_calls[{at}].function.arguments"
        function["arguments"] = shaped_arguments(spec, function["arguments"], place, notes)
    if calls:
        message["tool_calls"] = calls
    reasoning, rest = take_reasoning(spec, message, path, notes)
    missing = [name for name in spec.input.assistant_fields if name not in rest and name not in reasoning]
    if missing:
        notes.take("field_added", path, ", ".join(missing))
    return {**dict.fromkeys(missing, ""), **rest, **reasoning}


def _with_bare_calls(spec: Spec, item: Item, notes: Notes) -> dict[str, Any]:
    if not spec.input.bare_calls or not item.calls:
        return item.message
    notes.take("calls_bared", item.path)
    return {**item.message, "tool_calls": [bare_call(call) for call in item.calls]}
