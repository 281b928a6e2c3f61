"""Double of SGLang's `parser.reasoning_parser`: the base of reasoning detectors, and in which order the server asks one."""

from __future__ import annotations

import inspect
from typing import Any


class StreamingParseResult:
    """Text and reasoning."""

    def __init__(self, normal_text: str | None = None, reasoning_text: str | None = None) -> None:
        self.normal_text = normal_text or ""
        self.reasoning_text = reasoning_text or ""


class BaseReasoningFormatDetector:
    """What a reasoning detector is."""

    def __init__(  # noqa: PLR0917
        self,
        think_start_token: str,
        think_end_token: str,
        think_excluded_tokens: Any = None,
        force_reasoning: bool = False,  # noqa: FBT001, FBT002
        stream_reasoning: bool = True,  # noqa: FBT001, FBT002
        tool_start_token: str | None = None,
        continue_final_message: bool = False,  # noqa: FBT001, FBT002
        previous_content: str = "",
        thinks_internally: bool = False,  # noqa: FBT001, FBT002
        reasoning_default: str = "always",
        force_nonempty_content: bool = False,  # noqa: FBT001, FBT002
        tool_start_at_line_start: bool = False,  # noqa: FBT001, FBT002
    ) -> None:
        del think_excluded_tokens, tool_start_token, continue_final_message, previous_content
        del thinks_internally, reasoning_default, tool_start_at_line_start
        self.think_start_token = think_start_token
        self.think_end_token = think_end_token
        self.stream_reasoning = stream_reasoning
        self._in_reasoning = force_reasoning
        self._force_nonempty_content = force_nonempty_content
        self._accumulated_reasoning = ""

    def get_think_end_token_ids(self, tokenizer: Any) -> Any:
        """The ids of what closes reasoning."""
        return tokenizer.encode(self.think_end_token, add_special_tokens=False)

    def detect_and_parse(self, text: str) -> Any:
        """Read a whole text."""
        found = self._detect_and_parse_impl(text)  # type: ignore[attr-defined]
        if self._force_nonempty_content and not found.normal_text:
            found.normal_text, found.reasoning_text = found.reasoning_text, found.normal_text
        return found

    def parse_streaming_increment(self, new_text: str) -> Any:
        """Read a delta."""
        found = self._parse_streaming_increment_impl(new_text)  # type: ignore[attr-defined]
        if self._force_nonempty_content:
            self._accumulated_reasoning = (
                self._accumulated_reasoning + found.reasoning_text if self._in_reasoning else ""
            )
        return found

    def finish(self) -> Any:
        """Say what is left."""
        raise NotImplementedError


class ReasoningParser:
    """A detector for one choice of one request."""

    DetectorMap: dict[str, Any] = {}  # noqa: RUF012  (as it is there)

    def __init__(
        self,
        model_type: str | None = None,
        stream_reasoning: bool = True,  # noqa: FBT001, FBT002
        force_reasoning: bool | None = None,  # noqa: FBT001
        request: Any = None,
        tokenizer: Any = None,
        tool_call_parser_active: bool = False,  # noqa: FBT001, FBT002
        prefix: str | None = None,
    ) -> None:
        del tokenizer, prefix
        cls = self.DetectorMap[str(model_type).lower()]
        given: dict[str, Any] = {"stream_reasoning": stream_reasoning}
        if force_reasoning is not None:
            given["force_reasoning"] = force_reasoning
        if (getattr(request, "chat_template_kwargs", None) or {}).get("force_nonempty_content") is True:
            given["force_nonempty_content"] = True
        if tool_call_parser_active and "tool_call_parser_active" in inspect.signature(cls).parameters:
            given["tool_call_parser_active"] = True
        self.detector = cls(**given)

    def parse_non_stream(self, full_text: str) -> Any:
        """Read a whole text."""
        found = self.detector.detect_and_parse(full_text)
        return found.reasoning_text, found.normal_text

    def parse_stream_chunk(self, chunk_text: str) -> Any:
        """Read a delta."""
        found = self.detector.parse_streaming_increment(chunk_text)
        return found.reasoning_text, found.normal_text

    def parse_stream_end(self) -> Any:
        """Say what is left."""
        found = self.detector.finish()
        return found.reasoning_text, found.normal_text
