"""What changed between two format specs, in words that a user of the format understands.

Specs are compared as data; each difference is named by its field (`SUBJECTS`), the longest pattern first.  What says
nothing about the format (the template's hash, evidence, verification) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analyzer.chat import ToolCall
from analyzer.spec.model import Spec
from analyzer.verify.writer import write_call

LEFT_OUT: Final = frozenset({"template", "evidence", "verification", "format_version"})

_SAMPLE: Final = ToolCall("get_weather", '{"city": "Paris", "days": 3}', "call00001")
"""The call that shows two layouts that are of different kinds."""

SUBJECTS: Final[tuple[tuple[str, str], ...]] = (
    (r"input\.arguments", "the shape of arguments that the template takes"),
    (r"input\.content", "the shape of content that the template takes"),
    (r"input\.ids", "the pattern of call ids"),
    (r"input\.reasoning_fields", "the message fields that hold reasoning"),
    (r"input\.system", "what becomes of a system message"),
    (r"input\.roles_refused", "the roles that are refused"),
    (r"input\.parallel_calls", "whether a turn may have several calls"),
    (r"input\.settings(\..*)?", "the variables that change the generation prompt"),
    (r"input\.variables(\..*)?", "the variables that the template needs"),
    (r"input\.mutable", "whether the template changes its input"),
    (r"turn\.header", "what opens the assistant's message"),
    (r"turn\.header_repeats", "whether each segment is a message of its own"),
    (r"turn\.prompts(\..*)?", "the generation prompt"),
    (r"(reasoning)(.*)\.open", "what opens reasoning"),
    (r"(reasoning)(.*)\.close", "what closes reasoning"),
    (r"(reasoning)(.*)\.empty", "what stands in place of absent reasoning"),
    (r"(reasoning)(.*)\.kept", "in which turns of the history reasoning is kept"),
    (r"(reasoning)(.*)\.fields", "the message fields that hold reasoning"),
    (r"(content)(.*)\.open", "what opens content"),
    (r"(content)(.*)\.close", "what closes content"),
    (r"(content)(.*)\.empty", "what stands in place of absent content"),
    (r"(reasoning|content|calls)(.*)\.end(\.literal)?", "what ends a message"),
    (r"(reasoning|content|calls)(.*)\.end\.stop", "whether the model stops at the end of a message"),
    (r"calls\.open", "what opens the calls of a turn"),
    (r"calls\.close", "what closes the calls of a turn"),
    (r"calls\.separator", "what stands between two calls"),
    (r"calls\.array", "whether calls are the elements of a JSON array"),
    (r"calls\.parallel", "whether several calls are written in a turn"),
    (r"calls\.layouts", "a call, as an example"),
    (r"calls\.layouts\[\d+\]\.open", "what opens a call"),
    (r"calls\.layouts\[\d+\]\.close", "what closes a call"),
    (r"calls\.layouts\[\d+\]\.name", "where a call's name stands in its JSON"),
    (r"calls\.layouts\[\d+\]\.arguments", "where a call's arguments stand in its JSON"),
    (r"calls\.layouts\[\d+\]\.arguments_codec", "how a call's arguments are encoded"),
    (r"calls\.layouts\[\d+\]\.id", "where a call's id stands in its JSON"),
    (r"calls\.layouts\[\d+\]\.parts.*\.codecs?\.?(.*)", "how values are written"),
    (r"calls\.layouts\[\d+\]\.parts.*", "the text of a call"),
    (r"calls\.layouts\[\d+\]", "a layout of calls"),
    (r"results\.role", "the role of tool results"),
    (r"results\.grouping", "whether results share a turn"),
    (r"results\.content", "how a result's content is written"),
    (r"order of segments", "the order of the segments"),
    (r"reasoning( \(.*\))?", "a segment of reasoning"),
    (r"content( \(.*\))?", "a segment of content"),
    (r"calls", "the calls"),
    (r"results(\..*)?", "how tool results are written"),
    (r"grammar\.triggers", "the literals that constrained decoding waits for"),
    (r"grammar\.preserved_tokens", "the tokens that a server must keep"),
    (r"grammar\.stops", "the stop strings"),
    (r"overlays(.*)", "what overlays add"),
    (r"defects(.*)", "the template's defects"),
)
"""What a field is about; the first pattern that matches the whole path names it."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: the field, what it is about, and both values (None: there is none)."""

    path: str
    subject: str
    before: Any
    after: Any

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.subject}: new, {_shown(self.after)}"
        if self.after is None:
            return f"{self.subject}: gone, was {_shown(self.before)}"
        return f"{self.subject}: was {_shown(self.before)}, is {_shown(self.after)}"

    def to_json(self) -> dict[str, Any]:
        """The change as JSON data."""
        return {"path": self.path, "subject": self.subject, "before": self.before, "after": self.after}


def diff(one: Spec, other: Spec) -> tuple[Change, ...]:
    """What the second format does in another way than the first."""
    first, second = (_comparable(spec) for spec in (one, other))
    if _kinds(one) != _kinds(other) and one.calls and other.calls:
        for data, spec in ((first, one), (second, other)):
            data["calls"] = {**data["calls"], "layouts": write_call(spec, _SAMPLE)}
    return tuple(
        Change(path, _subject(path), before, after) for path, before, after in _differences(first, second, "")
    )


def _kinds(spec: Spec) -> list[str]:
    return [layout.kind for layout in spec.calls.layouts] if spec.calls else []


def _comparable(spec: Spec) -> dict[str, Any]:
    """A spec as data, its segments by kind and turn, its prompts by setting and role, its defects by kind."""
    data = {key: value for key, value in spec.model_dump(mode="json").items() if key not in LEFT_OUT}
    turn = dict(data.pop("turn"))
    segments = turn.pop("segments")
    prompts = {_prompt_name(prompt): prompt.get("text", "") for prompt in turn.get("prompts", ())}
    named = {_segment_name(segment): segment for segment in segments}
    order = [_segment_name(segment) for segment in segments]
    data["overlays"] = sorted({one["overlay"] for one in data.get("overlays", ())})
    data["defects"] = sorted({defect["kind"] for defect in data.get("defects", ())})
    return {**data, "turn": {**turn, "prompts": prompts}, **named, "order of segments": order}


def _segment_name(segment: Mapping[str, Any]) -> str:
    when = segment.get("when", "any")
    return segment["kind"] if when == "any" else f"{segment['kind']} ({when.replace('_', ' ')})"


def _prompt_name(prompt: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{key}={value}" for key, value in prompt.get("set", {}).items()) or "default"
    return f"{settings} after {prompt.get('after', 'user')}"


def _differences(one: Any, other: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {**one, **other}:
            yield from _differences(one.get(key), other.get(key), f"{path}.{key}" if path else str(key))
    elif _are_lists(one, other) and len(one) == len(other) and any(isinstance(item, Mapping) for item in one):
        for number, (before, after) in enumerate(zip(one, other, strict=True)):
            yield from _differences(before, after, f"{path}[{number}]")
    elif one != other:
        yield path, one, other


def _are_lists(*values: Any) -> bool:
    return all(isinstance(value, Sequence) and not isinstance(value, str) for value in values)


def _subject(path: str) -> str:
    for pattern, subject in SUBJECTS:
        if re.fullmatch(pattern, path):
            which = path.removeprefix("turn.prompts.") if path.startswith("turn.prompts.") else ""
            return f"{subject} ({which})" if which else subject
    return path


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(map(repr, value)) or "none"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 200 else f"{text[:150]} ... {text[-40:]}"  # noqa: PLR2004  (a few lines)
