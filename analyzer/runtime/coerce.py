"""Types of argument values: what a tool's JSON Schema says, for encodings that do not say it themselves.

A malformed schema never breaks parsing: what cannot be understood says nothing. References are followed inside the
schema only, each once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from analyzer.runtime.json_scan import refuse
from analyzer.runtime.literal_scan import LiteralScanner
from analyzer.runtime.literals import white_end
from analyzer.runtime.words import json_inner, word_to_json

if TYPE_CHECKING:
    from analyzer.chat import Tool

ALL: Final = frozenset({"string", "integer", "number", "boolean", "null", "array", "object"})
_DEEPEST: Final = 64
"""So deep are schemas looked into; what is deeper says nothing."""
_NESTED: Final = ("anyOf", "oneOf", "allOf")
_json_number = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z").match
_may_begin_value = frozenset("{[\"'-+.0123456789tfnTFN(")


class Types:
    """The types that one schema allows, None where it says nothing; looks into properties and items on demand."""

    __slots__ = ("_cache", "_root", "_schema", "names")

    def __init__(self, schema: Any, root: Any) -> None:
        self._schema = schema
        self._root = root
        self._cache: dict[str, Types | None] = {}
        self.names: frozenset[str] | None = _Reader(root).types(schema)

    @property
    def text_only(self) -> bool:
        """True: the value is its text, whatever it looks like."""
        return self.names is not None and "string" in self.names and "null" not in self.names

    @property
    def takes_text(self) -> bool:
        """True: a string is allowed."""
        return self.names is not None and "string" in self.names

    def child(self, key: str | None) -> Types | None:
        """Return the types of property `key`, of the items for None; None when the schema does not name it."""
        slot = "items" if key is None else f"properties/{key}"
        if slot not in self._cache:
            found = _Reader(self._root).lookup(self._schema, key)
            self._cache[slot] = None if found is None else Types(found, self._root)
        return self._cache[slot]

    def is_known(self, key: str) -> bool:
        """True when the schema names property `key`."""
        return self.child(key) is not None

    @property
    def keys(self) -> frozenset[str]:
        """The properties that the schema itself names."""
        schema = _Reader(self._root).resolve(self._schema)
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        return frozenset(map(str, properties)) if isinstance(properties, Mapping) else frozenset()

    @property
    def closed(self) -> bool:
        """True when the schema is an object that names its properties."""
        schema = self._schema
        return isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping)


class CompiledTools:
    """The declared tools, compiled when first asked for; share one among the parsers of a request."""

    __slots__ = ("_compiled", "_tools", "names")

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._compiled: dict[str, Types | None] = {}
        self.names = frozenset(self._tools)

    def parameters(self, name: str) -> Types | None:
        """Return the schema of a tool's arguments, None for an unknown tool or one without a schema."""
        if name not in self._compiled:
            tool = self._tools.get(name)
            schema = None if tool is None else tool.parameters
            self._compiled[name] = None if not isinstance(schema, Mapping) else Types(schema, schema)
        return self._compiled[name]


class _Reader:
    """Reads one schema: a reference is looked into once, and only so deep, so that no schema costs more than its size."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._seen: set[str] = set()

    def resolve(self, schema: Any) -> Any:
        """Follow `$ref` inside the root schema; {} for a remote, dangling or cyclic one, or one that was looked into before."""
        while isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
            ref = schema["$ref"]
            if ref in self._seen:
                return {}
            self._seen.add(ref)
            schema = _pointed(self._root, ref)
        return schema

    def types(self, schema: Any, depth: int = 0) -> frozenset[str] | None:
        """The types that a schema allows, None where it says nothing."""
        schema = self.resolve(schema)
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return None
        found = _own_types(schema)
        for word in ("anyOf", "oneOf"):
            branches = schema.get(word)
            if found is None and isinstance(branches, list) and branches:
                said = [part for branch in branches if (part := self.types(branch, depth + 1)) is not None]
                found = set().union(*said) if said else None
        branches = schema.get("allOf")
        for branch in branches if isinstance(branches, list) else ():
            part = self.types(branch, depth + 1)
            if part is not None:
                found = set(part) if found is None else (found & part or found)
        if found is None:
            if isinstance(schema.get("properties"), Mapping) or "additionalProperties" in schema:
                found = {"object"}
            elif "items" in schema or "prefixItems" in schema:
                found = {"array"}
        if found is not None and schema.get("nullable") is True:
            found = {*found, "null"}
        return frozenset(found) if found else None

    def lookup(self, schema: Any, key: str | None, depth: int = 0) -> Any:
        """The schema of property `key`, or of the items for None; None when there is none."""
        schema = self.resolve(schema)
        if not isinstance(schema, Mapping) or depth > _DEEPEST:
            return None
        if key is None:
            if isinstance(schema.get("items"), Mapping):
                return schema["items"]
        else:
            properties = schema.get("properties")
            if isinstance(properties, Mapping) and key in properties:
                return properties[key]
        for word in _NESTED:
            branches = schema.get(word)
            for branch in branches if isinstance(branches, list) else ():
                found = self.lookup(branch, key, depth + 1)
                if found is not None:
                    return found
        if key is not None and isinstance(schema.get("additionalProperties"), Mapping):
            return schema["additionalProperties"]
        return None


def _pointed(root: Any, ref: str) -> Any:
    """What a JSON Pointer inside the document says; {} for any other reference."""
    if ref != "#" and not ref.startswith("#/"):
        return {}
    found = root
    for step in ref[1:].split("/")[1:]:
        key = _unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and key in found:
            found = found[key]
        elif (
            isinstance(found, list)
            and key.isdecimal()
            and len(key) < len("1000000")
            and int(key) < len(found)
        ):
            found = found[int(key)]
        else:
            return {}
    return found


def _unquote(text: str) -> str:
    """Undo the percent encoding of a reference."""
    if "%" not in text:
        return text
    from urllib.parse import unquote as decode  # noqa: PLC0415 - a slow import, and hardly ever needed

    return decode(text)


def _own_types(schema: Mapping[str, Any]) -> set[str] | None:
    """What `type`, `enum` or `const` say."""
    named = schema.get("type")
    names = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    known = {name for name in names if isinstance(name, str) and name in ALL}
    if known:
        return known
    if isinstance(schema.get("enum"), list):
        return {_type_of(value) for value in schema["enum"]}
    return {_type_of(schema["const"])} if "const" in schema else None


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def told(said: frozenset[str], names: frozenset[str] | None) -> frozenset[str] | None:
    """Return the types that a value may have by the format's word for its type, `said`, and by its schema, `names`."""
    return said if "string" not in said or len(said) == 1 else (names or None)


