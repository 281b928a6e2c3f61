"""Results that were made before, kept by what they were made of.

One file a result, named by the key of its task (`analyzer.corpus.task`), below a folder that is named by the program's
fingerprint.  Each is put in place whole, the moment it is made: a run that is killed loses what was under way and nothing
else.  An entry begins with the hash of the rest; one that was damaged, cut short or moved counts as absent, and is made
again.  A result that a time-out had a part in is never kept: on another day it may be another one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from analyzer.corpus.fingerprint import DIGITS, fingerprint
from analyzer.corpus.result import Result
from analyzer.corpus.store import put, user_cache
from analyzer.errors import UsageError

FOLDER_VARIABLE: Final = "ANALYZER_CACHE"
KEPT_DAYS: Final = 30
"""How long results of another program are kept after the last run with it."""

_OF_A_PROGRAM: Final = re.compile(rf"[0-9a-f]{{{DIGITS}}}")
_HASH_CHARS: Final = 64


def default_cache() -> Path:
    """Where results are kept: ``$ANALYZER_CACHE``, else below the user's cache folder."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen).expanduser() if chosen else user_cache() / "results"


class ResultCache:
    """The results of this program in a folder; counts what it gave (`hits`) and what it found damaged (`damaged`).

    Raises `UsageError` when the folder cannot be written.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = default_cache() if folder is None else folder
        self._own = self.folder / fingerprint()
        self.hits = 0
        self.damaged = 0
        self._guarded(lambda: self._own.mkdir(parents=True, exist_ok=True))
        with suppress(OSError):  # somebody else's folder, or another run at the same moment
            os.utime(self._own)
            prune(self.folder, keep=self._own.name)

    def path(self, key: str) -> Path:
        """Where the result with that key is kept."""
        return self._own / key[:2] / key

    def get(self, key: str) -> Result | None:
        """The result with that key; None when it is not there, or not whole."""
        try:
            data = self.path(key).read_bytes()
        except OSError:
            return None
        result = _decoded(data, key)
        self.hits += result is not None
        self.damaged += result is None
        return result

    def put(self, key: str, result: Result) -> None:
        """Keep a result, unless it hangs on the moment; it has no name, whatever it was made under."""
        if not result.is_lasting:
            return
        path = self.path(key)

        def write() -> None:
            path.parent.mkdir(exist_ok=True)
            put(path, _encoded(key, result))

        self._guarded(write)

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except OSError as error:
            raise UsageError(
                f"{self.folder}: results cannot be kept there: {error.strerror or error}",
                hint=f"Name another folder with --cache or ${FOLDER_VARIABLE}, or do without: --no-cache.",
            ) from None


def prune(folder: Path, *, keep: str, now: float | None = None) -> list[str]:
    """Remove the results of programs that were not run for `KEPT_DAYS`; return the names of their folders."""
    oldest = (time.time() if now is None else now) - KEPT_DAYS * 86_400
    gone = [
        path
        for path in sorted(folder.iterdir())
        if path.name != keep
        and _OF_A_PROGRAM.fullmatch(path.name)
        and path.is_dir()
        and path.stat().st_mtime < oldest
    ]
    for path in gone:
        shutil.rmtree(path, ignore_errors=True)
    return [path.name for path in gone]


def _encoded(key: str, result: Result) -> bytes:
    body = zlib.compress(json.dumps({"key": key, "result": result.to_json()}).encode("ascii"), 6)
    return hashlib.sha256(body).hexdigest().encode("ascii") + body


def _decoded(data: bytes, key: str) -> Result | None:
    body = data[_HASH_CHARS:]
    if hashlib.sha256(body).hexdigest().encode("ascii") != data[:_HASH_CHARS]:
        return None
    try:
        entry = json.loads(zlib.decompress(body))
        return Result.from_json(entry["result"]) if entry["key"] == key else None
    except (ValueError, TypeError, KeyError, zlib.error):
        return None
