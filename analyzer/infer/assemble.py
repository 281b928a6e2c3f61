"""From findings to a spec."""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.infer.calls import CallsFinding
from analyzer.infer.prompts import PromptsFinding
from analyzer.infer.reasoning import ReasoningFinding
from analyzer.infer.slots import join_id
from analyzer.infer.turn import Frame
from analyzer.observe.lexemes import is_marker, lexemes
from analyzer.spec.model import (
    CallsSegment,
    ContentSegment,
    End,
    Grammar,
    InputFacts,
    JsonLayout,
    ReasoningSegment,
    Results,
    Segment,
    SequenceLayout,
    Spec,
    TemplateRef,
    Turn,
)
from analyzer.spec.parts import ArgumentsSlot, NameSlot, Part


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that was found of one template."""

    frame: Frame
    prompts: PromptsFinding
    input: InputFacts
    calls: CallsFinding | None = None
    arguments: ArgumentsSlot | None = None
    reasoning: ReasoningFinding | None = None
    results: Results | None = None


def assemble(found: Findings, template: TemplateRef) -> Spec:
    """Write the spec that the findings amount to."""
    header = found.reasoning.header if found.reasoning is not None else found.frame.header
    segments = _segments(found)
    turn = Turn(prompts=found.prompts.prompts, header=header, segments=tuple(segments))
    return Spec(
        template=template,
        input=found.input,
        turn=turn,
        results=found.results,
        grammar=_grammar(turn),
    )


def end_of(text: str) -> tuple[str, End | None]:
    """Split what follows a segment into white space that belongs to its closer, and the end literal."""
    core = text.strip()
    if not core:
        return text, None
    lead = text[: len(text) - len(text.lstrip())]
    return lead, End(literal=core)


def turn_end(frame: Frame) -> str:
    """Return what ends a turn of text: the last turn's tail, unless it goes on with what mid-conversation has not."""
    if frame.end.strip() and frame.tail.startswith(frame.end):
        return frame.end
    return frame.tail if frame.tail.strip() else frame.end


def _segments(found: Findings) -> list[Segment]:
    lead, end = end_of(turn_end(found.frame))
    reasoning = found.reasoning
    opened = found.frame.before_content
    if reasoning is not None:
        moved = found.frame.header[len(reasoning.header) :]
        opened = (moved + found.frame.before_content)[len(reasoning.empty) :] if reasoning.with_content else opened
        opened = reasoning.content_open if reasoning.with_content else opened
    segments: list[Segment] = []
    if reasoning is not None:
        segments.append(
            ReasoningSegment(
                when="any" if reasoning.with_content and (reasoning.beside_calls or found.calls is None) else ("alone" if reasoning.with_content else "beside_calls"),
                fields=reasoning.fields,
                open=reasoning.open,
                close=reasoning.close,
                empty=reasoning.empty,
                kept=reasoning.kept,  # type: ignore[arg-type]
            )
        )
    content = ContentSegment(open=opened, close=lead, end=end)
    calls = found.calls
    if calls is None:
        return [*segments, content]
    call_lead, call_end = end_of(calls.tail)
    beside = ContentSegment(when="beside_calls", open=opened, close=calls.lead)
    if calls.content_position == "before":
        segments += [content.model_copy(update={"when": "alone"}), beside] if beside.close != lead or end else [content]
    else:
        segments.append(content)
    segments.append(
        CallsSegment(
            open=calls.section_open,
            close=calls.section_close + call_lead,
            separator=calls.separator,
            array=calls.array,
            parallel=calls.parallel,
            layouts=(_layout(calls, found.arguments),),
            end=call_end,
        )
    )
    return segments


def _layout(calls: CallsFinding, arguments: ArgumentsSlot | None) -> JsonLayout | SequenceLayout:
    parts = list(calls.parts)
    if arguments is not None:
        parts = [arguments if isinstance(part, ArgumentsSlot) else part for part in parts]
    if calls.kind == "json":
        return JsonLayout(
            open=calls.open,
            close=calls.close,
            name=calls.name,  # type: ignore[arg-type]
            arguments=calls.arguments,
            arguments_codec=calls.arguments_codec,  # type: ignore[arg-type]
            id=calls.id,
            parts=tuple(parts),
        )
    joined, opened = join_id(parts, calls.open)
    before_items = calls.items.before if calls.items is not None else ""
    full: list[Part] = [*([opened] if opened else []), *joined, *([calls.close] if calls.close else [])]
    del before_items
    return SequenceLayout(parts=tuple(full))


def _grammar(turn: Turn) -> Grammar:
    literals: list[str] = []
    stops: list[str] = []
    for segment in turn.segments:
        if segment.kind == "calls":
            first = segment.open + _first_literal(segment)
            literals.append(first)
        if segment.end is not None and segment.end.stop:
            stops.append(segment.end.literal)
    triggers = [marks[0] for text in literals if (marks := [p for p in lexemes(text) if is_marker(p)])]
    return Grammar(triggers=tuple(dict.fromkeys(triggers)), stops=tuple(dict.fromkeys(stops)))


def _first_literal(segment: CallsSegment) -> str:
    layout = segment.layouts[0]
    if layout.kind == "json":
        return layout.open
    first = layout.parts[0]
    return first if isinstance(first, str) else ""


def has_name(parts: tuple[Part, ...]) -> bool:
    """Tell whether a layout writes the name as a slot of its own."""
    return any(isinstance(part, NameSlot) for part in parts)
