"""A running server, and the official clients that talk to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integrations.replay import running


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """The example server on this machine."""
    with running() as found:
        yield found


@pytest.fixture(scope="module")
def chat(server: Any) -> Iterator[Any]:
    """OpenAI's client."""
    import openai  # noqa: PLC0415  (slow to load)

    base = f"http://127.0.0.1:{server.server_port}/v1"
    with openai.OpenAI(base_url=base, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def messages(server: Any) -> Iterator[Any]:
    """Anthropic's client."""
    import anthropic  # noqa: PLC0415  (slow to load)

    base = f"http://127.0.0.1:{server.server_port}"
    with anthropic.Anthropic(base_url=base, api_key="none", max_retries=0) as client:
        yield client
