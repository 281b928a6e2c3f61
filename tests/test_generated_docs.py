from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
GENERATORS: Final = sorted(path.name for path in (ROOT / "scripts").glob("*_docs"))


def test_there_are_generators() -> None:
    """The docs' generators are found."""
    assert {"architecture_docs", "cli_docs", "spec_docs"} <= set(GENERATORS)


@pytest.mark.parametrize("name", GENERATORS)
def test_generated_docs_are_up_to_date(name: str) -> None:
    """What a script writes into docs/ is there as it would write it now."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / name), "--check"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert 0 == done.returncode, done.stderr
