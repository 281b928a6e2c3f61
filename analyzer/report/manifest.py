"""The list of a report's files: how a later writing knows what to remove, and a server what to read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from analyzer.errors import UsageError
from analyzer.files import write_file

MANIFEST: Final = "report.json"
_FORMAT_VERSION: Final = 1


def write_manifest(folder: Path, title: str, files: Iterable[str]) -> None:
    """Write the list."""
    data = {"format_version": _FORMAT_VERSION, "title": title, "files": sorted(files)}
    write_file(folder / MANIFEST, json.dumps(data, indent=1) + "\n")


def read_manifest(folder: Path) -> list[str] | None:
    """The files of the report in a folder; None when there is no report."""
    try:
        data = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    files = data.get("files") if isinstance(data, dict) else None
    if not isinstance(files, list) or data.get("format_version") != _FORMAT_VERSION:
        return None
    return [name for name in files if isinstance(name, str) and is_inside(name)]


def check_report_folder(folder: Path) -> None:
    """Raise `UsageError` when the folder holds something that is no report, so that none may be written there."""
    try:
        there = folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise UsageError(f"{folder}: the folder cannot be read ({error.strerror or error})") from error
    if there and read_manifest(folder) is None:
        raise UsageError(
            f"{folder}: this folder holds something that is no report",
            hint="Give a new folder, or one that a report was written to.",
        )


def is_inside(name: str) -> bool:
    """Whether a name is that of a file a report may have: relative, one folder deep at most, nothing hidden."""
    parts = name.split("/")
    return len(parts) <= 2 and all(part and not part.startswith(".") and "\\" not in part for part in parts)  # noqa: PLR2004


def specs_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """The templates of a report that have a spec: the slug and the spec's file."""
    for name in read_manifest(folder) or ():
        if name.startswith("specs/") and name.endswith(".yaml"):
            yield name.removeprefix("specs/").removesuffix(".yaml"), folder / name
