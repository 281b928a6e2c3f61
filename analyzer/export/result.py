"""What an export gives, and what it can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the target cannot say of a spec."""

    kind: str
    """One word for it, for tables and tests."""
    text: str
    """One sentence for the person who uses the export."""


@dataclass(frozen=True, slots=True)
class Export:
    """An exported spec."""

    payload: Any
    """Text, or JSON data, in the form that the target's engine loads."""
    losses: tuple[Loss, ...] = ()
    """What the target cannot say of this spec."""


@dataclass(frozen=True, slots=True)
class Options:
    """What an export is asked for."""

    tool_choice: str = "auto"
    """`auto`, `none`, `required`, or a tool's name."""
    parallel: bool = True
    """False: at most one call a turn."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    """The ids of markers that are special tokens, where a tokenizer is known."""
    legacy: bool = False
    """The older form of a target that has two."""
    exclude_closers: bool = False
    """True: JSON strings may not hold the call's closer, for parsers that end a call at the first one."""


class Losses:
    """Losses as they are found, each kind once."""

    def __init__(self) -> None:
        self._found: dict[str, Loss] = {}

    def add(self, kind: str, text: str) -> None:
        """Note a loss; a second one of the same kind says nothing new."""
        self._found.setdefault(kind, Loss(kind, text))

    def all(self) -> tuple[Loss, ...]:
        """Return them in the order in which they were found."""
        return tuple(self._found.values())
