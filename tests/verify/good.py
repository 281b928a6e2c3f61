"""Good specs, written by hand for templates of this repository, and how to spoil them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from analyzer.render import InProcessRenderer
from analyzer.spec.model import Spec
from analyzer.verify import Verdict, verify

_SPECS = Path(__file__).parent / "specs"
_TEMPLATES = Path(__file__).parents[2] / "corpus" / "templates"

GOOD = sorted(path.stem for path in _SPECS.glob("*.yaml"))


@dataclass(frozen=True)
class PlainTemplate:
    """The two things that verification reads of a template."""

    text: str
    special_tokens: Mapping[str, str] = field(default_factory=dict)


def template_named(name: str) -> PlainTemplate:
    """One of our own templates."""
    tokens = {"bos_token": "<s>", "eos_token": "</s>"}
    return PlainTemplate((_TEMPLATES / f"{name}.jinja").read_text(encoding="utf-8"), tokens)


def spec_named(name: str, changes: Mapping[str, Any] | None = None) -> Spec:
    """A good spec, with some fields changed: `turn.segments.0.open` leads to a field."""
    data = yaml.safe_load((_SPECS / f"{name}.yaml").read_text(encoding="utf-8"))
    for path, value in (changes or {}).items():
        *way, last = path.split(".")
        place: Any = data
        for key in way:
            place = place[int(key)] if isinstance(place, list) else place[key]
        if isinstance(place, list) and value is None:
            del place[int(last)]
        else:
            place[int(last) if isinstance(place, list) else last] = value
    return Spec.model_validate(data)


def prove(name: str, changes: Mapping[str, Any] | None = None, **options: Any) -> Verdict:
    """Verify a good spec, spoilt by changes, against its template."""
    return verify(spec_named(name, changes), template_named(name), _RENDERER, **options)


_RENDERER = InProcessRenderer()
