"""Calls in the shape that templates read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from analyzer.errors import UsageError
from analyzer.prepare.json_texts import json_text
from analyzer.prepare.notes import Notes
from analyzer.prepare.schemas import type_word
from analyzer.spec.model import Spec

INVALID_KEY: Final = "invalid_json"
"""The argument that holds arguments which are no JSON object."""
_HINT: Final = "A call is {id, type, function: {name, arguments}}."


def plain_calls(
    spec: Spec, message: Mapping[str, Any], path: str, notes: Notes
) -> list[dict[str, Any]] | None:
    """The calls of a message as `{id, type, function: {name, arguments}}`; None when it has none.

    Raises:
        UsageError: what stands there is no list of calls.
    """
    given = message.get("tool_calls")
    older = message.get("function_call")
    if given and older:
        notes.take("function_call_dropped", f"{path}.function_call")
    if not given and isinstance(older, Mapping):
        notes.take("call_completed", f"{path}.function_call", "`function_call` is an older spelling")
        given = [{"type": "function", "function": older}]
    elif not given:
        if "tool_calls" in message:
            notes.take("calls_absent", f"{path}.tool_calls")
        return None
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise UsageError(f"{path}.tool_calls is a {type(given).__name__}, not a list of calls", hint=_HINT)
    return [_plain_call(spec, call, f"{path}.tool_calls[{at}]", notes) for at, call in enumerate(given)]


def _plain_call(spec: Spec, call: Any, path: str, notes: Notes) -> dict[str, Any]:
    if not isinstance(call, Mapping):
        raise UsageError(f"{path} is a {type(call).__name__}, not a call", hint=_HINT)
    inner = call.get("function")
    if isinstance(inner, Mapping):
        function, rest = dict(inner), dict(call)
        if "type" not in call:
            notes.take("call_completed", path, "`type` was missing")
    else:
        function = {key: call[key] for key in ("name", "arguments") if key in call}
        rest = {key: value for key, value in call.items() if key not in function}
        if not spec.input.bare_calls:
            notes.take("call_completed", path, "name and arguments stood beside the id")
    kind = call.get("type", "function")
    if kind != "function":
        notes.take("call_completed", path, f"`type` was {kind}")
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError(f"{path} has no name", hint=_HINT)
    function = {**function, "name": name, "arguments": function.get("arguments")}
    return {**rest, "id": call.get("id"), "type": "function", "function": function}


def bare_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call with name and arguments beside its id."""
    rest = {key: value for key, value in call.items() if key not in ("function", "type")}
    return {**rest, **call["function"]}


def shaped_arguments(spec: Spec, given: Any, path: str, notes: Notes) -> Any:
    """Arguments in the shape that the template wants."""
    value = _object(given, path, notes)
    texts = _with_text_values(spec, value, path, notes)
    wanted = spec.input.arguments
    unchanged = texts == value and isinstance(given, str) and _same(given, value)
    if wanted == "text":
        if unchanged:
            return given
        if not isinstance(given, str):
            notes.take("arguments_to_text", path)
        return json_text(texts, path)
    if isinstance(given, str):
        if wanted == "both" and unchanged:
            return given
        notes.take("arguments_to_mapping", path)
    return texts


def _with_text_values(spec: Spec, value: dict[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    """Write values of the types that the template refuses as JSON text."""
    refused = spec.input.values_refused
    made = dict(value)
    for key, one in value.items() if refused else ():
        if type_word(one) in refused:
            notes.take("value_to_text", f"{path}.{key}", type_word(one))
            made[key] = json_text(one, f"{path}.{key}")
    return made


def _same(text: str, value: Any) -> bool:
    try:
        return bool(json.loads(text) == value)
    except (ValueError, RecursionError):
        return False


def _object(given: Any, path: str, notes: Notes) -> dict[str, Any]:
    """Arguments as a mapping, whatever they were given as."""
    if isinstance(given, Mapping):
        return dict(given)
    if given is None or (isinstance(given, str) and not given.strip()):
        notes.take("arguments_empty", path)
        return {}
    value = given
    for attempt in range(2):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            notes.take("arguments_invalid", path, str(error)[:80])
            return {INVALID_KEY: given}
        if attempt:
            notes.take("arguments_decoded_twice", path)
    if isinstance(value, dict):
        return value
    if value is None:
        notes.take("arguments_empty", path)
        return {}
    notes.take("arguments_invalid", path, f"a JSON {type_word(value)}")
    return {INVALID_KEY: given if isinstance(given, str) else json_text(given, path)}
