"""Arguments as grammar rules: one JSON value, or a run of items with a codec for each type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from analyzer.errors import ExportError
from analyzer.export.json_rules import UNCHECKED, json_value, schema_types
from analyzer.export.result import Losses
from analyzer.export.rules import Rules, joined
from analyzer.export.schemas import json_type, resolved
from analyzer.spec.parts import (
    ArgumentsSlot,
    Codec,
    Codecs,
    DialectCodec,
    ItemPart,
    KeySlot,
    TypeSlot,
    ValueSlot,
)

_ANY: Final = ("string", "integer", "number", "boolean", "null", "array", "object")


def _of_type(item: Sequence[ItemPart], kind: str) -> list[str | KeySlot | ValueSlot]:
    """The item as it is written around a value of one type: its words are literals, and neighbouring literals one."""
    out: list[str | KeySlot | ValueSlot] = []
    for part in item:
        one = part.words.get(kind, "") if isinstance(part, TypeSlot) else part  # type: ignore[call-overload]
        if isinstance(one, str) and out and isinstance(out[-1], str):
            out[-1] += one
        elif one != "":
            out.append(one)
    return out


class Arguments:
    """Makes the rules of arguments slots; one for a grammar."""

    def __init__(self, rules: Rules, losses: Losses, target: str) -> None:
        self.rules, self.losses, self.target = rules, losses, target
        self._root: Mapping[str, Any] = {}

    def expression(self, slot: ArgumentsSlot, schema: Mapping[str, Any], *, inside: bool) -> str:
        """The arguments; `inside`: between the quotes of a JSON string."""
        self._root = schema
        if slot.item is not None:
            return self._items(slot, schema)
        codec = slot.codec
        assert codec is not None  # noqa: S101  (the model demands one of the two)
        if codec.kind == "json":
            return self.rules.json(schema, json_value)
        if codec.kind == "json_text":
            self.losses.add(
                "unchecked_text", "Arguments inside a JSON string are not held against their schema."
            )
            return self._json_text(bare=inside)
        if codec.kind == "dialect":
            return self._dialect_object(codec)
        raise ExportError(f"arguments written as {codec.kind} have no grammar yet", target=self.target)

    def _json_text(self, *, bare: bool = False) -> str:
        plain, any_one = self.rules.one_of('"\\', other=True), self.rules.one_of("\n", other=True)
        chars = self.rules.repeat(f'{plain} | "\\\\" {any_one}', "*")
        return chars if bare else self.rules.sequence(r'"\""', chars, r'"\""')

    # -------------------------------------------------------------------------------------------------------------- items

    def _items(self, slot: ArgumentsSlot, schema: Mapping[str, Any]) -> str:
        codecs, item = slot.codecs, slot.item
        assert codecs is not None  # noqa: S101  (the model demands it)
        assert item is not None  # noqa: S101  (the caller asked)
        separator = self.rules.literal(slot.separator)
        properties = schema.get("properties")
        self.rules.unchecked.update((UNCHECKED | {"anyOf", "oneOf"}) & schema.keys())
        open_ended = schema.get("additionalProperties") not in (None, False)
        if not isinstance(properties, Mapping) or (not properties and open_ended):
            return self._free(item, codecs, separator)
        required: Sequence[str] = schema.get("required") or ()
        items = []
        for key, held in properties.items():
            value = self._followed(held if isinstance(held, Mapping) else {})
            rule = self.rules.add(f"arg {key}", self._item(item, codecs, key, value))
            items.append((key, rule, key in required))
        last = [(self._run(item, codecs, separator), False)] if open_ended else []
        if not items and not last:
            return '""'
        orders = (items, sorted(items))  # templates write arguments as they come, or sorted
        return self.rules.either(
            joined(self.rules, [*((rule, needed) for _, rule, needed in order), *last], separator)
            for order in orders
        )

    def _free(self, item: Sequence[ItemPart], codecs: Codecs, separator: str) -> str:
        """Items of any keys, or none: nothing is known of the arguments."""
        return self.rules.repeat(self._run(item, codecs, separator), "?")

    def _run(self, item: Sequence[ItemPart], codecs: Codecs, separator: str) -> str:
        """One or more items of any keys."""
        one = self.rules.shared("any-arg", lambda: self._item(item, codecs, None, {}))
        return self.rules.sequence(one, self.rules.repeat(self.rules.sequence(separator, one), "*"))

    def _followed(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema, or the one that it refers to, with what is said beside the reference."""
        while "$ref" in schema:
            found = resolved(schema["$ref"], self._root)
            assert found is not None  # noqa: S101  (`arguments_schema` has followed it)
            schema = {**found, **{key: held for key, held in schema.items() if key != "$ref"}}
        return schema

    def _item(
        self, item: Sequence[ItemPart], codecs: Codecs, key: str | None, schema: Mapping[str, Any]
    ) -> str:
        kinds = self._kinds(schema)
        typed = any(isinstance(part, TypeSlot) for part in item)
        if typed or len(kinds) == 1:
            return self.rules.either(self._item_of(item, codecs, key, schema, [kind]) for kind in kinds)
        return self._item_of(item, codecs, key, schema, kinds)

    def _kinds(self, schema: Mapping[str, Any]) -> list[str]:
        """The types that a value may have, those of its branches and listed values among them."""
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        found = schema_types(schema)
        if isinstance(values, list):
            listed = dict.fromkeys(map(json_type, values))
            return [kind for kind in listed if not found or kind in found or "number" in found] or found
        for branch in self._branches(schema):
            found += [kind for kind in schema_types(branch) if kind not in found]
        return found or list(_ANY)

    def _branches(self, schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        return [self._followed(one) for key in ("anyOf", "oneOf") for one in schema.get(key) or ()]

    def _narrowed(self, schema: Mapping[str, Any], kind: str) -> dict[str, Any]:
        """The schema for values of one of its types."""
        found = {
            key: held for key, held in schema.items() if key not in ("anyOf", "oneOf", "nullable", "$ref")
        }
        fitting = [
            {**one, "type": kind} for one in self._branches(schema) if kind in (schema_types(one) or [kind])
        ]
        if len(fitting) == 1:
            found.update(fitting[0])
        elif fitting:
            found["anyOf"] = fitting
        if isinstance(found.get("enum"), list):
            found["enum"] = [value for value in found["enum"] if json_type(value) in (kind, "integer")]
        return {**found, "type": kind}

    def _item_of(
        self,
        item: Sequence[ItemPart],
        codecs: Codecs,
        key: str | None,
        schema: Mapping[str, Any],
        kinds: Sequence[str],
    ) -> str:
        out: list[str] = []
        closed = False
        parts = _of_type(item, kinds[0])
        for number, part in enumerate(parts):
            if isinstance(part, str):
                out.append("" if closed else self.rules.literal(part))
                closed = False
            elif isinstance(part, KeySlot):
                following = parts[number + 1] if number + 1 < len(parts) else ""
                out.append(self._key(key, following if isinstance(following, str) else ""))
            else:
                following = parts[number + 1] if number + 1 < len(parts) else ""
                closer = following if isinstance(following, str) else ""
                out.append(self._value(item, codecs, schema, kinds, closer))
                closed = bool(closer)
        return self.rules.sequence(*out)

    def _key(self, key: str | None, following: str) -> str:
        if key is not None:
            return self.rules.literal(key)
        return self.rules.repeat(self.rules.one_of(f"{following.lstrip()[:1]}\n", other=True), "+")

    # ------------------------------------------------------------------------------------------------------------- values

    def _value(
        self,
        item: Sequence[ItemPart],
        codecs: Codecs,
        schema: Mapping[str, Any],
        kinds: Sequence[str],
        closer: str,
    ) -> str:
        """A value and the literal that closes it."""
        rules, end = self.rules, self.rules.literal(closer)
        enum = schema.get("enum") if isinstance(schema.get("enum"), list) else None
        if "const" in schema:
            enum = [schema["const"]]
        found = []
        for kind in kinds:
            codec = codecs.of(kind)  # type: ignore[arg-type]
            if kind == "string" and enum is not None and codec.kind in ("raw", "quoted"):
                opened, shut = (codec.open, codec.close) if codec.kind == "quoted" else ("", "")
                words = [f"{opened}{value}{shut}" for value in enum if isinstance(value, str)]
                found.append(self.rules.sequence(self.rules.either(map(self.rules.literal, words)), end))
            elif kind == "string":
                rules.unchecked.update(UNCHECKED & self._narrowed(schema, kind).keys())
                found.append(self._text(codec, closer))
            elif codec.kind == "nested":
                self.losses.add(
                    "unchecked_containers", "Lists and objects are not held against their schemas."
                )
                if rules.notation == "lark":
                    self.losses.add(
                        "nested_containers",
                        "A list or object inside another one is not accepted: the lexer takes it for text.",
                    )
                items = rules.repeat(rules.shared("any-arg", lambda: self._item(item, codecs, None, {})), "*")
                found.append(rules.sequence(items, end))
            else:
                found.append(self.rules.sequence(self._typed(codec, kind, schema), end))
        return self.rules.either(found)

    def _text(self, codec: Codec, closer: str) -> str:
        rules, end = self.rules, self.rules.literal(closer)
        if codec.kind == "raw":
            return self._until(closer)
        if codec.kind == "quoted":
            return rules.sequence(rules.literal(codec.open), self._until(codec.close), end)
        if codec.kind == "cdata":
            protected = rules.sequence(rules.literal(codec.open), self._until(codec.close), end)
            return rules.either([protected, self._until(closer)])
        if codec.kind == "escaped":
            plain = rules.one_of("".join(codec.escapes), other=True)
            spelt = [rules.literal(text) for text in codec.escapes.values()]
            return rules.sequence(rules.repeat(" | ".join([plain, *spelt]), "*"), end)
        if codec.kind == "dialect":
            return rules.sequence(rules.literal(codec.quote), self._until(codec.quote), end)
        if codec.kind == "python":
            return rules.sequence(self._python_string(), end)
        if codec.kind == "json":
            return rules.sequence(rules.json({"type": "string"}, json_value), end)
        raise ExportError(f"texts written as {codec.kind} have no grammar yet", target=self.target)

    def _until(self, stop: str) -> str:
        if not stop:
            raise ExportError("nothing closes an argument's value", target=self.target)
        self.losses.add(
            "raw_closer", f"A text that holds {stop!r} is not accepted: the format does not escape it."
        )
        return self.rules.until(stop)

    def _typed(self, codec: Codec, kind: str, schema: Mapping[str, Any]) -> str:
        rules = self.rules
        if isinstance(codec, DialectCodec):
            return self._dialect_value(codec, kind)
        if codec.kind == "python" and kind in ("boolean", "null"):
            return rules.either(['"True"', '"False"']) if kind == "boolean" else '"None"'
        if codec.kind == "python" and kind in ("array", "object"):
            self.losses.add("unchecked_containers", "Lists and objects are not held against their schemas.")
            return self._python_value()
        if codec.kind in ("json", "python", "raw"):
            return rules.json(self._narrowed(schema, kind), json_value, self._root)
        raise ExportError(f"values written as {codec.kind} have no grammar yet", target=self.target)

    # ----------------------------------------------------------------------------------------------- dialects and Python

    def _dialect_object(self, codec: DialectCodec) -> str:
        self.losses.add("unchecked_containers", "Lists and objects are not held against their schemas.")
        return self._container(codec, "object")

    def _dialect_value(self, codec: DialectCodec, kind: str) -> str:
        rules = self.rules
        if kind in ("array", "object"):
            self.losses.add("unchecked_containers", "Lists and objects are not held against their schemas.")
            return self._container(codec, kind)
        if kind == "string":
            return rules.sequence(rules.literal(codec.quote), self._until(codec.quote))
        return rules.json({"type": kind}, json_value)

    def _container(self, codec: DialectCodec, kind: str) -> str:
        rules = self.rules
        quote = rules.literal(codec.quote)
        kinds = ("string", "number", "boolean", "null", "array", "object")

        def value() -> str:
            return rules.shared(
                "dialect value", lambda: " | ".join(self._dialect_value(codec, one) for one in kinds)
            )

        def listed() -> str:
            more = rules.repeat(rules.sequence('","', value()), "*")
            return rules.sequence('"["', rules.repeat(rules.sequence(value(), more), "?"), '"]"')

        def mapped() -> str:
            bare = rules.repeat(rules.one_of(':,{}[]"', other=True), "+")
            key = bare if codec.bare_keys else rules.sequence(quote, self._until(codec.quote))
            pair = rules.sequence(key, '":"', value())
            more = rules.repeat(rules.sequence('","', pair), "*")
            return rules.sequence('"{"', rules.repeat(rules.sequence(pair, more), "?"), '"}"')

        return rules.shared(f"dialect {kind}", listed if kind == "array" else mapped)

    def _python_string(self) -> str:
        rules = self.rules

        def body() -> str:
            any_one = rules.one_of("\n", other=True)
            both = []
            for quote in ("'", '"'):
                plain = rules.one_of(f"{quote}\\\n", other=True)
                inner = rules.repeat(f'{plain} | "\\\\" {any_one}', "*")
                both.append(rules.sequence(rules.literal(quote), inner, rules.literal(quote)))
            return " | ".join(both)

        return rules.shared("python string", body)

    def _python_value(self) -> str:
        rules = self.rules

        def body() -> str:
            text, value = self._python_string(), self._python_value()
            more = rules.repeat(rules.sequence('", "', value), "*")
            pair = rules.sequence(text, '": "', value)
            pairs = rules.repeat(rules.sequence('", "', pair), "*")
            listed = rules.sequence('"["', rules.repeat(rules.sequence(value, more), "?"), '"]"')
            mapped = rules.sequence('"{"', rules.repeat(rules.sequence(pair, pairs), "?"), '"}"')
            number = rules.json({"type": "number"}, json_value)
            return f'{listed} | {mapped} | {text} | {number} | "True" | "False" | "None"'

        return rules.shared("python value", body)
