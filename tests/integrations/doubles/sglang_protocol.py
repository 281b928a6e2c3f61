"""Double of SGLang's `entrypoints.openai.protocol`: the tools and the choice of a request."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from tests.integrations.servers import stub


class Function(BaseModel):
    """A tool."""

    description: str | None = None
    name: str
    parameters: Any = None
    strict: bool = False


class Tool(BaseModel):
    """A tool as a request has it."""

    type: str = "function"
    function: Function


class ToolChoiceFuncName(BaseModel):
    """The name of a tool that is to be called."""

    name: str | None = None


class ToolChoice(BaseModel):
    """A named tool choice."""

    function: ToolChoiceFuncName
    type: Literal["function"] = "function"


def __getattr__(name: str) -> Any:
    """Anything else is an empty class."""
    if name.startswith("__"):
        raise AttributeError(name)
    return stub(name)
