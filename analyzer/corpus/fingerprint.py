"""Which program makes a result: a hash of all that a result hangs on besides the template.

Results are kept and handed between machines under this fingerprint, so it has to change with everything that may change
one: every file of the package (code, overlays, schemas), its version, the packages below it, and Python itself.
"""

from __future__ import annotations

import hashlib
import platform
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Final

import analyzer

DEPENDENCIES: Final = (
    "Jinja2",
    "MarkupSafe",
    "PyYAML",
    "hypothesis",
    "jsonschema",
    "pydantic",
    "pydantic_core",
    "regex",
)
"""The distributions that an analysis runs through; `hypothesis` draws the conversations of a proof."""

DIGITS: Final = 16
_ASIDE: Final = frozenset({".pyc", ".pyo"})


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """The fingerprint of this program, `DIGITS` hexadecimal digits; read once a process."""
    (folder,) = analyzer.__path__
    return fingerprint_of(Path(folder))


def fingerprint_of(package: Path) -> str:
    """The fingerprint of a program whose package is this folder."""
    digest = hashlib.sha256()
    for part in (platform.python_implementation(), platform.python_version(), *_versions()):
        digest.update(f"{part}\n".encode())
    for path in sorted(package.rglob("*")):
        if path.suffix in _ASIDE or "__pycache__" in path.parts or not path.is_file():
            continue
        data = path.read_bytes()
        digest.update(f"{path.relative_to(package).as_posix()} {len(data)}\n".encode())
        digest.update(data)
    return digest.hexdigest()[:DIGITS]


def _versions() -> list[str]:
    return [f"{name} {_version(name)}" for name in ("chat-template-analyzer", *DEPENDENCIES)]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
