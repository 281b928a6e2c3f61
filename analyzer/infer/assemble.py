"""From findings to a spec."""

from __future__ import annotations

from dataclasses import dataclass, replace

from analyzer.infer.calls import CallsFinding, rest_of
from analyzer.infer.grammar import grammar_of
from analyzer.infer.prompts import PromptsFinding
from analyzer.infer.reasoning_fields import ReasoningFinding
from analyzer.infer.slots import join_id
from analyzer.infer.turn import Frame
from analyzer.observe.lexemes import is_marker, lexemes
from analyzer.spec.model import (
    CallsSegment,
    ContentSegment,
    End,
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
from analyzer.spec.parts import ArgumentsSlot, Part


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
    found = _without_empty_reasoning(found)
    header = found.reasoning.header if found.reasoning is not None else found.frame.header
    found, header = _without_lead(found, header)
    found = _one_message_a_call(found, header)
    segments, repeats = _segments(found)
    segments = _without_false_stops(_thoughts_apart(segments))
    turn = Turn(
        prompts=found.prompts.prompts, header=header, header_repeats=repeats, segments=tuple(segments)
    )
    return Spec(
        template=template,
        input=found.input,
        turn=turn,
        results=found.results,
        grammar=grammar_of(turn, found.frame),
    )


def _without_lead(found: Findings, header: str) -> tuple[Findings, str]:
    """Give a header's ending that stands before every segment of the turn, such as `>>>`, to the segments."""
    calls = found.calls
    lead = calls.separator if calls is not None else ""
    if (
        calls is None
        or not lead.strip()
        or not header.endswith(lead)
        or calls.lead != lead
        or found.reasoning is not None
    ):
        return found, header
    shorter = header[: -len(lead)]
    frame = replace(found.frame, header=shorter, before_content=lead + found.frame.before_content)
    before_text = lead + calls.before_text
    moved = replace(calls, separator="", lead="", open=lead + calls.open, before="", before_text=before_text)
    return replace(found, frame=frame, calls=moved), shorter


def _without_empty_reasoning(found: Findings) -> Findings:
    """Take from the section's opener the tags that a turn of calls writes around no reasoning."""
    calls, reasoning = found.calls, found.reasoning
    if calls is None or reasoning is None or reasoning.empty or not reasoning.open.strip():
        return found
    tags = reasoning.open + reasoning.close
    if calls.section_open.startswith(tags):
        calls = replace(calls, section_open=calls.section_open[len(tags) :], before=calls.before + tags)
    elif not calls.section_open and calls.open.startswith(tags):
        calls = replace(calls, open=calls.open[len(tags) :], before=calls.before + tags)
    else:
        return found
    return replace(found, calls=calls, reasoning=replace(reasoning, empty=tags))


def _one_message_a_call(found: Findings, header: str) -> Findings:
    """Where each call is a message of its own, what closes the call ends the message, and the turn behind the last."""
    calls = found.calls
    if calls is None or not header.strip() or not calls.separator.startswith(header) or calls.tail.strip():
        return found
    if not calls.close.strip() or not all(is_marker(piece) for piece in lexemes(calls.close)):
        return found
    moved = replace(calls, close="", separator=calls.close + calls.separator, tail=calls.close)
    return replace(found, calls=moved)


def end_of(text: str) -> tuple[str, End | None]:
    """Split what follows a segment into white space that belongs to its closer, and the end literal."""
    core = text.strip()
    if not core:
        return text, None
    lead = text[: len(text) - len(text.lstrip())]
    return lead, End(literal=core)


def _without_false_stops(segments: list[Segment]) -> list[Segment]:
    """A literal that ends a message in the middle of a turn is no stop where it ends the last one."""
    middle = {segment.end.literal for segment in segments if segment.end is not None and not segment.end.stop}
    return [
        segment.model_copy(update={"end": End(literal=segment.end.literal, stop=False)})
        if segment.end is not None and segment.end.literal in middle
        else segment
        for segment in segments
    ]


def _thoughts_apart(segments: list[Segment]) -> list[Segment]:
    """Give a thought that the opener of one content begins with, around nothing, to a reasoning segment of its own."""
    thought = next((one for one in segments if isinstance(one, ReasoningSegment)), None)
    if thought is None or thought.when != "any" or thought.empty or not thought.open.strip():
        return segments
    written = thought.open + thought.close
    opened = [one for one in segments if isinstance(one, ContentSegment) and one.open.startswith(written)]
    if len(opened) != 1 or opened[0].when == "any" or opened[0].empty:
        return segments
    (content,) = opened
    other = "beside_calls" if content.when == "alone" else "alone"
    apart: list[Segment] = []
    for one in segments:
        if one is thought:
            apart.append(thought.model_copy(update={"when": content.when, "empty": written}))
            apart.append(thought.model_copy(update={"when": other}))
        elif one is content:
            apart.append(content.model_copy(update={"open": content.open[len(written) :]}))
        else:
            apart.append(one)
    return apart


def turn_end(frame: Frame) -> str:
    """Return what ends a turn of text: the last turn's tail, unless it goes on with what mid-conversation has not."""
    if frame.end.strip() and frame.tail.startswith(frame.end):
        return frame.end
    return frame.tail if frame.tail.strip() else frame.end


def _shared_end(lead: str, end: End, other: End | None) -> tuple[str, End]:
    """Give to the closer of a text what its turn ends with beyond what turns of calls end with."""
    if other is None or not end.literal.endswith(other.literal) or end.literal == other.literal:
        return lead, end
    return lead + end.literal[: -len(other.literal)], other


def _segments(found: Findings) -> tuple[list[Segment], bool]:
    """Return the segments, and whether the header repeats before each message."""
    lead, end = end_of(turn_end(found.frame))
    reasoning, calls = found.reasoning, found.calls
    header = reasoning.header if reasoning is not None else found.frame.header
    opened = found.frame.before_content
    if reasoning is not None and reasoning.in_content:
        opened = found.frame.header[len(header) :] + opened
    segments: list[Segment] = []
    repeats = everywhere = False
    opening = unthought = None
    if reasoning is not None and reasoning.in_content and reasoning.empty:
        opened = opening = rest_of(opened, reasoning.empty)
    if reasoning is not None:
        if reasoning.with_content and not reasoning.in_content:
            opened = reasoning.content_open
            if reasoning.beside_calls and reasoning.content_open and _opens_alike(calls, opened, reasoning):
                opening = reasoning.content_open
        close, message_end, rest = split_message(reasoning.close, header)
        repeats = repeats or message_end is not None
        opened = rest + opened
        opening = opened if rest else opening
        if rest and reasoning.with_content and not reasoning.empty and found.frame.before_content != opened:
            unthought = found.frame.before_content
        everywhere = reasoning.with_content and (
            reasoning.beside_calls or calls is None or reasoning.in_content
        )
        everywhere = everywhere or (reasoning.beside_calls and reasoning.kept == "current_turn")
        everywhere = everywhere or (reasoning.with_content and _text_as_thought(calls, reasoning))
        if _empty_alone(reasoning, opened):  # a turn of text writes the tags as well, around nothing
            everywhere, opened = True, rest_of(opened, reasoning.empty)
        segments.append(
            ReasoningSegment(
                when="any" if everywhere else "alone" if reasoning.with_content else "beside_calls",
                fields=reasoning.fields,
                open=reasoning.open,
                close=close,
                empty=reasoning.empty,
                kept=reasoning.kept,
                end=message_end,
            )
        )
    if calls is not None and end is not None:
        lead, end = _shared_end(lead, end, end_of(calls.tail)[1])
    content = ContentSegment(open=opened, close=lead, end=end)
    if calls is None:
        return [*segments, *_by_thought(content, unthought)], repeats
    after_content, message_end, rest = split_message(calls.lead, header)
    repeats = repeats or message_end is not None
    written = reasoning.empty if reasoning is not None and (everywhere or not reasoning.with_content) else ""
    moved = found.frame.header[len(header) :]
    empty = rest_of(moved + calls.before, written)
    if moved.strip() and empty == moved and after_content.endswith(moved):  # every segment begins with it
        after_content, empty, rest = after_content[: -len(moved)], "", moved + rest
    beside = ContentSegment(
        when="beside_calls",
        open=rest_of(moved + calls.before_text, written) if opening is None else opening,
        close=after_content,
        empty=empty,
        end=message_end,
    )
    call_lead, call_end = end_of(calls.tail)
    if call_end is not None and calls.separator.startswith(call_end.literal):
        call_end = End(literal=call_end.literal, stop=False)  # it ends each call's message, not the turn
    section = CallsSegment(
        open=rest + calls.section_open,
        close=calls.section_close + call_lead,
        separator=calls.separator,
        array=calls.array,
        parallel=calls.parallel,
        layouts=(_layout(calls, found.arguments),),
        end=call_end,
    )
    content = _closed_alike(content, beside)
    lead, end = content.close, content.end
    alone = _by_thought(content.model_copy(update={"when": "alone"}), unthought)
    alike = (beside.open, beside.close, beside.end) == (content.open, lead, end) and not beside.empty
    if calls.content_position == "before":
        segments += [content, section] if alike and len(alone) == 1 else [*alone, beside, section]
    elif calls.content_position == "after":
        behind = [
            segment.model_copy(update={"when": "beside_calls"})
            for segment in segments
            if segment.kind == "reasoning" and reasoning is not None and reasoning.behind_calls
        ]
        section, last, more = _text_behind(
            calls,
            section,
            header,
            ContentSegment(when="beside_calls", close=call_lead, empty=call_lead, end=call_end),
        )
        repeats = repeats or more
        segments += [*alone, section, *behind, last]
    else:
        segments += [*alone, section]
    return segments, repeats or (bool(header.strip()) and header in calls.separator)


def _by_thought(content: ContentSegment, unthought: str | None) -> list[ContentSegment]:
    """The text as it is, or twice where without reasoning something else opens it."""
    if unthought is None:
        return [content]
    return [
        content.model_copy(update={"reasoning": "present"}),
        content.model_copy(update={"reasoning": "absent", "open": unthought}),
    ]


def _text_behind(
    calls: CallsFinding, section: CallsSegment, header: str, last: ContentSegment
) -> tuple[CallsSegment, ContentSegment, bool]:
    """Cut what stands between the calls and a text behind them: a further message's header, or what opens the text."""
    section = section.model_copy(update={"close": calls.section_close})
    lead, message_end, opened = split_message(calls.after_calls, header)
    if message_end is not None:
        text_lead, end = end_of(calls.after_text)
        last = ContentSegment(when="beside_calls", open=opened, close=text_lead, end=end)
        closed = {"close": calls.section_close + lead, "end": message_end}
        return section.model_copy(update=closed), last, True
    if calls.after_calls and calls.after_text.endswith(calls.tail):
        closer = calls.after_text.removesuffix(calls.tail)
        return (
            section,
            last.model_copy(update={"open": calls.after_calls, "close": closer + last.close}),
            False,
        )
    return section, last, False


def _closed_alike(content: ContentSegment, beside: ContentSegment) -> ContentSegment:
    """Give to the closer of a text alone all that closes it beside calls; the turn ends behind that."""
    if content.end is None or not beside.close.strip() or beside.close == content.close:
        return content
    rest = rest_of(content.close + content.end.literal, beside.close)
    if not rest.strip() or rest != rest.strip():
        return content
    end = content.end.model_copy(update={"literal": rest})
    return content.model_copy(update={"close": beside.close, "end": end})


def _opens_alike(calls: CallsFinding | None, opened: str, reasoning: ReasoningFinding) -> bool:
    """Tell whether a text beside calls is opened as a text alone is; one that is written as reasoning says nothing of it."""
    if calls is None or calls.content_position != "before":
        return True
    return _text_as_thought(calls, reasoning) or calls.before_text.endswith(opened)


def _text_as_thought(calls: CallsFinding | None, reasoning: ReasoningFinding) -> bool:
    """Tell whether a text beside calls is opened as reasoning is."""
    if calls is None or calls.content_position != "before":
        return False
    return bool(reasoning.open.strip()) and calls.before_text.endswith(reasoning.open)


def _empty_alone(reasoning: ReasoningFinding, opened: str) -> bool:
    return not reasoning.with_content and bool(reasoning.empty.strip()) and opened.startswith(reasoning.empty)


def split_message(close: str, header: str) -> tuple[str, End | None, str]:
    """Split a closer that holds the header of a further message: what closes the segment, what ends its message, and the rest."""
    if not header.strip() or header not in close:
        return close, None, ""
    before, _, rest = close.partition(header)
    lead, end = end_of(before)
    return lead, End(literal=end.literal, stop=False) if end is not None else None, rest


def _layout(calls: CallsFinding, arguments: ArgumentsSlot | None) -> JsonLayout | SequenceLayout:
    parts = list(calls.parts)
    if arguments is not None:
        parts = [arguments if isinstance(part, ArgumentsSlot) else part for part in parts]
    if calls.kind == "json":
        return JsonLayout(
            open=calls.open,
            close=calls.close,
            name=calls.name,
            arguments=calls.arguments,
            arguments_codec=calls.arguments_codec,
            id=calls.id,
            parts=tuple(parts),
        )
    joined, opened = join_id(parts, calls.open)
    full: list[Part] = [*([opened] if opened else []), *joined, *([calls.close] if calls.close else [])]
    return SequenceLayout(parts=tuple(full))
