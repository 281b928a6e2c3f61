"""Double of SGLang's `environ`: every setting is off."""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class ToolStrictLevel(IntEnum):
    """How many tools are held to their schemas."""

    OFF = 0
    FUNCTION = 1
    PARAMETER = 2


class _Off:
    """A setting."""

    @staticmethod
    def get() -> Any:
        """Its value."""
        return ToolStrictLevel.OFF


class _Settings:
    """All settings."""

    def __getattr__(self, name: str) -> _Off:
        return _Off()


envs = _Settings()
