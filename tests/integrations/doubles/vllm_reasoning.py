"""Double of vLLM's `reasoning.abs_reasoning_parsers`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


class ReasoningParser:
    """What a reasoning parser is."""

    engine_based_streaming: bool = False

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        del args, kwargs
        self.model_tokenizer = tokenizer

    def has_engine_confirmed_reasoning_end(self) -> bool:
        """Whether reasoning is over."""
        return False

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Whether a prompt ends behind reasoning."""
        raise NotImplementedError

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        """Whether reasoning ends within a delta."""
        raise NotImplementedError

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """The tokens behind reasoning."""
        raise NotImplementedError

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """Read a whole output."""
        raise NotImplementedError

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> Any:
        """Read a delta."""
        raise NotImplementedError

    def adjust_request(self, request: Any) -> Any:
        """Prepare a request."""
        return request

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        """Take the prompt."""

    def adjust_initial_state_from_prompt(self, prompt_token_ids: Sequence[int]) -> None:
        """Take the prompt, when reasoning is open behind it."""


class ReasoningParserManager:
    """The registry."""

    reasoning_parsers: dict[str, type] = {}  # noqa: RUF012  (as it is there)

    @classmethod
    def register_module(cls, name: Any = None, force: bool = True, module: Any = None) -> Any:  # noqa: FBT001, FBT002
        """Register a class."""
        del force
        cls.reasoning_parsers[name] = module
        return module

    @classmethod
    def get_reasoning_parser(cls, name: str) -> type:
        """Find a class."""
        return cls.reasoning_parsers[name]
