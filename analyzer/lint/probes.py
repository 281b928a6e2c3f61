"""Probes of lint: one small conversation each, with what its render shows.

A probe changes one thing in a conversation that the template takes; only what the change did is looked at.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analyzer.lint.findings import Finding, finding
from analyzer.prepare import prepare
from analyzer.render import Outcome, Rendered, Renderer, RenderFailure, RenderRequest
from analyzer.spec.model import Spec
from analyzer.template import Template

NEEDLE: Final = "qzubevix"
RESULT: Final = "qzabovux"
HOSTILE: Final = f'He said "{RESULT}".'
_SHOWN: Final = 400
_USER: Final = {"role": "user", "content": "How warm is it?"}
_CALL: Final = {
    "id": "call00001",
    "type": "function",
    "function": {"name": "get_weather", "arguments": {"city": NEEDLE}},
}
_TURN: Final = {"role": "assistant", "content": "", "tool_calls": [_CALL]}
_RESULT: Final = {"role": "tool", "tool_call_id": "call00001", "name": "get_weather", "content": HOSTILE}
TOOLS: Final = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Tells the weather.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string", "description": "Where."}},
                "required": ["city"],
            },
        },
    }
]

Messages = list[dict[str, Any]]
Change = Callable[[Messages, list[dict[str, Any]]], "tuple[Messages, list[dict[str, Any]] | None]"]


@dataclass(frozen=True, slots=True)
class Probe:
    """A conversation, one change to it, and what to make of the two renders."""

    name: str
    messages: Sequence[Mapping[str, Any]]
    change: Change
    judge: Callable[[Seen], Iterator[Finding]]
    needs_calls: bool = False
    no_tools: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """A probe's renders: as it was taken, and changed."""

    probe: Probe
    before: str
    outcome: Outcome
    conversation: Mapping[str, Any]

    @property
    def text(self) -> str | None:
        """The changed render, None when it failed."""
        return self.outcome.text if isinstance(self.outcome, Rendered) else None

    def found(self, kind: str, message: str = "") -> Finding:
        """A finding of this probe."""
        if isinstance(self.outcome, RenderFailure):
            evidence = {"exception": self.outcome.message, "probe": self.probe.name}
            return finding(
                kind, message, evidence=evidence, conversation=self.conversation, line=self.outcome.line
            )
        evidence = {"render": self.outcome.text[-_SHOWN:], "probe": self.probe.name}
        return finding(kind, message, evidence=evidence, conversation=self.conversation)


def run(spec: Spec, template: Template, renderer: Renderer) -> Iterator[Finding]:
    """Run every probe that the template can be asked."""
    calls = spec.calls is not None and spec.input.arguments != "none"
    asked: list[tuple[Probe, Mapping[str, Any]]] = []
    requests: list[RenderRequest] = []
    for probe in PROBES:
        if probe.needs_calls and not calls:
            continue
        prepared = prepare(spec, probe.messages, TOOLS)
        base = [copy.deepcopy(message) for message in prepared.messages]
        tools = None if probe.no_tools else copy.deepcopy(list(prepared.tools or ()))
        changed, changed_tools = probe.change(copy.deepcopy(base), copy.deepcopy(tools or []))
        changed_tools = (
            None if probe.no_tools and not changed_tools and probe.name != "empty tools" else changed_tools
        )
        requests += [_request(spec, template, base, tools), _request(spec, template, changed, changed_tools)]
        asked.append(
            (probe, {"messages": changed, **({"tools": changed_tools} if changed_tools is not None else {})})
        )
    outcomes = renderer.render(template.text, requests, mutable=spec.input.mutable)
    for number, (probe, conversation) in enumerate(asked):
        before, after = outcomes[2 * number : 2 * number + 2]
        if isinstance(before, Rendered):
            yield from probe.judge(Seen(probe, before.text, after, conversation))


def _request(
    spec: Spec, template: Template, messages: Messages, tools: list[dict[str, Any]] | None
) -> RenderRequest:
    return RenderRequest(
        messages=messages,
        tools=tools,
        special_tokens=template.special_tokens,
        variables=dict(spec.input.variables),
    )


# ----------------------------------------------------------------------------------------------------------- changes


def _call_without(key: str, *, inner: bool = False) -> Change:
    def change(messages: Messages, tools: list[dict[str, Any]]) -> tuple[Messages, list[dict[str, Any]]]:
        call = messages[-1]["tool_calls"][0]
        (call["function"] if inner else call).pop(key, None)
        return messages, tools

    return change


def _turn_without_content(
    messages: Messages, tools: list[dict[str, Any]]
) -> tuple[Messages, list[dict[str, Any]]]:
    messages[-1].pop("content", None)
    return messages, tools


def _tool_without(key: str) -> Change:
    def change(messages: Messages, tools: list[dict[str, Any]]) -> tuple[Messages, list[dict[str, Any]]]:
        tools[0]["function"].pop(key, None)
        return messages, tools

    return change


