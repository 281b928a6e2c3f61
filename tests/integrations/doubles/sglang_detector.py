"""Double of SGLang's `function_call.base_format_detector`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class BaseFormatDetector(ABC):
    """What a tool-call detector is."""

    def __init__(self) -> None:
        self.bot_token = ""
        self.eot_token = ""
        self.prev_tool_call_arr: list[Any] = []
        self.streamed_args_for_tool: list[str] = []

    @abstractmethod
    def detect_and_parse(self, text: str, tools: Any) -> Any:
        """Read a whole text."""

    @abstractmethod
    def has_tool_call(self, text: str) -> bool:
        """Whether there is anything to read."""

    @abstractmethod
    def structure_info(self) -> Any:
        """What begins and ends a call."""

    def parse_streaming_increment(self, new_text: str, tools: Any) -> Any:
        """Read a delta."""
        raise NotImplementedError

    def finish(self, tools: Any) -> Any:
        """Say what is left."""
        raise NotImplementedError

    def supports_structural_tag(self) -> bool:
        """Whether `structure_info` is to be used."""
        return True

    def parses_required_natively(self) -> bool:
        """Whether forced calls come in the format's own spelling."""
        return False

    def get_required_tool_parser(self, tool_choice: Any) -> Any:
        """Return another detector for forced calls."""
        del tool_choice

    def get_structural_tag(
        self,
        tools: Any = None,
        tool_choice: Any = "auto",
        thinking_mode: bool = False,  # noqa: FBT001, FBT002
        parallel_tool_calls: bool = True,  # noqa: FBT001, FBT002
    ) -> Any:
        """Return what calls are held to."""
        raise NotImplementedError
