"""Double of vLLM's `entrypoints.openai.chat_completion.protocol`: the fields of a request that parsers look at."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel
from vllm.entrypoints.generate.base.protocol import FunctionDefinition


class ChatCompletionNamedFunction(BaseModel):
    """The name of a tool that is to be called."""

    name: str


class ChatCompletionNamedToolChoiceParam(BaseModel):
    """A named tool choice."""

    function: ChatCompletionNamedFunction
    type: Literal["function"] = "function"


class ChatCompletionToolsParam(BaseModel):
    """A tool as a request has it."""

    type: Literal["function"] = "function"
    function: FunctionDefinition


class ChatCompletionRequest(BaseModel):
    """A request."""

    tools: list[ChatCompletionToolsParam] | None = None
    tool_choice: Literal["none", "auto", "required"] | ChatCompletionNamedToolChoiceParam | None = "none"
    parallel_tool_calls: bool | None = True
    response_format: Any = None
    structured_outputs: Any = None
    skip_special_tokens: bool = True
    spaces_between_special_tokens: bool = True
    stop_token_ids: list[int] | None = None
    include_reasoning: bool = True
    chat_template_kwargs: dict[str, Any] | None = None

    def extract_structured_outputs(self) -> Any:
        """The constraint that the request asks for itself."""
        return self.structured_outputs or self.response_format