def _arguments_as_text(
    messages: Messages, tools: list[dict[str, Any]]
) -> tuple[Messages, list[dict[str, Any]]]:
    function = messages[-1]["tool_calls"][0]["function"]
    if not isinstance(function["arguments"], str):
        function["arguments"] = json.dumps(function["arguments"])
    return messages, tools


def _empty_tools(messages: Messages, _: list[dict[str, Any]]) -> tuple[Messages, list[dict[str, Any]]]:
    return messages, []


def _empty_calls(messages: Messages, tools: list[dict[str, Any]]) -> tuple[Messages, list[dict[str, Any]]]:
    messages[-1]["tool_calls"] = []
    return messages, tools


def _first(role: str) -> Change:
    def change(messages: Messages, tools: list[dict[str, Any]]) -> tuple[Messages, list[dict[str, Any]]]:
        content: Any = f"Be {NEEDLE}."
        if isinstance(messages[0]["content"], list):
            content = [{"type": "text", "text": content}]
        return [{"role": role, "content": content}, *messages], tools

    return change


def _with_result(messages: Messages, tools: list[dict[str, Any]]) -> tuple[Messages, list[dict[str, Any]]]:
    return messages, tools


# ----------------------------------------------------------------------------------------------------------- judging


def _refusal(kind: str) -> Callable[[Seen], Iterator[Finding]]:
    """The change makes it fail, or print a word of Python."""

    def judge(seen: Seen) -> Iterator[Finding]:
        if seen.text is None:
            yield seen.found(kind)
        elif any(seen.text.count(word) > seen.before.count(word) for word in ("None", "Undefined")):
            yield seen.found("undefined_printed")

    return judge


def _role(refused: str | None, ignored: str) -> Callable[[Seen], Iterator[Finding]]:
    def judge(seen: Seen) -> Iterator[Finding]:
        if seen.text is None:
            if refused is not None:
                yield seen.found(refused)
        elif NEEDLE not in seen.text:
            yield seen.found(ignored)

    return judge


def _encoded_twice(seen: Seen) -> Iterator[Finding]:
    if seen.text is None or seen.text == seen.before:
        return
    twice = json.dumps(json.dumps({"city": NEEDLE}))
    if twice in seen.text and twice not in seen.before:
        yield seen.found("arguments_encoded_twice")


def _differs(kind: str) -> Callable[[Seen], Iterator[Finding]]:
    def judge(seen: Seen) -> Iterator[Finding]:
        if seen.text != seen.before:
            yield seen.found(kind)

    return judge


def _result(seen: Seen) -> Iterator[Finding]:
    if seen.text is None:
        return
    if RESULT not in seen.text:
        yield seen.found("results_ignored")
    at = seen.text.rfind(HOSTILE)
    if at > 0 and seen.text[at - 1] == '"' and seen.text.startswith('"', at + len(HOSTILE)):
        yield seen.found("result_unquoted")


_WITH_CALL: Final = (_USER, _TURN)
_WITH_RESULT: Final = (_USER, _TURN, _RESULT)
_ANSWERED: Final = (_USER, {"role": "assistant", "content": "21 degrees."})

PROBES: Final[tuple[Probe, ...]] = (
    Probe(
        "content absent",
        _WITH_CALL,
        _turn_without_content,
        _refusal("content_absent_refused"),
        needs_calls=True,
    ),
    Probe("id absent", _WITH_CALL, _call_without("id"), _refusal("id_absent_refused"), needs_calls=True),
    Probe(
        "type absent", _WITH_CALL, _call_without("type"), _refusal("type_absent_refused"), needs_calls=True
    ),
    Probe(
        "arguments absent",
        _WITH_CALL,
        _call_without("arguments", inner=True),
        _refusal("arguments_absent_refused"),
        needs_calls=True,
    ),
    Probe(
        "description absent", (_USER,), _tool_without("description"), _refusal("description_absent_refused")
    ),
    Probe("parameters absent", (_USER,), _tool_without("parameters"), _refusal("parameters_absent_refused")),
    Probe("arguments as text", _WITH_CALL, _arguments_as_text, _encoded_twice, needs_calls=True),
    Probe("empty tools", (_USER,), _empty_tools, _differs("empty_tools_shown"), no_tools=True),
    Probe("empty calls", _ANSWERED, _empty_calls, _differs("empty_calls_shown"), no_tools=True),
    Probe(
        "developer",
        (_USER,),
        _first("developer"),
        _role("developer_refused", "developer_ignored"),
        no_tools=True,
    ),
    Probe("system", (_USER,), _first("system"), _role(None, "system_ignored"), no_tools=True),
    Probe("result", _WITH_RESULT, _with_result, _result, needs_calls=True),
)
"""Every probe.  A refused system message or result is verification's to find."""
