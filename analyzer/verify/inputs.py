"""What the template takes as input: the spec's claims tried, and the defects among the answers.

A spec that says "refused" must be right about it, or cases would be left out that the template does take.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from analyzer.chat import Message, Tool
from analyzer.render import STOPPED, Outcome, Rendered, RenderFailure, RenderRequest
from analyzer.spec.model import Defect, Spec
from analyzer.verify.adapt import ABSENT, Adapted, Adapter, Setting, settings_of
from analyzer.verify.cases import Call, Case, Reply
from analyzer.verify.catalogue import GROUPS, without
from analyzer.verify.defects import KINDS
from analyzer.verify.trips import Stage

_NEEDLE: Final = "qzazezix"
_SECOND: Final = "qzazezox"
_CALL: Final = Call("get_weather", {"city": f"plain {_NEEDLE} text", "days": 3})
_OTHER: Final = Call("get_weather_now", {"city": f"plain {_SECOND} text"})


@dataclass(slots=True)
class InputFindings:
    """What trying the input showed."""

    null_content: Any = None
    defects: list[Defect] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class _Probe:
    """Conversations of one turn, rendered in one batch."""

    def __init__(self, spec: Spec, stage: Stage, tools: tuple[Tool, ...]) -> None:
        self.spec = spec
        self._tools = tools
        self._stage = stage
        self._adapter = Adapter(spec, stage.template.special_tokens, null_content="")
        self._requests: list[RenderRequest] = []
        self._names: list[str] = []
        self._messages: dict[str, Sequence[Mapping[str, Any]]] = {}
        self.outcomes: dict[str, Outcome] = {}

    def ask(self, name: str, messages: Sequence[Mapping[str, Any]]) -> None:
        """Adds a conversation to the batch."""
        setting = Setting("default", settings_of(self.spec)[0].variables)
        shell = Adapted(Case(name, Reply(), self._tools), setting, Reply(), Message(), (), {}, self._tools)
        self._names.append(name)
        self._messages[name] = messages
        self._requests.append(self._adapter.request(shell, messages))

    def turn(self, *calls: Call, content: str | None = None) -> dict[str, Any]:
        """An assistant's message with these calls."""
        ids = [self._adapter.identity(call, at, at) for at, call in enumerate(calls)]
        return self._adapter.turn(Reply(content, None, calls), ids)

    def render(self) -> None:
        """Renders the batch."""
        self.outcomes = dict(zip(self._names, self._stage.render(self._requests), strict=True))

    def text(self, name: str) -> str | None:
        """A render, None when the template refused."""
        outcome = self.outcomes.get(name)
        return outcome.text if isinstance(outcome, Rendered) else None

    def witness(self, name: str) -> dict[str, Any]:
        """What was given and what was seen."""
        outcome = self.outcomes[name]
        seen = (
            {"exception": outcome.message}
            if isinstance(outcome, RenderFailure)
            else {"render": outcome.text[-400:]}
        )
        return {"messages": list(self._messages[name]), **seen}


_USER: Final = {"role": "user", "content": "What is it like today?"}


def probe_inputs(
    spec: Spec, stage: Stage, undeclared: frozenset[str] = frozenset(), *, shows_tools: bool = True
) -> InputFindings:
    """Tries what the spec claims of the input, with tools declared without the types that the template cannot print."""
    found = InputFindings()
    probe = _Probe(spec, stage, without(GROUPS[0], undeclared))
    if not shows_tools:
        probe.ask("tools", [_USER])
        probe.render()
        found.defects.append(
            Defect(kind="tools_refused", message=KINDS["tools_refused"], witness=probe.witness("tools"))
        )
        probe = _Probe(spec, stage, ())
    calls = spec.calls is not None and spec.input.arguments != "none"
    if calls:
        _ask_calls(probe)
    if spec.input.system == "refused" or "system" in spec.input.roles_refused:
        probe.ask("system", [{"role": "system", "content": f"Be {_NEEDLE}."}, _USER])
    if "tool" in spec.input.roles_refused and calls:
        turn = probe.turn(_CALL)
        result = {
            "role": "tool",
            "tool_call_id": turn["tool_calls"][0]["id"],
            "name": _CALL.name,
            "content": _SECOND,
        }
        probe.ask("result", [_USER, turn, result])
    probe.render()
    if calls:
        _null_content(probe, found)
        _arguments(probe, found)
        _parallel(probe, found)
    _claimed(probe, found, "system", _NEEDLE)
    _claimed(probe, found, "result", _SECOND)
    return found


