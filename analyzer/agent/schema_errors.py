"""What is wrong with a value under a JSON Schema, each fault once, in words a model can act on.

`jsonschema` finds the faults; here they become kinds and sentences: a missing property is named, a wrong type says
what came, a union says what it takes instead of listing each branch's complaint.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, relevance
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

Path = tuple[str | int, ...]
_SHOWN: Final = 60
_ARTICLES: Final = {"array": "an array", "integer": "an integer", "null": "null", "object": "an object"}


class Fault(NamedTuple):
    """One fault of a value."""

    kind: str
    """`missing_argument`, `unknown_argument`, `wrong_type`, `not_allowed` or `invalid_value`."""
    path: Path
    """Where: keys and indexes from the arguments' top."""
    text: str
    """A clause that says what is wrong."""


class UnusableSchemaError(Exception):
    """A tool's schema is not a schema, or refers to what is not in it."""


class Checker:
    """One schema, ready to check values. References to other documents are never fetched."""

    __slots__ = ("_level", "_validator")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        try:
            kind = validator_for(schema, default=Draft202012Validator)
            kind.check_schema(dict(schema))
            self._validator: Validator = kind(dict(schema), registry=Registry())
        except SchemaError as error:
            raise UnusableSchemaError(error.message) from error
        except RecursionError:
            raise UnusableSchemaError("the schema is nested too deeply") from None
        except Exception as error:  # a schema of strangers makes the library raise much (`$schema: 3`)
            raise UnusableSchemaError(_named(error)) from error
        self._level = _Level((schema,), schema)

    def faults(self, value: Any) -> list[Fault]:
        """Return every fault, the outer ones first. Raises `UnusableSchemaError` for a reference that leads nowhere."""
        try:
            errors = sorted(self._validator.iter_errors(value), key=lambda error: len(error.absolute_path))
        except (Unresolvable, RecursionError) as error:
            raise UnusableSchemaError(str(error) or "the schema refers to itself without end") from error
        except OverflowError:  # the value's fault: `multipleOf` divides
            return [Fault("invalid_value", (), "the arguments hold a number that is too large")]
        except Exception as error:  # the schema's fault: an `$id` that is no address, and the like
            raise UnusableSchemaError(_named(error)) from error
        found: dict[Fault, None] = {}
        for each in errors:
            found.update(dict.fromkeys(_faults_of(each)))
        return list(found)

    def unknown_keys(self, value: Any) -> Iterator[Fault]:
        """Yield a fault for each key that the schema neither names nor lets in by a rule, at any depth."""
        if isinstance(value, (dict, list)):
            yield from _unknown(value, self._level, ())


def place(path: Path) -> str:
    """Return a path as it is written: `items[0].count`; keys that are long are cut."""
    out = ""
    for step in path:
        name = step if isinstance(step, int) else brief(step)
        out += f"[{name}]" if isinstance(step, int) else f".{name}" if out else str(name)
    return out


