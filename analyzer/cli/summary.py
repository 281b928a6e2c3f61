"""The readable summary of an analysis: what this format is, in words, and how far it is proven."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from analyzer.analysis import DESCRIPTIONS, VERDICTS, Analysis
from analyzer.cli.output import visible
from analyzer.cli.paint import VERDICT_STYLES, heading, indented, legend, literal, put, row
from analyzer.cli.specimen import Specimen
from analyzer.spec.model import (
    CallsSegment,
    InputFacts,
    JsonLayout,
    Layout,
    ReasoningSegment,
    Results,
    Spec,
    around_content,
)
from analyzer.spec.parts import JSON_TYPES, ArgumentsSlot, Codec, Codecs, IdSlot

LISTED: Final = 12
"""How many defects, unproven fields and notes are printed."""

_CODECS: Final = {
    "raw": "raw text",
    "json": "JSON",
    "python": "Python literals",
    "json_text": "JSON text in a JSON string",
    "quoted": "between quotes, no escapes",
    "dialect": "JSON with its own string quotes",
    "nested": "nested items",
    "escaped": "text with escaped characters",
    "cdata": "text, or a CDATA section",
}


def print_summary(console: Console, analysis: Analysis, shown: Sequence[Specimen]) -> None:
    """Print everything but the spec itself."""
    template, spec = analysis.template, analysis.spec
    title = Text(visible(template.name), "bold")
    title.append(f"  variant {template.variant}" if template.variant != "default" else "")
    title.append(f"  sha256 {template.sha256[:12]}", "dim")
    put(console, title)
    put(console, _verdict(analysis))
    for failure in analysis.failures[:LISTED]:
        put(console, Text(f"  ✗ {visible(failure)}", "red"))
    if spec is not None:
        if shown:
            put(console)
            put(console, heading("What the model writes"), legend())
            for specimen in shown:
                put(console, Text(f"  {specimen.title}", "bold"))
                put(console, indented(specimen.painted()))
        put(console)
        put(console, heading("The format"))
        for label, text in facts(spec):
            put(console, row(label, text))
        _print_list(console, "Defects of the template", [f"{d.kind}: {d.message}" for d in spec.defects])
        _print_list(console, "Not proven", spec.verification.unproven)
    _print_list(console, "What the template refuses", _notes(analysis))


def _verdict(analysis: Analysis) -> Text:
    verdict = analysis.verdict
    out = Text(verdict.replace("_", " "), VERDICT_STYLES[verdict])
    out.append(f": {VERDICTS[verdict]}", "default")
    found = analysis.verification
    if found.round_trips:
        covered = f", {found.coverage.get('covered', 0)} of {found.coverage.get('total', 0)} cells covered"
        out.append(f" ({found.round_trips} round trips{covered if found.coverage else ''})", "dim")
    return out


def _notes(analysis: Analysis) -> list[str]:
    return [
        f"{note.subject}: {note.kind}: {note.message}"
        for note in analysis.notes
        if note.subject not in DESCRIPTIONS
    ]


def _print_list(console: Console, title: str, items: Sequence[str]) -> None:
    if not items:
        return
    put(console)
    put(console, heading(title))
    for item in items[:LISTED]:
        put(console, Text(f"  - {visible(' '.join(item.split()))}"))
    if len(items) > LISTED:
        put(console, Text(f"  ... and {len(items) - LISTED} more (--json lists all)", "dim"))


def facts(spec: Spec) -> Iterator[tuple[str, Text]]:
    """What the spec says, one line a subject."""
    calls = spec.calls
    if calls is None:
        yield "tool calls", Text("none")
    else:
        yield "tool calls", _calls(calls)
        for number, layout in enumerate(calls.layouts):
            yield "one call" if number == 0 else "or", _layout(layout)
            yield "arguments", _arguments(layout)
        yield "ids", _ids(calls.layouts[0])
    for one in (one for found in spec.evidence.values() for one in found if one.comparison in DESCRIPTIONS):
        yield "described" if one.described else "why none", Text(f"{visible(one.found)} ({one.note})")
    for segment in spec.reasoning:
        yield "reasoning", _reasoning(segment)
    if not spec.reasoning:
        yield "reasoning", Text("none")
    for text, cases in _prompts(spec).items():
        yield "prompt", literal(text).append(f"  {'; '.join(cases)}", "dim")
    ends = {segment.end.literal for segment in spec.turn.segments if segment.end is not None}
    yield "ends with", _joined(sorted(ends)) if ends else Text("nothing")
    if spec.results is not None:
        yield "tool results", _results(spec.results)
    yield "wants", Text(_wants(spec.input))
    for addition in spec.overlays:
        yield "overlay", Text(f"{addition.overlay}: {addition.reason}")


def _prompts(spec: Spec) -> dict[str, list[str]]:
    """By each text that opens the model's turn: when it does."""
    last_roles: dict[tuple[str, str], list[str]] = {}
    for prompt in spec.turn.prompts:
        setting = ", ".join(f"{name}={json.dumps(value)}" for name, value in prompt.set.items()) or "default"
        last_roles.setdefault((prompt.text, setting), []).append(prompt.after)
    found: dict[str, list[str]] = {}
    for (text, setting), roles in last_roles.items():
        found.setdefault(text, []).append(f"{setting}, after {' or '.join(roles)}")
    return found


