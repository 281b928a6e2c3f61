"""Messages at work: each with the place where it stood, and a turn of calls with its results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Item:
    """A message at work."""

    message: dict[str, Any]
    path: str
    """Where it stood in the conversation as it was given: `messages[3]`."""
    results: list[Item] = field(default_factory=list)
    """The results of its calls, in the order of the calls; only for a turn with calls."""
    number: int = 0
    """Of a result: the number of its call within the turn."""

    @property
    def role(self) -> str:
        """The message's role."""
        return str(self.message.get("role"))

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls of the message."""
        calls: list[dict[str, Any]] = self.message.get("tool_calls", [])
        return calls
