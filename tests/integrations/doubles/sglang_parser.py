"""Double of SGLang's `function_call.function_call_parser`: in which order the server asks a tool-call detector."""

from __future__ import annotations

from typing import Any


class FunctionCallParser:
    """A detector for one choice of one request."""

    ToolCallParserEnum: dict[str, Any] = {}  # noqa: RUF012  (as it is there)

    def __init__(self, tools: Any, tool_call_parser: str, tokenizer: Any = None, tool_choice: Any = None, prefix: str = "", constrained: bool = False) -> None:  # fmt: skip  # noqa: FBT001, FBT002
        del tokenizer, tool_choice, prefix, constrained
        self.tools = tools
        self.detector = self.ToolCallParserEnum[tool_call_parser]()

    def has_tool_call(self, text: str) -> bool:
        """Whether there is anything to read."""
        return bool(self.tools and self.detector.has_tool_call(text))

    def parse_non_stream(self, full_text: str, *, preserve_incomplete: bool = False) -> Any:
        """Read a whole text."""
        del preserve_incomplete
        found = self.detector.detect_and_parse(full_text, self.tools)
        if found.calls or self.detector.has_tool_call(full_text):
            return found.normal_text, found.calls
        return full_text, []

    def parse_stream_chunk(self, chunk_text: str) -> Any:
        """Read a delta."""
        found = self.detector.parse_streaming_increment(chunk_text, self.tools)
        return found.normal_text, found.calls

    def parse_stream_end(self) -> Any:
        """Say what is left."""
        found = self.detector.finish(self.tools)
        return found.normal_text, found.calls

    def get_structure_constraint(self, tool_choice: Any, parallel_tool_calls: bool = True, thinking_mode: bool = False) -> Any:  # fmt: skip  # noqa: FBT001, FBT002
        """Return what calls are held to: a forced one, or a strict tool's."""
        if tool_choice == "auto" and not any(tool.function.strict for tool in self.tools):
            return None
        tag = self.detector.get_structural_tag(
            tools=self.tools,
            thinking_mode=thinking_mode,
            tool_choice=tool_choice,
            parallel_tool_calls=parallel_tool_calls,
        )
        return None if tag is None else ("structural_tag", tag)