def _ask_calls(probe: _Probe) -> None:
    turn = probe.turn(_CALL)
    probe.ask("empty", [_USER, turn])
    probe.ask("null", [_USER, {**turn, "content": None}])
    probe.ask("absent", [_USER, {key: value for key, value in turn.items() if key != "content"}])
    probe.ask("other shape", [_USER, _other_shape(turn)])
    if not probe.spec.input.parallel_calls:
        probe.ask("two calls", [_USER, probe.turn(_CALL, _OTHER)])


def _other_shape(turn: Mapping[str, Any]) -> dict[str, Any]:
    """The turn with its arguments as text where they are a mapping, and the other way round."""
    calls = []
    for call in turn["tool_calls"]:
        arguments = call["function"]["arguments"]
        other = (
            json.loads(arguments) if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        )
        calls.append({**call, "function": {**call["function"], "arguments": other}})
    return {**turn, "tool_calls": calls}


def _null_content(probe: _Probe, found: InputFindings) -> None:
    empty, null, absent = probe.text("empty"), probe.text("null"), probe.text("absent")
    known = empty if empty is not None else absent
    if null is not None and (null == known or known is None or "None" not in null):
        return
    found.null_content = "" if empty is not None else ABSENT
    if known is None:
        found.null_content = None
        return
    if null is None:
        found.defects.append(
            Defect(
                kind="null_content_refused",
                message="A call turn whose content is null is refused; an empty or absent content is taken.",
                witness=probe.witness("null"),
            )
        )
    elif null.count("None") > known.count("None"):
        found.defects.append(
            Defect(
                kind="null_content_printed",
                message="A call turn whose content is null prints the word None.",
                witness=probe.witness("null"),
            )
        )


def _arguments(probe: _Probe, found: InputFindings) -> None:
    usual, other = probe.text("empty") or probe.text("absent"), probe.text("other shape")
    if usual is None or other == usual or probe.spec.input.arguments == "both":
        return
    text_only = probe.spec.input.arguments == "text"
    shape = "a mapping" if text_only else "JSON text"
    kind = "arguments_text_only" if text_only else "arguments_mapping_only"
    how = "is refused" if other is None else "is written in another way"
    if other is not None and text_only and repr(dict(_CALL.arguments)) in other:
        kind, how = "arguments_python_dict", "prints them as Python does, not as JSON"
    elif other is not None and json.dumps(json.dumps(_CALL.arguments)) in other:
        how = "encodes them twice"
    message = f"A turn with arguments given as {shape} {how}."
    found.defects.append(Defect(kind=kind, message=message, witness=probe.witness("other shape")))


def _parallel(probe: _Probe, found: InputFindings) -> None:
    if "two calls" not in probe.outcomes:
        return
    text = probe.text("two calls")
    if text is None:
        found.defects.append(
            Defect(
                kind="parallel_calls_refused",
                message="A turn with two calls is refused.",
                witness=probe.witness("two calls"),
            )
        )
    elif _SECOND not in text or _NEEDLE not in text:
        found.defects.append(
            Defect(
                kind="second_call_lost",
                message="Only one of two calls is written.",
                witness=probe.witness("two calls"),
            )
        )
    else:
        found.failures.append("input.parallel_calls: the template writes both of two calls")


def _claimed(probe: _Probe, found: InputFindings, name: str, word: str) -> None:
    if name not in probe.outcomes:
        return
    kind, path = _CLAIMS[name]
    text = probe.text(name)
    whole = text is not None and _USER["content"] in text
    if text is not None and word in text and whole:
        found.failures.append(f"{path}: the template takes what the spec says it refuses ({name})")
        return
    left = "It" if whole else "The user's message beside it"
    how = "The template raises an exception." if text is None else f"{left} is left out of the render."
    outcome = probe.outcomes[name]
    if isinstance(outcome, RenderFailure) and outcome.kind in STOPPED:
        how = "Its render has to be stopped."
    found.defects.append(Defect(kind=kind, message=how, witness=probe.witness(name)))


_CLAIMS: Final = {
    "system": ("system_refused", "input.system"),
    "result": ("tool_results_refused", "input.roles_refused"),
}
"""The kind of defect and the field of the spec, by the name of the conversation that tries it."""
