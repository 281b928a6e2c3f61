"""What exports are proven on: messages with the features that formats differ in, and calls that are none.

The same samples are written twice: by the spec (`written`, here) and by the chat templates themselves (`rendered.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from analyzer.chat import Message, Tool, ToolCall
from analyzer.spec.document import load_spec
from analyzer.spec.model import Spec
from analyzer.verify.cases import OWN_LITERAL
from analyzer.verify.literals import own_literal
from analyzer.verify.writer import write_turn

ROOT = Path(__file__).resolve().parent.parent.parent
OWN = sorted((ROOT / "generated" / "own").glob("*.yaml"))
CORPUS = sorted(path for path in (ROOT / "generated" / "corpus").glob("*.yaml") if path.name != "index.yaml")

PROPERTIES: Final[Mapping[str, Any]] = {
    "city": {"type": "string"},
    "at-home": {"type": "string"},
    "note": {"type": "string"},
    "days": {"type": "integer"},
    "ratio": {"type": "number"},
    "deep": {"type": "boolean"},
    "gone": {"type": "null"},
    "list": {"type": "array", "items": {"type": "string"}},
    "map": {"type": "object", "properties": {"k": {"type": "string"}}},
}
TOOLS: Final = (
    Tool(
        "get_weather",
        "The weather.",
        {"type": "object", "properties": dict(PROPERTIES), "required": ["city"]},
    ),
    Tool("ping", "Nothing.", {"type": "object", "properties": {}}),
)
"""The tools that exports are made for."""

_WIDER: Final = {
    **PROPERTIES,
    "more": {"type": "string"},
}
DECLARED: Final = (
    Tool("get_weather", "The weather.", {"type": "object", "properties": _WIDER}),
    TOOLS[1],
    Tool("pong", "Not offered.", {"type": "object", "properties": _WIDER}),
)
"""The tools that templates are told of, so that they write the wrong calls too."""


@dataclass(frozen=True)
class Sample:
    """A message and what is special about it; `wrong`: why it is no call of the tools, empty for a good one."""

    name: str
    message: Message
    features: frozenset[str]
    wrong: str = ""


def _call(name: str, number: int, **arguments: Any) -> ToolCall:
    return ToolCall(name, json.dumps(arguments, ensure_ascii=False), f"call0000{number}")


def _sample(
    name: str,
    features: str,
    *calls: ToolCall,
    text: str | None = None,
    why: str | None = None,
    wrong: str = "",
) -> Sample:
    return Sample(name, Message(text, why, calls), frozenset(features.split()), wrong)


_QUOTES: Final = "say \"hi\"\nthen 'go' <b> & C:\\x"

SAMPLES: Final = (
    _sample("text", "content", text="Hello there."),
    _sample("reasoning", "content reasoning both", text="Hello there.", why="I think so."),
    _sample("zero", "calls", _call("ping", 1)),
    _sample("one", "calls", _call("get_weather", 1, city="Zürich 日本")),
    _sample("many", "calls", _call("get_weather", 1, city="Paris", days=3, ratio=1.5)),
    _sample("negative", "calls", _call("get_weather", 1, city="Oslo", days=-12, ratio=-0.25)),
    _sample("booleans", "calls booleans", _call("get_weather", 1, city="Paris", deep=True)),
    _sample("null", "calls null", _call("get_weather", 1, city="Paris", gone=None)),
    _sample(
        "containers",
        "calls containers",
        _call("get_weather", 1, city="Paris", list=["a", "b"], map={"k": "v"}),
    ),
    _sample("empty", "calls containers", _call("get_weather", 1, city="Paris", list=[], map={})),
    _sample("quotes", "calls quotes", _call("get_weather", 1, city="Rome", note=_QUOTES)),
    _sample("dashed", "calls dashed", _call("get_weather", 1, **{"city": "Rome", "at-home": "no"})),
    _sample("closer", "calls closer", _call("get_weather", 1, city="Rome", note=f"a {OWN_LITERAL} b")),
    _sample("pair", "calls parallel", _call("get_weather", 1, city="Paris"), _call("ping", 2)),
    _sample(
        "two",
        "calls content beside parallel",
        _call("get_weather", 1, city="Paris"),
        _call("get_weather", 2, city="Rome", days=2),
        text="Let me see.",
    ),
    _sample(
        "all",
        "calls content beside reasoning both parallel",
        _call("get_weather", 1, city="Paris"),
        _call("ping", 2),
        _call("get_weather", 3, city="x"),
        text="Let me see.",
        why="Hmm.",
    ),
    _sample("name", "calls", _call("pong", 1, city="Paris"), wrong="unknown tool"),
    _sample("type", "calls", _call("get_weather", 1, city="Paris", days="many"), wrong="wrong type"),
    _sample("missing", "calls", _call("get_weather", 1, days=3), wrong="missing argument"),
    _sample("extra", "calls", _call("get_weather", 1, city="Paris", more="x"), wrong="unknown argument"),
)


@dataclass(frozen=True)
class Written:
    """A sample as a format writes it: what stands before the turn, the turn, and what a parser must make of it."""

    sample: Sample
    prompt: str
    text: str
    message: Message

    @property
    def calls(self) -> list[tuple[str, Any]]:
        """Names and arguments."""
        return [(call.name, call.decoded()) for call in self.message.tool_calls]


def golden(paths: list[Path]) -> Iterator[tuple[str, Spec]]:
    """The golden specs that have calls."""
    for path in paths:
        spec = load_spec(path)
        if spec.calls is not None:
            yield path.stem, spec


@cache
def proven() -> frozenset[str]:
    """The formats of the corpus that at least one template is proven with."""
    index = yaml.safe_load((ROOT / "generated" / "corpus" / "index.yaml").read_text(encoding="utf-8"))
    return frozenset(
        str(entry["format"]) for entry in index.values() if entry["verdict"].startswith("proven")
    )


@cache
def formats() -> Mapping[str, str]:
    """The format of each proven template of the corpus, by the template's name."""
    index = yaml.safe_load((ROOT / "generated" / "corpus" / "index.yaml").read_text(encoding="utf-8"))
    return {
        name: str(entry["format"])
        for name, entry in index.items()
        if entry["verdict"].startswith("proven") and entry.get("calls")
    }


def written(spec: Spec) -> Iterator[Written]:
    """The samples that the format can write, after the longest of its prompts that the turn begins with."""
    literal = own_literal(spec)
    for sample in SAMPLES:
        if "parallel" in sample.features and not (spec.calls and spec.calls.parallel):
            continue
        if "reasoning" in sample.features and not spec.reasoning:
            continue
        if "closer" in sample.features and not literal:
            continue
        message = _filled(sample.message, literal)
        text = write_turn(spec, message)
        prompts = [prompt.text for prompt in spec.turn.prompts if text.startswith(prompt.text)]
        prompt = max([spec.turn.header, *prompts], key=len)
        expected = Message(
            _if_in(message.content, text), _if_in(message.reasoning_content, text), message.tool_calls
        )
        before = prompt or next((found.text for found in spec.turn.prompts), "")
        yield Written(sample, f"<user>Hi{before}", text[len(prompt) :], expected)


def _filled(message: Message, literal: str) -> Message:
    calls = tuple(
        ToolCall(call.name, call.arguments.replace(OWN_LITERAL, json.dumps(literal)[1:-1]), call.id)
        for call in message.tool_calls
    )
    return Message(message.content, message.reasoning_content, calls)


def _if_in(value: str | None, text: str) -> str | None:
    """What a template drops cannot come back."""
    return value if value and value in text else None
