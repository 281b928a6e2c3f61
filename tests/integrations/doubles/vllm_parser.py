"""Double of vLLM's `parser.abstract_parser`: in which order the server asks a pair of parsers that take deltas alone."""

from __future__ import annotations

from typing import Any

from vllm.entrypoints.generate.base.protocol import DeltaMessage


class DelegatingParser:
    """A pair of parsers for one choice of one request."""

    reasoning_parser_cls: Any = None
    tool_parser_cls: Any = None

    def __init__(
        self, tokenizer: Any, tools: Any = None, *args: Any, model_config: Any = None, **kwargs: Any
    ) -> None:
        reasoning, tool = type(self).reasoning_parser_cls, type(self).tool_parser_cls
        self._reasoning = reasoning and reasoning(tokenizer, *args, model_config=model_config, **kwargs)
        self._tools = tool and tool(tokenizer, tools)
        if self._reasoning is None and self._tools is not None:
            self._tools.skip_reasoning_parsing = True
        self._over: bool | None = None
        self._begun = False

    def set_prompt_token_ids(self, prompt_token_ids: Any) -> None:
        """Take the prompt."""
        if self._reasoning is not None:
            self._reasoning.set_prompt_token_ids(prompt_token_ids)

    def adjust_request(self, request: Any) -> Any:
        """Prepare a request."""
        for parser in (self._reasoning, self._tools):
            request = request if parser is None else parser.adjust_request(request)
        return request

    def parse(
        self,
        model_output: str,
        request: Any,
        enable_auto_tools: bool = False,  # noqa: FBT001, FBT002
        model_output_token_ids: Any = (),
    ) -> Any:
        """Read a whole output: reasoning, content, calls."""
        del enable_auto_tools, model_output_token_ids
        reasoning, content = None, model_output
        if self._reasoning is not None:
            reasoning, content = self._reasoning.extract_reasoning(model_output, request)
        if self._tools is None:
            return reasoning, content, []
        found = self._tools.extract_tool_calls(content or "", request=request)
        calls = [] if request.tool_choice == "none" else [call.function for call in found.tool_calls]
        return reasoning, found.content, calls

    def parse_delta(
        self,
        delta_text: str,
        delta_token_ids: Any,
        request: Any,
        prompt_token_ids: Any = None,
        *,
        finished: bool,
    ) -> Any:
        """Read a delta."""
        if self._over is None:
            self._over = self._reasoning is None or self._reasoning.is_reasoning_end(prompt_token_ids)
            self.set_prompt_token_ids(prompt_token_ids)
        said: list[Any] = []
        ids: Any = delta_token_ids
        if not self._over:
            said.append(self._reasoning.extract_reasoning_streaming("", "", delta_text, [], ids, ids))
            if not self._reasoning.has_engine_confirmed_reasoning_end():
                return self._end(said, request) if finished else _merged(said)
            self._over = True
            ids = self._reasoning.extract_content_ids(list(delta_token_ids))
            flushed = self._reasoning.finish_streaming()
            delta_text = flushed.content if flushed is not None else ""
        if self._tools is None:
            said.append(DeltaMessage(content=delta_text))
        else:
            self._begun = True
            said.append(
                self._tools.extract_tool_calls_streaming("", delta_text, delta_text, [], ids, ids, request)
            )
        return self._end(said, request) if finished else _merged(said)

    def _end(self, said: list[Any], request: Any) -> Any:
        if not self._over:
            self._reasoning.get_streaming_fallback_content("", request)
            said.append(self._reasoning.finish_streaming())
        if self._tools is not None:
            said.append(self._tools.finish_streaming())
        return _merged(said)


def _merged(said: list[Any]) -> Any:
    """Several messages as one."""
    found = [message for message in said if message is not None]
    if not found:
        return None
    return DeltaMessage(
        content="".join(message.content or "" for message in found) or None,
        reasoning="".join(message.reasoning or "" for message in found) or None,
        tool_calls=[call for message in found for call in message.tool_calls],
    )
