"""transformers' own reader of response templates."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.chat import Message, Tool, ToolCall


class TransformersParser:
    """A response template that transformers has read."""

    def __init__(self, template: Mapping[str, Any]) -> None:
        os.environ.setdefault(
            "TRANSFORMERS_NO_ADVISORY_WARNINGS", "1"
        )  # that there is no torch is no news here
        from transformers.utils.chat_parsing import ResponseParser  # noqa: PLC0415  (an optional package)

        self._new = ResponseParser
        self._template = dict(template)
        self._new(self._template, prefix="")

    def parse(self, text: str, *, prompt: str = "", tools: Sequence[Tool] = (), cut: int = 0) -> Message:
        """The message of a text, given in two pieces; `ValueError` where the reader finds no way to read it."""
        parser = self._new(self._template, prefix=prompt, tools=[tool.to_openai() for tool in tools])
        for piece in (text[:cut], text[cut:]) if cut else (text,):
            parser.feed(piece)
        found, _ = parser.finalize()
        calls = tuple(_call(call.get("function", call)) for call in found.get("tool_calls") or ())
        thought = found.get("thinking", found.get("reasoning_content"))
        return Message(found.get("content"), thought, calls)


def _call(function: Mapping[str, Any]) -> ToolCall:
    arguments = function["arguments"]
    spelt = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(str(function["name"]), spelt)
