"""What a format is, in words: one line a subject, made of phrases that each output sets in its own way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from analyzer.analysis import DESCRIPTIONS
from analyzer.spec.model import (
    CallsSegment,
    InputFacts,
    JsonLayout,
    Layout,
    ReasoningSegment,
    Results,
    Spec,
    around_content,
)
from analyzer.spec.parts import JSON_TYPES, ArgumentsSlot, Codec, Codecs, IdSlot, TypeSlot

CODECS: Final = {
    "raw": "raw text",
    "json": "JSON",
    "python": "Python literals",
    "json_text": "JSON text in a JSON string",
    "quoted": "between quotes, no escapes",
    "dialect": "JSON with its own string quotes",
    "nested": "nested items",
    "escaped": "text with escaped characters",
    "cdata": "text, or a CDATA section",
}
"""The codecs in words."""


class Phrase(NamedTuple):
    """A stretch of a line: plain words, a literal of the format, a slot, an argument's slot, or a note."""

    text: str
    kind: Literal["plain", "literal", "slot", "argument", "note"] = "plain"


class Fact(NamedTuple):
    """A subject and what the spec says of it."""

    subject: str
    phrases: tuple[Phrase, ...]


_Phrases: TypeAlias = Iterator[Phrase]


def facts(spec: Spec) -> Iterator[Fact]:
    """What the spec says, one fact a subject."""
    for subject, phrases in _facts(spec):
        yield Fact(subject, tuple(phrases))


def _facts(spec: Spec) -> Iterator[tuple[str, _Phrases]]:
    calls = spec.calls
    if calls is None:
        yield "tool calls", _plain("none")
    else:
        yield "tool calls", _calls(calls)
        for number, layout in enumerate(calls.layouts):
            yield "one call" if number == 0 else "or", _layout(layout)
            yield "arguments", _arguments(layout)
        yield "ids", _plain(_ids(calls.layouts[0]))
    for one in (one for found in spec.evidence.values() for one in found if one.comparison in DESCRIPTIONS):
        yield "described" if one.described else "why none", _plain(f"{one.found} ({one.note})")
    if not spec.turn.shown:
        yield "replies", _plain("shown by no render: all that stands behind the prompt is content")
    for segment in spec.reasoning:
        yield "reasoning", _reasoning(segment)
    if not spec.reasoning:
        yield "reasoning", _plain("none")
    for text, cases in _prompts(spec).items():
        yield "prompt", iter((_literal(text), Phrase(f"  {'; '.join(cases)}", "note")))
    ends = {segment.end.literal for segment in spec.turn.segments if segment.end is not None}
    yield "ends with", _joined(sorted(ends)) if ends else _plain("nothing")
    if spec.results is not None:
        yield "tool results", _results(spec.results)
    yield "wants", _plain(_wants(spec.input))
    for addition in spec.overlays:
        yield "overlay", _plain(f"{addition.overlay}: {addition.reason}")


def _plain(text: str) -> _Phrases:
    yield Phrase(text)


def _literal(text: str) -> Phrase:
    return Phrase(text, "literal")


def _joined(literals: list[str]) -> _Phrases:
    for number, text in enumerate(literals):
        if number:
            yield Phrase(" ")
        yield _literal(text)


def _prompts(spec: Spec) -> dict[str, list[str]]:
    """By each text that opens the model's turn: when it does."""
    last_roles: dict[tuple[str, str], list[str]] = {}
    for prompt in spec.turn.prompts:
        setting = ", ".join(f"{name}={json.dumps(value)}" for name, value in prompt.set.items()) or "default"
        last_roles.setdefault((prompt.text, setting), []).append(prompt.after)
    found: dict[str, list[str]] = {}
    for (text, setting), roles in last_roles.items():
        found.setdefault(text, []).append(f"{setting}, after {' or '.join(roles)}")
    return found


def _around(first: str, middle: str, last: str) -> _Phrases:
    if first:
        yield _literal(first)
    yield Phrase(f" {middle} " if first and last else f"{middle} " if last else f" {middle}")
    if last:
        yield _literal(last)


def _calls(calls: CallsSegment) -> _Phrases:
    if calls.open or calls.close:
        yield from _around(calls.open, "calls", calls.close)
    else:
        yield Phrase("no section")
    if not calls.parallel:
        yield Phrase("; one call a turn")
        return
    yield Phrase("; elements of a JSON array" if calls.array else "; several a turn")
    if calls.separator:
        yield Phrase(", separated by ")
        yield _literal(calls.separator)


def _layout(layout: Layout) -> _Phrases:
    if isinstance(layout, JsonLayout):
        yield from _around(layout.open, "a JSON object", layout.close)
        return
    for part in layout.parts:
        yield _literal(part) if isinstance(part, str) else Phrase(f" {part.slot.upper()} ", "slot")


def _arguments(layout: Layout) -> _Phrases:
    if isinstance(layout, JsonLayout):
        where = (
            "the value of the only key, the name"
            if layout.name == "key"
            else f"at {'.'.join(layout.arguments)}"
        )
        name = "" if layout.name == "key" else f", the name at {'.'.join(layout.name)}"
        yield Phrase(f"{CODECS[layout.arguments_codec]} {where}{name}")
        return
    slot = next(part for part in layout.parts if isinstance(part, ArgumentsSlot))
    if slot.item is None or slot.codecs is None:
        yield Phrase("one value: " + (_codec(slot.codec) if slot.codec is not None else "JSON"))
        return
    for part in slot.item:
        if isinstance(part, str):
            yield _literal(part)
        elif isinstance(part, TypeSlot):
            yield from _words(part)
        else:
            yield Phrase(f" {part.slot.upper()} ", "argument")
    if slot.separator:
        yield Phrase(" separated by ")
        yield _literal(slot.separator)
    yield Phrase(f"; {_by_type(slot.codecs)}")


def _words(slot: TypeSlot) -> _Phrases:
    """Each of the words, with the types that it stands beside."""
    for number, word in enumerate(dict.fromkeys(slot.words.values())):
        types = [kind for kind, one in slot.words.items() if one == word]
        yield Phrase(", or " if number else " ")
        yield _literal(word)
        yield Phrase(f" ({', '.join(types)})")
    yield Phrase(" ")


def _codec(codec: Codec) -> str:
    return CODECS[codec.kind]


def _by_type(codecs: Codecs) -> str:
    """`strings raw text, all else JSON`, or each type where they differ more."""
    by_kind: dict[str, list[str]] = {}
    for json_type in JSON_TYPES:
        by_kind.setdefault(_codec(codecs.of(json_type)), []).append(json_type)  # type: ignore[arg-type]
    if len(by_kind) == 1:
        return f"values: {next(iter(by_kind))}"
    kinds = sorted(by_kind.items(), key=lambda pair: len(pair[1]))
    rare = ", ".join(f"{' and '.join(types)}: {kind}" for kind, types in kinds[:-1])
    return f"{rare}, other values: {kinds[-1][0]}"


def _ids(layout: Layout) -> str:
    if isinstance(layout, JsonLayout):
        return f"written at {'.'.join(layout.id)}" if layout.id else "not written"
    slot = next((part for part in layout.parts if isinstance(part, IdSlot)), None)
    if slot is None:
        return "not written"
    return f"made of name and counter: {slot.pattern}" if slot.pattern else "written"


def _reasoning(segment: ReasoningSegment) -> _Phrases:
    yield from _around(segment.open, "reasoning", segment.close)
    fields = " or ".join(segment.fields)
    yield Phrase(f"; field {fields}, {segment.when.replace('_', ' ')}, kept {segment.kept.replace('_', ' ')}")
    if segment.empty:
        yield Phrase("; without any ")
        yield _literal(segment.empty)


def _results(results: Results) -> _Phrases:
    before, after = around_content(results)
    yield from _around(before, results.content, after)
    written = [word for word in ("id", "name") if getattr(results, word) == "written"]
    grouping = results.grouping.replace("_", " ")
    role = f"role {results.role}" if results.role else "no role of their own"
    yield Phrase(f"; {role}, {grouping}, {' and '.join(written) or 'neither id nor name'} written")


def _wants(wanted: InputFacts) -> str:
    words = [
        f"arguments as {wanted.arguments}",
        f"content as {wanted.content}",
        f"system message {wanted.system}",
    ]
    if wanted.ids:
        words.append(f"ids like {wanted.ids}")
    if not wanted.parallel_calls:
        words.append("one call a turn")
    words += [f"{name}={value!r}" for name, value in wanted.variables.items()]
    if wanted.mutable:
        words.append("to change its own input")
    return ", ".join(words)
