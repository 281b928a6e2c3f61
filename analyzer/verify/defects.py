"""Defects: what is wrong with a template itself, and how a difference is recognised as one.

A difference between what was sent and what came out is a defect, not a failure of the spec, only with a proof:

* `absent`: a needle of the value is not in the render, so no parser could bring it back;
* `same_render`: what came out renders to the same bytes as what was sent, so nobody could tell them apart, *and* the two
  differ in a way this module knows;
* `refused`: the template's own exception;
* `render`: the render breaks a rule that the template's other renders keep.

A call whose name or values stand in the turn's render and that did not come out is never a defect.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from analyzer.chat import ToolCall
from analyzer.verify.cases import Call, needles_in, needles_of
from analyzer.verify.compare import MISSING, Difference, decoded
from analyzer.verify.trips import Trip

Proof: TypeAlias = Literal["absent", "same_render", "refused", "render"]

KINDS: Final[dict[str, str]] = {
    "content_lost_beside_calls": "Content is not written when the turn has calls.",
    "content_lost": "Content is not written.",
    "content_lost_in_history": "Content is not written any more once another message follows.",
    "content_as_reasoning": "Content beside calls is written as reasoning.",
    "content_moved_behind_results": "Content beside calls is written behind the results of the calls.",
    "content_closer_left_out": "What closes content is left out where the content ends in it.",
    "content_trimmed": "White space at the ends of content is removed.",
    "content_respaced": "White space inside content is removed.",
    "reasoning_lost_beside_calls": "Reasoning is not written when the turn has calls.",
    "reasoning_lost_without_calls": "Reasoning is not written when the turn has no calls.",
    "reasoning_opener_lost": "Reasoning is written without its opener, which only the generation prompt writes.",
    "reasoning_not_marked": "Nothing but white space tells reasoning from the content behind it.",
    "reasoning_trimmed": "White space at the ends of reasoning is removed.",
    "calls_lost": "Calls are not written.",
    "second_call_lost": "Only one call of a turn is written.",
    "section_not_closed": "The closer of the calls is missing in some turns and stands in others.",
    "calls_behind_end": "Some calls are written behind the end of the turn, where a model has stopped.",
    "turn_after_result_broken": "A turn with calls is written in another way when a tool result stands before it.",
    "turn_changed_by_system": "A turn is written in another way when a system message stands before it.",
    "indentation_leaks": "White space between markers differs from turn to turn, or between history and generation prompt.",
    "turn_not_closed": "Nothing ends a turn in mid-conversation: what follows it reads as more of its content.",
    "turn_changed_in_history": "A turn is written in another way, not behind the generation prompt, once a message follows it.",
    "last_turn_otherwise": "The last turn is written as no turn in mid-conversation is.",
    "format_varies": "Under some settings turns are written in another format; this spec is not for them.",
    "prompt_not_in_history": "A generation prompt says what no turn of that kind begins with in the history.",
    "turn_not_in_history": "No turn of the history begins as the generation prompt does: what the model is to write, nothing shows.",
    "empty_arguments_broken": "A call without arguments is written as JSON that is none.",
    "arguments_lost": "Some arguments are not written.",
    "null_argument_lost": "An argument whose value is null is not written.",
    "empty_value_lost": "An empty string, list or object cannot be told from another value.",
    "value_trimmed": "White space at the ends of an argument is removed.",
    "value_type_lost": "Two argument values of different types are written alike.",
    "ids_lost": "The ids of calls are not written as they were given.",
    "arguments_python_dict": "Arguments given as a mapping are printed as Python does, not as JSON.",
    "non_ascii_escaped": "Characters beyond ASCII are written as escapes.",
    "html_escaped": "Characters such as `<` are written as HTML escapes.",
    "markup_escaped": "Markers of a call are written as HTML escapes, such as `&lt;/p&gt;` for `</p>`.",
    "arguments_text_only": "Arguments must be given as JSON text; a mapping is refused or written in another way.",
    "arguments_mapping_only": "Arguments must be given as a mapping; JSON text is refused or written in another way.",
    "parallel_calls_refused": "A turn of more than one call is refused.",
    "null_content_refused": "A call turn without content (`null`) is refused.",
    "null_content_printed": "A call turn without content (`null`) prints the word `None`.",
    "system_refused": "A system message is refused.",
    "tools_refused": "Declared tools are refused, whatever their parameters.",
    "tool_results_refused": "A tool result is refused.",
}
"""The closed list of kinds, with what each says."""

EXPECTED_SHAPES: Final = frozenset({"arguments_mapping_only"})
"""Kinds that are how many templates are meant to be; they are stated in the spec and do not lower a verdict."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference that is a defect: its kind, its proof (`same_render` has to be shown still)."""

    kind: str
    proof: Proof
    difference: Difference


