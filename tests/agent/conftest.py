"""No test of this folder leaves a tool running."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agent.running import join, threads


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    """No test leaves a thread, except inside a blocking call that ends by itself."""
    yield
    join()
    assert threads() == []
