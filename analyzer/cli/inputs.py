"""Input: files and option values as commands take them, with errors that say what was expected."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from analyzer.chat import Tool, tools_from_openai
from analyzer.cli.places import DASH
from analyzer.errors import SpecError, TemplateError, UsageError

if TYPE_CHECKING:
    from analyzer.spec.model import Scalar, Spec
    from analyzer.template import Template

_TEMPLATE_SUFFIXES: Final = frozenset({".jinja", ".jinja2", ".j2", ".gguf"})

STANDARD_INPUT: Final = "standard input"
"""What it is called where a file's name would stand."""


def spoken(source: str) -> str:
    """What an error calls a file, or standard input for `-`."""
    return STANDARD_INPUT if source == DASH else source


def read_text(source: str) -> str:
    """The text of a UTF-8 file, or of standard input for `-`."""
    try:
        data = sys.stdin.buffer.read() if source == DASH else Path(source).read_bytes()
    except OSError as error:
        raise UsageError(f"{spoken(source)}: {error.strerror or type(error).__name__}") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise UsageError(f"{spoken(source)}: this is not text in UTF-8 ({byte})") from error


def read_spec(source: str) -> Spec:
    """The spec in a file, or on standard input for `-`.

    Raises:
        UsageError: the file cannot be read.
        SpecError: it holds no valid spec.
    """
    from analyzer.spec.document import load_spec, parse_spec  # noqa: PLC0415
    from analyzer.spec.reader import decode  # noqa: PLC0415

    if source != DASH:
        try:
            return load_spec(Path(source))
        except SpecError as error:
            if Path(source).suffix.lower() in _TEMPLATE_SUFFIXES:
                error.hint = (
                    f"This may be a template: infer its spec with `analyzer infer {source} -o format.yaml`."
                )
            raise
    return parse_spec(decode(sys.stdin.buffer.read(), file=STANDARD_INPUT), file=STANDARD_INPUT)


def read_json(source: str, what: str) -> Any:
    """The JSON value in a file; `what` names what it should be."""
    text = read_text(source)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        found = f"{spoken(source)}, line {error.lineno}: this is not JSON ({error.msg})"
        raise UsageError(found, hint=f"Expected is {what}.") from error
    except RecursionError:
        raise UsageError(f"{spoken(source)}: this JSON is nested too deeply") from None


def read_tools(source: str | None) -> tuple[Tool, ...] | None:
    """The tools in a file, as an OpenAI list or as a request body with `tools`; None without a file."""
    if source is None:
        return None
    what = 'a list of tools, each {"type": "function", "function": {"name": ..., "parameters": {...}}}'
    data = read_json(source, what)
    if isinstance(data, dict) and isinstance(data.get("tools"), list):
        data = data["tools"]
    if not isinstance(data, list):
        raise UsageError(f"{spoken(source)}: this is no list", hint=f"Expected is {what}.")
    try:
        tools = tools_from_openai(data)
    except (KeyError, TypeError, AttributeError):
        raise UsageError(f"{spoken(source)}: an item is no tool", hint=f"Expected is {what}.") from None
    if any(not isinstance(tool.name, str) for tool in tools):
        raise UsageError(f"{spoken(source)}: a tool's name is no text", hint=f"Expected is {what}.")
    if any(not isinstance(tool.parameters, (Mapping, type(None))) for tool in tools):
        raise UsageError(f"{spoken(source)}: a tool's parameters are no schema", hint=f"Expected is {what}.")
    return tools


def read_messages(source: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]] | None]:
    """The messages in a file and, when it is a request body, its tools."""
    what = 'a list of messages, each {"role": ..., "content": ...}, or a request body with `messages`'
    data = read_json(source, what)
    tools = None
    if isinstance(data, dict) and "messages" in data:
        data, tools = data["messages"], data.get("tools")
    if not isinstance(data, list) or not all(isinstance(item, dict) and "role" in item for item in data):
        raise UsageError(f"{spoken(source)}: these are no messages", hint=f"Expected is {what}.")
    if tools is not None and not isinstance(tools, list):
        raise UsageError(f"{spoken(source)}: `tools` is no list")
    return data, tools


def assignments(pairs: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """`KEY=VALUE` pairs as a mapping; a value is JSON where it reads as JSON, else text."""
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.isidentifier():
            hint = "Write KEY=VALUE, such as enable_thinking=false."
            raise UsageError(f"{option} {pair!r} is no assignment", hint=hint)
        if key in found:
            raise UsageError(f"{option} {key} is given twice", hint="Give each variable one value.")
        found[key] = _value(value, f"{option} {key}")
    return found


def scalars(pairs: Sequence[str]) -> dict[str, Scalar]:
    """`KEY=VALUE` pairs as variables of a spec: no lists and no objects."""
    from analyzer.render.outcome import FUNCTIONS, STANDARD_VARIABLES  # noqa: PLC0415

    found = assignments(pairs)
    for key, value in found.items():
        if key in STANDARD_VARIABLES:
            hint = f"{', '.join(STANDARD_VARIABLES)} are the conversation; what is inferred holds for any."
            raise UsageError(f"--set {key}: no spec is for one value of that", hint=hint)
        if key in FUNCTIONS:
            raise UsageError(f"--set {key}: that is a function that every server gives to templates")
        if isinstance(value, (list, dict)):
            hint = "A spec is for a text, a number, true, false or null."
            raise UsageError(f"--set {key} is a list or a mapping", hint=hint)
    return found


def _value(text: str, what: str) -> Any:
    if not text.isprintable() and any("\ud800" <= char <= "\udfff" for char in text):
        raise UsageError(f"{what} is not text in UTF-8", hint="Write it anew, as UTF-8.")
    try:
        return json.loads({"True": "true", "False": "false", "None": "null"}.get(text, text))
    except ValueError:
        return text
    except RecursionError:
        raise UsageError(f"{what} is nested too deeply", hint="Write a plain value.") from None


def note_unread(template: Template, variables: Mapping[str, Any]) -> None:
    """Say on standard error which variables the template never reads: a misspelt one would change nothing, in silence."""
    from analyzer.render.facts import template_facts  # noqa: PLC0415

    try:
        read = template_facts(template.text).variables
    except TemplateError:
        return  # rendering says why, in better words
    for name in (name for name in variables if name not in read):
        click.echo(f"analyzer: the template reads no variable {name}; --set {name} changes nothing", err=True)
