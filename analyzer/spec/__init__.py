"""The format spec: its models, its files, and the overlays that add to it.

The names here are imported when they are first used, so that `import analyzer.spec` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analyzer.spec.document import dump, dumps, load_spec, parse_spec
    from analyzer.spec.model import FORMAT_VERSION, Spec
    from analyzer.spec.overlays import Overlay, apply_overlays, load_overlays
    from analyzer.spec.schema import json_schema

_HOMES = {
    "FORMAT_VERSION": "model",
    "Overlay": "overlays",
    "Spec": "model",
    "apply_overlays": "overlays",
    "dump": "document",
    "dumps": "document",
    "json_schema": "schema",
    "load_overlays": "overlays",
    "load_spec": "document",
    "parse_spec": "document",
}

__all__ = [
    "FORMAT_VERSION",
    "Overlay",
    "Spec",
    "apply_overlays",
    "dump",
    "dumps",
    "json_schema",
    "load_overlays",
    "load_spec",
    "parse_spec",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
