"""Where a corpus comes from: template files, model folders, folders of either, GGUF files and hub ids, in any number.

A source that cannot be loaded is a value, `BrokenSource`, so that one of a thousand does not end the job.  Names are made
unique here: what is found below a folder is named by its path there, a variant other than the default by ``:VARIANT``, and
where two templates of one name still differ, both by ``@`` and the beginning of their hash.
"""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from analyzer.corpus.task import Task
from analyzer.errors import AnalyzerError
from analyzer.files import with_home
from analyzer.template import DEFAULT_VARIANT, Template, load_templates
from analyzer.template.folder import CONFIG_FILE, JINJA_FILE, JSON_FILE, MORE_FOLDER

TEMPLATE_SUFFIXES: Final = frozenset({".jinja", ".jinja2", ".j2", ".gguf"})
"""The files that are looked for in a folder that is no model folder."""
LOADERS: Final = 8
"""How many sources are loaded at the same time: most of it is waiting for the hub or the disk."""


@dataclass(frozen=True, slots=True)
class BrokenSource:
    """A source that could not be loaded: its name, and why."""

    source: str
    reason: str
    name: str = ""
    """The name that its template would have."""
    is_folder: bool = False
    """Whether it may hold any number of sources; their names begin with its own, where it has one, and a slash."""

    def covers(self, name: str) -> bool:
        """Whether a template of that name may be in it."""
        if self.is_folder and not self.name:
            return True
        return name.partition(":")[0] == self.name or (self.is_folder and name.startswith(f"{self.name}/"))

    def to_json(self) -> dict[str, str]:
        """The broken source as JSON data."""
        return {"source": self.source, "reason": self.reason}


Loaded: TypeAlias = tuple[Template, ...] | BrokenSource
_Item: TypeAlias = tuple[str, str] | BrokenSource
"""A source and the name that it gives (empty: its own); or what cannot be looked into."""


def load_sources(sources: Sequence[str]) -> Iterator[Loaded]:
    """What each source holds, in their order; folders that hold other sources give one item for each of these."""
    with ThreadPoolExecutor(LOADERS) as pool:
        yield from pool.map(_load, [item for one in sources for item in _expanded(one)])


def unique(templates: Iterable[Template]) -> list[Template]:
    """The templates under names that no two share; one that is there twice, the same in all, comes once."""
    once = {(template.name, Task.of(template)): template for template in templates}
    times = Counter(name for name, _ in once)
    return [
        replace(template, name=f"{name}@{task.key('')[:8]}") if times[name] > 1 else template
        for (name, task), template in once.items()
    ]


def list_in(text: str) -> list[str]:
    """The sources that a text lists, one a line; ``#`` begins a comment."""
    found = [line.strip() for line in text.splitlines()]
    return [line for line in found if line and not line.startswith("#")]


def _expanded(source: str) -> Iterator[_Item]:
    """A source, or what a folder of sources holds."""
    folder = with_home(source)
    try:
        is_source = not _is_folder(folder) or _is_model(folder)
    except OSError as error:
        yield _closed(folder, "", error)
        return
    if is_source:
        yield source, ""
        return
    yield from list(_below(folder, "")) or [(source, "")]  # loading it says what is missing


def _below(folder: Path, prefix: str) -> Iterator[_Item]:
    """What a folder of sources holds; what cannot be looked into, at any depth, is told in its place."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        yield _closed(folder, prefix.rstrip("/"), error)
        return
    for path in entries:
        if path.name.startswith("."):
            continue
        try:
            yield from _entry(path, prefix)
        except OSError as error:
            yield _closed(path, prefix + path.name, error)


def _entry(path: Path, prefix: str) -> Iterator[_Item]:
    if stat.S_ISDIR(path.lstat().st_mode):
        if _is_model(path):
            yield str(path), prefix + path.name
        else:
            yield from _below(path, f"{prefix}{path.name}/")
    elif path.suffix.lower() in TEMPLATE_SUFFIXES:
        yield str(path), prefix + path.stem


def _is_model(folder: Path) -> bool:
    return any(_mode(folder / name) for name in (JINJA_FILE, MORE_FOLDER, JSON_FILE, CONFIG_FILE))


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(_mode(path))


def _mode(path: Path) -> int:
    """The mode of a file, 0 where there is none.  `Path.exists` hides other errors, or not, as the version of Python has it."""
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return 0


def _closed(path: Path, name: str, error: OSError) -> BrokenSource:
    reason = f"{path}: this cannot be looked into: {error.strerror or type(error).__name__}."
    return BrokenSource(str(path), reason, name, is_folder=True)


def _load(item: _Item) -> Loaded:
    if isinstance(item, BrokenSource):
        return item
    source, name = item
    try:
        templates = load_templates(source)
    except AnalyzerError as error:
        return BrokenSource(source, str(error), name or source)
    return tuple(_renamed(template, name or template.name) for template in templates)


def _renamed(template: Template, name: str) -> Template:
    variant = "" if template.variant == DEFAULT_VARIANT else f":{template.variant}"
    return replace(template, name=f"{name}{variant}")
