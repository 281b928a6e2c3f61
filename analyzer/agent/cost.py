"""What tools cost: how much longer the prompt is with them, in characters and tokens, tool by tool.

The prompt is made by whoever asks (`render` takes a list of tools and returns the prompt), so this knows no template.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analyzer.chat import Tool

Render = Callable[[Sequence[Tool]], str]
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Size:
    """A length."""

    characters: int
    """In characters."""
    tokens: int | None = None
    """In tokens; None without a tokenizer."""

    def __sub__(self, other: Size) -> Size:
        tokens = None if self.tokens is None or other.tokens is None else self.tokens - other.tokens
        return Size(self.characters - other.characters, tokens)

    def __str__(self) -> str:
        return f"{self.characters} characters" + ("" if self.tokens is None else f", {self.tokens} tokens")


@dataclass(frozen=True, slots=True)
class Cost:
    """What the tools of a request add to its prompt."""

    with_tools: Size
    """The prompt as it is."""
    without_tools: Size
    """The same prompt with no tools."""
    each: tuple[tuple[str, Size], ...]
    """By tool: how much shorter the prompt is without it."""

    @property
    def tools(self) -> Size:
        """What all tools add."""
        return self.with_tools - self.without_tools

    @property
    def frame(self) -> Size:
        """What is added once, whichever tools there are: the instructions around the definitions."""
        left = self.tools
        for _, size in self.each:
            left -= size
        return left

    def __str__(self) -> str:
        lines = [f"prompt: {self.with_tools}", f"without tools: {self.without_tools}", f"tools: {self.tools}"]
        lines += [f"  {name}: {size}" for name, size in self.each]
        return "\n".join([*lines, f"  around them: {self.frame}"])


def tool_cost(render: Render, tools: Sequence[Tool], count: Count | None = None) -> Cost:
    """Measure what each tool adds to the prompt. `count` is a tokenizer: text to the number of its tokens."""

    def size(shown: Sequence[Tool]) -> Size:
        text = render(shown)
        return Size(len(text), None if count is None else count(text))

    whole, bare = size(tools), size(())
    if (
        len(tools) == 1
    ):  # without it the instructions go too, so it is measured by what a second one would add
        return Cost(whole, bare, ((tools[0].name, size([*tools, *tools]) - whole),))
    each = tuple(
        (tool.name, whole - size([*tools[:index], *tools[index + 1 :]])) for index, tool in enumerate(tools)
    )
    return Cost(whole, bare, each)