def starts_like_value(text: str) -> bool:
    """True when text may be a JSON or Python value; else it can be nothing but a string."""
    stripped = text.lstrip()
    return not stripped or stripped[0] in _may_begin_value


def quoted(text: str) -> str:
    """Return text as a JSON string."""
    return f'"{json_inner(text)}"'


def to_json(text: str, *, bare: bool = False) -> tuple[str, bool] | None:
    """Return a whole value in Python or JSON notation as (JSON text, was it Python's), None when it is none."""
    try:
        json.loads(text, parse_int=len, parse_float=len, parse_constant=refuse)  # any number of digits
    except (ValueError, RecursionError):
        pass
    else:
        return text.strip(), False
    scanner = LiteralScanner(bare=bare)
    end = scanner.scan(text, 0, final=True)
    if not scanner.done or white_end(text, end) != len(text):
        return None
    return "".join(scanner.out), True


def decode_text(
    text: str, names: frozenset[str] | None, *, python: bool, usual: bool = False, null: str = "null"
) -> tuple[str, str]:
    """Return raw text as (JSON text, problem kind or ""), where `names` are the types allowed (None: any).

    `python`: Python notation is accepted; `usual`: it is the format's own, and no problem; `null`: how null is spelt.
    """
    python = python or usual
    if names is None:
        found = to_json(text) if starts_like_value(text) and text.strip() else None
        if found is None or found[0][0] == '"' or (found[1] and not (python and found[0][0] in "{[tfn")):
            return quoted(text), ""
        return found[0], "python_value" if found[1] and not usual else ""
    if "string" in names:
        if "null" in names and text == null:
            return "null", ""
        return quoted(text), ""
    stripped = text.strip()
    value = _scalar(stripped, names)
    if value is not None:
        return value, ""
    if names & {"array", "object"} and stripped[:1] in {"{", "[", "("}:
        found = to_json(stripped)
        if found is not None and (python or not found[1]):
            kind = "object" if found[0].startswith("{") else "array"
            if kind in names:
                return found[0], "python_value" if found[1] and not usual else ""
    return quoted(text), "type_mismatch"


def _scalar(text: str, names: frozenset[str]) -> str | None:
    if "null" in names and text in {"null", "None", "Null", "NULL"}:
        return "null"
    if "boolean" in names and text.lower() in {"true", "false"}:
        return text.lower()
    if names & {"number", "integer"}:
        if _json_number(text):
            whole = "number" in names or ("." not in text and "e" not in text.lower())
            return text if whole or _is_whole(text) else None
        value = word_to_json(text)
        if value is not None and _json_number(value) and ("number" in names or "." not in value):
            return value
    return None


def _is_whole(text: str) -> bool:
    try:
        return float(text).is_integer()
    except (ValueError, OverflowError):
        return False


def type_of_json(text: str) -> str:
    """Return the JSON type of a JSON text by its first character."""
    first = text.lstrip()[:1]
    if first == "{":
        return "object"
    if first == "[":
        return "array"
    if first == '"':
        return "string"
    if first in {"t", "f"}:
        return "boolean"
    return "null" if first == "n" else "number" if any(c in text for c in ".eE") else "integer"


def decoded(text: str) -> Any:
    """Decode JSON text that is known to be valid."""
    return json.loads(text)
