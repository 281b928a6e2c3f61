"""Whether a template renders tool calls, by a test that owes nothing to inference.

One call with values that no template writes by itself is put behind a user message, in every shape that templates are
known to want, with the tool declared and without, as the last turn and with its result behind it.  A template renders calls when in some shape all values, and the name or the id, stand
behind the user's text, and the same conversation without the call shows none of them there.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from analyzer.render import Rendered, Renderer, RenderFailure, RenderRequest
from analyzer.template import Template

_USER: Final = "Vomperkrall?"
_NAME: Final = "zurbel_knock"
_ID: Final = "Qx7wZ3kVp"
_ARGUMENTS: Final = {"drimfat": "Plozhuk", "gwernip": "Skudvarn"}
_SHOWN: Final = tuple(_ARGUMENTS.values())
_EMPTY: Final[tuple[Any, ...]] = ("", None, "Yes.")
_TOOLS: Final = [
    {
        "type": "function",
        "function": {
            "name": _NAME,
            "description": "Knocks.",
            "parameters": {"type": "object", "properties": {key: {"type": "string"} for key in _ARGUMENTS}},
        },
    }
]
_VARIABLES: Final[Mapping[str, Any]] = {
    "functions": [],
    "datetime": "2031-10-14",
    "date_string": "14 Oct 2031",
}


def renders_calls(template: Template, renderer: Renderer) -> bool:
    """Tell whether the template writes a tool call into the prompt."""
    for mutable, tools in itertools.product((False, True), (_TOOLS, None)):
        shapes = list(_shapes())
        chats = [_chat(shape, with_call=True) for shape in shapes]
        outcomes = renderer.render(
            template.text, [_request(template, chat, tools) for chat in chats], mutable=mutable
        )
        for shape, outcome in zip(shapes, outcomes, strict=True):
            if isinstance(outcome, Rendered) and _shows(outcome.text):
                bare = _request(template, _chat(shape, with_call=False), tools)
                (without,) = renderer.render(template.text, [bare], mutable=mutable)
                if isinstance(without, RenderFailure) or not _shows(without.text):
                    return True
        refused = any(
            isinstance(outcome, RenderFailure) and outcome.kind == "security" for outcome in outcomes
        )
        if tools is None and not refused:
            break
    return False


class _Shape(NamedTuple):
    content: Any
    """What stands beside the call."""
    as_text: bool
    """The arguments as JSON text."""
    system: bool
    """A system message in front."""
    parts: bool
    """Contents as lists of parts."""
    followed: bool
    """A result behind the turn."""


def _shapes() -> Iterator[_Shape]:
    for followed in (False, True):
        for content, as_text, system, parts in itertools.product(_EMPTY, *[(False, True)] * 3):
            yield _Shape(content, as_text, system, parts, followed)


def _chat(shape: _Shape, *, with_call: bool) -> list[dict[str, Any]]:
    call = {
        "id": _ID,
        "type": "function",
        "function": {"name": _NAME, "arguments": json.dumps(_ARGUMENTS) if shape.as_text else _ARGUMENTS},
    }
    chat: list[dict[str, Any]] = [{"role": "user", "content": _USER}]
    if shape.system:
        chat.insert(0, {"role": "system", "content": "Be brief."})
    answer: dict[str, Any] = {"role": "assistant", "content": shape.content}
    if with_call:
        answer["tool_calls"] = [call]
    chat.append(answer)
    if shape.followed:
        chat.append({"role": "tool", "tool_call_id": _ID, "name": _NAME, "content": "Nobody."})
    if shape.parts:
        for message in chat:
            if message["content"]:
                message["content"] = [{"type": "text", "text": message["content"]}]
    return chat


def _request(template: Template, chat: Sequence[Mapping[str, Any]], tools: list[Any] | None) -> RenderRequest:
    return RenderRequest(chat, tools, special_tokens=template.special_tokens, variables=_VARIABLES)


def _shows(text: str) -> bool:
    region = text[text.rfind(_USER) + 1 :]
    return all(value in region for value in _SHOWN) and (_NAME in region or _ID in region)
