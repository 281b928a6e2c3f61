"""Reasoning under the field that a template reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from analyzer.prepare.notes import Notes
from analyzer.spec.model import Spec

REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "thinking", "thought", "thoughts", "tool_plan")
"""The names that conversations keep reasoning under."""

_REASONING_PARTS: Final = frozenset({"thinking", "reasoning"})
_TEXTS: Final = ("thinking", "reasoning", "text", "content")
"""The keys of a block that hold its text."""


def reasoning_field(spec: Spec) -> str:
    """The field that the template reads reasoning from, empty when it reads none."""
    named = [field for segment in spec.reasoning for field in segment.fields if field != "content"]
    return next(iter(spec.input.reasoning_fields), next(iter(named), ""))


def take_reasoning(
    spec: Spec, message: Mapping[str, Any], path: str, notes: Notes
) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The reasoning of a message under the template's field, and the message without it."""
    wanted = reasoning_field(spec)
    rest = dict(message)
    found: dict[str, str] = {}
    for name in dict.fromkeys((wanted, *REASONING_FIELDS)):
        given = rest.get(name)
        if not given:
            if name == wanted and name in rest and given is None:
                notes.take("reasoning_absent", f"{path}.{name}")
                del rest[name]
            continue
        text = _text(given)
        if text:
            found[name] = text
        else:
            notes.take("reasoning_dropped", f"{path}.{name}", f"a {type(given).__name__} without a text")
        del rest[name]
    thoughts = _thoughts(rest) if wanted or spec.input.content != "parts" else ""
    if thoughts:
        found["content"] = thoughts
    if not found:
        return {}, rest
    if not wanted:
        for name in found:
            notes.take("reasoning_dropped", f"{path}.{name}")
        return {}, rest
    texts = list(dict.fromkeys(found.values()))
    for name in found:
        if name != wanted:
            notes.take("reasoning_moved", f"{path}.{name}", f"to `{wanted}`")
    if len(texts) > 1:
        notes.take("reasoning_joined", path, ", ".join(found))
    return {wanted: "\n\n".join(texts)}, rest


def _thoughts(message: dict[str, Any]) -> str:
    """Take the reasoning blocks out of a message's content."""
    content = message.get("content")
    if not isinstance(content, Sequence) or isinstance(content, str):
        return ""
    thoughts = [
        part for part in content if isinstance(part, Mapping) and part.get("type") in _REASONING_PARTS
    ]
    if thoughts:
        message["content"] = [part for part in content if not any(part is one for one in thoughts)]
    return "".join(map(_text, thoughts))


def _text(given: Any) -> str:
    """The text of a field or of a block, empty when there is none."""
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping):
        return next((given[key] for key in _TEXTS if isinstance(given.get(key), str)), "")
    if isinstance(given, Sequence):
        return "".join(map(_text, given)) if all(isinstance(one, (str, Mapping)) for one in given) else ""
    return ""
