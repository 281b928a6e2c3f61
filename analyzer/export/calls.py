"""One tool's call as literals and slots: what all grammars are made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from analyzer.chat import Tool
from analyzer.errors import ExportError
from analyzer.export.result import Losses
from analyzer.export.schemas import arguments_schema
from analyzer.spec.model import CallsSegment, JsonLayout, Layout, Spec
from analyzer.spec.parts import ArgumentsSlot, IdSlot, IndexSlot, JsonCodec, JsonTextCodec, NameSlot, Part

Concrete: TypeAlias = str | ArgumentsSlot | IdSlot | IndexSlot
_HOLE: Final = "\0arguments\0"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The call of one tool."""

    tool: Tool
    """The tool."""
    parts: tuple[Concrete, ...]
    """Literals, the name among them, and slots; a literal stands first and last, empty if need be."""
    schema: Mapping[str, Any] = field(default_factory=dict)
    """The schema of its arguments; what it does not declare is no argument."""

    @property
    def begin(self) -> str:
        """What the call begins with, up to its first slot."""
        first = self.parts[0]
        return first if isinstance(first, str) else ""

    @property
    def end(self) -> str:
        """What the call ends with, from its last slot on."""
        last = self.parts[-1]
        return last if isinstance(last, str) else ""

    @property
    def middle(self) -> tuple[Concrete, ...]:
        """What stands between."""
        return self.parts[1:-1]


def tool_calls(spec: Spec, segment: CallsSegment, tools: Sequence[Tool], target: str) -> list[ToolCall]:
    """Return the calls of the tools in the spec's first layout."""
    layout = segment.layouts[0]
    return [
        ToolCall(tool, _merged(_parts(spec, layout, tool.name, target)), arguments_schema(tool, target))
        for tool in tools
    ]


def _parts(spec: Spec, layout: Layout, name: str, target: str) -> list[Concrete]:
    in_json = isinstance(layout, JsonLayout)
    spelt = json.dumps(name, ensure_ascii=False)[1:-1] if in_json else name
    if isinstance(layout, JsonLayout):
        if layout.arguments_codec == "python":
            raise ExportError("the arguments are a Python literal inside JSON", target=target)
        inner: Sequence[Part] = layout.parts or _by_paths(layout)
        parts: Sequence[Part] = (layout.open, *inner, layout.close)
    else:
        parts = layout.parts
    out: list[Concrete] = []
    for part in parts:
        if isinstance(part, NameSlot):
            out.append(spelt)
        elif isinstance(part, IdSlot):
            out += _identity(spec, part, spelt, named=any(isinstance(one, NameSlot) for one in parts))
        else:
            out.append(part)
    return out


def _identity(spec: Spec, slot: IdSlot, name: str, *, named: bool) -> list[Concrete]:
    pattern = slot.pattern
    if pattern is None and not named:
        pattern = next((added.id_pattern for added in spec.overlays if added.id_pattern), "{name}")
    if pattern is None:
        return [slot]
    before, mark, after = pattern.replace("{name}", name).partition("{index}")
    return [before, IndexSlot(start=slot.start), after] if mark else [before]


def _by_paths(layout: JsonLayout) -> list[Part]:
    """The canonical parts of a layout that has none: its paths in the order name, arguments."""
    codec = JsonCodec() if layout.arguments_codec == "json" else JsonTextCodec()
    if layout.name == "key":
        return ['{"', NameSlot(), '": ', ArgumentsSlot(codec=codec), "}"]
    body: dict[str, Any] = {}
    for path, value in ((layout.name, "\0name\0"), (layout.arguments, _HOLE)):
        inner = body
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = value
    text = json.dumps(body, ensure_ascii=False)
    hole = json.dumps(_HOLE)
    before, after = text.split(hole)
    head, tail = before.split(json.dumps("\0name\0")[1:-1])
    return [head, NameSlot(), tail, ArgumentsSlot(codec=codec), after]


def _merged(parts: Sequence[Concrete]) -> tuple[Concrete, ...]:
    out: list[Concrete] = [""]
    for part in parts:
        last = out[-1]
        if isinstance(part, str) and isinstance(last, str):
            out[-1] = last + part
        else:
            out.append(part)
    return (*out, "") if not isinstance(out[-1], str) else tuple(out)