def brief(text: str) -> str:
    """Return a text that a model made up, cut when it is long: it stands in a sentence."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def shown(value: Any) -> str:
    """Return a value as JSON, cut when it is long."""
    return brief(json.dumps(value, ensure_ascii=False))


def _named(error: Exception) -> str:
    return brief(f"{type(error).__name__}: {error}")


def _of_path(path: Path) -> str:
    return f"argument '{place(path)}'" if path else "the arguments"


def _faults_of(error: ValidationError) -> Iterator[Fault]:
    path: Path = tuple(error.absolute_path)
    rule: Any = error.validator
    wanted: Any = error.validator_value
    value: Any = error.instance
    if rule == "required":
        for name in wanted:
            if name not in value:
                yield Fault(
                    "missing_argument", (*path, name), f"missing required argument '{place((*path, name))}'"
                )
    elif rule == "dependentRequired":
        yield Fault("missing_argument", path, f"{_of_path(path)}: {error.message}")
    elif rule in {"additionalProperties", "unevaluatedProperties"}:
        yield from _not_let_in(error, path)
    elif rule == "type":
        yield _wrong_type(path, [wanted] if isinstance(wanted, str) else list(wanted), value)
    elif rule == "enum":
        yield Fault(
            "not_allowed", path, f"{_of_path(path)} must be one of {_listed(wanted)}, not {shown(value)}"
        )
    elif rule == "const":
        yield Fault("not_allowed", path, f"{_of_path(path)} must be {shown(wanted)}, not {shown(value)}")
    elif rule in {"anyOf", "oneOf"} and error.context:
        yield from _union(error, path)
    elif error.schema == {"not": {}}:
        yield Fault("unknown_argument", path, f"unknown argument '{place(path)}'")
    else:
        verb = "is" if path else "are"
        yield Fault("invalid_value", path, f"{_of_path(path)} {verb} not valid: {_rule_text(error)}")


def _not_let_in(error: ValidationError, path: Path) -> Iterator[Fault]:
    keys: Any = error.instance
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    known = _names(schema)
    if error.validator == "unevaluatedProperties":
        strangers = [name for name in keys if repr(name) in error.message]
    else:
        patterns = schema.get("patternProperties") or ()
        rest = [name for name in keys if name not in known]
        strangers = [name for name in rest if not any(re.search(pattern, name) for pattern in patterns)]
    for name in strangers:
        yield unknown_argument((*path, name), known)


def unknown_argument(path: Path, allowed: Iterable[str]) -> Fault:
    """Return the fault of a key that is not declared, with those that are."""
    names = ", ".join(allowed)
    return Fault(
        "unknown_argument",
        path,
        f"unknown argument '{place(path)}' ({f'allowed: {names}' if names else 'none is allowed'})",
    )


def _names(schema: Mapping[str, Any]) -> list[str]:
    properties = schema.get("properties")
    return list(properties) if isinstance(properties, Mapping) else []


def _wrong_type(path: Path, wanted: list[str], value: Any) -> Fault:
    kinds = " or ".join(_ARTICLES.get(kind, f"a {kind}") for kind in dict.fromkeys(wanted))
    return Fault("wrong_type", path, f"{_of_path(path)} must be {kinds}, not {_said(value)}")


def _said(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return shown(value)
    kind = "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
    kind = "number" if isinstance(value, (int, float)) else kind
    return f"the {kind} {shown(value)}"


def _listed(values: Iterable[Any]) -> str:
    text = ", ".join(shown(value) for value in values)
    return text if len(text) <= 10 * _SHOWN else f"{text[: 10 * _SHOWN]}..."


def _union(error: ValidationError, path: Path) -> Iterator[Fault]:
    """A union's faults: the types it takes when none fits, else the faults of the branch that fits best."""
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    here = [inner for inner in error.context or () if tuple(inner.absolute_path) == path]
    types = [inner for inner in here if inner.validator == "type"]
    if len(types) == len(branches):
        wanted: list[str] = []
        for inner in types:
            said: Any = inner.validator_value
            wanted += [said] if isinstance(said, str) else list(said)
        yield _wrong_type(path, wanted, error.instance)
        return
    fitting = [found for found in branches.values() if not any(inner in types for inner in found)]
    constants = [found[0] for found in fitting if len(found) == 1 and found[0].validator in {"const", "enum"}]
    if len(constants) == len(fitting) and all(tuple(inner.absolute_path) == path for inner in constants):
        values: list[Any] = []
        for inner in constants:
            said = inner.validator_value
            values += said if inner.validator == "enum" else [said]
        yield Fault(
            "not_allowed",
            path,
            f"{_of_path(path)} must be one of {_listed(values)}, not {shown(error.instance)}",
        )
        return
    best = min(fitting, key=lambda found: (_misses_constant(found), len(found), -max(map(_depth, found))))
    for inner in sorted(best, key=relevance, reverse=True):
        yield from _faults_of(inner)


def _misses_constant(found: list[ValidationError]) -> bool:
    """True for a branch whose discriminator says another kind."""
    return any(inner.validator == "const" for inner in found)


def _depth(error: ValidationError) -> int:
    return len(error.absolute_path)


