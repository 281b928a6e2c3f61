"""Anything that holds templates can be the corpus, and what cannot be loaded is told."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from analyzer.corpus.sources import BrokenSource, Loaded, list_in, load_sources, unique
from analyzer.errors import UsageError
from analyzer.template import Template, load_templates
from tests.corpus.conftest import TEMPLATES, Invoke

NOBODY: Final = 65534
"""A user without rights, by the habit of Unix."""


def model(folder: Path, text: str = "{{ messages }}", **config: Any) -> Path:
    """A model folder."""
    folder.mkdir(parents=True)
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"chat_template": text, **config}), encoding="utf-8"
    )
    return folder


def names(loaded: list[Loaded]) -> list[str]:
    """The names of what was loaded, the reasons of what was not."""
    return [
        name
        for one in loaded
        for name in ([one.reason] if isinstance(one, BrokenSource) else [template.name for template in one])
    ]


def test_a_folder_gives_what_is_below_it(tmp_path: Path) -> None:
    """Template files and model folders at any depth, named by their path; hidden folders are left alone."""
    model(tmp_path / "maker" / "model-a")
    model(
        tmp_path / "maker" / "model-b" / "v2",
        [{"name": "default", "template": "a"}, {"name": "tool_use", "template": "b"}],
    )  # type: ignore[arg-type]
    model(tmp_path / ".cache" / "model-c")
    for name in ("one.jinja", "maker/two.j2", "maker/notes.txt"):
        (tmp_path / name).write_text("{{ messages }}", encoding="utf-8")

    assert ["maker/model-a", "maker/model-b/v2", "maker/model-b/v2:tool_use", "maker/two", "one"] == names(
        list(load_sources([str(tmp_path)]))
    )


def test_a_model_folder_is_one_model(tmp_path: Path) -> None:
    """Named itself, or through a file of it, a model has its folder's name and its tokens."""
    folder = model(tmp_path / "model-a", eos_token="</s>")  # noqa: S106  (no password)
    for source in (folder, folder / "tokenizer_config.json"):
        ((template,),) = load_sources([str(source)])
        assert isinstance(template, Template)
        assert ("model-a", {"eos_token": "</s>"}) == (template.name, dict(template.special_tokens))


def test_gguf_files_are_found_in_folders(tmp_path: Path) -> None:
    """A GGUF file below a folder is a source; its template is there."""
    gguf = pytest.importorskip("gguf", reason="gguf is not installed")
    writer = gguf.GGUFWriter(tmp_path / "small.gguf", "test")
    writer.add_string("tokenizer.chat_template", "{{ messages }}")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()

    assert ["small"] == names(list(load_sources([str(tmp_path)])))


def test_what_cannot_be_loaded_is_told_in_its_place(tmp_path: Path) -> None:
    """A file that is not there, an empty one, one that is no text, a folder with nothing in it."""
    (tmp_path / "good.jinja").write_text("x", encoding="utf-8")
    (tmp_path / "empty.jinja").touch()
    (tmp_path / "binary.jinja").write_bytes(b"\xff\xfe")
    (tmp_path / "damaged.gguf").write_bytes(b"GGUF")
    (tmp_path / "nothing").mkdir()
    sources = ["good.jinja", "absent.jinja", "empty.jinja", "binary.jinja", "damaged.gguf", "nothing"]
    loaded = list(load_sources([str(tmp_path / name) for name in sources]))

    assert [False, True, True, True, True, True] == [isinstance(one, BrokenSource) for one in loaded]
    expected = ["good", "no such file", "is empty", "not UTF-8", "GGUF", "No chat template"]
    assert all(part in name for part, name in zip(expected, names(loaded), strict=True)), names(loaded)


