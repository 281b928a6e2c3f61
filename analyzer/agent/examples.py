"""An example made from a JSON Schema: short, and the exact shape that is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from analyzer.agent.schema_errors import resolved

_DEEPEST: Final = 4
_PLAIN: Final[Mapping[str, Any]] = {"integer": 1, "number": 1.5, "boolean": True, "null": None}
_FORMATS: Final[Mapping[str, str]] = {
    "date": "2025-01-31",
    "date-time": "2025-01-31T12:00:00Z",
    "time": "12:00:00",
    "email": "name@example.com",
    "uri": "https://example.com/",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
}


def example_of(schema: Mapping[str, Any] | None) -> Any:
    """Return a value that shows what the schema wants: its own example where it gives one, else one made from types."""
    return _example(schema, schema, "value", _DEEPEST) if schema else {}


def _example(schema: Any, root: Mapping[str, Any], name: str, depth: int) -> Any:
    if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        schema = {
            **(resolved(schema["$ref"], root) or {}),
            **{k: v for k, v in schema.items() if k != "$ref"},
        }
    if not isinstance(schema, Mapping):
        return f"<{name}>"
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    for key in ("example", "const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    for key in ("allOf", "anyOf", "oneOf"):
        if isinstance(schema.get(key), list) and schema[key] and "type" not in schema:
            branches = [branch for branch in schema[key] if isinstance(branch, Mapping)]
            real = [branch for branch in branches if branch.get("type") != "null"] or branches
            return _example(real[0] if real else {}, root, name, depth - 1) if depth else None
    return _by_type(schema, root, name, depth)


def _by_type(schema: Mapping[str, Any], root: Mapping[str, Any], name: str, depth: int) -> Any:
    kind = schema.get("type")
    kind = next((word for word in kind if word != "null"), "null") if isinstance(kind, list) else kind
    properties = schema.get("properties")
    if kind == "object" or isinstance(properties, Mapping):
        inside = properties if isinstance(properties, Mapping) and depth else {}
        return {key: _example(below, root, str(key), depth - 1) for key, below in inside.items()}
    if kind == "array":
        return [_example(schema.get("items", {}), root, name, depth - 1)] if depth else []
    if isinstance(kind, str) and kind in _PLAIN:
        low = schema.get("minimum")
        return low if kind in {"integer", "number"} and isinstance(low, (int, float)) else _PLAIN[kind]
    return _FORMATS.get(str(schema.get("format")), f"<{name}>")
