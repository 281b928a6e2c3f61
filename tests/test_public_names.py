from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import analyzer

ROOT = Path(__file__).parents[1]


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a statement loads in a fresh interpreter."""
    code = f"{statement}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_all_is_complete() -> None:
    """`__all__` lists every public name, in order, and each can be had."""
    homes = analyzer._HOMES

    assert sorted(homes) == sorted(analyzer.__all__)
    assert len(set(analyzer.__all__)) == len(analyzer.__all__)
    for name in analyzer.__all__:
        assert getattr(analyzer, name) is not None
    assert dir(analyzer) == sorted(analyzer.__all__)


def test_no_public_name_hides_a_package() -> None:
    """`analyzer.spec` is the package, whatever was imported before."""
    packages = {path.name for path in (ROOT / "analyzer").iterdir()} | {
        path.stem for path in (ROOT / "analyzer").glob("*.py")
    }

    assert not packages & set(analyzer.__all__)


def test_unknown_names_are_attribute_errors() -> None:
    """A name that is not there is told like everywhere."""
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = analyzer.nothing_like_it


@pytest.mark.parametrize(
    "statement", ["import analyzer", "import analyzer.runtime", "from analyzer import Parser"]
)
def test_the_runtime_is_light(statement: str) -> None:
    """What only parses loads no template engine, no transformers, no pydantic, nothing of the command line."""
    heavy = {"jinja2", "transformers", "pydantic", "rich", "click", "hypothesis", "yaml", "huggingface_hub"}

    assert not loaded_by(statement) & heavy


def test_loading_a_spec_needs_no_template_engine() -> None:
    """Specs are loaded and run without jinja2 and transformers."""
    statement = "from analyzer import load_spec, Parser, parse, Message, Spec"

    assert not loaded_by(statement) & {"jinja2", "transformers", "hypothesis", "rich", "click"}
