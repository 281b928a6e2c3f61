"""Asking a template: small conversations in the shape that it takes, and what it makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analyzer.prepare import prepare
from analyzer.prepare.schemas import type_word
from analyzer.render import Outcome, Rendered, Renderer, RenderRequest
from analyzer.spec.model import Scalar, Spec
from analyzer.template import Template

NEEDLE: Final = "qzubevix"
USER: Final = {"role": "user", "content": "How warm is it?"}
CALL: Final = {
    "id": "call00001",
    "type": "function",
    "function": {"name": "get_weather", "arguments": {"city": NEEDLE}},
}
TURN: Final = {"role": "assistant", "content": "", "tool_calls": [CALL]}
RESULT: Final = {"role": "tool", "tool_call_id": CALL["id"], "name": "get_weather", "content": "21"}
TOOLS: Final = (
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Tells the weather.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string", "description": "Where."}},
                "required": ["city"],
            },
        },
    },
)

Messages = Sequence[Mapping[str, Any]]
Conversation = dict[str, Any]
"""`messages` and, where there are any, `tools` and `variables`: what findings show, and what is rendered."""


@dataclass(frozen=True, slots=True)
class Asker:
    """One template with its spec, and the renderer to ask it with."""

    spec: Spec
    template: Template
    renderer: Renderer

    def prepared(self, *messages: Mapping[str, Any], tools: Messages | None = TOOLS) -> Conversation:
        """A conversation in the shape that the template takes, without tools where it takes none."""
        ready = prepare(self.spec, messages, None if self.spec.input.tools == "refused" else tools)
        return conversation(ready.messages, ready.tools)

    def outcomes(self, asked: Sequence[Mapping[str, Any]], *, mutable: bool | None = None) -> list[Outcome]:
        """What becomes of conversations, in one batch."""
        return self.renderer.render(
            self.template.text,
            [self._request(one) for one in asked],
            mutable=self.spec.input.mutable if mutable is None else mutable,
        )

    def texts(self, asked: Sequence[Mapping[str, Any]]) -> list[str | None]:
        """The renders of conversations, None for each that failed."""
        return [one.text if isinstance(one, Rendered) else None for one in self.outcomes(asked)]

    def _request(self, asked: Mapping[str, Any]) -> RenderRequest:
        more: dict[str, Scalar] = dict(asked.get("variables", {}))
        return RenderRequest(
            messages=asked["messages"],
            tools=asked.get("tools"),
            special_tokens=self.template.special_tokens,
            variables={**self.spec.input.variables, **more},
        )


def conversation(messages: Messages, tools: Messages | None) -> Conversation:
    """Messages and tools as findings show them."""
    return {"messages": list(messages), **({"tools": list(tools)} if tools is not None else {})}


def declared(messages: Messages) -> list[dict[str, Any]]:
    """Tools that declare what the calls of a conversation use; the usual tool where there are no calls."""
    found: dict[str, dict[str, Any]] = {}
    for call in (call for message in messages for call in message.get("tool_calls") or ()):
        function = call.get("function", call)
        arguments = function.get("arguments")
        keys = arguments if isinstance(arguments, Mapping) else {}
        properties = found.setdefault(str(function.get("name")), {})
        properties |= {key: {"type": type_word(value), "description": "It."} for key, value in keys.items()}
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": "Does it.",
                "parameters": {"type": "object", "properties": properties},
            },
        }
        for name, properties in found.items()
    ] or [dict(tool) for tool in TOOLS]
