"""The lock: which archives the corpus comes from, which files of them, and the sha256 of each.

A template that several archives hold is listed once; ``name`` is unique, also where case does not count.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

from analyzer.errors import UsageError

CorpusSet: TypeAlias = Literal["core", "full"]
"""``core`` is small to fetch and good enough for a developer's every day; ``full`` is everything."""

LOCK_FILE: Final = Path(__file__).with_name("lock.json")


@dataclass(frozen=True, slots=True)
class Archive:
    """A source distribution on the package index: ``file`` is its name there, ``sha256`` hexadecimal."""

    package: str
    version: str
    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class LockedTemplate:
    """One template: its hash, and by package the paths it has in that package's archive."""

    name: str
    slug: str
    sha256: str
    members: Mapping[str, tuple[str, ...]]

    @property
    def file(self) -> str:
        """The name of its file in a corpus folder."""
        return f"{self.name}.jinja"


@dataclass(frozen=True, slots=True)
class Lock:
    """The whole lock; ``sets`` names the packages of each set."""

    archives: tuple[Archive, ...]
    templates: tuple[LockedTemplate, ...]
    sets: Mapping[str, tuple[str, ...]]

    def packages_of(self, which: str) -> tuple[str, ...]:
        """The packages of a set; raises `UsageError` when there is no such set."""
        if which not in self.sets:
            raise UsageError(f"There is no corpus set {which!r}", hint=f"There are: {', '.join(self.sets)}.")
        return self.sets[which]

    def templates_of(self, which: str) -> tuple[LockedTemplate, ...]:
        """The templates of a set, by name; raises `UsageError` when there is no such set."""
        packages = self.packages_of(which)
        return tuple(t for t in self.templates if any(package in t.members for package in packages))


@lru_cache(maxsize=4)
def load_lock(path: Path = LOCK_FILE) -> Lock:
    """The lock that this library comes with, or another."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Lock(
        archives=tuple(Archive(**archive) for archive in data["archives"]),
        templates=tuple(
            LockedTemplate(
                name=entry["name"],
                slug=entry["slug"],
                sha256=entry["sha256"],
                members={package: tuple(paths) for package, paths in entry["members"].items()},
            )
            for entry in data["templates"]
        ),
        sets={name: tuple(packages) for name, packages in data["sets"].items()},
    )
