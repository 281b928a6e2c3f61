"""Adapting cases to a template: from what is to be said to messages that this template accepts.

Everything follows from `spec.input`: the shape of arguments and content, ids, the names of the reasoning fields,
which roles are refused, one call only, needed variables, settings.  What a template cannot take is `Refused`, a
value with a reason.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from analyzer.chat import Message, Tool, ToolCall
from analyzer.render import RenderRequest
from analyzer.spec.model import Scalar, Spec
from analyzer.verify.cases import OWN_LITERAL, Call, Case, Place, Reply
from analyzer.verify.catalogue import GROUPS, without
from analyzer.verify.literals import identity_pattern, own_literal, reserved_names
from analyzer.verify.strategies import texts_matching

REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "thinking", "thought", "thoughts", "tool_plan")
"""The fields that are filled when a spec names none: a template that reads one of them has reasoning."""

ABSENT: Final = "absent"


@dataclass(frozen=True, slots=True)
class Setting:
    """The variables that a conversation is rendered with, under a name for people."""

    label: str = "default"
    variables: Mapping[str, Scalar] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a template does not take a case."""

    reason: str


@dataclass(frozen=True, slots=True)
class Adapted:
    """A case as messages: the conversation before the turn, the turn, and what a parser must make of it."""

    case: Case
    setting: Setting
    reply: Reply
    truth: Message
    before: tuple[dict[str, Any], ...]
    turn: dict[str, Any]
    tools: tuple[Tool, ...]
    as_text: bool = False
    """Whether arguments are given as JSON text."""

    @property
    def size(self) -> int:
        """How long the conversation is, with the turn, in characters of JSON."""
        return len(json.dumps([*self.before, self.turn]))

    def after(self) -> list[dict[str, Any]]:
        """What follows in mid-conversation: the results of the calls, or another user message."""
        if not self.reply.calls:
            return [{"role": "user", "content": "Thanks, and then?"}]
        ids = [call["id"] for call in self.turn["tool_calls"]]
        return [
            _result(number, call.name, f"result {number} of the call")
            for number, call in zip(ids, self.reply.calls, strict=True)
        ]


def settings_of(spec: Spec) -> tuple[Setting, ...]:
    """The default, then each value of each setting on its own."""
    needed = dict(spec.input.variables)
    found = [Setting("default", needed)]
    for name, values in spec.input.settings.items():
        found += [Setting(f"{name}={json.dumps(value)}", {**needed, name: value}) for value in values]
    return tuple(found)


