"""Content and reasoning in the shape that a template reads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from analyzer.prepare.notes import Notes
from analyzer.spec.model import Spec

REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "thinking", "thought", "thoughts", "tool_plan")
"""The names that conversations keep reasoning under."""

_REASONING_PARTS: Final = frozenset({"thinking", "reasoning"})
_NULL_DEFECTS: Final = frozenset({"null_content_refused", "null_content_printed"})


def joined(content: Any, path: str, notes: Notes) -> str:
    """Content of any shape as one text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not _are_parts(content):
        return json.dumps(content, ensure_ascii=False)
    texts = []
    for at, part in enumerate(content):
        text = part.get("text", part.get("content")) if isinstance(part, Mapping) else part
        if isinstance(text, str):
            texts.append(text)
        else:
            kind = part.get("type", "?") if isinstance(part, Mapping) else type(part).__name__
            notes.take("part_dropped", f"{path}[{at}]", str(kind))
    return "".join(texts)


def _are_parts(content: Any) -> bool:
    return isinstance(content, Sequence) and all(
        isinstance(part, str) or (isinstance(part, Mapping) and "type" in part) for part in content
    )


def shaped_content(spec: Spec, message: Mapping[str, Any], path: str, notes: Notes) -> Any:
    """A message's content in the shape that the template wants."""
    content = message.get("content")
    place = f"{path}.content"
    if content is None:
        return _no_content(spec, message, place, notes)
    if isinstance(content, str):
        if spec.input.content == "parts" and (content or message.get("role") != "assistant"):
            notes.take("content_to_parts", place)
            return [{"type": "text", "text": content}]
        return content
    if spec.input.content != "text" and _are_parts(content):
        return list(content)
    if message.get("role") == "tool" and not _are_parts(content):
        notes.take("result_to_text", place)
    else:
        notes.take("content_to_text", place)
    return joined(content, place, notes)


def _no_content(spec: Spec, message: Mapping[str, Any], place: str, notes: Notes) -> str | None:
    """Null where it is proven that the template takes it beside calls, else an empty text."""
    proven = spec.verification.verdict in ("proven", "proven_with_defects")
    refused = any(defect.kind in _NULL_DEFECTS for defect in spec.defects)
    if message.get("tool_calls") and proven and not refused:
        return None
    notes.take("content_filled", place)
    return ""


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
    given: dict[str, Any] = {name: rest.pop(name) for name in REASONING_FIELDS if name in rest}
    found: list[tuple[str, str]] = [
        (name, text) for name, text in given.items() if isinstance(text, str) and text
    ]
    content = rest.get("content")
    if isinstance(content, Sequence) and not isinstance(content, str):
        thoughts = [part for part in content if _is_thought(part)]
        if thoughts and "parts" not in spec.input.content:
            rest["content"] = [part for part in content if not _is_thought(part)]
            found += [("content", _thought(part)) for part in thoughts]
    if not found:
        return {}, rest
    name, text = found[0]
    if given.get(wanted):
        name, text = wanted, given[wanted]
    if not wanted:
        notes.take("reasoning_dropped", f"{path}.{name}")
        return {}, rest
    if name != wanted:
        notes.take("reasoning_moved", f"{path}.{name}", f"to `{wanted}`")
    return {wanted: text}, rest


def _is_thought(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in _REASONING_PARTS


def _thought(part: Mapping[str, Any]) -> str:
    texts = (part.get(key) for key in ("thinking", "reasoning", "text", "content"))
    return next((text for text in texts if isinstance(text, str)), "")
