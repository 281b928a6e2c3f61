"""The markers of a spec: the literals that it is made of, without the white space around them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from analyzer.spec.document import to_data
from analyzer.spec.model import Spec

_FIELDS: Final = ("open", "close", "literal", "header", "separator", "empty")


def markers(spec: Spec | None) -> list[str]:
    """The literals of a spec that have more than one character, longest first; overlays and evidence are left out."""
    found: set[str] = set()
    if spec is not None:
        _collect(to_data(spec.model_copy(update={"defects": (), "evidence": {}, "overlays": ()})), found)
    return sorted((text for text in found if len(text) > 1), key=len, reverse=True)


def _collect(value: Any, found: set[str]) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in _FIELDS and isinstance(item, str):
                found.add(item.strip())
            elif key in ("parts", "item"):
                found.update(part.strip() for part in item if isinstance(part, str))
                _collect([part for part in item if isinstance(part, dict)], found)
                found.update(word.strip() for word in _closers(item))
            else:
                _collect(item, found)
    elif isinstance(value, list):
        for item in value:
            _collect(item, found)


def _closers(item: list[Any]) -> Iterator[str]:
    """The words behind an item's value: they close it, as those before it say its type."""
    slots = [part.get("slot") if isinstance(part, dict) else None for part in item]
    at = slots.index("value") if "value" in slots else len(slots)
    for part in item[at:]:
        if isinstance(part, dict) and part.get("slot") == "type":
            yield from part["words"].values()
