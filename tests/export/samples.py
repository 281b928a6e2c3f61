"""What exports are proven on: messages with the features that formats differ in, written by the spec itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analyzer.chat import Message, Tool, ToolCall
from analyzer.spec.document import load_spec
from analyzer.spec.model import Spec
from analyzer.verify.writer import write_call, write_turn

ROOT = Path(__file__).resolve().parent.parent.parent
OWN = sorted((ROOT / "generated" / "own").glob("*.yaml"))
CORPUS = sorted(path for path in (ROOT / "generated" / "corpus").glob("*.yaml") if path.name != "index.yaml")

PROPERTIES = {
    "city": {"type": "string"},
    "note": {"type": "string"},
    "days": {"type": "integer"},
    "ratio": {"type": "number"},
    "deep": {"type": "boolean"},
    "gone": {"type": "null"},
    "list": {"type": "array"},
    "map": {"type": "object"},
}
TOOLS = (
    Tool("get_weather", "The weather.", {"type": "object", "properties": PROPERTIES}),
    Tool("ping", "Nothing.", {"type": "object", "properties": {}}),
)


@dataclass(frozen=True)
class Sample:
    """A message and what is special about it."""

    name: str
    message: Message
    features: frozenset[str]


def _call(name: str, number: int, **arguments: Any) -> ToolCall:
    return ToolCall(name, json.dumps(arguments, ensure_ascii=False), f"call0000{number}")


def _sample(
    name: str, features: str, *calls: ToolCall, text: str | None = None, why: str | None = None
) -> Sample:
    return Sample(name, Message(text, why, calls), frozenset(features.split()))


SAMPLES = (
    _sample("text", "content", text="Hello there."),
    _sample("reasoning", "content reasoning both", text="Hello there.", why="I think so."),
    _sample("zero", "calls", _call("ping", 1)),
    _sample("one", "calls", _call("get_weather", 1, city="Zürich 日本")),
    _sample("many", "calls", _call("get_weather", 1, city="Paris", days=3, ratio=1.5)),
    _sample("booleans", "calls booleans", _call("get_weather", 1, city="Paris", deep=True)),
    _sample("null", "calls null", _call("get_weather", 1, city="Paris", gone=None)),
    _sample("containers", "calls containers", _call("get_weather", 1, list=[1, "a"], map={"k": "v"})),
    _sample("quotes", "calls quotes", _call("get_weather", 1, note="say \"hi\"\nthen 'go' <b> & C:\\x")),
    _sample(
        "two",
        "calls content parallel",
        _call("get_weather", 1, city="Paris"),
        _call("get_weather", 2, city="Rome", days=2),
        text="Let me see.",
    ),
    _sample(
        "all",
        "calls content reasoning both parallel",
        _call("get_weather", 1, city="Paris"),
        _call("ping", 2),
        _call("get_weather", 3, note="x"),
        text="Let me see.",
        why="Hmm.",
    ),
)


@dataclass(frozen=True)
class Written:
    """A sample as the format writes it."""

    sample: Sample
    prompt: str
    text: str
    content: str | None
    reasoning: str | None


def golden(paths: list[Path]) -> Iterator[tuple[str, Spec]]:
    """The golden specs that have calls."""
    for path in paths:
        spec = load_spec(path)
        if spec.calls is not None:
            yield path.stem, spec


def written(spec: Spec) -> Iterator[Written]:
    """The samples that the format can write, after the longest of its prompts that the turn begins with."""
    for sample in SAMPLES:
        if "parallel" in sample.features and not (spec.calls and spec.calls.parallel):
            continue
        if "reasoning" in sample.features and not spec.reasoning:
            continue
        text = write_turn(spec, sample.message)
        prompts = [prompt.text for prompt in spec.turn.prompts if text.startswith(prompt.text)]
        prompt = max([spec.turn.header, *prompts], key=len)
        yield Written(
            sample,
            prompt or next((found.text for found in spec.turn.prompts), ""),
            text[len(prompt) :],
            _if_in(sample.message.content, text),
            _if_in(sample.message.reasoning_content, text),
        )


def _if_in(value: str | None, text: str) -> str | None:
    """What a template drops cannot come back."""
    return value if value and value in text else None


def without_end(spec: Spec, text: str) -> str:
    """The text without the literal that ends the turn: engines stop there by the token, not by the grammar."""
    ends = {segment.end.literal for segment in spec.turn.segments if segment.end}
    return text.removesuffix(
        next((end for end in sorted(ends, key=len, reverse=True) if text.endswith(end)), "")
    )


def calls_only(spec: Spec, item: Written) -> str:
    """The calls of a sample as the format writes them alone."""
    message = Message(None, None, item.sample.message.tool_calls)
    text = write_turn(spec, message)
    segment = spec.calls
    assert segment is not None
    first = write_call(spec, message.tool_calls[0])
    start = text.index(first) - len(segment.open)
    ends = [text.rindex(write_call(spec, call, index)) for index, call in enumerate(message.tool_calls)]
    last = write_call(spec, message.tool_calls[-1], len(message.tool_calls) - 1)
    return text[start : ends[-1] + len(last) + len(segment.close)]