def _joined(literals: Sequence[str]) -> Text:
    return Text(" ").join(literal(text) for text in literals)


def _around(first: str, middle: str, last: str) -> Text:
    out = literal(first) if first else Text()
    out.append(f" {middle} " if first and last else f"{middle} " if last else f" {middle}", "default")
    return out + literal(last) if last else out


def _calls(calls: CallsSegment) -> Text:
    out = _around(calls.open, "calls", calls.close) if calls.open or calls.close else Text("no section")
    if not calls.parallel:
        return out.append("; one call a turn", "default")
    out.append("; elements of a JSON array" if calls.array else "; several a turn", "default")
    if calls.separator:
        out.append(", separated by ", "default")
        out += literal(calls.separator)
    return out


def _layout(layout: Layout) -> Text:
    if isinstance(layout, JsonLayout):
        return _around(layout.open, "a JSON object", layout.close)
    out = Text()
    for part in layout.parts:
        out += literal(part) if isinstance(part, str) else Text(f" {part.slot.upper()} ", "bold yellow")
    return out


def _arguments(layout: Layout) -> Text:
    if isinstance(layout, JsonLayout):
        where = (
            "the value of the only key, the name"
            if layout.name == "key"
            else f"at {'.'.join(layout.arguments)}"
        )
        name = "" if layout.name == "key" else f", the name at {'.'.join(layout.name)}"
        return Text(f"{_CODECS[layout.arguments_codec]} {where}{name}")
    slot = next(part for part in layout.parts if isinstance(part, ArgumentsSlot))
    if slot.item is None or slot.codecs is None:
        return Text("one value: " + (_codec(slot.codec) if slot.codec is not None else "JSON"))
    out = Text()
    for part in slot.item:
        out += literal(part) if isinstance(part, str) else Text(f" {part.slot.upper()} ", "green")
    if slot.separator:
        out.append(" separated by ") + literal(slot.separator)
    return out.append(f"; {_by_type(slot.codecs)}", "default")


def _codec(codec: Codec) -> str:
    return _CODECS[codec.kind]


def _by_type(codecs: Codecs) -> str:
    """`strings raw text, all else JSON`, or each type where they differ more."""
    by_kind: dict[str, list[str]] = {}
    for json_type in JSON_TYPES:
        by_kind.setdefault(_codec(codecs.of(json_type)), []).append(json_type)  # type: ignore[arg-type]
    if len(by_kind) == 1:
        return f"values: {next(iter(by_kind))}"
    kinds = sorted(by_kind.items(), key=lambda pair: len(pair[1]))
    rare = ", ".join(f"{' and '.join(types)}: {kind}" for kind, types in kinds[:-1])
    return f"{rare}, other values: {kinds[-1][0]}"


def _ids(layout: Layout) -> Text:
    if isinstance(layout, JsonLayout):
        return Text(f"written at {'.'.join(layout.id)}" if layout.id else "not written")
    slot = next((part for part in layout.parts if isinstance(part, IdSlot)), None)
    if slot is None:
        return Text("not written")
    return Text(f"made of name and counter: {slot.pattern}" if slot.pattern else "written")


def _reasoning(segment: ReasoningSegment) -> Text:
    out = _around(segment.open, "reasoning", segment.close)
    fields = " or ".join(segment.fields)
    out.append(
        f"; field {fields}, {segment.when.replace('_', ' ')}, kept {segment.kept.replace('_', ' ')}",
        "default",
    )
    if segment.empty:
        out.append("; without any ", "default")
        out += literal(segment.empty)
    return out


def _results(results: Results) -> Text:
    before, after = around_content(results)
    out = _around(before, results.content, after)
    written = [word for word in ("id", "name") if getattr(results, word) == "written"]
    grouping = results.grouping.replace("_", " ")
    role = f"role {results.role}" if results.role else "no role of their own"
    return out.append(
        f"; {role}, {grouping}, {' and '.join(written) or 'neither id nor name'} written", "default"
    )


def _wants(wanted: InputFacts) -> str:
    words = [
        f"arguments as {wanted.arguments}",
        f"content as {wanted.content}",
        f"system message {wanted.system}",
    ]
    if wanted.ids:
        words.append(f"ids like {wanted.ids}")
    if not wanted.parallel_calls:
        words.append("one call a turn")
    words += [f"{name}={value!r}" for name, value in wanted.variables.items()]
    if wanted.mutable:
        words.append("to change its own input")
    return ", ".join(words)
