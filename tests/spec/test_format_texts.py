"""The runtime reads the texts of the fifteen formats as the messages that they mean."""

from __future__ import annotations

import pytest

runtime = pytest.importorskip("analyzer.runtime")
if not hasattr(runtime, "Parser"):
    pytest.skip("the runtime has no Parser yet", allow_module_level=True)
