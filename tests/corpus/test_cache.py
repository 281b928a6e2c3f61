from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

import analyzer
from analyzer.corpus.cache import KEPT_DAYS, ResultCache, prune
from analyzer.corpus.fingerprint import DEPENDENCIES, fingerprint, fingerprint_of
from analyzer.corpus.job import Plan, check
from analyzer.corpus.result import Result
from analyzer.corpus.task import Task
from analyzer.errors import UsageError
from analyzer.template import Template, load_templates
from tests.corpus.conftest import TEMPLATES

KEY: Final = "ab" + "0" * 62
RESULT: Final = Result(
    "",
    "c" * 64,
    "proven",
    renders_calls=True,
    defects=("x",),
    failures=("y",),
    seconds=1.5,
    phases={"infer": 0.5},
    format="d" * 12,
    spec="format_version: 1\n",
)
PACKAGE: Final = Path(analyzer.__file__).parent
APART: Final = {"click", "rich"}
"""What the command line shows things with: no result hangs on them."""


def test_a_result_comes_back_as_it_was(tmp_path: Path) -> None:
    """What was kept is given back, by another object too; what was not is not there."""
    cache = ResultCache(tmp_path)
    assert cache.get(KEY) is None
    cache.put(KEY, RESULT)

    again = ResultCache(tmp_path)
    assert RESULT == again.get(KEY)
    assert (1, 0) == (again.hits, again.damaged)


