"""Double of vLLM's `entrypoints.serve.engine.protocol`: what its models are made from."""

from __future__ import annotations

from pydantic import BaseModel


class OpenAIBaseModel(BaseModel):
    """A model of the API."""


class UsageInfo(OpenAIBaseModel):
    """Counts of tokens."""
