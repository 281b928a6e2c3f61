"""Text files, written whole or not at all; and, before the work for them begins, whether they can be."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from analyzer.errors import UsageError


def with_home(path: str | Path) -> Path:
    """The path with the user's home for a leading ``~``; as it is where there is no such user, whose file cannot be there."""
    with suppress(RuntimeError):
        return Path(path).expanduser()
    return Path(path)


def write_file(path: Path, text: str) -> None:
    """Write a text file: at any time there is either the old file or the whole new one.

    A link stays a link to the file that is written. What is no file, such as `/dev/null` or a pipe, is written to as it is: it
    must not be replaced.
    """
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as device:
            device.write(text)
        return
    asked, path = path, path.resolve()
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        error.filename = str(asked)  # the file that was asked for, not the one beside it
        raise
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def check_file(path: Path) -> None:
    """Raise `UsageError` when a file of that name cannot be written; nothing is left there."""
    try:
        if path.is_dir():
            raise UsageError(f"{path}: this is a folder, not a file")
        if path.exists() and not path.is_file():
            if not os.access(path, os.W_OK):  # a device or a pipe; to open one may wait for its reader
                raise UsageError(f"{path}: this may not be written")
            return
        parent = path.resolve().parent
        if not parent.is_dir():
            raise UsageError(f"{path}: there is no folder {path.parent} to write it to")
        _try_to_write_in(parent)
    except OSError as error:
        raise UsageError(f"{path}: this file cannot be written ({_why(error)})") from error


def check_folder(path: Path) -> None:
    """Raise `UsageError` when there is no such folder to write to and none can be made; nothing is left there."""
    try:
        there = path.resolve()
        while not there.exists():
            there = there.parent
        if not there.is_dir():
            raise UsageError(f"{path}: this cannot be a folder, {there} is a file")
        _try_to_write_in(there)
    except OSError as error:
        raise UsageError(f"{path}: this folder cannot be written ({_why(error)})") from error


def _try_to_write_in(folder: Path) -> None:
    """Make a file without a name: what the user may do is known to the system alone."""
    with tempfile.TemporaryFile(dir=folder):
        pass


def _why(error: OSError) -> str:
    return error.strerror or type(error).__name__
