"""Double of vLLM's `sampling_params`: how a constraint is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.integrations.servers import stub


@dataclass
class StructuredOutputsParams:
    """A constraint on the output."""

    json: str | dict[str, Any] | None = None
    json_object: bool | None = None
    structural_tag: str | None = None


def __getattr__(name: str) -> Any:
    """Anything else is an empty class."""
    if name.startswith("__"):
        raise AttributeError(name)
    return stub(name)
