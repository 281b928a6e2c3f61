"""Mutants: a spec with one field changed, for each field that says how a turn is written.

A field is changed in the ways in which it is likely to be wrong: another character, white space more or less at an
end, a codec or a flag exchanged, a path that leads elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from analyzer.spec.model import CallsSegment, End, JsonLayout, Spec, Turn
from analyzer.spec.parts import (
    ArgumentsSlot,
    Codec,
    Codecs,
    IdSlot,
    IndexSlot,
    JsonCodec,
    JsonTextCodec,
    RawCodec,
)

ALIEN: Final = "§"
"""A character that no format uses."""

ADDED_END: Final = "an end where there is none"
"""The change that only says something of a segment that can be the last of its message."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed spec: ``path`` is the field, ``change`` what was done to it."""

    path: str
    change: str
    spec: Spec


def mutants(spec: Spec) -> Iterator[Mutant]:
    """Every mutant, in the order of the fields."""
    for path, change, turn in _model(spec.turn, "turn"):
        if not path.startswith("turn.prompts"):  # prompts are compared with the template's own, byte for byte
            yield Mutant(path, change, spec.model_copy(update={"turn": turn}))


def _model(model: BaseModel, path: str) -> Iterator[tuple[str, str, BaseModel]]:
    """Copies of a model, each with one change somewhere below it."""
    for name in type(model).model_fields:
        value = getattr(model, name)
        for where, change, new in _field(model, name, value, f"{path}.{name}"):
            yield where, change, model.model_copy(update={name: new})


def _field(model: BaseModel, name: str, value: Any, path: str) -> Iterator[tuple[str, str, Any]]:
    if name in _SPECIAL:
        yield from ((path, change, new) for change, new in _SPECIAL[name](model, value))
    elif name in _NOT_MUTATED:
        return
    elif isinstance(value, str):
        yield from ((path, change, new) for change, new in literal_changes(value))
    elif isinstance(value, BaseModel):
        yield from _model(value, path)
    elif isinstance(value, tuple):
        yield from _items(value, path)


def _items(values: Sequence[Any], path: str) -> Iterator[tuple[str, str, Any]]:
    for at, value in enumerate(values):
        where = f"{path}[{at}]"
        changes: Iterator[tuple[str, str, Any]]
        if isinstance(value, str):
            changes = ((where, change, new) for change, new in literal_changes(value))
        elif isinstance(value, BaseModel):
            changes = _model(value, where)
        else:
            continue
        for place, change, new in changes:
            yield place, change, (*values[:at], new, *values[at + 1 :])


def literal_changes(text: str) -> Iterator[tuple[str, str]]:
    """A literal with another character, and with white space more or less at its ends."""
    if not text:
        yield "something where nothing stands", ALIEN
        yield "a line break where nothing stands", "\n"
        return
    at = next((place for place, character in enumerate(text) if not character.isspace()), 0)
    yield "another character", text[:at] + ALIEN + text[at + 1 :]
    if len(text.strip()) > 1:
        last = len(text.rstrip()) - 1
        yield "the last character missing", text[:last] + text[last + 1 :]
    yield (
        ("a line break missing at the end", text[:-1])
        if text[-1].isspace()
        else ("a line break added", text + "\n")
    )
    if text[0].isspace() and len(text) > 1:
        yield "white space missing at the beginning", text[1:]


def _end(_: BaseModel, value: End | None) -> Iterator[tuple[str, Any]]:
    if value is None:
        yield ADDED_END, End(literal=ALIEN)
        return
    yield "no end", None
    for change, text in literal_changes(value.literal):
        if text:
            yield change, End(literal=text, stop=value.stop)


def _when(_: BaseModel, value: str) -> Iterator[tuple[str, Any]]:
    for other in ("alone", "beside_calls"):
        if other != value:
            yield f"{other} for {value}", other


def _reasoned(_: BaseModel, value: str) -> Iterator[tuple[str, Any]]:
    if value != "any":
        other = "absent" if value == "present" else "present"
        yield f"{other} for {value}", other


def _path(model: BaseModel, value: Any) -> Iterator[tuple[str, Any]]:
    if value == "key":
        yield "a path for the key", ("name",)
    elif value is None:
        return
    elif value or isinstance(model, JsonLayout):
        yield "another key", (*tuple(value)[:-1], ALIEN)
        yield "a key more", (*tuple(value), ALIEN)


def _arguments_path(model: BaseModel, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(model, JsonLayout) and model.name != "key":
        yield from _path(model, value)


def _arguments_codec(_: BaseModel, value: str) -> Iterator[tuple[str, Any]]:
    for other in ("json", "json_text"):
        if other != value:
            yield f"{other} for {value}", other


def _codec(_: BaseModel, value: Codec | None) -> Iterator[tuple[str, Any]]:
    if value is not None:
        yield from codec_changes(value, "object")


def codec_changes(codec: Codec, json_type: str) -> Iterator[tuple[str, Codec]]:
    """Another codec: raw and JSON for each other, JSON for the rest.

    The raw text of what is no string *is* its JSON, so for other types the two are one codec under two names.
    """
    if isinstance(codec, JsonCodec):
        yield "json_text for json", JsonTextCodec()
    elif not isinstance(codec, RawCodec) or json_type == "string":
        yield f"json for {codec.kind}", JsonCodec()
    if json_type == "string" and not isinstance(codec, RawCodec):
        yield f"raw for {codec.kind}", RawCodec()


def _codecs(_: BaseModel, value: Codecs | None) -> Iterator[tuple[str, Any]]:
    if value is None:
        return
    for name in type(value).model_fields:
        for change, codec in codec_changes(getattr(value, name), name):
            yield f"{name}: {change}", value.model_copy(update={name: codec})


def _repeats(model: BaseModel, value: bool) -> Iterator[tuple[str, Any]]:  # noqa: FBT001  (a field's value)
    if isinstance(model, Turn) and model.header:
        yield f"{not value} for {value}", not value


def _nothing(_: BaseModel, value: object) -> Iterator[tuple[str, Any]]:
    del value
    return iter(())


def _pattern(_: BaseModel, value: str | None) -> Iterator[tuple[str, Any]]:
    if value is not None:
        yield "another character", ALIEN + value


def _words(_: BaseModel, value: dict[str, str]) -> Iterator[tuple[str, Any]]:
    for kind, word in value.items():
        yield f"another word for {kind}", {**value, kind: word + ALIEN}


def _start(model: BaseModel, value: int) -> Iterator[tuple[str, Any]]:
    if isinstance(model, (IndexSlot, IdSlot)) and getattr(model, "pattern", "") is not None:
        yield "counted from another number", value + 1


def _separator(model: BaseModel, value: str) -> Iterator[tuple[str, Any]]:
    if isinstance(model, CallsSegment) and not model.parallel:
        return  # one call has no separator
    if not isinstance(model, ArgumentsSlot) or model.item is not None:
        yield from literal_changes(value)


_SPECIAL: Final[dict[str, Any]] = {
    "end": _end,
    "when": _when,
    "reasoning": _reasoned,
    "name": _path,
    "id": _path,
    "arguments": _arguments_path,
    "arguments_codec": _arguments_codec,
    "codec": _codec,
    "codecs": _codecs,
    "header_repeats": _repeats,
    "pattern": _pattern,
    "words": _words,
    "start": _start,
    "separator": _separator,
    "prompts": _nothing,
}

_NOT_MUTATED: Final = frozenset({"kind", "slot", "fields", "kept", "parallel", "array"})
"""Fields that are checked in another way: `fields` and `kept` say what goes in, `parallel` is seen in two calls,
`array` follows from `open` and `close`."""
