"""JSON values as grammar rules, by schema: for notations that have no JSON of their own.

Typed are `type` (also a list), `properties` with `required` in declared order, `additionalProperties`, `items`, `enum`, `const`,
`anyOf`, `oneOf`, and `$ref` into the schema itself. What is not checked (lengths, patterns, bounds) is noted in the rules.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from analyzer.export.rules import Rules, joined
from analyzer.export.schemas import resolved

_STRING: Final = r'[^"\\\x00-\x1f]'
_SCALARS: Final = ("string", "number", "integer", "boolean", "null")


UNCHECKED: Final = frozenset(
    (
        *("pattern", "format", "minLength", "maxLength", "contentEncoding", "contentMediaType"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains", "prefixItems"),
        *("minProperties", "maxProperties", "propertyNames", "patternProperties"),
        *("dependentRequired", "dependentSchemas", "dependencies", "unevaluatedItems"),
        *("unevaluatedProperties", "not", "if", "then", "else", "allOf", "$dynamicRef"),
    )
)
"""The keywords that rules do not hold a value against."""


def json_value(rules: Rules, schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> str:
    """Return an expression for the JSON values of a schema; `root` is the schema that its references lead into."""
    top = schema if root is None else root
    rules.unchecked.update(UNCHECKED & schema.keys())
    if "$ref" in schema:
        return _reference(rules, str(schema["$ref"]), top)
    if "const" in schema:
        return rules.literal(json.dumps(schema["const"], ensure_ascii=False))
    if isinstance(schema.get("enum"), list):
        return rules.either(rules.literal(json.dumps(value, ensure_ascii=False)) for value in schema["enum"])
    kinds = schema_types(schema)
    for key in ("anyOf", "oneOf"):
        if schema.get(key) and not schema.get("properties"):
            return rules.either(json_value(rules, {**_kind(schema), **branch}, top) for branch in schema[key])
        if schema.get(key):
            rules.unchecked.add(key)
    return rules.either(_of_type(rules, kind, schema, top) for kind in kinds) if kinds else any_value(rules)


def _kind(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What the branches of a schema have in common: its type."""
    return {"type": schema["type"]} if "type" in schema else {}


def schema_types(schema: Mapping[str, Any]) -> list[str]:
    """The types that a schema names."""
    declared = schema.get("type")
    found = [declared] if isinstance(declared, str) else list(declared or ())
    if not found and "properties" in schema:
        found = ["object"]
    return [*found, "null"] if schema.get("nullable") and "null" not in found else found


def _of_type(rules: Rules, kind: str, schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    if kind == "object" and any(
        schema.get(key) not in (None, True) for key in ("properties", "additionalProperties")
    ):
        return rules.add("object", _object(rules, schema, root))
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        return rules.add("array", _array(rules, json_value(rules, schema["items"], root)))
    return scalar(rules, kind) if kind in _SCALARS else _any_container(rules, kind)


def scalar(rules: Rules, kind: str) -> str:
    """A value of a type without parts."""
    if kind == "string":
        return rules.shared("string", lambda: _string(rules))
    if kind == "integer":
        return rules.shared("integer", lambda: '"-"? ("0" | [1-9] [0-9]*)')
    if kind == "number":
        return rules.shared("number", lambda: '"-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?')
    return rules.either(['"true"', '"false"']) if kind == "boolean" else '"null"'


def any_value(rules: Rules) -> str:
    """Any JSON value."""
    kinds = ("object", "array", "string", "number", "boolean", "null")
    return rules.shared(
        "value",
        lambda: " | ".join(
            scalar(rules, kind) if kind in _SCALARS else _any_container(rules, kind) for kind in kinds
        ),
    )


def white(rules: Rules) -> str:
    """White space between JSON tokens."""
    return rules.shared("ws", lambda: r"[ \t\n]*")


def _string(rules: Rules) -> str:
    escape = '"\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F] [0-9a-fA-F])'
    return rules.sequence(r'"\""', rules.repeat(f"{_STRING} | {escape}", "*"), r'"\""')


def _any_container(rules: Rules, kind: str) -> str:
    if kind == "array":
        return rules.shared("any-array", lambda: _array(rules, any_value(rules)))

    def body() -> str:
        space, pair = white(rules), rules.sequence(_pair_open(rules), any_value(rules))
        more = rules.repeat(rules.sequence('","', space, pair, space), "*")
        return rules.sequence('"{"', space, rules.repeat(rules.sequence(pair, space, more), "?"), '"}"')

    return rules.shared("any-object", body)


def _pair_open(rules: Rules) -> str:
    return rules.sequence(scalar(rules, "string"), white(rules), '":"', white(rules))


def _array(rules: Rules, item: str) -> str:
    space = white(rules)
    more = rules.repeat(rules.sequence('","', space, item, space), "*")
    return rules.sequence('"["', space, rules.repeat(rules.sequence(item, space, more), "?"), '"]"')


def _object(rules: Rules, schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    space = white(rules)
    required: Sequence[str] = schema.get("required") or ()
    gap = rules.add("comma", rules.sequence('","', space))
    items = []
    for key, value in (schema.get("properties") or {}).items():
        name = rules.literal(json.dumps(key, ensure_ascii=False))
        held = value if isinstance(value, Mapping) else {}
        pair = rules.sequence(name, space, '":"', space, json_value(rules, held, root), space)
        items.append((rules.add("pair", pair), key in required))
    others = schema.get("additionalProperties", False)
    if others is not False:
        value = any_value(rules) if others is True else json_value(rules, others, root)
        pair = rules.add("pair", rules.sequence(_pair_open(rules), value, space))
        items.append((rules.sequence(pair, rules.repeat(rules.sequence(gap, pair), "*")), False))
    return rules.sequence('"{"', space, joined(rules, items, gap), '"}"')


def _reference(rules: Rules, pointer: str, root: Mapping[str, Any]) -> str:
    held = resolved(pointer, root)
    assert held is not None  # noqa: S101  (`arguments_schema` has followed it)
    if "$ref" in held:
        return _reference(rules, str(held["$ref"]), root)
    return rules.shared(f"ref {id(root)} {pointer}", lambda: json_value(rules, held, root), "ref")
