"""What is committed of each template: the golden set of `analyzer.corpus.golden`, or a folder of specs.

The golden set says the verdict, the format and the defects of each template in one index.  A folder without an index holds
specs as `analyzer infer -o` writes them, one a template; each says its verdict and its template's hash itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from analyzer.corpus.golden import INDEX, format_name, format_text
from analyzer.errors import UsageError
from analyzer.spec.document import load_spec
from analyzer.spec.model import Spec


@dataclass(frozen=True, slots=True)
class Known:
    """What is committed of one template."""

    name: str
    sha256: str
    """The first digits of the template's hash; empty where it is not told."""
    verdict: str
    renders_calls: bool | None = None
    """None where it is not told."""
    format: str = ""
    """The name of its format; empty where it has no spec."""
    defects: tuple[str, ...] = ()
    file: Path | None = None
    """The file of its spec or format."""

    def spec(self) -> Spec:
        """The committed spec or format; raises `UsageError` when it cannot be read, `SpecError` when it is not valid."""
        assert self.file is not None  # noqa: S101  (asked for only where there is a format)
        return load_spec(self.file)


Baseline: TypeAlias = Mapping[str, Known]
"""What is committed, by the name of the template."""


def read_baseline(folder: Path) -> Baseline:
    """What a folder says of each template.

    Raises `UsageError` when there is no such folder or its index is not valid, `SpecError` for a spec that is not.
    """
    if not folder.is_dir():
        raise UsageError(
            f"{folder}: there is no such folder to compare with",
            hint="Write one with: analyzer corpus check SOURCE... --baseline FOLDER --update-baseline",
        )
    index = folder / INDEX
    entries = _indexed(index) if index.is_file() else _single(folder)
    return {known.name: known for known in entries}


def _indexed(index: Path) -> Iterator[Known]:
    try:
        data = yaml.load(index.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506  (a safe loader)
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise UsageError(f"{index}: the index cannot be read: {error}") from None
    if not isinstance(data or {}, dict):
        raise UsageError(f"{index}: an index is a mapping of templates")
    for name, entry in (data or {}).items():
        yield _known(index, name, entry)


def _known(index: Path, name: Any, entry: Any) -> Known:
    shapes = {"sha256": str, "verdict": str, "calls": bool, "format": str, "defects": list}
    is_entry = isinstance(entry, dict) and {"sha256", "verdict"} <= {*entry} <= {*shapes}
    if not is_entry or not all(isinstance(value, shapes[key]) for key, value in entry.items()):
        raise UsageError(
            f"{index}: {name}: an entry has sha256 and verdict, and may have calls, format, defects"
        )
    form = entry.get("format", "")
    return Known(
        name=str(name),
        sha256=entry["sha256"],
        verdict=entry["verdict"],
        renders_calls=entry.get("calls", False),
        format=form,
        defects=tuple(map(str, entry.get("defects", ()))),
        file=index.with_name(f"{form}.yaml") if form else None,
    )


def _single(folder: Path) -> Iterator[Known]:
    for path in sorted(folder.glob("*.yaml")):
        spec = load_spec(path)
        yield Known(
            name=spec.template.name or path.stem,
            sha256=spec.template.sha256,
            verdict=verdict_of(spec),
            format=format_name(format_text(spec)),
            defects=tuple(sorted({defect.kind for defect in spec.defects})),
            file=path,
        )


def verdict_of(spec: Spec) -> str:
    """The verdict on a template by its spec alone, as far as that tells it (see `analyzer.analysis`)."""
    found = spec.verification.verdict
    if found == "failed":
        return found
    if spec.calls is None:
        return "no_calls"
    described = any(one.described for findings in spec.evidence.values() for one in findings)
    return "described" if described else found


_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The same documents, read eight times as fast where libyaml is there."""
