"""What is committed of the real templates is whole, and says of the set that llama.cpp bundles that it is proven.

Nothing is fetched or analysed here: `scripts/regenerate --check` says whether it is still true.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from analyzer.corpus import load_lock
from analyzer.corpus.golden import INDEX, SHA_DIGITS, read_index
from analyzer.corpus.result import PROVEN

FOLDER: Final = Path(__file__).parents[2] / "generated" / "corpus"
ENTRIES: Final[dict[str, dict[str, Any]]] = read_index((FOLDER / INDEX).read_text(encoding="utf-8"))
BUNDLED: Final = sorted(
    one.name
    for one in load_lock().templates
    if any("/llama.cpp/models/templates/" in path for path in one.members.get("xllamacpp", ()))
)
CALLING: Final = [name for name in BUNDLED if ENTRIES[name].get("calls")]
GAPS: Final[dict[str, str]] = yaml.safe_load(
    Path(__file__).with_name("llama_cpp_gaps.yaml").read_text(encoding="utf-8")
)
MOST_BYTES: Final = 6_000_000


def test_the_index_is_about_the_locked_templates() -> None:
    """Every template of the full corpus has an entry, with its hash; no other has."""
    assert {one.name: one.sha256[:SHA_DIGITS] for one in load_lock().templates} == {
        name: entry["sha256"] for name, entry in ENTRIES.items()
    }


def test_formats_are_there_and_used() -> None:
    """Each format that the index names is a file, and each file is named; together they are small."""
    files = {path.stem: path.stat().st_size for path in FOLDER.glob("*.yaml") if path.name != INDEX}

    assert {entry["format"] for entry in ENTRIES.values() if "format" in entry} == set(files)
    assert sum(files.values()) < MOST_BYTES


def test_the_bundled_set_is_the_one_that_is_meant() -> None:
    """llama.cpp bundles some seventy templates; most of them render calls."""
    assert len(BUNDLED) >= 70
    assert len(CALLING) >= 55
    assert set(GAPS) <= set(CALLING)


@pytest.mark.parametrize("name", CALLING)
def test_a_bundled_template_is_proven(name: str) -> None:
    """By inference and the overlays; one that is listed with its reason is not, or else it has to leave the list."""
    proven = ENTRIES[name]["verdict"] in PROVEN

    if name in GAPS:
        assert not proven, f"{name} is {ENTRIES[name]['verdict']} now: take it out of llama_cpp_gaps.yaml"
    else:
        assert proven, f"{name} is {ENTRIES[name]['verdict']}"
