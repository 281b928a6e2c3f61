"""What a tool answered: one result for each call, as text with a cap, and whether it is an error."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from analyzer.agent.texts import paired

Status = Literal["ok", "invalid", "failed", "timed_out", "skipped"]


class ToolError(Exception):
    """What a tool raises to tell the model what went wrong and what to try: the message alone becomes the result."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call."""

    index: int
    """The call's place in the turn."""
    id: str | None
    """The call's id, as the call has it."""
    name: str
    """The name that was called."""
    content: str
    """The answer, or what went wrong."""
    status: Status = "ok"
    """`invalid`: it did not pass the checks; `failed`: the tool raised; `skipped`: it was not run."""
    truncated: bool = False
    """Whether the content was cut to the size cap."""
    left_running: bool = False
    """Whether the tool could not be stopped: a thread inside a blocking call, a task that ignores being cancelled."""

    @property
    def is_error(self) -> bool:
        """Whether the content tells of an error."""
        return self.status != "ok"


def as_text(value: Any) -> str:
    """Return what a tool returned as text: text as it is, all else as JSON; dataclasses, models and dates too."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return value.decode("utf-8", "replace")
    try:
        return to_json(value, fallback=repr).decode("utf-8")
    except PydanticSerializationError:  # it refuses halves of surrogate pairs, which names of files can hold
        plain = to_jsonable_python(value, fallback=repr)
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def capped(text: str, max_bytes: int | None) -> tuple[str, bool]:
    """Return text of at most so many bytes in UTF-8, cut between two characters and with a line that says so.

    Halves of surrogate pairs, which no request can carry, become U+FFFD.
    """
    text = paired(text)
    if max_bytes is None or len(text) * 4 <= max_bytes:
        return text, False
    data = text.encode("utf-8")
    if len(data) <= max_bytes:
        return text, False
    kept = data[: max(max_bytes, 0)].decode("utf-8", "ignore")
    said = f"[truncated: the first {len(kept.encode())} of {len(data)} bytes; narrow the request]"
    return f"{kept}\n{said}" if kept else said, True


def error_text(error: BaseException) -> str:
    """Return what the model is told of an exception."""
    try:
        said = str(error)
    except BaseException:  # noqa: BLE001  (a tool's own exception may be broken too, and must not end the batch)
        said = ""
    if isinstance(error, ToolError) and said:
        return said
    kind = type(error).__name__
    return f"{kind}: {said}" if said else kind
