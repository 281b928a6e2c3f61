"""Families: templates that share one format, and how near two formats are.

Two templates share a format when their specs are equal but for what belongs to one template (`format_of`).  The
distance of two formats is the Jaccard distance of their sets of features: every marker (`analyzer.spec.markers`), every
word of the matrix (`capabilities`), and every field of the format with its value; 0 for the same features, 1 for none in
common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.corpus.golden import format_name, format_of, format_text
from analyzer.report.capabilities import Capabilities
from analyzer.report.subject import Subject
from analyzer.spec.document import to_data
from analyzer.spec.markers import markers
from analyzer.spec.model import JsonLayout, Spec


@dataclass(frozen=True, slots=True)
class Family:
    """Templates with one format."""

    key: str
    """The format's name, as the committed index has it."""
    label: str
    """How a call begins, or a turn where there are none: what people know a format by."""
    spec: Spec
    """The format: a spec without what belongs to one template."""
    members: tuple[Subject, ...]
    can: Capabilities
    features: frozenset[str]
    """What distance is measured on."""


def families(subjects: Sequence[Subject]) -> tuple[Family, ...]:
    """The families of all templates that have a spec, the largest first."""
    by_key: dict[str, tuple[Spec, list[Subject]]] = {}
    for subject in subjects:
        if subject.spec is not None:
            shared = format_of(subject.spec)
            by_key.setdefault(format_key(subject.spec), (shared, []))[1].append(subject)
    made = [_family(key, shared, members) for key, (shared, members) in by_key.items()]
    return tuple(sorted(made, key=lambda family: (-len(family.members), family.label, family.key)))


def format_key(spec: Spec) -> str:
    """The name of a spec's format, as the committed index has it."""
    return format_name(format_text(spec))


def distance(one: Family, other: Family) -> float:
    """The Jaccard distance of two formats' features, 0 to 1."""
    together = one.features | other.features
    return 1.0 - len(one.features & other.features) / len(together) if together else 0.0


def _family(key: str, spec: Spec, members: Sequence[Subject]) -> Family:
    can = members[0].can
    words = {f"{column}={word}" for column, word in can.to_json().items()}
    features = frozenset({*markers(spec), *words, *_fields(to_data(spec), "")})
    return Family(key, _label(spec), spec, tuple(members), can, features)


def _fields(value: Any, path: str) -> Iterator[str]:
    """Each field of a format with its value; segments count by their kind, items of other lists wherever they stand."""
    if isinstance(value, Mapping):
        kind = f"{path}:{value['kind']}" if isinstance(value.get("kind"), str) else path
        for name, item in value.items():
            yield from _fields(item, f"{kind}.{name}")
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item, path)
    else:
        yield f"{path}={value!r}"


def _label(spec: Spec) -> str:
    calls = spec.calls
    if calls is None:
        return spec.turn.header.strip() or "no header"
    first = calls.layouts[0]
    opener = first.open if isinstance(first, JsonLayout) else first.parts[0]
    text = calls.open.strip() or (opener.strip() if isinstance(opener, str) else "")
    return text or spec.turn.header.strip() or "no marker"