def _rule_text(error: ValidationError) -> str:
    rule, wanted = error.validator, error.validator_value
    texts = {
        "minimum": f"it must be at least {wanted}",
        "maximum": f"it must be at most {wanted}",
        "exclusiveMinimum": f"it must be more than {wanted}",
        "exclusiveMaximum": f"it must be less than {wanted}",
        "multipleOf": f"it must be a multiple of {wanted}",
        "minLength": f"it must have at least {wanted} characters",
        "maxLength": f"it must have at most {wanted} characters",
        "pattern": f"it must match the pattern {wanted}",
        "format": f"it must be of the format {wanted}",
        "minItems": f"it must have at least {wanted} items",
        "maxItems": f"it must have at most {wanted} items",
        "uniqueItems": "its items must differ",
        "minProperties": f"it must have at least {wanted} keys",
        "maxProperties": f"it must have at most {wanted} keys",
    }
    return texts.get(
        str(rule), error.message if len(error.message) <= 4 * _SHOWN else f"the rule {rule} fails"
    )


class _Level:
    """What all schemas that speak of one value say of its keys; what is below is looked at when a value has it."""

    __slots__ = ("_below", "_items", "_properties", "_root", "all_known", "names")

    def __init__(self, schemas: Iterable[Any], root: Any) -> None:
        flat = [part for schema in schemas for part in _parts(schema, root)]
        self._root = root
        self._properties: dict[str, list[Any]] = {}
        for part in flat:
            for name in _names(part):
                self._properties.setdefault(name, []).append(part["properties"][name])
        self._items = [part["items"] for part in flat if isinstance(part.get("items"), Mapping)]
        self._below: dict[str | None, _Level] = {}
        self.names = list(self._properties)
        closed = any(part.get("additionalProperties") is False for part in flat)
        self.all_known = (not self.names and not closed) or any(_lets_in(part) for part in flat)

    def below(self, key: str | None) -> _Level | None:
        """The level of the values under a key, of an array's items for None."""
        if key not in self._below:
            schemas = self._items if key is None else self._properties.get(key)
            if not schemas:
                return None
            self._below[key] = _Level(schemas, self._root)
        return self._below[key]


def _unknown(value: Any, level: _Level, path: Path) -> Iterator[Fault]:
    if isinstance(value, dict):
        for key, item in value.items():
            known = key in level.names
            if not known and not level.all_known:
                yield unknown_argument((*path, key), level.names)
            elif known and isinstance(item, (dict, list)) and (below := level.below(key)) is not None:
                yield from _unknown(item, below, (*path, key))
    elif (below := level.below(None)) is not None:
        for index, item in enumerate(value):
            if isinstance(item, (dict, list)):
                yield from _unknown(item, below, (*path, index))


def _lets_in(part: Mapping[str, Any]) -> bool:
    extra = part.get("additionalProperties", False)
    return extra is True or isinstance(extra, Mapping) or bool(part.get("patternProperties"))


def _parts(schema: Any, root: Any) -> Iterator[Mapping[str, Any]]:
    """The schema and all schemas that speak of the same value, each once, references inside the document followed."""
    seen: set[int] = set()
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Mapping) or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        ref = part.get("$ref")
        if isinstance(ref, str):
            waiting.append(resolved(ref, root))
        for word in ("oneOf", "anyOf", "allOf"):
            branches = part.get(word)
            waiting += reversed(branches) if isinstance(branches, list) else ()
        waiting += [part.get(word) for word in ("else", "then", "if")]


def resolved(ref: str, root: Any) -> Any:
    """Return what a reference inside the document leads to, None when it leads nowhere or out of it."""
    found = root
    for step in ref[1:].split("/")[1:] if ref.startswith("#") else ():
        key = step.replace("~1", "/").replace("~0", "~")
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if ref.startswith("#") else None


@lru_cache(maxsize=256)
def _checker(text: str) -> Checker | str:
    try:
        return Checker(json.loads(text))
    except UnusableSchemaError as error:
        return str(error)


def checker_for(schema: Mapping[str, Any]) -> Checker:
    """Return the checker of a schema, made once for each. Raises `UnusableSchemaError`."""
    try:
        found = _checker(json.dumps(schema))
    except (TypeError, ValueError, RecursionError) as error:
        raise UnusableSchemaError(f"the schema is not JSON: {error}") from error
    if isinstance(found, str):
        raise UnusableSchemaError(found)
    return found
