"""Properties of tools with the fields that a template reads without asking: one type word, a description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from analyzer.prepare.notes import Notes

_DEPTH: Final = 40
"""How deep schemas are completed; deeper ones no template prints."""
_UNKNOWN: Final = "any"
"""The word for a property that may be anything; JSON Schema has none."""
_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf")


def completed(
    parameters: Mapping[str, Any], fields: Sequence[str], path: str, notes: Notes
) -> dict[str, Any]:
    """A tool's parameters with these fields in every property, nested ones too."""
    return _Completion(parameters, fields, notes).schema(parameters, path, 0)


class _Completion:
    """The completion of one tool's parameters."""

    def __init__(self, root: Mapping[str, Any], fields: Sequence[str], notes: Notes) -> None:
        self._root = root
        self._fields = fields
        self._notes = notes

    def schema(self, schema: Mapping[str, Any], path: str, depth: int) -> dict[str, Any]:
        """A schema whose properties, and those of its items, are complete."""
        made = dict(schema)
        if depth > _DEPTH:
            return made
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            made["properties"] = {
                name: self._property(one, f"{path}.properties.{name}", depth + 1)
                for name, one in properties.items()
            }
        items = schema.get("items")
        if isinstance(items, Mapping):
            made["items"] = self._property(items, f"{path}.items", depth + 1, ("type",))
        return made

    def _property(
        self, given: Any, path: str, depth: int, fields: Sequence[str] = ("type", "description")
    ) -> dict[str, Any]:
        made = self.schema(given, path, depth) if isinstance(given, Mapping) else {}
        if "type" in self._fields and "type" in fields and not isinstance(made.get("type"), str):
            words = list(dict.fromkeys(self._types(made, ())))
            made["type"] = next((word for word in words if word != "null"), words[0] if words else _UNKNOWN)
            more = f" of {', '.join(words)}" if len(words) > 1 else ""
            self._notes.take("property_completed", path, f"type: {made['type']}{more}")
        if "description" in self._fields and "description" in fields and "description" not in made:
            made["description"] = ""
            self._notes.take("property_completed", path, "description")
        return made

    def _types(self, schema: Any, seen: tuple[str, ...]) -> Iterator[str]:
        """The types that a schema allows, as far as they are said, in its own order."""
        if not isinstance(schema, Mapping) or len(seen) > _DEPTH:
            return
        stated = schema.get("type")
        if stated:
            yield from (
                [stated] if isinstance(stated, str) else (one for one in stated if isinstance(one, str))
            )
            return
        if "const" in schema:
            yield type_word(schema["const"])
        values = schema.get("enum")
        if isinstance(values, Sequence) and not isinstance(values, str):
            yield from map(type_word, values)
        for key in _ALTERNATIVES:
            several = schema.get(key)
            for one in several if isinstance(several, Sequence) and not isinstance(several, str) else ():
                yield from self._types(one, (*seen, key))
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            yield from self._types(self._target(reference), (*seen, reference))
        if "properties" in schema:
            yield "object"
        elif "items" in schema:
            yield "array"

    def _target(self, reference: str) -> Any:
        """What a reference within the parameters points to, None when there is no such thing."""
        at: Any = self._root
        for step in reference.removeprefix("#").strip("/").split("/"):
            at = (
                at.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(at, Mapping) and step else at
            )
        return at if reference.startswith("#") else None


def type_word(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "integer" if isinstance(value, int) else "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"