def trigger_of(spec: Spec, segment: CallsSegment, calls: Sequence[ToolCall], losses: Losses) -> list[str]:
    """What a call is known by: the shortest literals that begin the section or every call and stand nowhere else.

    None of them begins with another one.
    """
    begins = [segment.open.lstrip()] if segment.open.strip() else [call.begin.lstrip() for call in calls]
    others = [one for one in spec.turn.segments if one.kind != "calls"]
    texts = [text for one in others for text in (one.open, one.close, one.empty)]
    texts += [spec.turn.header if spec.turn.header_repeats else ""]
    for trigger in spec.grammar.triggers:
        if all(begin.startswith(trigger) for begin in begins) and not any(trigger in text for text in texts):
            return [trigger]
    if segment.open.strip():
        return begins
    layout = segment.layouts[0]
    parts = (layout.open, *layout.parts) if isinstance(layout, JsonLayout) else layout.parts
    head = next((part for part in parts if part != ""), "")
    if isinstance(head, str) and head.strip() and not any(head.lstrip() in text for text in texts):
        return [head.lstrip()]
    losses.add(
        "unknown_names",
        "Calls are known by their tools' names only: a call of an unknown tool is free text.",
    )
    named = [_up_to_name(call, texts) for call in calls]
    return [
        one
        for one in dict.fromkeys(named)
        if not any(one != other and one.startswith(other) for other in named)
    ]


def _up_to_name(call: ToolCall, texts: Sequence[str]) -> str:
    """What a call begins with, up to its tool's name, or whole where that much stands in other texts too."""
    begin = call.begin.lstrip()
    at = begin.find(call.tool.name)
    trigger = begin[: at + len(call.tool.name)] if at >= 0 else begin
    return begin if any(trigger in text for text in texts) else trigger


def behind_calls(spec: Spec, segment: CallsSegment) -> str:
    """What the template writes behind the calls of a turn in place of segments that are absent there, such as a line break."""
    segments = spec.turn.segments
    later = segments[segments.index(segment) + 1 :]
    return "".join(
        one.empty
        for one in later
        if not isinstance(one, CallsSegment) and one.when in ("any", "beside_calls")
    )


def without_opener(
    spec: Spec, segment: CallsSegment, calls: Sequence[ToolCall], *, forced: bool, losses: Losses
) -> list[ToolCall] | None:
    """The first call of a turn where the prompt has written already what opens it, such as `>>>`; None where it has not.

    When a call is forced, it goes on behind the prompt. Else nothing tells the call from text, which is a loss.
    """
    layout = segment.layouts[0]
    parts = (layout.open, *layout.parts) if isinstance(layout, JsonLayout) else layout.parts
    head = segment.open or next((part for part in parts if part != ""), "")
    opener = head.strip() if isinstance(head, str) else ""
    prompts = [prompt.text.rstrip() for prompt in spec.turn.prompts if prompt.text.strip()]
    begun_in_prompt(spec, losses)
    if not opener or segment.open or not prompts or not all(text.endswith(opener) for text in prompts):
        return None
    if not forced:
        losses.add(
            "opened_by_prompt",
            f"The prompt ends with {opener!r}, which opens a call: a first call behind it is not constrained.",
        )
        return None
    return [
        replace(call, parts=(call.begin.lstrip().removeprefix(opener), *call.parts[1:])) for call in calls
    ]


def begun_in_prompt(spec: Spec, losses: Losses) -> None:
    """Note where the generation prompt ends inside what opens the calls, so that nothing of a first call is known by its opener."""
    opener = spec.calls.open.lstrip() if spec.calls is not None else ""
    prompts = [prompt.text for prompt in spec.turn.prompts if not prompt.set and prompt.text.strip()]
    begins = (opener[:size] for size in range(len(opener) - 1, 1, -1))
    begun = next(
        (text for text in begins if prompts and all(prompt.endswith(text) for prompt in prompts)), ""
    )
    if begun.strip():
        losses.add(
            "opened_by_prompt",
            f"The prompt ends with {begun!r}, which begins what opens calls: a first call behind it is read as text, "
            "and one that is forced writes the opener anew.",
        )


def after_trigger(
    segment: CallsSegment, calls: Sequence[ToolCall], trigger: str
) -> tuple[CallsSegment, list[ToolCall]]:
    """What follows a trigger: the section or the calls that begin with it, without it."""
    if segment.open.strip():
        return segment.model_copy(update={"open": segment.open.lstrip().removeprefix(trigger)}), list(calls)
    kept = [
        replace(call, parts=(call.begin.lstrip().removeprefix(trigger), *call.parts[1:]))
        for call in calls
        if call.begin.lstrip().startswith(trigger)
    ]
    return segment.model_copy(update={"open": "", "close": ""}), kept


def key_order(calls: Sequence[ToolCall], losses: Losses) -> None:
    """Note that arguments come in declared order, where there are several."""
    if any(len(_properties(call.schema)) > 1 for call in calls):
        slots = [part for call in calls for part in call.parts if isinstance(part, ArgumentsSlot)]
        other = ", or sorted by name" if any(slot.item is not None for slot in slots) else " only"
        losses.add("order", f"Arguments are accepted in the order of the schema{other}.")


def unchecked_keywords(keywords: Iterable[str], losses: Losses) -> None:
    """Note the keywords of the tools' schemas that a grammar does not hold values against."""
    listed = ", ".join(f"`{word}`" for word in sorted(keywords))
    if listed:
        losses.add("unchecked_keywords", f"Values are not held against {listed} of their schemas.")


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}
