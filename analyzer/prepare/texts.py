"""Content in the shape that a template reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.prepare.json_texts import json_text
from analyzer.prepare.notes import Notes
from analyzer.spec.model import Spec


def text_parts(text: str) -> list[dict[str, Any]]:
    """A text as a list of one part."""
    return [{"type": "text", "text": text}]


def as_content(spec: Spec, text: str) -> Any:
    """A text in the shape of content that the template wants."""
    return text_parts(text) if spec.input.content == "parts" else text


def joined(content: Any, path: str, notes: Notes) -> str:
    """Content of any shape as one text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not _are_parts(content):
        return json_text(content, path)
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


def shaped_content(spec: Spec, message: dict[str, Any], path: str, notes: Notes) -> dict[str, Any]:
    """The message with its content in the shape that the template wants."""
    content = message.get("content")
    place = f"{path}.content"
    blank = " " if spec.input.empty_content == "space" else ""
    if message.get("tool_calls") and content in (None, "", [], blank):
        return _without_text(spec, message, place, notes)
    return {**message, "content": _content(spec, message.get("role"), content, place, notes)}


def _content(spec: Spec, role: Any, content: Any, place: str, notes: Notes) -> Any:
    if content is None:
        notes.take("content_filled", place)
        content = ""
    if isinstance(content, str):
        if spec.input.content == "parts" and (content or role != "assistant"):
            notes.take("content_to_parts", place)
            return text_parts(content)
        return content
    if spec.input.content != "text" and _are_parts(content):
        return list(content)
    notes.take("result_to_text" if role == "tool" and not _are_parts(content) else "content_to_text", place)
    return as_content(spec, joined(content, place, notes))


def _without_text(spec: Spec, message: dict[str, Any], place: str, notes: Notes) -> dict[str, Any]:
    """A turn of calls without a text, with what the template wants in its place."""
    wanted = spec.input.empty_content
    if wanted == "text":
        notes.take("content_required", place)
    given = message.get("content", "absent")
    put: Any = {"null": None, "space": " ", "absent": "absent"}.get(wanted, "")
    if given == put:
        return message
    if wanted in ("empty", "text"):
        notes.take("content_filled", place)
    else:
        notes.take("content_emptied", place, wanted)
    if wanted == "absent":
        return {key: value for key, value in message.items() if key != "content"}
    return {**message, "content": put}
