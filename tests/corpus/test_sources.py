"""Anything that holds templates can be the corpus, and what cannot be loaded is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analyzer.corpus.sources import BrokenSource, Loaded, load_sources, read_list, unique
from analyzer.errors import UsageError
from analyzer.template import Template
from tests.corpus.conftest import TEMPLATES, Invoke


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


def test_a_list_of_sources(tmp_path: Path) -> None:
    """One a line, comments and empty lines left out; a list that cannot be read is a usage error."""
    file = tmp_path / "sources.txt"
    file.write_text("# mine\nmaker/a\n\n  b.jinja  \n", encoding="utf-8")

    assert ["maker/a", "b.jinja"] == read_list(file)
    with pytest.raises(UsageError, match="cannot be read"):
        read_list(tmp_path / "absent.txt")


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
