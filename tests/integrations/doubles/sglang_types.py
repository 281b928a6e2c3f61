"""Double of SGLang's `function_call.core_types`: what detectors return."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel


class ToolCallItem(BaseModel):
    """A call, or a piece of one."""

    tool_index: int
    name: str | None = None
    parameters: str


class StreamingParseResult(BaseModel):
    """Text and calls."""

    normal_text: str = ""
    calls: list[ToolCallItem] = []


@dataclass
class StructureInfo:
    """What begins and ends a call."""

    begin: str
    end: str
    trigger: str
