"""Double of vLLM's `tool_parsers.abstract_tool_parser`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vllm.entrypoints.generate.base.protocol import DeltaMessage
from vllm.sampling_params import StructuredOutputsParams

__all__ = ["DeltaMessage", "StructuredOutputsParams", "ToolParser", "ToolParserManager"]


class ToolParser:
    """What a tool parser is."""

    supports_required_and_named: bool = True
    structural_tag_model: str | None = None
    engine_based_streaming: bool = False

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        self.model_tokenizer = tokenizer
        self.tools = tools or []
        self.prev_tool_call_arr: list[dict[str, Any]] = []
        self.streamed_args_for_tool: list[str] = []

    def get_remaining_unstreamed_args(self) -> str:
        """What is left of the last call's arguments."""
        return ""

    def adjust_request(self, request: Any) -> Any:
        """Prepare a request."""
        raise NotImplementedError

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        """Read a whole output."""
        raise NotImplementedError

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any:
        """Read a delta."""
        raise NotImplementedError


class ToolParserManager:
    """The registry."""

    tool_parsers: dict[str, type] = {}  # noqa: RUF012  (as it is there)

    @classmethod
    def register_module(cls, name: Any = None, force: bool = True, module: Any = None) -> Any:  # noqa: FBT001, FBT002
        """Register a class."""
        del force
        cls.tool_parsers[name] = module
        return module

    @classmethod
    def get_tool_parser(cls, name: str) -> type:
        """Find a class."""
        return cls.tool_parsers[name]
