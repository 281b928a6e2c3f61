"""The folder that the corpus is kept in: one file a template, and ``index.json`` that says what is there.

Files are put in place whole, by renaming, so a folder never holds half a template, whenever a program ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from analyzer.corpus.lock import Lock, LockedTemplate, load_lock
from analyzer.errors import UsageError
from analyzer.template import Template

FOLDER_VARIABLE: Final = "ANALYZER_CORPUS"
INDEX_FILE: Final = "index.json"


def default_folder() -> Path:
    """Where the corpus is kept: ``$ANALYZER_CORPUS``, else below the user's cache folder."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen).expanduser() if chosen else user_cache() / "corpus"


def user_cache() -> Path:
    """This program's part of the user's cache folder."""
    if sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "chat-template-analyzer"


def is_synced(folder: Path | None = None, which: str = "core", *, lock: Lock | None = None) -> bool:
    """Whether every template of the set has its file (contents are checked when they are loaded)."""
    at = folder or default_folder()
    return all((at / template.file).is_file() for template in (lock or load_lock()).templates_of(which))


def load_corpus(
    folder: Path | None = None, which: str = "core", *, lock: Lock | None = None
) -> tuple[Template, ...]:
    """The templates of a set, by name; raises `UsageError` when they are not all there, unchanged."""
    at = folder or default_folder()
    wanted = (lock or load_lock()).templates_of(which)
    absent = missing(at, wanted)
    if absent:
        raise UsageError(
            f"{len(absent)} of the {len(wanted)} templates of the {which} corpus are missing or changed in {at}",
            hint=f"Fetch them with: analyzer corpus sync --which {which}",
        )
    return tuple(
        Template(
            name=template.name,
            text=(at / template.file).read_bytes().decode("utf-8"),
            sha256=template.sha256,
            origin=", ".join(template.members),
        )
        for template in wanted
    )


def missing(folder: Path, wanted: tuple[LockedTemplate, ...]) -> tuple[LockedTemplate, ...]:
    """Those of the templates whose file is not there with the right contents."""
    return tuple(template for template in wanted if _hash_of(folder / template.file) != template.sha256)


def _hash_of(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def write_index(folder: Path, lock: Lock) -> None:
    """Writes what the folder holds, of all sets: name, slug, sha256 and packages of each template."""
    entries = [
        {"name": t.name, "slug": t.slug, "sha256": t.sha256, "packages": list(t.members)}
        for t in lock.templates
        if (folder / t.file).is_file()
    ]
    text = json.dumps({"format_version": 1, "templates": entries}, indent=1) + "\n"
    put(folder / INDEX_FILE, text.encode("ascii"))


def put(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all; the same bytes are not written again."""
    if path.is_file() and path.read_bytes() == data:
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise
