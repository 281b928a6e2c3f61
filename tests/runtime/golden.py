"""Turns of the proven golden specs, for the properties that hold for every format."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from analyzer.chat import Message
from analyzer.spec import Spec, load_spec
from analyzer.verify.writer import applicable, is_written, write_turn
from tests.generated.check import message_of
from tests.generated.templates import sample_messages

GOLDEN: Final = Path(__file__).resolve().parents[2] / "generated"


@dataclass(frozen=True, slots=True)
class Golden:
    """A proven spec, with one of the files that hold it."""

    name: str
    spec: Spec


@cache
def golden_specs() -> tuple[Golden, ...]:
    """The proven specs whose turns differ, in the order of their files' names."""
    index: dict[str, dict[str, Any]] = yaml.safe_load(
        (GOLDEN / "corpus" / "index.yaml").read_text(encoding="utf-8")
    )
    proven = {str(entry.get("format")) for entry in index.values() if entry["verdict"].startswith("proven")}
    found: dict[str, Golden] = {}
    for path in sorted(GOLDEN.glob("*/*.yaml")):
        if path.name == "index.yaml" or (path.parent.name == "corpus" and path.stem not in proven):
            continue
        spec = load_spec(path)
        if path.parent.name == "own" and not spec.verification.verdict.startswith("proven"):
            continue
        found.setdefault(
            spec.turn.model_dump_json() + spec.grammar.model_dump_json(), Golden(path.stem, spec)
        )
    return tuple(found.values())


def sampled(step: int) -> list[Golden]:
    """Each of so many golden specs: always the same ones."""
    return list(golden_specs())[::step]


def messages(spec: Spec) -> Iterator[Message]:
    """Messages that the spec can write whole."""
    for sample in sample_messages(reasoning=bool(spec.reasoning)):
        sent = message_of(sample)
        calls = sent.tool_calls
        if calls and spec.calls is None:
            continue
        if spec.calls is not None and not spec.calls.parallel:
            calls = calls[:1]
        kinds = {segment.kind for _, segment in applicable(spec, sent) if is_written(segment, sent)}
        yield Message(
            sent.content if "content" in kinds else None,
            sent.reasoning_content if "reasoning" in kinds else None,
            calls,
        )


def unreadable(spec: Spec, message: Message) -> str:
    """Why a turn cannot be read as the template writes it, empty when it can."""
    section = spec.calls
    if section is None or not message.tool_calls:
        return ""
    for layout in section.layouts:
        for part in layout.parts if layout.kind == "sequence" else ():
            if not isinstance(part, str) and part.slot == "arguments" and part.item is not None:
                bounded = part.separator or isinstance(part.item[0], str) or isinstance(part.item[-1], str)
                if not bounded:
                    return "nothing stands between two arguments, so that a bare word takes in the next key"
    contents = [item for item in spec.content if item.when != "alone" and not item.close]
    weak = len(section.open.strip()) == 1 or (section.array and not section.open.rstrip().removesuffix("["))
    bare = any(one.kind == "json" and not f"{section.open}{one.open}".strip() for one in section.layouts)
    if message.content and contents and (weak or bare):
        return "a bare list or object stands right behind the text, and nothing marks it"
    return ""


def turns(golden: Golden) -> Iterator[tuple[Message, str]]:
    """Messages and their text behind the header."""
    for message in messages(golden.spec):
        for layout in range(len(golden.spec.calls.layouts) if golden.spec.calls is not None else 1):
            text = write_turn(golden.spec, message, layout=layout)
            yield message, text.removeprefix(golden.spec.turn.header)
            if not message.tool_calls:
                break


def literals(spec: Spec) -> list[str]:
    """The literals of a spec's turns, ends and headers included."""
    found: set[str] = set()
    _literals(spec.turn.model_dump(mode="json"), found)
    return sorted(found)


def _literals(value: Any, found: set[str]) -> None:
    if isinstance(value, str):
        if any(not char.isalnum() and char != "_" for char in value):
            found.add(value)
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            _literals(inner, found)


NOISE: Final = (
    " ", "\n", "\n\n", "<", ">", "[", "]", "{", "}", "(", ")", '"', "'", "\\", ",", ":", "=", "1", "-2.5e3", "true", "None",
    "null", "x", "city", "days", "get_weather", "list_hotels", "é", "😀", "\t", "\x00", "</think>", "<think>", "<tool_call>",
    '{"name": "get_weather", "arguments": {"city": "x"}}', "[get_weather(city='x')]", "\\u00e9", "\\ud83d",
)  # fmt: skip


def mutated(text: str, own: list[str], chance: random.Random) -> str:
    """A text with some things wrong: cut, a literal removed or added or doubled, noise inside."""
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(text) + 1)
        how = chance.randrange(6)
        if how == 0:
            text = text[:at]
        elif how == 1 and own:
            text = text.replace(chance.choice(own), "", 1)
        elif how == 2 and own:
            text = text[:at] + chance.choice(own) + text[at:]
        elif how == 3:
            text = text[:at] + chance.choice(NOISE) + text[at:]
        elif how == 4:
            text = text[:at] + text[at + chance.randrange(1, 12) :]
        else:
            to = min(len(text), at + chance.randrange(1, 40))
            text = text[:to] + text[at:to] + text[to:]
    return text


def pieces(text: str, chance: random.Random) -> list[str]:
    """A text in random pieces, empty ones too."""
    places = sorted(chance.randrange(len(text) + 1) for _ in range(chance.randrange(1, 12)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
