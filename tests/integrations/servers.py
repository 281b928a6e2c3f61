"""The servers' packages for the tests: their own interface files where they were fetched, small doubles where not.

`installed(server, files)` makes `import vllm` (or `sglang`) work for a while. The modules of the interface come from files,
everything else of the package and of what it needs is *stubbed*: a name that is imported from there is an empty class.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from analyzer.corpus.store import default_folder

HERE: Final = Path(__file__).parent
DOUBLES: Final = HERE / "doubles"


@dataclass(frozen=True, slots=True)
class Locked:
    """An archive of a server: where it is had, its sum, and which files of it count."""

    package: str
    version: str
    file: str
    sha256: str
    root: str
    kept: tuple[str, ...]

    def keeps(self, name: str) -> bool:
        """Whether a file counts."""
        return name.endswith(".py") and name.startswith(self.kept)


LOCK: Final[Mapping[str, Locked]] = {
    name: Locked(**{**data, "kept": tuple(data["kept"])})
    for name, data in json.loads((HERE / "servers.json").read_text(encoding="utf-8")).items()
}


def folder_of(locked: Locked) -> Path:
    """Where `scripts/fetch_servers` keeps the files of an archive."""
    return default_folder().parent / "servers" / f"{locked.package}-{locked.version}"


def real_files(server: str, modules: list[str]) -> dict[str, Path]:
    """The files of these modules in the fetched archive, or none when it was not fetched."""
    folder = folder_of(LOCK[server])
    found = {}
    for name in modules:
        plain = folder.joinpath(*name.split("."))
        path = plain / "__init__.py" if plain.is_dir() else plain.with_suffix(".py")
        if not path.is_file():
            return {}
        found[name] = path
    return found


class _Anything(type):
    """The type of stubs: any attribute is another one, calling one gives a value that can be called and asked again."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stub(name)

    def __index__(cls) -> int:
        """A limit that nothing reaches, where a number is asked for."""
        return 1 << 30


class _Value:
    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Value()

    def __call__(self, *_: Any, **__: Any) -> Any:
        return _Value()


def stub(name: str) -> Any:
    """An empty class of that name."""
    return _Anything(name, (_Value,), {})


class _Stubs(ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = stub(name)
        setattr(self, name, value)
        return value


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules in files, and makes stubs of all others of the packages that are to be stubbed."""

    def __init__(self, files: Mapping[str, Path], packages: tuple[str, ...]) -> None:
        self.files = files
        self.packages = packages

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A file's, or a stub's."""
        del path, target
        if name in self.files:
            file = self.files[name]
            inside = [] if file.name == "__init__.py" or self._parent(name) else None
            return importlib.util.spec_from_file_location(name, file, submodule_search_locations=inside)
        if name.split(".", maxsplit=1)[0] not in self.packages:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def _parent(self, name: str) -> bool:
        return any(other.startswith(f"{name}.") for other in self.files)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """A stub."""
        return _Stubs(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is to be done."""


@contextmanager
def installed(files: Mapping[str, Path], packages: tuple[str, ...]) -> Iterator[None]:
    """Make these modules importable, and stubs of everything else in these packages; gone again afterwards."""
    finder = _Finder(files, packages)

    def ours() -> list[str]:
        return [name for name in sys.modules if name.split(".")[0] in packages]

    kept = {name: sys.modules.pop(name) for name in ours()}
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in ours():
            del sys.modules[name]
        sys.modules.update(kept)


class Tokenizer:
    """A tokenizer of characters and special tokens."""

    def __init__(self, special: list[str]) -> None:
        self._special = sorted(special, key=len, reverse=True)
        self._ids = {token: 0x110000 + number for number, token in enumerate(special)}

    def get_vocab(self) -> dict[str, int]:
        """The special tokens' ids."""
        return dict(self._ids)

    def encode(self, text: str, *, add_special_tokens: bool = False) -> list[int]:
        """Token ids."""
        del add_special_tokens
        ids, at = [], 0
        while at < len(text):
            token = next((token for token in self._special if text.startswith(token, at)), text[at])
            ids.append(self._ids.get(token, ord(token) if len(token) == 1 else 0))
            at += len(token)
        return ids

    def decode(self, ids: list[int], *, skip_special_tokens: bool = False) -> str:
        """The text."""
        names = {number: token for token, number in self._ids.items()}
        return "".join(
            ("" if skip_special_tokens else names[found]) if found in names else chr(found) for found in ids
        )
