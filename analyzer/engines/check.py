"""An export held against its engine: it has to load, and to accept a call of each tool as the format writes it.

The calls are made from the tools' own schemas. Where a schema asks for what no example could be made of, the tool is left out,
and the sentence says how many were tried.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from analyzer.agent.definitions import schema_of
from analyzer.agent.examples import example_of
from analyzer.chat import Message, Tool, ToolCall
from analyzer.engines.loading import engine_of, load
from analyzer.engines.texts import calls_text, without_end
from analyzer.engines.transformers_parser import TransformersParser
from analyzer.errors import ExportError
from analyzer.export.choice import WORDS
from analyzer.export.result import Export, Options
from analyzer.spec.model import Spec
from analyzer.verify.writer import write_turn

_ID = "call00001"


@dataclass(frozen=True, slots=True)
class Checked:
    """What an engine said of an export."""

    state: Literal["held", "missing"]
    """`held`: the engine loads it and accepts what was tried; `missing`: the engine is not installed."""
    text: str
    """One sentence for people."""


def check(target: str, spec: Spec, tools: Sequence[Tool], options: Options, done: Export) -> Checked:
    """Hold an export against its engine; `ExportError` when the engine does not load it or refuses a call that it should take."""
    engine = engine_of(target, options)
    if engine is None:
        return Checked("missing", "not checked: only the server itself loads this")
    if engine.missing is not None:
        return Checked(
            "missing",
            f"not checked: {engine.missing} is not installed, so {engine.name} has not loaded this "
            "(pip install 'chat-template-analyzer[export]')",
        )
    loaded = load(target, done.payload, options)
    tried = list(_tried(target, spec, tools, options))
    for message in tried:
        if not _comes_through(target, spec, tools, options, loaded, message):
            name = message.tool_calls[0].name
            raise ExportError(
                f"{engine.label} does not accept a call of {name!r} as the format writes it",
                target=target,
                hint="Rename that tool or simplify its schema, or export without the check.",
            )
    calls = f", and accepts a call of {_count(tried)}" if tried else ""
    return Checked("held", f"checked: {engine.label} loads it{calls}")


def _count(tried: Sequence[Message]) -> str:
    return "one tool" if len(tried) == 1 else f"each of {len(tried)} tools"


def _tried(target: str, spec: Spec, tools: Sequence[Tool], options: Options) -> Iterator[Message]:
    """A message with one call for each tool that may be called."""
    if options.tool_choice == "none" or (spec.calls is None and target != "json-schema"):
        return
    for tool in tools:
        if options.tool_choice in (*WORDS, tool.name):
            arguments = example(tool)
            if arguments is not None:
                yield Message(None, None, (ToolCall(tool.name, json.dumps(arguments), _ID),))


def example(tool: Tool) -> dict[str, Any] | None:
    """Arguments that the tool's schema allows; None when none could be made."""
    import jsonschema  # noqa: PLC0415  (a second of import time)

    schema = schema_of(tool)
    arguments = example_of(schema)
    if not isinstance(arguments, dict):
        return None
    try:
        jsonschema.Draft202012Validator(schema).validate(arguments)
    except Exception:  # noqa: BLE001  (an invalid example, or a schema that is none)
        return None
    return arguments


def _comes_through(
    target: str, spec: Spec, tools: Sequence[Tool], options: Options, loaded: Any, message: Message
) -> bool:
    if target == "json-schema":
        call = message.tool_calls[0]
        return bool(loaded.is_valid({"tool": call.name, "arguments": call.decoded()}))
    if isinstance(loaded, TransformersParser):
        return _is_read(spec, tools, loaded, message)
    calls, turn = calls_text(spec, message).lstrip(), without_end(spec, _behind_prompt(spec, message)[1])
    if options.tool_choice != "auto" and calls not in turn:  # the prompt has written what opens the call
        return bool(loaded.accepts(turn))
    return bool(loaded.accepts(calls if target == "gbnf" or options.tool_choice != "auto" else turn))


def _behind_prompt(spec: Spec, message: Message) -> tuple[str, str]:
    """The longest generation prompt that the turn begins with, or its header, and the turn behind it."""
    text = write_turn(spec, message)
    prompts = [found.text for found in spec.turn.prompts if text.startswith(found.text)]
    prompt = max([spec.turn.header, *prompts], key=len)
    return prompt, text.removeprefix(prompt)


def _is_read(spec: Spec, tools: Sequence[Tool], parser: TransformersParser, message: Message) -> bool:
    """Whether the reader finds the call; its text values are judged by the tests, where losses are known."""
    prompt, text = _behind_prompt(spec, message)
    try:
        found = parser.parse(text, prompt=prompt, tools=tools)
    except ValueError:
        return False
    return len(found.tool_calls) == 1