def recognise(trip: Trip, difference: Difference) -> Finding | None:
    """The defect that a difference may be, None when it can only be a failure."""
    if difference.slot == "content":
        return _text_finding(trip, difference, "content")
    if difference.slot == "reasoning":
        return _text_finding(trip, difference, "reasoning")
    if difference.slot == "call":
        return _call_finding(trip, difference)
    if difference.slot == "id":
        return _id_finding(trip, difference)
    if difference.slot == "argument":
        return _argument_finding(trip, difference)
    return None


def _text_finding(trip: Trip, difference: Difference, slot: str) -> Finding | None:
    sent, got = difference.sent or "", difference.got or ""
    beside = bool(trip.adapted.reply.calls)
    words = needles_in(sent)
    if words and all(word not in trip.written for word in words):
        if got and not (beside and slot == "reasoning" and _moved(trip, slot, "", got)):
            return None
        if slot == "content":
            return Finding("content_lost_beside_calls" if beside else "content_lost", "absent", difference)
        return Finding(f"reasoning_lost_{'beside' if beside else 'without'}_calls", "absent", difference)
    if _is_unmarked(trip):
        return Finding("reasoning_not_marked", "render", difference)
    if slot == "content" and beside and closer_is_left_out(trip, sent, got):
        return Finding("content_closer_left_out", "render", difference)
    if is_trimmed(sent, got):
        return Finding(f"{slot}_trimmed", "same_render", difference)
    if slot == "content" and _is_open(trip, sent, got):
        return Finding("content_trimmed", "same_render", difference)
    if slot == "content" and _is_respaced(sent.strip(), got.strip()):
        return Finding("content_respaced", "same_render", difference)
    if beside and trip.reading is not None and _moved(trip, slot, sent, got):
        return Finding("content_as_reasoning", "same_render", difference)
    return None


def closer_is_left_out(trip: Trip, sent: str, got: str) -> bool:
    """Whether content stands whole in the render, and its last white space was read as the closer that does not follow it."""
    closer = sent[len(got) :]
    at = trip.written.find(sent)
    taken = sent.startswith(got) and bool(closer) and not closer.strip()
    return taken and at >= 0 and not trip.written.startswith(closer, at + len(sent))


def _moved(trip: Trip, slot: str, sent: str, got: str) -> bool:
    """Whether content went to the reasoning slot."""
    message = trip.reading.message if trip.reading is not None else None
    content = trip.adapted.reply.content or ""
    if message is None or not content or message.content:
        return False
    if slot == "content":
        return bool(sent) and not got and content.strip() in (message.reasoning_content or "")
    return content.strip() in got and sent.strip() in got


def is_trimmed(sent: str, got: str) -> bool:
    """Whether white space at the ends was removed, and nothing else done."""
    return len(got) < len(sent) and got in sent and got.strip() == sent.strip()


def _is_unmarked(trip: Trip) -> bool:
    """Whether reasoning was read as content, and the turn is reasoning, white space, content, with nothing to tell them apart."""
    sent = trip.adapted.reply
    if trip.reading is None or trip.cut is None or trip.reading.message.reasoning_content:
        return False
    if sent.calls or not (sent.reasoning and sent.content):
        return False
    turn = "".join(trip.cut.text.split())
    return turn.startswith("".join(f"{sent.reasoning}{sent.content}".split()))


def _is_open(trip: Trip, sent: str, got: str) -> bool:
    """Whether content came out with the white space behind it, where nothing else ends the turn."""
    words = sent.strip()
    return bool(words) and got.strip() == words and trip.written.rstrip().endswith(words)


