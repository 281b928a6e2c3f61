"""Target `structural-tag`: constrained decoding by xgrammar, as vLLM and SGLang take it (`{"type": "structural_tag", ...}`).

    auto        triggered_tags: free text, and after a trigger one of the tags
    required    tags_with_separator: one or more calls from the first character
    a name      the same, one call of that tool

A section around the calls is one tag that holds them. Arguments in JSON are `json_schema`, any other encoding is a grammar.
The legacy form (`structures`, `triggers`), which llguidance backends take, has neither sections of several calls nor grammars.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from analyzer.chat import Tool
from analyzer.errors import ExportError
from analyzer.export.arguments import Arguments
from analyzer.export.calls import (
    Concrete,
    ToolCall,
    behind_calls,
    key_order,
    tool_calls,
    trigger_of,
    unchecked_keywords,
    without_opener,
)
from analyzer.export.choice import Choice, calls_of, resolve
from analyzer.export.result import Export, Losses, Options
from analyzer.export.rules import Rules
from analyzer.spec.model import CallsSegment, Spec
from analyzer.spec.parts import ArgumentsSlot, IdSlot, IndexSlot

TARGET: Final = "structural-tag"


def export(spec: Spec, tools: Sequence[Tool], options: Options) -> Export:
    """Return the structural tag as data."""
    losses = Losses()
    choice = resolve(spec, tools, options, losses, TARGET)
    if choice.mode == "none":
        if options.legacy:
            raise ExportError(
                "the legacy form has no free text", target=TARGET, hint="Constrain nothing instead."
            )
        return Export({"type": "structural_tag", "format": {"type": "any_text"}}, losses.all())
    segment = calls_of(spec, TARGET)
    calls = tool_calls(spec, segment, choice.tools, TARGET)
    key_order(calls, losses)
    if len(segment.layouts) > 1 or spec.overlays:
        losses.add("one_spelling", "Further spellings of calls are not accepted after a trigger.")
    triggers = trigger_of(spec, segment, calls, losses)
    if options.legacy:
        return Export(_legacy(segment, calls, choice, triggers, losses), losses.all())
    unchecked: set[str] = set()
    tags = [_tag(call, options, losses, unchecked) for call in calls]
    unchecked_keywords(unchecked, losses)
    forced = choice.mode == "forced"
    opening = without_opener(spec, segment, calls, forced=forced, losses=losses)
    if opening is not None:
        found = _opened(segment, [_tag(call, options, losses, unchecked) for call in opening], tags, choice)
    else:
        found = _forced(segment, tags, choice) if forced else _auto(spec, segment, tags, choice, triggers)
    tail = behind_calls(spec, segment)
    if forced and tail:
        last = {"type": "optional", "content": {"type": "const_string", "value": tail}}
        found = {"type": "sequence", "elements": [found, last]}
    return Export({"type": "structural_tag", "format": found}, losses.all())


def _forced(segment: CallsSegment, tags: list[dict[str, Any]], choice: Choice) -> dict[str, Any]:
    section = _section(segment, tags, choice)
    lead = segment.open or min((tag["begin"] for tag in tags), key=len)
    white = lead[: len(lead) - len(lead.lstrip())]
    if not white:
        return section
    if "begin" not in section:  # the white space is the calls' own, so each further one has it too
        section = {**section, "separator": f"{segment.separator}{white}"}
    ahead = {"type": "optional", "content": {"type": "const_string", "value": white}}
    return {"type": "sequence", "elements": [ahead, _stripped(section)]}


def _opened(
    segment: CallsSegment, first: list[dict[str, Any]], tags: list[dict[str, Any]], choice: Choice
) -> dict[str, Any]:
    """The first call where the prompt has written its opener, and further ones."""
    begun: dict[str, Any] = first[0] if len(first) == 1 else {"type": "or", "elements": first}
    if choice.single:
        return begun
    gap = [{"type": "const_string", "value": segment.separator}] if segment.separator else []
    more = {"type": "sequence", "elements": [*gap, _section(segment, tags, choice)]}
    return {"type": "sequence", "elements": [begun, {"type": "optional", "content": more}]}


def _auto(
    spec: Spec,
    segment: CallsSegment,
    tags: list[dict[str, Any]],
    choice: Choice,
    triggers: Sequence[str],
) -> dict[str, Any]:
    if segment.open.strip():
        tags = [_section(segment, tags, choice)]
    tail = behind_calls(spec, segment)
    if choice.single:  # nothing may follow a single tag, not even what stands behind all calls
        close = "" if segment.open.strip() else segment.close
        tags = [{**tag, "end": _ends(tag["end"], close, tail)} for tag in tags]
    return {
        "type": "triggered_tags",
        "triggers": list(triggers),
        "tags": [_stripped(tag) for tag in tags],
        "at_least_one": False,
        "stop_after_first": choice.single,
    }


def _ends(end: str, close: str, tail: str) -> str | list[str]:
    """What ends a tag behind which nothing may stand, the fullest spelling first."""
    found = list(dict.fromkeys([f"{end}{close}{tail}", f"{end}{close}", end]))
    return found[0] if len(found) == 1 else found


def _stripped(tag: dict[str, Any]) -> dict[str, Any]:
    """The tag without the white space that it begins with: free text may have it before the trigger."""
    if "begin" in tag:
        return {**tag, "begin": tag["begin"].lstrip()}
    return {**tag, "tags": [_stripped(inner) for inner in tag["tags"]]}


def _section(segment: CallsSegment, tags: list[dict[str, Any]], choice: Choice) -> dict[str, Any]:
    """The calls with what stands around them."""
    listed: dict[str, Any] = {
        "type": "tags_with_separator",
        "tags": tags,
        "separator": segment.separator,
        "at_least_one": True,
        "stop_after_first": choice.single,
    }
    if not segment.open and not segment.close:
        return listed
    if not segment.close:  # a list of tags needs an end, so the list is spelt out
        one: dict[str, Any] = tags[0] if len(tags) == 1 else {"type": "or", "elements": tags}
        gap = [{"type": "const_string", "value": segment.separator}] if segment.separator else []
        more = {
            "type": "repeat",
            "min": 0,
            "max": 99,
            "content": {"type": "sequence", "elements": [*gap, one]},
        }
        spelt = {"type": "sequence", "elements": [one, more]}
        listed = one if choice.single else spelt
    return {"type": "tag", "begin": segment.open, "content": listed, "end": segment.close}


# -------------------------------------------------------------------------------------------------------------------- tags


def _tag(call: ToolCall, options: Options, losses: Losses, unchecked: set[str]) -> dict[str, Any]:
    elements = [
        _element(call, number, options, losses, unchecked) for number in range(1, len(call.parts) - 1)
    ]
    content = elements[0] if len(elements) == 1 else {"type": "sequence", "elements": elements}
    return {"type": "tag", "begin": call.begin, "content": content, "end": call.end}


def _element(
    call: ToolCall, number: int, options: Options, losses: Losses, unchecked: set[str]
) -> dict[str, Any]:
    part: Concrete = call.parts[number]
    before, after = call.parts[number - 1], call.parts[number + 1]
    if isinstance(part, str):
        return {"type": "const_string", "value": part}
    if isinstance(part, IndexSlot):
        return {"type": "regex", "pattern": "[0-9]+"}
    if isinstance(part, IdSlot):
        stop = after.lstrip()[:1] if isinstance(after, str) and after.strip() else " "
        return {"type": "regex", "pattern": f"[^{_class(stop)}\\n]+"}
    if part.codec is not None and part.codec.kind == "json":
        found: dict[str, Any] = {"type": "json_schema", "json_schema": call.schema}
        closer = call.end.strip().lstrip('}]"').strip()  # the marker, without the rest of the call's own JSON
        if options.exclude_closers and closer:
            found["excludes"] = [closer]
            losses.add("excluded", f"A text that holds {closer!r} is not accepted, as asked for.")
        return found
    return {"type": "grammar", "grammar": _grammar(part, call, before, losses, unchecked)}


def _class(char: str) -> str:
    return f"\\{char}" if char in "\\]^-[" else char


def _grammar(
    slot: ArgumentsSlot, call: ToolCall, before: Concrete, losses: Losses, unchecked: set[str]
) -> str:
    rules = Rules()
    inside = isinstance(before, str) and before.endswith('"')
    made = Arguments(rules, losses, TARGET).expression(slot, call.schema, inside=inside)
    unchecked.update(rules.unchecked)
    return rules.text(made)


# ------------------------------------------------------------------------------------------------------------------ legacy


def _legacy(
    segment: CallsSegment, calls: Sequence[ToolCall], choice: Choice, triggers: Sequence[str], losses: Losses
) -> dict[str, Any]:
    if choice.mode == "forced" or choice.single:
        raise ExportError(
            "the legacy form cannot force or limit calls",
            target=TARGET,
            hint="Allowed is the choice auto with parallel calls.",
        )
    if segment.array or (segment.open.strip() and segment.separator.strip()):
        raise ExportError("the legacy form has no section of several calls", target=TARGET)
    if segment.open.strip():
        losses.add("one_call", "The legacy form takes one call a section.")
    structures = []
    for call in calls:
        if len(call.middle) != 1 or not isinstance(call.middle[0], ArgumentsSlot):
            raise ExportError("the legacy form has no ids and counters", target=TARGET)
        codec = call.middle[0].codec
        if codec is None or codec.kind != "json":
            raise ExportError("the legacy form takes arguments in JSON only", target=TARGET)
        begin = f"{segment.open}{call.begin}".lstrip()
        structures.append({"begin": begin, "schema": call.schema, "end": f"{call.end}{segment.close}"})
    return {"type": "structural_tag", "structures": structures, "triggers": list(triggers)}
