"""Results on their way back: sorted into call order, one for every call, in the shape of the API or the template.

    messages += turn_messages(message, results)                 # role: tool, for Chat Completions and templates
    messages += anthropic_turn(message, results, text="Go on.") # tool_result blocks, one user message

Templates that write no ids pair results with calls by position, so the order is not for looks. A call without a result
makes an API refuse the conversation, so one that was not run gets an answer that says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from analyzer.agent.ids import ANTHROPIC, IdMap, with_ids
from analyzer.agent.results import ToolResult
from analyzer.agent.texts import strict_json
from analyzer.chat import Message, ToolCall
from analyzer.errors import UsageError

Prepare: TypeAlias = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
"""The seam for a normaliser: takes messages of the OpenAI shape, returns those that one template renders.

`turn_messages` hands it whole turns (the assistant's message with all its results), so it may merge, rename or re-role.
"""

NOT_RUN: Final = "not run: the batch was stopped before this call had a result"
UNREADABLE: Final = "unreadable_arguments"
"""The key under which arguments that are no JSON object go back, so that the model sees what it wrote."""
_ERROR: Final = "Error: "


def in_call_order(calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> tuple[ToolResult, ...]:
    """Return one result for each call, in call order, whatever order they came in; a missing one says so.

    Results are matched by id, those of equal or no ids by their index. Raises `UsageError` for one that answers no call.
    """
    ids = [call.id for call in calls]
    placed: dict[int, ToolResult] = {}
    for result in results:
        at = result.index
        if result.id and ids.count(result.id) == 1:
            at = ids.index(result.id)
        elif not 0 <= at < len(ids) or ids[at] != result.id:
            raise UsageError(f"a result answers no call of this turn: {result.id or result.name!r}")
        if at in placed:
            raise UsageError(f"call {at} ({calls[at].name}) has two results")
        placed[at] = result
    return tuple(
        replace(placed[index], index=index)
        if index in placed
        else ToolResult(index, call.id, call.name, NOT_RUN, "skipped")
        for index, call in enumerate(calls)
    )


def marked(result: ToolResult) -> str:
    """Return the content, with a word in front that says that it is an error, for shapes that have no field for it."""
    if not result.is_error or result.content.lower().startswith("error"):
        return result.content
    return _ERROR + result.content


def to_openai(results: Sequence[ToolResult], *, names: bool = False) -> list[dict[str, Any]]:
    """Return results as `role: tool` messages. `names` adds the tool's name, for templates that write it."""
    return [
        {
            "role": "tool",
            "tool_call_id": result.id or "",
            **({"name": result.name} if names else {}),
            "content": marked(result),
        }
        for result in results
    ]


def to_responses(results: Sequence[ToolResult]) -> list[dict[str, Any]]:
    """Return results as input items of the Responses API."""
    return [
        {"type": "function_call_output", "call_id": result.id or "", "output": marked(result)}
        for result in results
    ]


def to_anthropic(results: Sequence[ToolResult], text: str | None = None) -> dict[str, Any]:
    """Return all results of a turn as one user message of `tool_result` blocks; `text` for the model comes after them."""
    blocks: list[dict[str, Any]] = [
        {
            "type": "tool_result",
            "tool_use_id": result.id or "",
            "content": result.content,
            "is_error": result.is_error,
        }
        for result in results
    ]
    if text:
        blocks.append({"type": "text", "text": text})
    return {"role": "user", "content": blocks}


def turn_messages(
    message: Message,
    results: Sequence[ToolResult],
    *,
    id_map: IdMap | None = None,
    names: bool = False,
    prepare: Prepare | None = None,
) -> list[dict[str, Any]]:
    """Return a turn and its results as messages of the OpenAI shape: the assistant's, then one for each call, in order.

    Calls without ids get some. `id_map` writes ids in the template's form (`IdMap(spec.input.ids)`), in calls and
    results alike. `prepare` has the last word.
    """
    message, ordered = _paired(message, results, id_map)
    messages = [message.to_openai(), *to_openai(ordered, names=names)]
    return messages if prepare is None else prepare(messages)


def anthropic_turn(
    message: Message, results: Sequence[ToolResult], *, text: str | None = None
) -> list[dict[str, Any]]:
    """Return a turn and its results as Anthropic messages: the assistant's, then one of the user's with all results."""
    message, ordered = _paired(message, results, IdMap(ANTHROPIC))
    blocks: list[dict[str, Any]] = [{"type": "text", "text": message.content}] if message.content else []
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
        for call in message.tool_calls
    ]
    out: list[dict[str, Any]] = [{"role": "assistant", "content": blocks}] if blocks else []
    if ordered or text:
        out.append(to_anthropic(ordered, text))
    return out


def _paired(
    message: Message, results: Sequence[ToolResult], id_map: IdMap | None
) -> tuple[Message, list[ToolResult]]:
    """The message with an id for each call, and its results in order with the same ids."""
    ordered = in_call_order(message.tool_calls, results)
    message = with_ids(replace(message, tool_calls=tuple(map(sendable, message.tool_calls))))
    if id_map is not None:
        id_map.reserve(call.id for call in message.tool_calls)
        calls = tuple(replace(call, id=id_map(call.id or "")) for call in message.tool_calls)
        message = replace(message, tool_calls=calls)
    paired = [replace(result, id=call.id) for call, result in zip(message.tool_calls, ordered, strict=True)]
    return message, paired


def _object(arguments: str) -> Mapping[str, Any] | None:
    """The object that arguments stand for, also when it was encoded twice or is missing; None when there is none."""
    try:
        value = strict_json(arguments) if arguments.strip() else {}
        if isinstance(value, str):
            value = strict_json(value)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def sendable(call: ToolCall) -> ToolCall:
    """Return the call as history can hold it: arguments that are no object are refused there, so their text gets a key."""
    try:
        if isinstance(strict_json(call.arguments), dict):
            return call
    except (ValueError, RecursionError):
        pass
    value = _object(call.arguments)
    if value is None:
        value = {UNREADABLE: call.arguments}
    return replace(call, arguments=json.dumps(value, ensure_ascii=False))
