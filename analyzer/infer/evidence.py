"""Why each finding was made: the comparison, the variants that were compared, and what came out.

Paths are those of the fields in a spec file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from analyzer.infer.calls import CallsFinding
from analyzer.infer.reasoning_fields import ReasoningFinding
from analyzer.spec.model import CallsSegment, Evidence, InputFacts, Results, Spec, around_content
from analyzer.spec.parts import ArgumentsSlot, JsonType

Found = dict[str, tuple[Evidence, ...]]


def evidence_of(
    spec: Spec, calls: CallsFinding | None, reasoning: ReasoningFinding | None, slot: ArgumentsSlot | None
) -> Found:
    """Return the evidence for the fields of `spec`."""
    found: dict[str, list[Evidence]] = {}
    _input(found, spec.input)
    _turn(found, spec)
    for number, segment in enumerate(spec.turn.segments):
        path = f"turn.segments[{number}]"
        if segment.kind == "reasoning" and reasoning is not None:
            _reasoning(found, path, reasoning)
        elif segment.kind == "calls" and calls is not None:
            _calls(found, path, segment, calls, slot)
        elif segment.kind == "content":
            variant = ("c1a2", "c1a2+t") if segment.when == "beside_calls" else ("t", "t+u")
            number_of = "C5" if segment.when == "beside_calls" else "T2"
            _add(found, f"{path}.close", number_of, f"the text ends with {_shown(segment.close)}", variant)
    if spec.results is not None:
        _results(found, spec.results)
    return {path: tuple(one) for path, one in found.items()}


def _add(
    found: dict[str, list[Evidence]],
    path: str,
    number: str,
    what: str,
    variants: Sequence[str] = (),
    note: str = "",
) -> None:
    found.setdefault(path, []).append(
        Evidence(comparison=number, found=what, variants=tuple(variants), note=note)
    )


def _shown(value: Any) -> str:
    return "nothing" if value in ("", (), None) else repr(value)


_DEMANDS: Final = (
    ("empty_content", "I2", "a call is shown only beside content of this shape"),
    ("assistant_fields", "I1", "a message of the assistant without them is refused"),
    ("bare_calls", "I2", "a call with `function` around name and arguments is not shown"),
    ("tools", "I5", "a conversation without tools, or with any, is refused"),
    ("turns", "I6", "two user messages in a row are refused"),
    ("roles_refused", "I7", "a call is taken and its result is refused"),
    ("parallel_results", "I7", "one result is taken and two in a row are refused"),
    ("bare_tools", "I8", "tools are shown as bare function objects only"),
    ("property_fields", "I8", "a property without them is refused, or loses its type"),
    ("values_refused", "I9", "a text is taken and values of these types are refused"),
)
"""Facts that differ from the default: the field, the comparison, what it saw."""


def _input(found: dict[str, list[Evidence]], facts: InputFacts) -> None:
    arguments = {
        "both": "a mapping and JSON text render alike",
        "mapping": "only a mapping renders to the arguments that were given",
        "text": "only JSON text renders to the arguments that were given",
        "none": "no call is rendered in any shape",
    }[facts.arguments]
    _add(found, "input.arguments", "I2", arguments)
    system = (
        "a conversation with a system message renders"
        if facts.system == "accepted"
        else "a system message is refused"
    )
    _add(found, "input.system", "I1", system)
    if facts.ids is not None:
        _add(found, "input.ids", "I4", "ids of another form are refused")
    for name, number, what in _DEMANDS:
        if getattr(facts, name) != InputFacts.model_fields[name].default:
            _add(found, f"input.{name}", number, what)
    if facts.mutable:
        _add(
            found, "input.mutable", "I2", "the immutable sandbox refuses what the template does to its input"
        )


def _turn(found: dict[str, list[Evidence]], spec: Spec) -> None:
    header = f"prompt and history share {_shown(spec.turn.header)}"
    _add(found, "turn.header", "T4", header, ("base+p", "t", "t+u", "c1a2"))
    for number, prompt in enumerate(spec.turn.prompts):
        how = "P1" if not prompt.set else "P2"
        setting = _setting(prompt.set)
        what = f"after a {prompt.after} message{setting} the prompt adds {_shown(prompt.text)}"
        _add(found, f"turn.prompts[{number}]", how, what, ("base", "base+p"))
    for number, segment in enumerate(spec.turn.segments):
        if segment.end is not None:
            what = f"a turn that ends here is followed by {_shown(segment.end.literal)}"
            variants = ("c1a2", "c1a2+R") if segment.kind == "calls" else ("t", "t+u")
            _add(found, f"turn.segments[{number}].end", "T3", what, variants)


def _setting(values: Mapping[str, Any]) -> str:
    return "" if not values else " with " + ", ".join(f"{name}={value}" for name, value in values.items())


def _reasoning(found: dict[str, list[Evidence]], path: str, reasoning: ReasoningFinding) -> None:
    between = f"reasoning stands between {_shown(reasoning.open)} and {_shown(reasoning.close)}"
    if reasoning.in_content and reasoning.fields == ():
        _add(found, f"{path}.open", "R2", between, note="no field of the message holds it")
    else:
        where = f"{between}{_setting(reasoning.setting)}"
        _add(found, f"{path}.open", "R4" if reasoning.setting else "R1", where, ("t",))
        _add(
            found,
            f"{path}.empty",
            "R1",
            f"without reasoning the turn has {_shown(reasoning.empty)}",
            ("t", "c1a2"),
        )
    _add(found, f"{path}.kept", "R3", f"an earlier turn keeps its reasoning: {reasoning.kept}")


def _calls(
    found: dict[str, list[Evidence]],
    path: str,
    segment: CallsSegment,
    calls: CallsFinding,
    slot: ArgumentsSlot | None,
) -> None:
    layout = f"{path}.layouts[0]"
    if calls.kind == "json":
        _add(
            found,
            layout,
            "C1",
            f"decoding finds the name at {calls.name} and the arguments at {calls.arguments}",
            ("c1a2",),
        )
    else:
        _add(found, layout, "C2", "name and arguments are slots between literals", ("c1a2",))
    if any(
        getattr(part, "slot", "") == "index" or getattr(part, "pattern", None)
        for part in segment.layouts[0].parts
    ):
        _add(found, layout, "C3", "a number in the literals counts the calls", ("c1a2", "c2a2", "c3a2"))
    note = (
        "opener and closer overlap between two calls; the closer was given the overlap"
        if calls.ambiguous
        else ""
    )
    framed = f"one call is opened by {_shown(calls.open)} and closed by {_shown(calls.close)}"
    _add(
        found,
        f"{path}.separator",
        "C4",
        f"{framed}; between two: {_shown(calls.separator)}",
        ("c1a2", "c2a2"),
        note,
    )
    opened = (
        f"all calls are opened by {_shown(calls.section_open)} and closed by {_shown(calls.section_close)}"
    )
    _add(found, f"{path}.open", "C4", opened, ("c1a2", "c2a2"))
    beside = {
        "before": f"text stands before the calls, joined by {_shown(calls.lead)}",
        "after": "text stands behind the calls",
        "lost": "text beside calls is not rendered",
    }[calls.content_position]
    _add(found, f"{path}.open", "C5", beside, ("c1a2", "c1a2+t"))
    if not calls.parallel:
        _add(found, f"{path}.parallel", "C4", "a second call is not rendered", ("c2a2",))
    if slot is not None and slot.item is not None and slot.codecs is not None:
        _add(found, f"{layout}.parts", "A1", f"an argument is written {_item(slot)}", ("c1a1", "c1a2"))
        _add(found, f"{layout}.parts", "A2", "a call without arguments has what is left", ("c1a0", "c1a1"))
        strings, others = slot.codecs.string.kind, sorted({slot.codecs.of(kind).kind for kind in _OTHERS})
        _add(
            found, f"{layout}.codecs", "V3", f"strings are written {strings}, quotes and line breaks included"
        )
        _add(found, f"{layout}.codecs", "V2", f"other values are written {', '.join(others)}")


_OTHERS: tuple[JsonType, ...] = ("integer", "number", "boolean", "null", "array", "object")


def _item(slot: ArgumentsSlot) -> str:
    pieces = [part if isinstance(part, str) else part.slot.upper() for part in slot.item or ()]
    return repr("".join(pieces))


def _results(found: dict[str, list[Evidence]], results: Results) -> None:
    before, after = around_content(results)
    between = f"a result stands between {_shown(before)} and {_shown(after)}"
    _add(found, "results.parts" if results.parts else "results.open", "S1", between, ("c1a2+R",))
    _add(found, "results.grouping", "S2", f"two results: {results.grouping.replace('_', ' ')}", ("c2a2+R",))
    _add(found, "results.role", "S3", f"the turn of a result says {_shown(results.role)}", ("c1a2+R",))