class Adapter:
    """Adapts cases to one template."""

    def __init__(self, spec: Spec, special_tokens: Mapping[str, str], *, null_content: Any = None) -> None:
        self.spec = spec
        self.null_content = null_content
        self.undeclared: frozenset[str] = frozenset()
        """Types of parameters that tools are declared without, since the template cannot print them."""
        self.shows_tools = True
        """False: the template refuses every tool, so that only the parser is told of them."""
        self.shape: str = spec.input.arguments
        """`mapping`, `text` or, by turns, `both`; what the spec says until a conversation has shown that it is wrong."""
        names = {tool.name for group in GROUPS for tool in group}
        self.reserved: Mapping[str, str] = reserved_names(spec, sorted(names))
        """Tool names that the format keeps for itself, with what a call of each begins like."""
        self._tokens = dict(special_tokens)
        self._literal = own_literal(spec)
        self._pattern = identity_pattern(spec)

    def adapt(self, case: Case, setting: Setting) -> Adapted | Refused:
        """The case as this template takes it."""
        refusal = self._refusal(case)
        if refusal is not None:
            return refusal
        tools = without(case.tools, self.undeclared)
        reply = self._own(case.reply, tools)
        history = Call(case.tools[0].name, {next(iter(_properties(case.tools[0]))): "before"})
        offset = 1 if case.place == "result" else 0
        ids = [self.identity(call, at, offset + at) for at, call in enumerate(reply.calls)]
        as_text = self._as_text(case)
        return Adapted(
            case=case,
            setting=setting,
            reply=reply,
            truth=_truth(reply, ids),
            before=tuple(self._before(case.place, history)),
            turn=self.turn(reply, ids, as_text=as_text),
            tools=tools,
            as_text=as_text,
        )

    def request(
        self, adapted: Adapted, messages: Sequence[Mapping[str, Any]], *, prompt: bool = False
    ) -> RenderRequest:
        """The request to render these messages under the tools and the setting of a case."""
        return RenderRequest(
            messages=[self._shaped(message) for message in messages],
            tools=[tool.to_openai() for tool in adapted.tools] if self.shows_tools else None,
            add_generation_prompt=prompt,
            special_tokens=self._tokens,
            variables=dict(adapted.setting.variables),
        )

    def turn(self, reply: Reply, ids: Sequence[str], *, as_text: bool | None = None) -> dict[str, Any]:
        """The assistant's message for a reply."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.content}
        if reply.content is None and self.null_content != ABSENT:
            message["content"] = self.null_content
        elif reply.content is None:
            del message["content"]
        if reply.reasoning is not None:
            message.update(dict.fromkeys(self._reasoning_fields(reply), reply.reasoning))
        if reply.calls:
            message["tool_calls"] = [
                self._call(call, identity, as_text=as_text)
                for call, identity in zip(reply.calls, ids, strict=True)
            ]
        return message

    def identity(self, call: Call, at: int, number: int) -> str:
        """The id of the call at this place of its turn; ``number`` is unique in the conversation."""
        if self._pattern is not None:
            pattern, start = self._pattern
            return pattern.replace("{name}", call.name).replace("{index}", str(start + at))
        return _identities(self.spec.input.ids)[number]

    def _refusal(self, case: Case) -> Refused | None:
        facts = self.spec.input
        if case.place == "result" and ("tool" in facts.roles_refused or facts.arguments == "none"):
            return Refused("the template takes no tool results")
        if case.place == "system" and (facts.system == "refused" or "system" in facts.roles_refused):
            return Refused("the template takes no system message")
        if case.reply.calls and not facts.parallel_calls and len(case.reply.calls) > 1:
            return Refused("the template takes one call in a turn")
        return None

    def _before(self, place: Place, history: Call) -> Iterator[dict[str, Any]]:
        if place == "system":
            yield {"role": "system", "content": "Be brief."}
        yield {"role": "user", "content": "What is it like today?"}
        if place == "dialogue":
            yield {"role": "assistant", "content": "It is fine."}
            yield {"role": "user", "content": "And tomorrow?"}
        if place == "result":
            identity = self.identity(history, 0, 0)
            yield self.turn(Reply(None, None, (history,)), [identity])
            yield _result(identity, history.name, "a result of before")

    def _as_text(self, case: Case) -> bool:
        return self.shape == "text" or (self.shape == "both" and zlib.crc32(case.name.encode()) % 2 == 1)

    def _call(self, call: Call, identity: str, *, as_text: bool | None) -> dict[str, Any]:
        arguments: Any = dict(call.arguments)
        if as_text or (as_text is None and self.shape == "text"):
            arguments = json.dumps(arguments, ensure_ascii=False)
        return {"id": identity, "type": "function", "function": {"name": call.name, "arguments": arguments}}

    def _shaped(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        if self.spec.input.content == "parts" and isinstance(message.get("content"), str):
            return {**message, "content": [{"type": "text", "text": message["content"]}]}
        return message

    def _reasoning_fields(self, reply: Reply) -> Sequence[str]:
        when = "beside_calls" if reply.calls else "alone"
        fields = {
            next(iter(segment.fields), "")
            for segment in self.spec.reasoning
            if segment.when in ("any", when) and "content" not in segment.fields
        }
        named = sorted(fields - {""}) or self.spec.input.reasoning_fields[:1]
        return named or REASONING_FIELDS

    def _own(self, reply: Reply, tools: tuple[Tool, ...]) -> Reply:
        declared = {tool.name: _properties(tool) for tool in tools}
        calls = []
        for call in reply.calls:
            name = self._free_name(call.name, tools)
            given = self._filled(call.arguments)
            calls.append(Call(name, {key: value for key, value in given.items() if key in declared[name]}))
        return Reply(reply.content, reply.reasoning, tuple(calls))

    def _free_name(self, name: str, tools: tuple[Tool, ...]) -> str:
        """The name, or another one of the same group where the format keeps it for itself."""
        if name not in self.reserved:
            return name
        return next((tool.name for tool in tools[:-1] if tool.name not in self.reserved), name)

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(OWN_LITERAL, self._literal)
        if isinstance(value, Mapping):
            return {key: self._filled(item) for key, item in value.items()}
        return [self._filled(item) for item in value] if isinstance(value, list) else value


def _truth(reply: Reply, ids: Sequence[str]) -> Message:
    calls = tuple(
        ToolCall(call.name, json.dumps(call.arguments, ensure_ascii=False), identity)
        for call, identity in zip(reply.calls, ids, strict=True)
    )
    return Message(reply.content, reply.reasoning, calls)


def _result(identity: str, name: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "name": name, "content": content}


def _properties(tool: Tool) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = (tool.parameters or {})["properties"]
    return properties


@lru_cache(maxsize=64)
def _identities(pattern: str | None) -> tuple[str, ...]:
    """Eight different ids that match a pattern; plain ones where any will do or none can be found."""
    plain = [
        [f"call_{number}zQ7h" for number in range(8)],
        [f"Ab{number}dE6gH1" for number in range(8)],
        [f"chatcmpl-tool-{number:032x}" for number in range(8)],
        [str(number) for number in range(8)],
    ]
    if pattern is None:
        return tuple(plain[0])
    for candidates in plain:
        if all(re.fullmatch(pattern, candidate) for candidate in candidates):
            return tuple(candidates)
    return texts_matching(pattern, 8) or tuple(plain[0])