@contextmanager
def nobody_special() -> Iterator[None]:
    """No rights that let root read what is closed."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may read: pytest's own may be read by its user alone."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("mode", [0o000, 0o100, 0o400], ids=["nothing", "no list", "names only"])
def test_a_folder_that_cannot_be_looked_into(mode: int, open_folder: Path) -> None:
    """It is told in its place, at any depth, and what is beside it is loaded."""
    for name in ("a", "maker/b", "maker/closed/c", "z"):
        file = open_folder / f"{name}.jinja"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{{ messages }}", encoding="utf-8")
    closed = open_folder / "maker" / "closed"
    closed.chmod(mode)
    try:
        with nobody_special():
            loaded = list(load_sources([str(open_folder)]))
            alone = list(load_sources([str(closed)]))
    finally:
        closed.chmod(0o755)
    told = f"{closed}: this cannot be looked into: Permission denied."

    assert ["a", "maker/b", told, "z"] == names(loaded)
    assert [told] == names(alone)
    (broken,) = (one for one in loaded if isinstance(one, BrokenSource))
    assert broken.covers("maker/closed/c")
    assert broken.covers("maker/closed/c:tool_use")
    assert not broken.covers("maker/closed-too")
    assert not broken.covers("a")
    (whole,) = alone
    assert isinstance(whole, BrokenSource)
    assert whole.covers("anything")


def test_a_closed_folder_breaks_the_run_and_not_the_job(
    tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are checked; what is committed of templates in it has not vanished."""
    corpus = tmp_path / "corpus"
    (corpus / "closed").mkdir(parents=True)
    for name in ("no_tools", "closed/no_tools"):
        text = (TEMPLATES / "no_tools.jinja").read_text(encoding="utf-8")
        (corpus / f"{name}.jinja").write_text(text, encoding="utf-8")
    options = (corpus, "--baseline", tmp_path / "formats", "-o", tmp_path / "out.json")
    assert 0 == invoke(*options, "--update-baseline").exit_code
    list_folder = Path.iterdir

    def refuse(folder: Path) -> Iterator[Path]:
        if folder.name == "closed":
            raise PermissionError(13, "Permission denied", str(folder))
        return list_folder(folder)

    monkeypatch.setattr(Path, "iterdir", refuse)
    result = invoke(*options)
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))

    assert 7 == result.exit_code, result.output
    assert ["no_tools"] == [one["name"] for one in found["results"]]
    assert [("broken_source", str(corpus / "closed"))] == [
        (one["kind"], one["name"]) for one in found["changes"]
    ]
    assert "cannot be looked into" in result.stdout


def test_an_empty_source_is_a_mistake() -> None:
    """It is not the current folder."""
    with pytest.raises(UsageError, match="empty"):
        load_templates("")


def test_hub_ids_are_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks like a hub id is asked for there; the model's id is its name."""
    asked: list[str] = []

    def from_hub(hub_id: str) -> tuple[Template, ...]:
        asked.append(hub_id)
        return (Template(hub_id, "x"),)

    monkeypatch.setattr("analyzer.template.load.from_hub", from_hub)

    assert ["maker/a", "maker/b@main"] == names(list(load_sources(["maker/a", "maker/b@main"])))
    assert ["maker/a", "maker/b@main"] == sorted(asked)


def test_names_are_made_unique() -> None:
    """Templates that differ keep apart under one name; the same one twice is one, under two names it is two."""
    twice, other = Template("a", "x"), Template("a", "y")
    found = unique([twice, twice, other, Template("b", "x")])

    assert 3 == len(found) == len({template.name for template in found})
    assert all(template.name.startswith("a@") for template in found[:2])
    assert "b" == found[2].name


def test_a_list_of_sources(tmp_path: Path, invoke: Invoke) -> None:
    """One a line, comments and empty lines left out; a list that cannot be read is a usage error."""
    assert ["maker/a", "b.jinja"] == list_in("# mine\nmaker/a\n\n  b.jinja  \n")
    result = invoke("--sources", tmp_path / "absent.txt")
    assert 2 == result.exit_code
    assert "absent.txt: No such file" in result.stderr


def test_a_list_from_standard_input(invoke: Invoke) -> None:
    """As `find` would print it."""
    result = invoke("--sources", "-", "--json", stdin=f"{TEMPLATES / 'no_tools.jinja'}\n")

    assert 0 == result.exit_code, result.output
    assert ["no_tools"] == [one["name"] for one in json.loads(result.stdout)["results"]]


def test_a_broken_source_breaks_the_run_and_not_the_job(tmp_path: Path, invoke: Invoke) -> None:
    """The others are checked, every output names it, and the exit code says that the run is broken."""
    (tmp_path / "empty.jinja").touch()
    file = tmp_path / "sources.txt"
    file.write_text(f"{TEMPLATES / 'no_tools.jinja'}\n{tmp_path / 'empty.jinja'}\n", encoding="utf-8")
    outputs = (
        "--output",
        tmp_path / "o.json",
        "--junit",
        tmp_path / "o.xml",
        "--markdown",
        tmp_path / "o.md",
    )
    result = invoke("--sources", file, *outputs)
    found = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))

    assert 7 == result.exit_code
    assert ["no_tools"] == [one["name"] for one in found["results"]]
    assert "broken" == found["status"]
    assert [str(tmp_path / "empty.jinja")] == [one["source"] for one in found["broken_sources"]]
    for text in (result.stdout, *(path.read_text(encoding="utf-8") for path in tmp_path.glob("o.*"))):
        assert "The file is empty" in text
