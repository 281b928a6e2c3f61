"""What several of these tests use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from analyzer.chat import Message, Tool, ToolCall
from analyzer.render import InProcessRenderer, Rendered, RenderFailure, RenderRequest, as_transformers
from analyzer.spec.model import Spec

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
READ_FILE = Tool(
    "read_file",
    "Read a text file from the workspace",
    {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Path relative to the workspace root"}},
        "required": ["path"],
    },
)
_RENDERER = InProcessRenderer()


def call(name: str, ident: str | None = None, /, **arguments: Any) -> ToolCall:
    """A call with these arguments."""
    return ToolCall(name, json.dumps(arguments), ident)


def message(*calls: ToolCall, content: str | None = None) -> Message:
    """A turn with these calls."""
    return Message(content, tool_calls=calls)


def rendered(
    template: str, messages: list[dict[str, Any]], tools: list[Tool] | None = None, **more: Any
) -> str:
    """A conversation as one of our own templates writes it."""
    outcome = render(template, messages, tools, **more)
    assert isinstance(outcome, Rendered), outcome
    return outcome.text


def refused(template: str, messages: list[dict[str, Any]]) -> str:
    """What a template that does not render a conversation says."""
    outcome = render(template, messages, None)
    assert isinstance(outcome, RenderFailure), outcome
    return outcome.message


def render(
    template: str, messages: list[dict[str, Any]], tools: list[Tool] | None, *, prompt: bool = True
) -> Rendered | RenderFailure:
    """Render one of our own templates, as `render_text` does."""
    text = (ROOT / "corpus" / "templates" / f"{template}.jinja").read_text(encoding="utf-8")
    return render_text(text, messages, tools, prompt=prompt)


def render_text(
    text: str, messages: list[dict[str, Any]], tools: list[Tool] | None, *, prompt: bool = True
) -> Rendered | RenderFailure:
    """Render with the special tokens that the templates ask for; arguments go in as mappings."""
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    declared = [tool.to_openai() for tool in tools] if tools else None
    shaped = as_transformers([_with_mappings(item) for item in messages])
    [outcome] = _RENDERER.render(text, [RenderRequest(shaped, declared, prompt, tokens, {})])
    return outcome


def spec_of(template: str) -> Spec:
    """The spec of one of our own templates."""
    path = ROOT / "tests" / "verify" / "specs" / f"{template}.yaml"
    return Spec.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def _with_mappings(item: dict[str, Any]) -> dict[str, Any]:
    if not item.get("tool_calls"):
        return item
    calls = []
    for found in item["tool_calls"]:
        function = {**found["function"], "arguments": json.loads(found["function"]["arguments"])}
        calls.append({**found, "function": function})
    return {**item, "tool_calls": calls}
