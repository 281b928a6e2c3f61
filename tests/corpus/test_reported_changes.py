"""A change to one template is reported as exactly that, in each output format."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner
from syrupy.assertion import SnapshotAssertion

from analyzer.cli.app import app
from tests.corpus.conftest import Invoke, small_corpus


@dataclass(frozen=True)
class Edit:
    """What is written in place of what in one template, and the difference that this is."""

    template: str
    replaced: tuple[tuple[str, str], ...]
    told: tuple[str, ...]


EDITS: Final = {
    "marker": Edit(
        "json_tag_per_call",
        (("<tool_call>", "<call>"), ("</tool_call>", "</call>")),
        ("'<tool_call>' is now '<call>'", "'</tool_call>' is now '</call>'"),
    ),
    "argument_key": Edit("json_tag_per_call", (('"arguments"', '"args"'),), ("'arguments' is now 'args'",)),
    "result_role": Edit(
        "header_recipient", (("open('tool')", "open('observation')"),), ("'tool' is now 'observation'",)
    ),
}
FILES: Final = {"--output": "out.json", "--junit": "out.xml", "--markdown": "out.md"}


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the committed specs of the small corpus."""
    folder = tmp_path_factory.mktemp("committed")
    corpus = small_corpus(folder / "corpus")
    words = [
        "corpus",
        "check",
        str(corpus),
        "--baseline",
        str(folder / "formats"),
        "--update-baseline",
        "--no-cache",
    ]
    result = CliRunner().invoke(app, words)

    assert 0 == result.exit_code, result.output
    return folder / "formats"


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_told_as_what_it_is(
    edit: str, committed: Path, tmp_path: Path, invoke: Invoke, snapshot: SnapshotAssertion
) -> None:
    """One template changed: one change is told, of that template, with the difference; nothing else."""
    change = EDITS[edit]
    corpus = small_corpus(tmp_path / "corpus")
    file = corpus / f"{change.template}.jinja"
    text = file.read_text(encoding="utf-8")
    for before, after in change.replaced:
        assert before in text
        text = text.replace(before, after)
    file.write_text(text, encoding="utf-8")
    options = [word for option, name in FILES.items() for word in (option, tmp_path / name)]
    result = invoke(corpus, "--baseline", committed, *options)
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))

    assert 1 == result.exit_code
    assert [(change.template, "format_changed")] == [(one["name"], one["kind"]) for one in found["changes"]]
    (form,) = found["formats"]
    assert [change.template] == form["templates"] == form["edited"]
    renamed = [one["words"].partition(":")[0] for one in form["differences"] if one["renamed"]]
    assert [*change.told] == renamed
    told = {key: found[key] for key in ("status", "changes", "formats", "broken_sources")}
    assert snapshot(name="json") == stable(json.dumps(told, indent=1))
    assert snapshot(name="terminal") == stable(result.stdout)
    for name in ("out.xml", "out.md"):
        assert snapshot(name=name) == stable((tmp_path / name).read_text(encoding="utf-8"))


def test_nothing_changed_is_told_too(
    committed: Path, tmp_path: Path, invoke: Invoke, snapshot: SnapshotAssertion
) -> None:
    """An unchanged corpus ends with 0, and says so."""
    corpus = small_corpus(tmp_path / "corpus")
    result = invoke(corpus, "--baseline", committed, "--markdown", tmp_path / "out.md")

    assert 0 == result.exit_code
    assert snapshot(name="terminal") == stable(result.stdout)
    assert snapshot(name="out.md") == stable((tmp_path / "out.md").read_text(encoding="utf-8"))


def stable(text: str) -> str:
    """The text without what was measured, and with formats numbered as they come: their names hang on every field."""
    lines = [
        line for line in text.splitlines() if not line.startswith(("time in all", "defects of templates"))
    ]
    seen: dict[str, str] = {}
    numbered = re.sub(
        r"\b[0-9a-f]{12}\b",
        lambda found: seen.setdefault(found[0], f"FORMAT-{len(seen) + 1}"),
        "\n".join(lines),
    )
    return re.sub(r" in \d+ s\b", " in N s", numbered)
