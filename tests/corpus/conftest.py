"""A small corpus of our own templates, a run over it, and no cache but the test's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner, Result

from analyzer.cli.app import app

TEMPLATES: Final = Path(__file__).parents[2] / "corpus" / "templates"
SMALL: Final = ("header_recipient", "json_tag_per_call", "key_value_tags", "no_tools")

Invoke = Callable[..., Result]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results go to a folder of the test's own."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("ANALYZER_CACHE", str(folder))
    return folder


@pytest.fixture
def invoke() -> Invoke:
    """Run `analyzer corpus check` with one process, or on the cluster that is named."""

    def run(*arguments: object, stdin: str | None = None) -> Result:
        words = ["corpus", "check", *map(str, arguments)]
        if "--scheduler" not in words:
            words += ["--jobs", "1"]
        return CliRunner().invoke(app, words, input=stdin)

    return run


def small_corpus(folder: Path) -> Path:
    """Some of our own templates in a folder, and a copy of one that shares its format."""
    folder.mkdir()
    for name in SMALL:
        (folder / f"{name}.jinja").write_text(
            (TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8"), encoding="utf-8"
        )
    twin = (TEMPLATES / "json_tag_per_call.jinja").read_text(encoding="utf-8")
    (folder / "twin.jinja").write_text(f"{{#- the same in another model -#}}\n{twin}", encoding="utf-8")
    return folder
