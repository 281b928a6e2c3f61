"""The golden set: the specs below ``generated/``, and what has drifted from them.

The project's own templates have one file each, whole.  The real templates share formats, so theirs are kept apart:
one file a *format* (a spec without what belongs to one template only) under the hash of its text, and ``index.yaml``
that says for each template its verdict, whether it renders calls, its format and the kinds of its defects.  What the
index says of templates that are not at hand stays as it is: who has only the core corpus checks and writes only that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from analyzer.corpus.result import Result
from analyzer.spec.document import dumps, parse_spec
from analyzer.spec.model import Spec, TemplateRef, Verification
from analyzer.spec.writer import write_yaml

Entries: TypeAlias = dict[str, dict[str, Any]]
"""What the index says: for each template `sha256`, `verdict`, and where there are any `calls`, `format`, `defects`."""

INDEX: Final = "index.yaml"
SHA_DIGITS: Final = 16
"""How many digits of a template's hash the index holds."""
FORMAT_DIGITS: Final = 12
"""How many digits of its text's hash a format is named by."""
HEAD: Final = "# Written by scripts/regenerate.\n"
"""The first line of a file of the golden set."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A file that is not what it should be."""

    path: str
    what: str
    """`missing`, `changed` or `superfluous`."""

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


def own_files(results: Iterable[Result]) -> dict[str, str]:
    """The files of the project's own templates, by name."""
    return {f"{result.name}.yaml": HEAD + named_spec(result) for result in results if result.spec}


def named_spec(result: Result) -> str:
    """The spec of a result, with the template's name in it."""
    spec = parse_spec(result.spec)
    return dumps(spec.model_copy(update={"template": spec.template.model_copy(update={"name": result.name})}))


def corpus_files(
    results: Iterable[Result], kept: Mapping[str, str] | None = None, *, head: str = HEAD
) -> dict[str, str]:
    """The files of many templates: formats and the index. `kept` is what `kept_files` gives, `head` their first line."""
    files = dict(kept or {})
    entries: Entries = read_index(files.pop(INDEX, ""))
    for result in results:
        entry: dict[str, Any] = {"sha256": result.sha256[:SHA_DIGITS], "verdict": result.verdict}
        if result.renders_calls:
            entry["calls"] = True
        if result.spec:
            files[f"{result.format}.yaml"] = head + format_text(parse_spec(result.spec))
            entry["format"] = result.format
        if result.defects:
            entry["defects"] = list(result.defects)
        entries[result.name] = entry
    files[INDEX] = head + write_yaml(
        dict(sorted(entries.items(), key=lambda item: (item[0].lower(), item[0])))
    )
    return files


def kept_files(folder: Path, templates: Mapping[str, str]) -> dict[str, str]:
    """The part of a folder that is about these templates (sha256 by name): their formats, and an index of them alone."""
    path = folder / INDEX
    entries = read_index(path.read_text(encoding="utf-8")) if path.is_file() else {}
    of_them = {
        name: entry
        for name, entry in entries.items()
        if name in templates and templates[name].startswith(entry["sha256"])
    }
    files = {INDEX: write_yaml(of_them)}
    for name in sorted({f"{entry['format']}.yaml" for entry in of_them.values() if "format" in entry}):
        if (folder / name).is_file():
            files[name] = (folder / name).read_text(encoding="utf-8")
    return files


def head_of(folder: Path) -> str:
    """The first line of a folder's index, where it is a comment; else one that says what writes such a folder."""
    path = folder / INDEX
    first = path.read_text(encoding="utf-8").partition("\n")[0] if path.is_file() else ""
    return (
        f"{first}\n" if first.startswith("#") else "# Written by analyzer corpus check --update-baseline.\n"
    )


def read_index(text: str) -> Entries:
    """What an index says of each template."""
    return yaml.safe_load(text) or {}


def changed_entries(before: str, after: str) -> list[str]:
    """The templates of which two indexes do not say the same."""
    old, new = read_index(before), read_index(after)
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def format_of(spec: Spec) -> Spec:
    """The spec without what belongs to one template only: its name, evidence, defects and verification."""
    nothing: Mapping[str, Any] = {
        "template": TemplateRef(),
        "evidence": {},
        "defects": (),
        "verification": Verification(),
    }
    return spec.model_copy(update=nothing)


def format_text(spec: Spec) -> str:
    """The text of a spec's format."""
    return dumps(format_of(spec))


def format_name(text: str) -> str:
    """The name of the format with that text."""
    return hashlib.sha256(text.encode()).hexdigest()[:FORMAT_DIGITS]


def drift(folder: Path, files: Mapping[str, str], *, whole: bool = True) -> Iterator[Drift]:
    """Where a folder is not what it should be; ``whole``: other YAML files in it are superfluous."""
    for name, text in files.items():
        path = folder / name
        if not path.is_file():
            yield Drift(name, "missing")
        elif path.read_text(encoding="utf-8") != text:
            yield Drift(name, "changed")
    if whole and folder.is_dir():
        for path in sorted(folder.glob("*.yaml")):
            if path.name not in files:
                yield Drift(path.name, "superfluous")


def write(folder: Path, files: Mapping[str, str]) -> list[Drift]:
    """Bring a folder to hold these files and no other YAML; return what had to change."""
    found = list(drift(folder, files))
    folder.mkdir(parents=True, exist_ok=True)
    for one in found:
        path = folder / one.path
        if one.what == "superfluous":
            path.unlink()
            continue
        beside = path.with_suffix(".tmp")
        beside.write_text(files[one.path], encoding="utf-8", newline="\n")
        beside.replace(path)
    return found
