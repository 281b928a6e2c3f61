"""Settings that hold for all tests: see `tests/budget.py`."""

from __future__ import annotations

from tests import budget

budget.register()
