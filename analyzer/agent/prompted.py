"""Tool calling for models whose template has no tools: the agent says in the system text how to call.

    system = system_text(tools)                              # one line a tool, and the form of a reply
    parser = PromptedParser(JsonReplies(), tools)            # feed/finish, the runtime's events
    parsed = assemble([*parser.feed(text), *parser.finish()])

A reply is one of three things: a call, an answer, or what could not be read, with the reason. `JsonReplies` reads
`{"tool": ..., "arguments": ...}` and `{"answer": ...}`, in code fences and prose too; `FencedReplies` reads exactly one fenced code
block with a tag of its own. The model's reasoning is the template's business: give the parser of the template's own spec
as `inner`, and what it finds to be text is read here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeAlias

from analyzer.agent.definitions import schema_of
from analyzer.agent.examples import example_of
from analyzer.agent.replies import in_call_order, marked, sendable
from analyzer.agent.results import ToolResult
from analyzer.chat import Message, Tool

Span: TypeAlias = tuple[int, int]
OFFER: Final = (
    "This template has no tools of its own, but its model can still call them: write analyzer.agent.system_text(tools) "
    "into the system message and parse replies with analyzer.agent.PromptedParser."
)
"""What to tell the user of a template without tools."""
_FORM: Final = """\
Reply with exactly one JSON object and nothing else.
To call a tool: {"tool": "<name>", "arguments": {...}}
To answer the user: {"answer": "<text>"}"""
_separates = re.compile(r"(?:[\s,\[\]]|```[\w-]*)*\Z").match
_fence_line = re.compile(r"```[\w-]*\Z").match
_looks_like_json = re.compile(r"\{\s*[\"'}]").match


@dataclass(frozen=True, slots=True)
class Call:
    """The reply calls a tool."""

    tool: str
    """Its name."""
    arguments: str
    """The arguments as JSON text, as the model wrote them; `{}` when there are none."""
    span: Span = (0, 0)
    """Where the call stands in the reply."""
    arguments_span: Span = (0, 0)
    """Where the arguments stand; empty when there are none."""
    around: tuple[Span, ...] = ()
    """The prose beside it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply is for the user."""

    text: str
    """The answer."""
    span: Span = (0, 0)
    """Where the answer's text stands."""


@dataclass(frozen=True, slots=True)
class Unparsed:
    """The reply is neither."""

    reason: str
    """Why, in words that can be sent back to the model."""
    span: Span = (0, 0)
    """Where it went wrong."""


Step: TypeAlias = Call | Answer | Unparsed


class Replies(Protocol):
    """A form of reply."""

    def read(self, reply: str) -> list[Step]:
        """Read a reply; one step, or several calls."""
        ...

    def write(self, message: Message) -> str:
        """Write a turn of the history as the model would have."""
        ...


def system_text(tools: Sequence[Tool]) -> str:
    """Return what to tell the model: a line for each tool with an example of its arguments, and the form of a reply."""
    lines = ["You can use these tools:"]
    for tool in tools:
        said = " ".join(tool.description.split())
        said = said if not said or said[-1] in ".!?" else f"{said}."
        example = json.dumps(example_of(tool.parameters), ensure_ascii=False)
        lines.append(f"- {tool.name}:{f' {said}' if said else ''} Arguments: {example}")
    return "\n".join([*lines, _FORM])


