"""What must hold for a generated template, as one function: inference proves a spec that reads what the format writes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.analysis import Analysis, analyze
from analyzer.chat import Message, Tool, ToolCall
from analyzer.errors import AnalyzerError
from analyzer.render import InProcessRenderer, Rendered, RenderRequest
from analyzer.runtime import parse
from analyzer.spec.model import Spec
from analyzer.template import Template
from analyzer.verify.writer import write_turn
from tests.generated.formats import Format
from tests.generated.templates import Generated, sample_messages

GOOD = ("proven", "proven_with_defects")

TOOLS = (
    Tool(
        "get_weather",
        "Tells the weather.",
        {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "deep": {"type": "object"},
            },
        },
    ),
    Tool(
        "list_hotels",
        "Lists hotels.",
        {"type": "object", "properties": {"city": {"type": "string"}, "full": {"type": "boolean"}}},
    ),
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A template with what is needed to try it: its header, and whether it writes reasoning."""

    text: str
    header: str
    reasoning: bool

    @classmethod
    def of(cls, generated: Generated) -> Subject:
        """A generated template as a subject."""
        spec = generated.format.spec
        return cls(generated.text, spec.turn.header, bool(spec.reasoning))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one template."""

    subject: Subject
    analysis: Analysis | None
    problem: str
    """Empty when everything held."""

    @property
    def kind(self) -> str:
        """The problem without what differs between two templates."""
        return self.problem.split(":")[0]


def message_of(data: dict[str, Any]) -> Message:
    """A sample as a message; ids count from one."""
    calls = tuple(
        ToolCall(call["name"], json.dumps(call["arguments"], ensure_ascii=False), f"callid00{number}")
        for number, call in enumerate(data.get("calls", ()), 1)
    )
    return Message(data["content"] or None, data.get("reasoning"), calls)


def openai_of(data: dict[str, Any]) -> dict[str, Any]:
    """A sample as a template takes it."""
    message: dict[str, Any] = {"role": "assistant", "content": data["content"]}
    if "reasoning" in data:
        message["reasoning_content"] = data["reasoning"]
    if "calls" in data:
        message["tool_calls"] = [
            {"id": f"callid00{number}", "type": "function", "function": call}
            for number, call in enumerate(data["calls"], 1)
        ]
    return message


def rendered_turns(subject: Subject) -> list[tuple[dict[str, Any], str]]:
    """Each sample with the turn that the template renders for it."""
    user = {"role": "user", "content": "Question?"}
    tools = [tool.to_openai() for tool in TOOLS]
    samples = sample_messages(reasoning=subject.reasoning)
    chats = [[user], *([user, openai_of(sample)] for sample in samples)]
    requests = [RenderRequest(chat, tools=tools) for chat in chats]
    outcomes = InProcessRenderer().render(subject.text, requests)
    texts = []
    for outcome in outcomes:
        assert isinstance(outcome, Rendered), (outcome, subject.text)
        texts.append(outcome.text)
    return [(sample, text[len(texts[0]) :]) for sample, text in zip(samples, texts[1:], strict=True)]


def same_message(sent: Message, got: Message) -> bool:
    """Whether a parsed message is the one that was written; ids are left to `verify`."""
    calls = [(call.name, call.decoded()) for call in sent.tool_calls]
    try:
        found = [(call.name, call.decoded()) for call in got.tool_calls]
    except ValueError:
        return False
    texts = (sent.content or "", sent.reasoning_content or "") == (
        got.content or "",
        got.reasoning_content or "",
    )
    return texts and calls == found


def reads(spec: Spec, header: str, turns: Sequence[tuple[dict[str, Any], str]]) -> str:
    """The first turn that a spec does not read as it was meant, empty when it reads all."""
    for sample, text in turns:
        sent = message_of(sample)
        parsed = parse(spec, text.removeprefix(header), TOOLS, prompt=header)
        if not same_message(sent, parsed.message):
            return f"misread: {text!r} as {parsed.message}"
    return ""


def expected_turn(given: Format, sample: dict[str, Any]) -> str:
    """The turn by the format's own spec and the package's writer."""
    return write_turn(given.spec, message_of(sample)) + given.after_end


def examine(subject: Subject) -> Outcome:
    """Analyse one template and look at what it is taken for."""
    template = Template("generated", subject.text)
    try:
        found = analyze(template, renderer=InProcessRenderer())
    except AnalyzerError as error:
        return Outcome(subject, None, f"error: {error}")
    except Exception as error:  # noqa: BLE001  (a crash is what is looked for)
        return Outcome(subject, None, f"crash {type(error).__name__}: {error}")
    if found.verdict not in GOOD or found.spec is None:
        return Outcome(subject, found, f"{found.verdict}: {' / '.join(found.failures[:3])}")
    return Outcome(subject, found, reads(found.spec, subject.header, rendered_turns(subject)))