@given(data=st.data())
def test_a_damaged_entry_is_never_believed(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """An entry with any byte changed, cut short anywhere, or longer than it was counts as absent."""
    cache = ResultCache(tmp_path_factory.mktemp("cache"))
    cache.put(KEY, RESULT)
    path = cache.path(KEY)
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
    damaged = data.draw(
        st.sampled_from([whole[:at], whole[:at] + bytes([other]) + whole[at + 1 :], whole + bytes([other])])
    )
    path.write_bytes(damaged)

    assert cache.get(KEY) is None
    assert 1 == cache.damaged
    cache.put(KEY, RESULT)
    assert RESULT == cache.get(KEY)


def test_an_entry_under_another_name_is_not_believed(tmp_path: Path) -> None:
    """A file that was copied to the name of another result is not that result."""
    cache = ResultCache(tmp_path)
    cache.put(KEY, RESULT)
    other = "ab" + "1" * 62
    shutil.copy(cache.path(KEY), cache.path(other))

    assert cache.get(other) is None


@pytest.mark.parametrize("result", [replace(RESULT, verdict="crashed"), replace(RESULT, stops=1)])
def test_what_a_clock_decided_is_not_kept(result: Result, tmp_path: Path) -> None:
    """A template that was stopped, or of which a render was, is tried again each time."""
    cache = ResultCache(tmp_path)
    cache.put(KEY, result)

    assert cache.get(KEY) is None
    assert not cache.path(KEY).exists()


def test_a_folder_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    """The cache says where, and what to do."""
    (tmp_path / "file").write_text("x")

    with pytest.raises(UsageError, match="--no-cache"):
        ResultCache(tmp_path / "file" / "cache")


def test_results_of_old_programs_are_removed(tmp_path: Path) -> None:
    """Only folders of other programs that were not run for long; nothing else in the folder is touched."""
    old, young, own = ("0" * 16, "1" * 16, "2" * 16)
    for name in (old, young, own, "pictures"):
        (tmp_path / name / "ab").mkdir(parents=True)
        os.utime(tmp_path / name, (1_000_000, 1_000_000 if name != young else 1_000_001))

    assert [old] == prune(tmp_path, keep=own, now=1_000_001 + KEPT_DAYS * 86_400)
    assert {young, own, "pictures"} == {path.name for path in tmp_path.iterdir()}


@given(
    st.builds(
        Task,
        st.text(),
        st.dictionaries(st.text(), st.text()).map(lambda tokens: tuple(sorted(tokens.items()))),
        st.lists(st.text()).map(tuple),
        st.integers(),
    )
)
def test_a_task_survives_json_and_keeps_its_key(task: Task) -> None:
    """The key hangs on the task and on the program."""
    assert task == Task.from_json(task.to_json())
    assert task.key("a") == Task.from_json(task.to_json()).key("a") != task.key("b")


def test_everything_in_a_task_changes_its_key() -> None:
    """The text, the tokens, which token has which text, the seed."""
    task = Task("a", (("bos_token", "b"),), ("c",), 0)
    others = [
        replace(task, text="x"),
        replace(task, special_tokens=(("bos_token", "x"),)),
        replace(task, special_tokens=(("x", "b"),)),
        replace(task, added_tokens=("x",)),
        replace(task, added_tokens=("c", "c")),
        replace(task, seed=1),
    ]

    assert len(others) + 1 == len({one.key("") for one in (task, *others)})


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package."""
    folder = tmp_path_factory.mktemp("program") / "analyzer"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_the_fingerprint_is_of_the_files_alone(package: Path) -> None:
    """A copy has the fingerprint of the original; what Python writes beside the code does not count."""
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "x.pyc").write_bytes(b"x")

    assert fingerprint() == fingerprint_of(package)


@pytest.mark.parametrize("name", ["infer/calls.py", "overlays", "spec/model.py"])
def test_any_change_of_the_program_changes_the_fingerprint(name: str, package: Path) -> None:
    """Code and data: a change of one byte, and a file more."""
    before = fingerprint_of(package)
    target = package / name
    file = target if target.is_file() else min(target.glob("*.yaml"))
    text = file.read_text(encoding="utf-8")
    file.write_text(f"{text}#", encoding="utf-8")
    changed = fingerprint_of(package)
    file.write_text(text, encoding="utf-8")
    (more := file.with_name("more.py")).touch()
    added = fingerprint_of(package)
    more.unlink()

    assert 3 == len({before, changed, added})
    assert before == fingerprint_of(package)


def test_the_fingerprint_knows_every_dependency() -> None:
    """A package that the core needs is in the fingerprint, or shows things only."""
    needed = {
        Requirement(line).name.lower()
        for line in metadata.requires("chat-template-analyzer") or ()
        if "extra ==" not in line
    }

    assert needed - APART <= {name.lower() for name in DEPENDENCIES}


def test_the_job_makes_a_damaged_entry_again(tmp_path: Path) -> None:
    """A second run takes everything from the cache but what was damaged, and finds the same."""
    templates = [load_templates(TEMPLATES / f"{name}.jinja")[0] for name in ("no_tools", "json_tag_per_call")]
    first = list(check(templates, Plan(jobs=1, cache=ResultCache(tmp_path))))
    entries = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert 2 == len(entries)
    entries[0].write_bytes(b"nonsense")
    cache = ResultCache(tmp_path)
    second = list(check(templates, Plan(jobs=1, cache=cache)))

    assert (1, 1) == (cache.hits, cache.damaged)
    assert by_name(first) == by_name(second)


@given(
    texts=st.lists(st.text(max_size=3), min_size=1, max_size=8),
    ends=st.lists(st.integers(0, 8), max_size=4),
    damaged=st.sets(st.integers(0, 8)),
)
def test_a_job_ends_anywhere_and_goes_on(
    texts: list[str], ends: list[int], damaged: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """In the end every template has its one result, and nothing that was kept whole was done again.

    The job is left after any number of results, any number of times; then any entries are damaged.
    """
    folder = tmp_path_factory.mktemp("cache")
    templates = [Template(f"name{number}", text) for number, text in enumerate(texts)]
    done: list[str] = []

    def engine(tasks: Mapping[str, Task], *_: object) -> Iterator[tuple[str, Result]]:
        for key, task in tasks.items():
            done.append(task.text)
            yield key, Result("", task.template().sha256, "proven", renders_calls=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("analyzer.corpus.local.run", engine)
        for end in ends:
            job = check(templates, Plan(cache=ResultCache(folder)))
            list(zip(range(end), job, strict=False))
            job.close()  # type: ignore[attr-defined]
        entries = sorted(path for path in folder.rglob("*") if path.is_file())
        broken = [path for number, path in enumerate(entries) if number in damaged]
        for path in broken:
            path.write_bytes(path.read_bytes()[:-1])
        results = list(check(templates, Plan(cache=ResultCache(folder))))

    assert [template.name for template in templates] == sorted(result.name for result in results)
    assert {template.name: template.sha256 for template in templates} == {
        one.name: one.sha256 for one in results
    }
    assert len(set(texts)) + len(broken) == len(done)


def by_name(results: list[Result]) -> dict[str, object]:
    """What was found of each template, and its spec."""
    return {result.name: (result.found(), result.spec) for result in results}
