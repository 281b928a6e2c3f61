"""The schemas of tools as grammars are made of them: what no grammar can be made of is an error that names tool and place.

Looked at is only what exporters build on (types, properties, references); a whole metaschema would cost more than the export.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from analyzer.agent.definitions import schema_of
from analyzer.chat import Tool
from analyzer.errors import ExportError

TYPES: Final = ("string", "integer", "number", "boolean", "null", "array", "object")
DEEPEST: Final = 100
"""How deeply schemas may be nested."""

_MAPS: Final = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE: Final = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
REFERENCE: Final = "$ref"


def arguments_schema(tool: Tool, target: str) -> dict[str, Any]:
    """The schema of a tool's arguments: checked, a reference at its top followed, undeclared arguments excluded.

    Properties that nothing can satisfy are left out; a required one that is not declared is declared without a type.
    """
    given = schema_of(tool)
    look = _Look(tool.name, given, target)
    found = look.at(given, "", 0)
    if REFERENCE in found:
        followed = look.followed(found, "")
        kept: dict[str, Any] = {key: given[key] for key in ("$defs", "definitions") if key in given}
        found = {**kept, **look.at(followed, "", 0)}
    properties = found.get("properties")
    if isinstance(properties, Mapping):
        missing = [name for name in found.get("required", ()) if name not in properties]
        found["properties"] = {**properties, **{name: {} for name in missing}}
        found.setdefault("additionalProperties", False)
    return found


class _Look:
    """Looks through one schema."""

    def __init__(self, tool: str, root: Mapping[str, Any], target: str) -> None:
        self._tool, self._root, self._target = tool, root, target

    def at(self, schema: Any, place: str, depth: int) -> dict[str, Any]:
        """The schema at a place, as it is used."""
        if schema is True:
            return {}
        if not isinstance(schema, Mapping):
            raise self._error(place, f"{schema!r} is no schema")
        if depth > DEEPEST:
            raise self._error(place, f"it is nested deeper than {DEEPEST} levels")
        found = dict(schema)
        self._words(found, place)
        if REFERENCE in found:
            self.followed(found, place)
        for key in _MAPS:
            if key in found:
                found[key] = self._map(found[key], f"{place}/{key}", depth)
        for key in _LISTS:
            if key in found:
                found[key] = self._list(found[key], f"{place}/{key}", depth)
        for key in _SINGLE:
            if key in found and not isinstance(found[key], bool) and not isinstance(found[key], list):
                found[key] = self.at(found[key], f"{place}/{key}", depth + 1)
        return found

    def _map(self, value: Any, place: str, depth: int) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise self._error(place, "it must be an object")
        return {
            str(name): self.at(held, f"{place}/{name}", depth + 1)
            for name, held in value.items()
            if held is not False
        }

    def _list(self, value: Any, place: str, depth: int) -> list[dict[str, Any]]:
        if not isinstance(value, list) or not value:
            raise self._error(place, "it must be a list of schemas")
        kept = [(number, held) for number, held in enumerate(value) if held is not False]
        return [self.at(held, f"{place}/{number}", depth + 1) for number, held in kept]

    def _words(self, schema: Mapping[str, Any], place: str) -> None:
        """Check the keywords that grammars are made of."""
        declared = schema.get("type")
        kinds = declared if isinstance(declared, list) else [] if declared is None else [declared]
        wrong = next((kind for kind in kinds if kind not in TYPES), None)
        if wrong is not None:
            raise self._error(f"{place}/type", f"{wrong!r} is no type; there are {', '.join(TYPES)}")
        required = schema.get("required", [])
        if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
            raise self._error(f"{place}/required", "it must be a list of names")
        if "enum" in schema and (not isinstance(schema["enum"], list) or not schema["enum"]):
            raise self._error(f"{place}/enum", "it must be a list of at least one value")

    def followed(self, schema: Mapping[str, Any], place: str) -> Mapping[str, Any]:
        """What a reference leads to in the end."""
        seen: list[str] = []
        while REFERENCE in schema:
            pointer = schema[REFERENCE]
            if pointer in seen:
                raise self._error(place, f"the reference {pointer!r} leads back to itself")
            seen.append(pointer)
            found = resolved(pointer, self._root)
            if found is None:
                raise self._error(
                    place,
                    f"the reference {pointer!r} leads nowhere; only '#/...' into this schema is followed",
                )
            schema = found
        return schema

    def _error(self, place: str, found: str) -> ExportError:
        where = f" at {place[1:]}" if place else ""
        return ExportError(
            f"the schema of tool {self._tool!r} cannot be used{where}: {found}",
            target=self._target,
            hint="Correct the tool's parameters.",
        )


def resolved(pointer: Any, root: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What a JSON pointer such as `#/$defs/node` names in a schema; None when it names no schema there."""
    if not isinstance(pointer, str) or not pointer.startswith("#"):
        return None
    found: Any = root
    for step in pointer.removeprefix("#").strip("/").split("/") if pointer not in {"#", "#/"} else ():
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list):
            found = found[int(name)] if name.isdigit() and int(name) < len(found) else None
        else:
            found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else None


def alone(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """A part of a schema that can stand on its own: with the whole in its definitions where it refers to that."""
    if not _refers(schema):
        return dict(schema)
    return {**_moved(schema), "$defs": {"root": _moved(root)}}


def _refers(value: Any) -> bool:
    if isinstance(value, Mapping):
        return REFERENCE in value or any(map(_refers, value.values()))
    return isinstance(value, list) and any(map(_refers, value))


def _moved(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            key: f"#/$defs/root{held.removeprefix('#')}"
            if key == REFERENCE and isinstance(held, str)
            else _moved(held)
            for key, held in value.items()
        }
    return [_moved(one) for one in value] if isinstance(value, list) else value


def without_words(value: Any, words: frozenset[str], dropped: set[str]) -> Any:
    """A schema without some keywords; those that were there are added to `dropped`."""
    if isinstance(value, list):
        return [without_words(one, words, dropped) for one in value]
    if not isinstance(value, Mapping):
        return value
    out: dict[str, Any] = {}
    for key, held in value.items():
        if key in words:
            dropped.add(key)
        elif key in _MAPS and isinstance(held, Mapping):
            out[key] = {name: without_words(one, words, dropped) for name, one in held.items()}
        elif key in (*_LISTS, *_SINGLE):
            out[key] = without_words(held, words, dropped)
        else:
            out[key] = held
    return out


def json_type(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    kinds: Sequence[tuple[type, str]] = (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "object")