def response_format(tools: Sequence[Tool], *, max_answer: int | None = None) -> dict[str, Any]:
    """Return the `response_format` under which every reply is a valid call or an answer, for servers that enforce it."""
    definitions: dict[str, Any] = {}
    branches: list[dict[str, Any]] = []
    for tool in tools:
        arguments = schema_of(tool)
        if "$ref" in json.dumps(arguments):
            definitions[tool.name] = _moved(arguments, f"#/$defs/{_pointer(tool.name)}")
            arguments = {"$ref": f"#/$defs/{_pointer(tool.name)}"}
        else:
            arguments.setdefault("additionalProperties", False)
        branches.append(_closed({"tool": {"const": tool.name}, "arguments": arguments}))
    answer: dict[str, Any] = {"type": "string"}
    if max_answer is not None:
        answer["maxLength"] = max_answer
    branches.append(_closed({"answer": answer}))
    schema: dict[str, Any] = {"oneOf": branches}
    if definitions:
        schema["$defs"] = definitions
    return {"type": "json_schema", "json_schema": {"name": "step", "schema": schema}}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _pointer(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _moved(schema: Any, to: str) -> Any:
    """The schema with the references into itself led to its new place."""
    if isinstance(schema, list):
        return [_moved(item, to) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: to + value[1:]
        if key == "$ref" and isinstance(value, str) and value.startswith("#")
        else _moved(value, to)
        for key, value in schema.items()
    }


class JsonReplies:
    """`{"tool": ..., "arguments": {...}}` for a call, `{"answer": ...}` for an answer."""

    def read(self, reply: str) -> list[Step]:
        """Read a reply. Calls that stand side by side all count; what a model writes on after a call does not."""
        steps: list[Step] = []
        reason, at, seen = "no JSON object in the reply", 0, False
        while (start := reply.find("{", at)) >= 0:
            if steps and not _separates(reply, at, start):
                break
            seen = True
            if _looks_like_json(reply, start) is None:  # a brace in prose
                reason, at = "invalid JSON", start + 1
                continue
            try:
                value, end = _DECODER.raw_decode(reply, start)
                step, at = _step_of(value, reply, start, end), end
            except (ValueError, RecursionError):  # no JSON, or numbers and nesting beyond what Python takes
                reason = "invalid JSON"
                break
            if isinstance(step, Unparsed):
                reason = step.reason
            elif isinstance(step, Call):
                steps.append(step)
            else:
                steps = steps or [step]
                break
        if not steps:
            return [Unparsed(reason, (0, len(reply)) if seen else (0, 0))]
        return _with_prose(steps, reply)

    def write(self, message: Message) -> str:
        """Write a turn of the history: its calls, one a line, or its answer."""
        if not message.tool_calls:
            return json.dumps({"answer": message.content or ""}, ensure_ascii=False)
        lines = [message.content] if message.content else []
        lines += [
            f'{{"tool": {json.dumps(call.name)}, "arguments": {sendable(call).arguments}}}'
            for call in message.tool_calls
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class FencedReplies:
    """Exactly one fenced code block tagged `tag` in each reply; its text is one argument of one tool.

    A reply without a block is an answer when `prose_answers`, else it could not be read.
    """

    tag: str
    """The word after the fence."""
    tool: str
    """The tool that the block calls."""
    argument: str
    """The argument that the block's text is."""
    prose_answers: bool = False
    """Whether a reply without a block is the answer."""

    @property
    def system_text(self) -> str:
        """What to tell the model."""
        return (
            f"Reply with exactly one fenced code block tagged {self.tag}; it is run with {self.tool}.\n"
            f"```{self.tag}\n<{self.argument}>\n```"
        )

    def read(self, reply: str) -> list[Step]:
        """Read a reply."""
        blocks = list(re.finditer(rf"^```{re.escape(self.tag)}[ \t]*\r?\n", reply, re.MULTILINE))
        if not blocks:
            if self.prose_answers:
                return [Answer(reply.strip(), _stripped(reply, 0, len(reply)))]
            return [Unparsed(f"no code block tagged {self.tag} in the reply")]
        if len(blocks) > 1:
            return [
                Unparsed(
                    f"{len(blocks)} code blocks tagged {self.tag} in the reply; write one", (0, len(reply))
                )
            ]
        inside = blocks[0].end()
        close = re.compile(r"^```[ \t]*\r?$", re.MULTILINE).search(reply, inside)
        if close is None:
            return [Unparsed("the code block is not closed", (blocks[0].start(), len(reply)))]
        body = reply[inside : close.start()].removesuffix("\n").removesuffix("\r")
        text = json.dumps({self.argument: body}, ensure_ascii=False)
        span = (blocks[0].start(), close.end())
        return _with_prose([Call(self.tool, text, span, (inside, inside + len(body)))], reply)

    def write(self, message: Message) -> str:
        """Write a turn of the history."""
        lines = [message.content] if message.content else []
        for call in message.tool_calls:
            body = json.loads(sendable(call).arguments).get(self.argument, call.arguments)
            lines.append(f"```{self.tag}\n{body}\n```")
        return "\n\n".join(lines)


def history(
    message: Message, results: Sequence[ToolResult], replies: Replies | None = None
) -> list[dict[str, Any]]:
    """Return a turn and its results as a template without tools takes them: the model's text, then one user message."""
    form = replies if replies is not None else JsonReplies()
    out = [{"role": "assistant", "content": form.write(message)}]
    ordered = in_call_order(message.tool_calls, results)
    if ordered:
        said = [f"Result of {result.name}:\n{marked(result)}" for result in ordered]
        out.append({"role": "user", "content": "\n\n".join(said)})
    return out


_DECODER: Final = json.JSONDecoder(strict=False)


def _step_of(value: Any, reply: str, start: int, end: int) -> Step:
    places = _members(reply, start)
    if isinstance(value, dict) and isinstance(value.get("tool"), str):
        span = places.get("arguments", (end, end))
        text = reply[span[0] : span[1]] or "{}"
        if isinstance(value.get("arguments"), str):
            text = value["arguments"] if _is_object(value["arguments"]) else text
        elif text != "{}":
            text = _strict(text, value["arguments"])
        return Call(value["tool"], text, (start, end), span)
    if isinstance(value, dict) and isinstance(value.get("answer"), str):
        return Answer(value["answer"], places.get("answer", (start, end)))
    return Unparsed('object has neither "tool" nor "answer"', (start, end))


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _strict(text: str, value: Any) -> str:
    """The JSON text as it stands, written anew when a string holds raw control characters."""
    try:
        json.loads(text)
    except ValueError:
        return json.dumps(value, ensure_ascii=False)
    return text


_space = re.compile(r"[ \t\n\r]*").match


def _members(text: str, start: int) -> dict[str, Span]:
    """Where the values of the object that begins at `start` stand; the object is known to be whole."""
    found: dict[str, Span] = {}
    at = _after_space(text, start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _after_space(text, _after_space(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        found[key] = (at, end)
        at = _after_space(text, end)
        if text[at] == ",":
            at = _after_space(text, at + 1)
    return found


def _after_space(text: str, at: int) -> int:
    found = _space(text, at)
    return found.end() if found is not None else at


def _with_prose(steps: list[Step], reply: str) -> list[Step]:
    """The steps, the first call with the prose around them; a fence or a bracket beside a call is no prose."""
    calls = [step for step in steps if isinstance(step, Call)]
    if not calls:
        return steps
    spans = (
        _stripped(reply, 0, _before(reply, calls[0].span[0])),
        _stripped(reply, _after(reply, calls[-1].span[1]), len(reply)),
    )
    around = tuple(span for span in spans if span[0] < span[1])
    return [replace(calls[0], around=around), *calls[1:]]


def _before(reply: str, at: int) -> int:
    """Where the prose before a call ends."""
    text = reply[:at].rstrip()
    text = text.removesuffix("[").rstrip()
    line = text.rfind("\n") + 1
    return line if _fence_line(text, line) is not None else len(text)


def _after(reply: str, at: int) -> int:
    """Where the prose after a call begins."""
    for token in ("]", "```"):
        begin = _stripped(reply, at, len(reply))[0]
        at = begin + len(token) if reply.startswith(token, begin) else at
    return at


def _stripped(text: str, start: int, end: int) -> Span:
    part = text[start:end]
    left = len(part) - len(part.lstrip())
    return (start + left, max(start + left, start + len(part.rstrip())))
