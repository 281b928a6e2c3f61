"""Check the calls of a turn before any of them runs: all problems at once, as data, each with a sentence for the model.

    checked = check(parsed, tools)
    for problem in checked.problems:
        print(problem)                      # call 1: unknown tool 'read_files' (did you mean 'read_file'?)
    for call in checked.runnable:
        ...

A problem is an `error` (the call is not to be run), a `warning` (it may be) or a `note` (it was read all the same).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Literal

from analyzer.agent.definitions import named
from analyzer.agent.schema_errors import Checker, Path, UnusableSchemaError, brief, checker_for
from analyzer.agent.texts import strict_json
from analyzer.agent.turns import CUT, ModelTurn, read_turn
from analyzer.chat import Message, Tool, ToolCall
from analyzer.runtime.assemble import Parsed

Severity = Literal["error", "warning", "note"]

KINDS: Final[Mapping[str, tuple[Severity, str]]] = {
    "cut": (
        "warning",
        "The turn was cut by the token limit or a broken stream; the last call may be incomplete.",
    ),
    "unread_call": ("error", "The parser could not read a call; it is not among the calls."),
    "empty_id": ("warning", "The call has no id; a server's clients need one to send its result."),
    "duplicate_id": ("warning", "An earlier call of the turn has the same id."),
    "unknown_tool": ("error", "No tool of that name is declared."),
    "cut_call": ("error", "The last call of a cut turn has no complete arguments."),
    "not_json": ("error", "The arguments are not JSON."),
    "not_an_object": ("error", "The arguments are JSON, but no object."),
    "double_encoded": ("note", "The arguments are a JSON string that holds the object; it was taken."),
    "empty_arguments": ("note", "The arguments are empty text; they were taken as an empty object."),
    "missing_argument": ("error", "A required argument is missing."),
    "unknown_argument": (
        "warning",
        "An argument is not declared; an error when strict or when the schema forbids it.",
    ),
    "wrong_type": ("error", "A value has a type that the schema does not allow."),
    "not_allowed": ("error", "A value is none of those that the schema lists."),
    "invalid_value": ("error", "A value breaks another rule of the schema."),
    "unusable_schema": (
        "warning",
        "The tool's schema is no schema, so the arguments were not checked against it.",
    ),
}
"""Every kind of problem: how bad it is, and what it means."""

_NEAR: Final = 3
_LISTED: Final = 20


@dataclass(frozen=True, slots=True)
class CallProblem:
    """Something wrong with a turn or with one of its calls."""

    kind: str
    """One of `KINDS`."""
    call: int | None
    """The index of the call; None when the turn is meant."""
    text: str
    """What is wrong, in words that can be sent back to the model."""
    path: Path = ()
    """Where in the arguments: keys and indexes."""
    severity: Severity = "error"
    """How bad it is."""

    def __str__(self) -> str:
        return self.text if self.call is None else f"call {self.call}: {self.text}"


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """A call with what was found."""

    index: int
    """Its place in the turn."""
    call: ToolCall
    """The call as it came."""
    arguments: Mapping[str, Any] | None
    """The decoded arguments; None when they are no JSON object."""
    problems: tuple[CallProblem, ...] = ()
    """What is wrong with it."""

    @property
    def runnable(self) -> bool:
        """Whether nothing speaks against running it."""
        return all(problem.severity != "error" for problem in self.problems)

    @property
    def complaint(self) -> str:
        """The errors, as one text for the model; empty for a runnable call."""
        return "; ".join(problem.text for problem in self.problems if problem.severity == "error")


@dataclass(frozen=True, slots=True)
class Checked:
    """A turn with what was found."""

    turn: ModelTurn
    """The turn."""
    calls: tuple[CheckedCall, ...]
    """Every call, in order."""
    problems: tuple[CallProblem, ...]
    """All problems: those of the turn, then call by call."""

    @property
    def ok(self) -> bool:
        """Whether there is no error and no warning."""
        return all(problem.severity == "note" for problem in self.problems)

    @property
    def runnable(self) -> tuple[CheckedCall, ...]:
        """The calls that can be run."""
        return tuple(call for call in self.calls if call.runnable)

    @property
    def unread(self) -> str:
        """What to tell the model about calls that the parser could not read, which have no result; empty: nothing."""
        return " ".join(problem.text for problem in self.problems if problem.kind == "unread_call")


def check(
    source: ModelTurn | Message | Parsed | Mapping[str, Any],
    tools: Sequence[Tool],
    *,
    strict: bool = False,
    finish_reason: str | None = None,
) -> Checked:
    """Check a turn against the declared tools. `strict`: an argument that the schema does not name is an error."""
    turn = read_turn(source, finish_reason)
    declared = named(tools)
    whole = list(_of_turn(turn))
    checkers: dict[str, Checker] = {}
    seen: dict[str, int] = {}
    calls = []
    for index, call in enumerate(turn.calls):
        found = list(_of_id(index, call, seen))
        is_cut = turn.finish_reason in CUT and index == len(turn.calls) - 1
        arguments, more = _check_call(call, declared, checkers, index=index, strict=strict, is_cut=is_cut)
        calls.append(CheckedCall(index, call, arguments, (*found, *more)))
    problems = (*whole, *(problem for call in calls for problem in call.problems))
    return Checked(turn, tuple(calls), problems)


def _check_call(
    call: ToolCall,
    declared: Mapping[str, Tool],
    checkers: dict[str, Checker],
    *,
    index: int,
    strict: bool,
    is_cut: bool,
) -> tuple[dict[str, Any] | None, tuple[CallProblem, ...]]:
    """The decoded arguments of a call, and what is wrong with its name and arguments."""
    found: list[CallProblem] = []
    tool = declared.get(call.name)
    if tool is None:
        found.append(_problem("unknown_tool", index, _unknown_tool(call.name, declared)))
    arguments, trouble = decode(call.arguments, index=index, is_cut=is_cut)
    if tool is None:
        return arguments, tuple(found)
    found += trouble
    if arguments is not None:
        found += _of_arguments(arguments, tool, checkers, index, strict=strict)
    return arguments, tuple(found)


def decode(
    text: str, *, index: int = 0, is_cut: bool = False
) -> tuple[dict[str, Any] | None, list[CallProblem]]:
    """Decode arguments; `is_cut` says that they may have been cut off."""
    if not text.strip() and not is_cut:
        return {}, [_problem("empty_arguments", index, "the arguments are empty; {} was taken")]
    try:
        value = strict_json(text)
    except (ValueError, RecursionError) as error:
        why = _why(error)
        if is_cut:
            return None, [
                _problem("cut_call", index, f"the call was cut off: its arguments are not valid JSON ({why})")
            ]
        return None, [_problem("not_json", index, f"arguments are not valid JSON ({why})")]
    notes = []
    if isinstance(value, str):
        try:
            inner = strict_json(value)
        except (ValueError, RecursionError):
            inner = None
        if isinstance(inner, dict):
            value = inner
            notes.append(
                _problem("double_encoded", index, "the arguments are JSON text in a string; write an object")
            )
    if not isinstance(value, dict):
        return None, [_problem("not_an_object", index, "arguments are not a JSON object")]
    return value, notes


def _of_turn(turn: ModelTurn) -> Iterable[CallProblem]:
    if turn.finish_reason == "incomplete":
        yield _problem("cut", None, "the stream ended early: the last call may be incomplete")
    elif turn.finish_reason in CUT:
        yield _problem(
            "cut",
            None,
            "finish_reason is length: the output hit the token limit and the last call may be incomplete",
        )
    for problem in turn.problems:
        if problem.severity == "error":
            yield _problem("unread_call", None, problem.message)


def _of_id(index: int, call: ToolCall, seen: dict[str, int]) -> Iterable[CallProblem]:
    if call.id is None:  # the format has none; the client makes one
        return
    if not call.id:
        yield _problem("empty_id", index, "empty id")
    elif call.id in seen:
        yield _problem("duplicate_id", index, f"duplicate id {brief(call.id)} (call {seen[call.id]} has it)")
    else:
        seen[call.id] = index


def _of_arguments(
    arguments: dict[str, Any], tool: Tool, checkers: dict[str, Checker], index: int, *, strict: bool
) -> Iterable[CallProblem]:
    if tool.parameters is None:
        return
    try:
        checker = checkers.get(tool.name)
        if checker is None:
            checker = checkers[tool.name] = checker_for(tool.parameters)
        faults = checker.faults(arguments)
        unknown = list(checker.unknown_keys(arguments))
    except UnusableSchemaError as error:
        text = f"the schema of {tool.name} cannot be used ({error}); the arguments were not checked"
        yield _problem("unusable_schema", index, text)
        return
    except RecursionError:
        yield _problem("invalid_value", index, "the arguments are nested too deeply")
        return
    for fault in faults:
        yield _problem(fault.kind, index, fault.text, fault.path, severity="error")
    refused = {fault.path for fault in faults}
    for fault in unknown:
        if fault.path not in refused:
            severity: Severity = "error" if strict else "warning"
            yield _problem(fault.kind, index, fault.text, fault.path, severity=severity)


def _problem(
    kind: str, call: int | None, text: str, path: Path = (), *, severity: Severity | None = None
) -> CallProblem:
    return CallProblem(kind, call, text, path, KINDS[kind][0] if severity is None else severity)


def _unknown_tool(name: str, declared: Mapping[str, Tool]) -> str:
    if not name:
        return "the call names no tool"
    near = get_close_matches(name, declared, n=_NEAR, cutoff=0.6)
    name = brief(name)
    if near:
        return f"unknown tool '{name}' (did you mean {' or '.join(near)}?)"
    names = list(declared)
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"unknown tool '{name}' (available: {', '.join(names[:_LISTED]) or 'none'}{more})"


def _why(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        if error.pos >= len(error.doc.rstrip()):
            return f"unexpected end of input: {error.msg}"
        return f"{error.msg} at character {error.pos}"
    return str(error)