def _is_respaced(sent: str, got: str) -> bool:
    """Whether white space inside a text was removed, and nothing else done."""
    return len(got) < len(sent) and "".join(got.split()) == "".join(sent.split())


def _call_finding(trip: Trip, difference: Difference) -> Finding | None:
    if not isinstance(difference.sent, ToolCall) or difference.call is None or trip.reading is None:
        return None
    call = trip.adapted.reply.calls[difference.call]
    if call_is_written(trip, call, difference.call):
        return None
    return Finding(
        "second_call_lost" if trip.reading.message.tool_calls else "calls_lost", "absent", difference
    )


def call_is_written(trip: Trip, call: Call, number: int) -> bool:
    """Whether something of a call stands in the turn's render that no other call of the turn could have put there."""
    words = needles_of(call)
    if any(word in trip.written for word in words):
        return True
    others = [one for at, one in enumerate(trip.adapted.reply.calls) if at != number]
    own = all(call.name not in one.name for one in others)
    return own and len(call.name) > 5 and call.name in trip.written  # noqa: PLR2004  (shorter ones are words)


def proves_absence(trip: Trip, difference: Difference) -> bool:
    """Whether a lost call had something that would have been seen: a needle, or a name that is no common word."""
    if difference.call is None:
        return False
    call = trip.adapted.reply.calls[difference.call]
    return bool(needles_of(call))


def _id_finding(trip: Trip, difference: Difference) -> Finding | None:
    if isinstance(difference.sent, str) and difference.sent not in trip.written:
        return Finding("ids_lost", "absent", difference)
    return None


def _argument_finding(trip: Trip, difference: Difference) -> Finding | None:
    sent, got = difference.sent, difference.got
    if sent is MISSING:
        return None
    if got is MISSING:
        return _missing_argument(trip, difference)
    if isinstance(sent, str) and isinstance(got, str) and is_trimmed(sent, got):
        return Finding("value_trimmed", "same_render", difference)
    if not sent and sent is not False and sent != 0 and not got:
        return Finding("empty_value_lost", "same_render", difference)
    if prints_alike(sent, got):
        return Finding("value_type_lost", "same_render", difference)
    return None


def _missing_argument(trip: Trip, difference: Difference) -> Finding | None:
    sent = difference.sent
    if sent is None:
        return Finding("null_argument_lost", "same_render", difference)
    if sent in ("", [], {}):
        return Finding("empty_value_lost", "same_render", difference)
    words = needles_of(Call("", {"": sent}))
    if words and all(word not in trip.written for word in words):
        return Finding("arguments_lost", "absent", difference)
    return None


def prints_alike(sent: Any, got: Any) -> bool:
    """Whether two values have a spelling in common: as JSON, as Python prints them, or as text."""
    return bool(_spellings(sent) & _spellings(got))


def _spellings(value: Any) -> set[str]:
    texts = {json.dumps(value, ensure_ascii=False), str(value), repr(value)}
    if isinstance(value, (list, Mapping)) and len(value) == 1:
        inner = value[0] if isinstance(value, list) else next(iter(value.values()))
        texts |= _spellings(inner)
    if isinstance(value, str):
        texts.add(value.strip())
    return texts | {text.lower() for text in texts}


def restored(trip: Trip, findings: list[Finding]) -> list[Call]:
    """The calls that came out, with those put back whose loss is proved by an absent needle."""
    got = list(trip.reading.message.tool_calls) if trip.reading is not None else []
    lost = {finding.difference.call for finding in findings if finding.difference.slot == "call"}
    calls: list[Call] = []
    for number, call in enumerate(trip.adapted.reply.calls):
        if number in lost or not got:
            calls.append(call)
        else:
            parsed = got.pop(0)
            calls.append(Call(parsed.name, decoded(parsed)))
    return calls


def kinds_table() -> str:
    """The kinds as a table for docs/verification.md."""
    rows = [
        f"| `{kind}` | {text} | {'no' if kind in EXPECTED_SHAPES else 'yes'} |"
        for kind, text in KINDS.items()
    ]
    return "\n".join(["| kind | what it says | lowers the verdict |", "| --- | --- | --- |", *rows])
