"""Target `json-schema`: the `response_format` for models whose template has no calls, told in the prompt how to call.

A reply is `{"tool": ..., "arguments": {...}}` or `{"answer": ...}`: one branch a tool, and one for the answer unless a call is
required. `analyzer.agent.system_text` says so in the prompt, and `analyzer.agent.PromptedParser` reads the replies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from analyzer.agent.prompted import response_format
from analyzer.chat import Tool
from analyzer.export.choice import resolve
from analyzer.export.result import Export, Losses, Options
from analyzer.export.schemas import arguments_schema
from analyzer.spec.model import Spec

TARGET: Final = "json-schema"


def export(spec: Spec, tools: Sequence[Tool], options: Options) -> Export:
    """Return the `response_format`; nothing of it comes from the spec's own calls."""
    losses = Losses()
    choice = resolve(spec, tools, options, losses, TARGET, prompted=True)
    if choice.mode == "none":
        return Export({"type": "text"}, losses.all())
    for tool in choice.tools:
        arguments_schema(tool, TARGET)  # says what is wrong with a schema, and where
    if spec.calls is not None:
        losses.add("own_format", "The model's own format of calls is not used: a reply is one JSON object.")
    if not choice.single:
        losses.add("one_call", "A reply holds one call.")
    found: dict[str, Any] = response_format(choice.tools)
    if choice.mode == "forced":
        schema = found["json_schema"]["schema"]
        schema["oneOf"] = [branch for branch in schema["oneOf"] if "tool" in branch["properties"]]
    return Export(found, losses.all())
