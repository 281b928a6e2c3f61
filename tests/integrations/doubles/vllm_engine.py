"""Double of vLLM's `entrypoints.serve.engine.protocol`: what its models are made from."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class OpenAIBaseModel(BaseModel):
    """A model of the API; what its fields are of may be a stub."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="allow")


class UsageInfo(OpenAIBaseModel):
    """Counts of tokens."""
