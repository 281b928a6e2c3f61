"""Specs and conversations that the tests of `prepare` are about, made in a line."""

from __future__ import annotations

from typing import Any, Final

from analyzer.prepare import Prepared
from analyzer.spec.model import (
    CallsSegment,
    ContentSegment,
    InputFacts,
    ReasoningSegment,
    SequenceLayout,
    Spec,
    Turn,
)
from analyzer.spec.parts import ArgumentsSlot, JsonCodec, NameSlot

ARGUMENTS: Final = ArgumentsSlot(codec=JsonCodec())
PLAIN: Final = SequenceLayout(parts=("<call>", NameSlot(), ":", ARGUMENTS, "</call>"))


def spec(
    *, layout: SequenceLayout = PLAIN, reasoning: tuple[str, ...] = ("reasoning_content",), **facts: Any
) -> Spec:
    """A spec of a template that wants these things."""
    thought = [ReasoningSegment(fields=reasoning, open="<think>", close="</think>")] if reasoning else []
    segments = (*thought, ContentSegment(), CallsSegment(layouts=(layout,)))
    return Spec(input=InputFacts(reasoning_fields=reasoning, **facts), turn=Turn(segments=segments))


def chat(*calls: dict[str, Any], **message: Any) -> list[dict[str, Any]]:
    """A question and an assistant's turn."""
    turn = {"role": "assistant", "content": "", **message}
    return [{"role": "user", "content": "Q"}, {**turn, "tool_calls": list(calls)} if calls else turn]


def call(identity: str | None = "c1", name: str = "f", arguments: Any = None) -> dict[str, Any]:
    """A call."""
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments or {}}}


def result(identity: str, content: str = "done") -> dict[str, Any]:
    """A result."""
    return {"role": "tool", "tool_call_id": identity, "name": "f", "content": content}


def kinds(prepared: Prepared) -> list[str]:
    """The kinds of the notes, each once."""
    return sorted({note.kind for note in prepared.notes})
