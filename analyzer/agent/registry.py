"""The tools that can be run: each with its definition, whether it changes something, and limits of its own.

tools = Registry()

@tools.tool
def read_file(path: str) -> str:
    '''Read a text file.'''

@tools.tool(writer=True, timeout=5)
async def write_file(path: str, text: str) -> str:
    '''Write a text file.'''
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from analyzer.agent.functions import FunctionTool
from analyzer.chat import Tool
from analyzer.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool that can be run."""

    function: FunctionTool
    """The function and its definition."""
    writer: bool = False
    """Whether it changes something: such calls run one after another, in call order."""
    timeout: float | None = None
    """Seconds it may take; None: what the batch allows."""
    max_bytes: int | None = None
    """The most bytes of its result; None: what the batch allows."""


class Registry:
    """Tools by name."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The definitions, in the order in which they were added."""
        return tuple(entry.function.tool for entry in self._entries.values())

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The tools with all that belongs to them."""
        return tuple(self._entries.values())

    def get(self, name: str) -> Entry | None:
        """Return the tool of this name."""
        return self._entries.get(name)

    def add(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        writer: bool = False,
        timeout: float | None = None,
        max_bytes: int | None = None,
    ) -> Entry:
        """Add a function. Its definition is read from it, or is the one given (`parameters`: a JSON Schema)."""
        made = FunctionTool.of(function, name=name, description=description, parameters=parameters)
        if made.tool.name in self._entries:
            raise UsageError(f"two tools are named {made.tool.name!r}")
        entry = Entry(made, writer, timeout, max_bytes)
        self._entries[made.tool.name] = entry
        return entry

    @overload
    def tool(self, function: F, /) -> F: ...

    @overload
    def tool(self, /, **options: Any) -> Callable[[F], F]: ...

    def tool(self, function: F | None = None, /, **options: Any) -> F | Callable[[F], F]:
        """Add the function below; with the options of `add`."""
        if function is not None:
            self.add(function)
            return function

        def register(function: F) -> F:
            self.add(function, **options)
            return function

        return register
