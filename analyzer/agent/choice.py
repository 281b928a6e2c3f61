"""`tool_choice` on the client's side: the four forms, and how to force one tool where servers take only strings.

Every function returns a new request (an OpenAI chat request body); the one given is not changed.

    choice     tools stay in the prompt    calls are parsed    a call is certain
    auto       yes                         yes                 no
    none       yes                         no                  no (`without_tools` removes them)
    required   yes                         yes                 yes, so use it for one step: the model cannot answer
    a name     yes                         yes                 where the server knows the object form; `force_tool` always
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from analyzer.chat import Message
from analyzer.errors import UsageError
from analyzer.runtime.options import DEFAULT, Options

WORDS: Final = ("auto", "none", "required")
"""The string values."""


def tool_names(request: Mapping[str, Any]) -> list[str]:
    """Return the names of the tools that the request offers."""
    tools = request.get("tools")
    return [name for tool in (tools if isinstance(tools, list) else []) if (name := _name(tool))]


def chosen(request: Mapping[str, Any]) -> str:
    """Return the request's choice: `auto`, `none`, `required`, or `tool:NAME`. Raises `UsageError` for any other."""
    choice = request.get("tool_choice")
    if choice is None:
        return "auto" if tool_names(request) else "none"
    if isinstance(choice, str):
        if choice not in WORDS:
            raise UsageError(
                f"invalid tool_choice: {choice}", hint=f"It is one of {', '.join(WORDS)}, or an object."
            )
        return choice
    name = _name(choice)
    if not name:
        raise UsageError(f"invalid tool_choice: {choice!r}")
    return f"tool:{name}"


def with_choice(request: Mapping[str, Any], choice: str, *, strings_only: bool = False) -> dict[str, Any]:
    """Return the request with a choice: one of the words, or the name of a tool.

    `strings_only` is for servers that read the object form as `auto` (llama-server does): the tool is then forced by
    offering nothing else.
    """
    if choice in WORDS:
        if choice == "required" and not tool_names(request):
            raise UsageError("tool_choice is required, but no tool is offered")
        return {**request, "tool_choice": choice}
    if strings_only:
        return force_tool(request, choice)
    _must_have(request, choice)
    return {**request, "tool_choice": {"type": "function", "function": {"name": choice}}}


def force_tool(request: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the request with this tool alone, a call required, and no parallel calls."""
    _must_have(request, name)
    kept = [tool for tool in request["tools"] if _name(tool) == name]
    return {**request, "tools": kept, "tool_choice": "required", "parallel_tool_calls": False}


def without_tools(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request without tools: what `none` does not do, the model forgets them."""
    dropped = {"tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"}
    return {key: value for key, value in request.items() if key not in dropped}


def parser_options(request: Mapping[str, Any], options: Options = DEFAULT) -> Options:
    """Return how a reply to the request is parsed: `none` leaves calls in the text, one call where several are barred."""
    changes: dict[str, Any] = {}
    if chosen(request) == "none" and tool_names(request):
        changes["calls"] = "text"
    if request.get("parallel_tool_calls") is False:
        changes["parallel"] = False
    return options.with_(**changes) if changes else options


def broken_promise(request: Mapping[str, Any], message: Message) -> str | None:
    """Return what is to be said of a reply that does not do what the choice asked for, None when it does."""
    choice = chosen(request)
    names = [call.name for call in message.tool_calls]
    if choice == "none" and names:
        return f"tool_choice is none, but the reply calls {names[0]}"
    if choice == "required" and not names:
        return "tool_choice is required, but the reply calls no tool"
    forced = choice.removeprefix("tool:")
    if choice != forced and names != [forced] * max(1, len(names)):
        return f"tool_choice names {forced}, but the reply calls {', '.join(names) or 'no tool'}"
    return None


def to_anthropic_choice(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choice as Anthropic's `tool_choice` object."""
    choice = chosen(request)
    forced = choice.removeprefix("tool:")
    out: dict[str, Any] = {"type": "any" if choice == "required" else choice}
    if forced != choice:
        out = {"type": "tool", "name": forced}
    if request.get("parallel_tool_calls") is False and choice != "none":
        out["disable_parallel_tool_use"] = True
    return out


def _must_have(request: Mapping[str, Any], name: str) -> None:
    names = tool_names(request)
    if name not in names:
        raise UsageError(f"no tool named {name}", hint=f"The request offers {', '.join(names) or 'none'}.")


def _name(tool: Any) -> str:
    """The name in an OpenAI tool or in the object form of `tool_choice`."""
    if not isinstance(tool, Mapping):
        return ""
    inner = tool.get("function", tool)
    name = inner.get("name") if isinstance(inner, Mapping) else None
    return name if isinstance(name, str) else ""
