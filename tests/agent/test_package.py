"""What the package costs whoever imports it."""

from __future__ import annotations

import subprocess
import sys

import analyzer.agent
from tests.agent.common import ROOT


def test_no_client_and_no_template_engine_is_loaded() -> None:
    """Nothing but the library, pydantic and jsonschema."""
    code = "import analyzer.agent, sys; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(done.stdout.split())

    assert {"pydantic", "jsonschema"} <= loaded
    assert not loaded & {
        "jinja2",
        "transformers",
        "openai",
        "anthropic",
        "mcp",
        "httpx",
        "requests",
        "rich",
        "click",
    }


def test_all_is_complete() -> None:
    """Every public name is there, once, in order."""
    names = analyzer.agent.__all__

    assert len(set(names)) == len(names)
    assert all(hasattr(analyzer.agent, name) for name in names)


def test_files_stay_small() -> None:
    """One noun a file, under 400 lines."""
    sizes = {
        path.name: len(path.read_text("utf-8").splitlines())
        for path in (ROOT / "analyzer" / "agent").glob("*.py")
    }

    assert max(sizes.values()) < 400
