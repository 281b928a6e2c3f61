"""Probes of lint: one small conversation each, with what its render shows.

A probe changes one thing in a conversation that the template takes; only what the change did is looked at.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analyzer.lint.asking import CALL, NEEDLE, TOOLS, TURN, USER, Asker, Conversation, conversation
from analyzer.lint.findings import Finding, finding
from analyzer.prepare.schemas import type_word
from analyzer.render import Outcome, Rendered, RenderFailure

RESULT: Final = "qzabovux"
HOSTILE: Final = f'He said "{RESULT}".'
_FOREIGN: Final = "東京é"
_FOREIGN_ESCAPED: Final = "\\u6771"
_SHOWN: Final = 400
_RESULT: Final = {"role": "tool", "tool_call_id": CALL["id"], "name": "get_weather", "content": HOSTILE}

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
    needs_tools: bool = False
    """True: the change is one of the tools, so nothing can be asked where the template takes none."""


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


def run(asker: Asker) -> Iterator[Finding]:
    """Run every probe that the template can be asked."""
    calls = asker.spec.calls is not None and asker.spec.input.arguments != "none"
    asked: list[tuple[Probe, Conversation]] = []
    requests: list[Conversation] = []
    for probe in PROBES:
        if probe.needs_calls and not calls:
            continue
        base = asker.prepared(*probe.messages, tools=None if probe.no_tools else TOOLS)
        if probe.needs_tools and not base.get("tools"):
            continue
        given = copy.deepcopy(base)
        messages, tools = probe.change(given["messages"], given.get("tools") or [])
        if probe.no_tools and not tools and probe.name != "empty tools":
            tools = base.get("tools")
        changed = conversation(messages, tools)
        requests += [base, changed]
        asked.append((probe, changed))
    outcomes = asker.outcomes(requests)
    for number, (probe, changed) in enumerate(asked):
        before, after = outcomes[2 * number : 2 * number + 2]
        if isinstance(before, Rendered):
            yield from probe.judge(Seen(probe, before.text, after, changed))


# ----------------------------------------------------------------------------------------------------------- changes


def _call_without(key: str, *, inner: bool = False) -> Change:
    def change(messages: Messages, tools: list[dict[str, Any]]) -> tuple[Messages, list[dict[str, Any]]]:
        call = messages[-1]["tool_calls"][0]
        (call.get("function", call) if inner else call).pop(key, None)
        return messages, tools

    return change


def _turn_without_content(
    messages: Messages, tools: list[dict[str, Any]]
) -> tuple[Messages, list[dict[str, Any]]]:
    messages[-1].pop("content", None)
    return messages, tools


def _tool_without(key: str) -> Change:
    def change(messages: Messages, tools: list[dict[str, Any]]) -> tuple[Messages, list[dict[str, Any]]]:
        tools[0].get("function", tools[0]).pop(key, None)
        return messages, tools

    return change


def _arguments_as_text(
    messages: Messages, tools: list[dict[str, Any]]
) -> tuple[Messages, list[dict[str, Any]]]:
    call = messages[-1]["tool_calls"][0]
    function = call.get("function", call)
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


def _again(role: str, place: int) -> Change:
    """One more message of the role of the first, where that is still what it was given as."""

    def change(messages: Messages, tools: list[dict[str, Any]]) -> tuple[Messages, list[dict[str, Any]]]:
        if messages[0]["role"] != role or NEEDLE not in json.dumps(messages[0]["content"]):
            return messages, tools
        return [*messages[:place], copy.deepcopy(messages[0]), *messages[place:]], tools

    return change


def _no_tools(messages: Messages, _: list[dict[str, Any]]) -> tuple[Messages, None]:
    return messages, None


def _value(value: Any) -> Change:
    def change(messages: Messages, tools: list[dict[str, Any]]) -> tuple[Messages, list[dict[str, Any]]]:
        call = messages[-1]["tool_calls"][0]
        function = call.get("function", call)
        given = {"city": value}
        schema = {"type": type_word(value), "description": "Where."}
        tools[0].get("function", tools[0])["parameters"]["properties"]["city"] = schema
        function["arguments"] = (
            json.dumps(given, ensure_ascii=False) if isinstance(function["arguments"], str) else given
        )
        return messages, tools

    return change


def _identity(identity: str) -> Change:
    def change(messages: Messages, tools: list[dict[str, Any]]) -> tuple[Messages, list[dict[str, Any]]]:
        messages[1]["tool_calls"][0]["id"] = identity
        for message in messages[2:]:
            if "tool_call_id" in message:
                message["tool_call_id"] = identity
        return messages, tools

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


def _differs(kind: str, what: str) -> Callable[[Seen], Iterator[Finding]]:
    def judge(seen: Seen) -> Iterator[Finding]:
        if seen.text is None:
            yield seen.found(kind, f"{what} is refused, though none is taken.")
        elif seen.text != seen.before:
            yield seen.found(kind)

    return judge


def _refused(kind: str) -> Callable[[Seen], Iterator[Finding]]:
    def judge(seen: Seen) -> Iterator[Finding]:
        if seen.text is None:
            yield seen.found(kind)

    return judge


def _later_refused(seen: Seen) -> Iterator[Finding]:
    if seen.text is None and NEEDLE in seen.before:  # the first one was written
        yield seen.found("later_system_refused")


def _escapes(seen: Seen) -> Iterator[Finding]:
    if seen.text is not None and _FOREIGN not in seen.text and _FOREIGN_ESCAPED in seen.text.lower():
        yield seen.found("non_ascii_escaped")


def _still_called(seen: Seen) -> Iterator[Finding]:
    if seen.text is not None and NEEDLE in seen.before and NEEDLE not in seen.text:
        yield seen.found("calls_lost_without_tools")


def _result(seen: Seen) -> Iterator[Finding]:
    if seen.text is None:
        return
    if RESULT not in seen.text:
        yield seen.found("results_ignored")
    at = seen.text.rfind(HOSTILE)
    if at > 0 and seen.text[at - 1] == '"' and seen.text.startswith('"', at + len(HOSTILE)):
        yield seen.found("result_unquoted")


_WITH_CALL: Final = (USER, TURN)
_WITH_RESULT: Final = (USER, TURN, _RESULT)
_ANSWERED: Final = (USER, {"role": "assistant", "content": "21 degrees."})
_SYSTEM: Final = {"role": "system", "content": f"Be {NEEDLE}."}

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
        "description absent",
        (USER,),
        _tool_without("description"),
        _refusal("description_absent_refused"),
        needs_tools=True,
    ),
    Probe(
        "parameters absent",
        (USER,),
        _tool_without("parameters"),
        _refusal("parameters_absent_refused"),
        needs_tools=True,
    ),
    Probe("arguments as text", _WITH_CALL, _arguments_as_text, _encoded_twice, needs_calls=True),
    Probe(
        "empty tools",
        (USER,),
        _empty_tools,
        _differs("empty_tools_shown", "An empty list of tools"),
        no_tools=True,
    ),
    Probe(
        "empty calls",
        _ANSWERED,
        _empty_calls,
        _differs("empty_calls_shown", "An empty `tool_calls`"),
        no_tools=True,
    ),
    Probe(
        "developer",
        (USER,),
        _first("developer"),
        _role("developer_refused", "developer_ignored"),
        no_tools=True,
    ),
    Probe("system", (USER,), _first("system"), _role(None, "system_ignored"), no_tools=True),
    Probe("second system", (_SYSTEM, USER), _again("system", 1), _later_refused, no_tools=True),
    Probe(
        "later system",
        (_SYSTEM, *_ANSWERED, USER),
        _again("system", 3),
        _later_refused,
        no_tools=True,
    ),
    Probe("no tools", _WITH_RESULT, _no_tools, _still_called, needs_calls=True),
    Probe(
        "number", _WITH_CALL, _value(7), _refused("value_type_refused"), needs_calls=True, needs_tools=True
    ),
    Probe("non-ASCII", _WITH_CALL, _value(_FOREIGN), _escapes, needs_calls=True, needs_tools=True),
    Probe("short id", _WITH_RESULT, _identity("c1"), _refused("ids_refused"), needs_calls=True),
    Probe(
        "long id", _WITH_RESULT, _identity("call_0123456789abcdef"), _refused("ids_refused"), needs_calls=True
    ),
    Probe("result", _WITH_RESULT, _with_result, _result, needs_calls=True),
)
"""Every probe.  A refused system message or result is verification's to find."""
