"""Turns that the template itself writes broken: what no model would write, and no parser should read.

A failed trip is excused only by what its render shows, and only when the same spec holds for other turns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from analyzer.chat import Message
from analyzer.spec.model import JsonLayout, Spec
from analyzer.verify.adapt import Adapter, Setting
from analyzer.verify.cases import Case, needles_of
from analyzer.verify.compare import MISSING
from analyzer.verify.defects import recognise
from analyzer.verify.indentation import excuse_indentation
from analyzer.verify.judgement import Judgement, excuse_one, judge
from analyzer.verify.last_turns import excuse_last_turns
from analyzer.verify.trips import Stage, Traveller, Trip, render_trips

BROKEN: Final = frozenset(
    {
        "section_not_closed",
        "calls_behind_end",
        "empty_arguments_broken",
        "turn_after_result_broken",
        "turn_changed_by_system",
        "indentation_leaks",
        "reasoning_opener_lost",
    }
)
"""The kinds of this module: their texts say nothing of how a turn should be written."""


def excuse(
    spec: Spec, judged: Sequence[Judgement], adapter: Adapter, stage: Stage, traveller: Traveller
) -> None:
    """Turns failures that are the template's own into defects."""
    excuse_indentation(spec, judged, traveller)
    excuse_last_turns(spec, judged, adapter, stage, traveller)
    _otherwise_behind_system(judged, adapter, stage, traveller)
    held = [one.trip for one in judged if one.outcome == "held" and one.trip.adapted.reply.calls]
    if not held:
        return
    failed = [one for one in judged if one.outcome == "failed"]
    for one in failed:
        excuse_one(one, _section_not_closed(spec, one.trip, held))
        excuse_one(one, _calls_behind_end(spec, one.trip))
        excuse_one(one, _not_json(spec, one.trip))
        excuse_one(one, _without_opener(spec, one.trip, traveller))
    later = [one for one in failed if one.outcome == "failed" and one.trip.after_result]
    for one, kind in zip(
        later, _otherwise_after_result(spec, later, held, (adapter, stage, traveller)), strict=True
    ):
        excuse_one(one, kind)


def _without_opener(spec: Spec, trip: Trip, traveller: Traveller) -> str | None:
    """Reasoning is written without the opener that the generation prompt ends with; behind that prompt all came out."""
    cut = trip.cut
    if cut is None or cut.by != "history" or not trip.adapted.truth.reasoning_content:
        return None
    opened = next((one.open for one in spec.reasoning if one.open.strip()), "")
    prompts = [prompt.text for prompt in spec.turn.prompts if opened and prompt.text.endswith(opened)]
    if not prompts or cut.text.startswith(opened.strip()):
        return None
    reading = traveller.read(trip.adapted, replace(cut, before=prompts[0], by="prompt"))
    right = not reading.problems and not traveller.compare(trip.adapted.truth, reading.message)
    return "reasoning_opener_lost" if right else None


def _section_not_closed(spec: Spec, trip: Trip, held: Sequence[Trip]) -> str | None:
    """Everything came out, only the section's closer is missing, which other turns have."""
    close = spec.calls.close.strip() if spec.calls is not None else ""
    if (
        trip.reading is None
        or trip.cut is None
        or not close
        or trip.differences
        or not trip.adapted.reply.calls
    ):
        return None
    only = {kind for kind, _, _ in trip.reading.kinds} == {"missing_close"} and len(trip.failures) == len(
        trip.reading.kinds
    )
    written = any(close in other.cut.text for other in held if other.cut is not None)
    return "section_not_closed" if only and written and close not in trip.cut.text else None


def _calls_behind_end(spec: Spec, trip: Trip) -> str | None:
    """The calls that did not come out stand behind the end of the turn, where a model has stopped.

    Neither a header nor the opener of the section may stand between: that would be another message of the turn.
    """
    opener = spec.calls.open.strip() if spec.calls is not None else ""
    if trip.reading is None or trip.cut is None or not opener or not trip.reading.message.tool_calls:
        return None
    ends = [at for kind, at, _ in trip.reading.kinds if kind == "text_after_end"]
    if len(ends) != 1 or len(trip.failures) != 1:
        return None
    behind = trip.cut.text[ends[0] :]
    if not trip.differences or opener in behind or (spec.turn.header and spec.turn.header.strip() in behind):
        return None
    for difference in trip.differences:
        if difference.slot != "call" or difference.got is not MISSING or difference.call is None:
            return None
        call = trip.adapted.reply.calls[difference.call]
        if any(word in trip.cut.text[: ends[0]] for word in needles_of(call)):
            return None
    return "calls_behind_end"


def _not_json(spec: Spec, trip: Trip) -> str | None:
    """The calls that did not come out have no arguments, and what stands between their markers is no JSON."""
    layout = spec.calls.layouts[0] if spec.calls is not None else None
    if trip.reading is None or trip.cut is None or not isinstance(layout, JsonLayout):
        return None
    opener, closer = layout.open.strip(), layout.close.strip()
    broken = [raw for kind, _, raw in trip.reading.kinds if kind == "malformed_call"]
    lost = [one for one in trip.differences if one.slot == "call" and one.call is not None]
    others = [one for one in trip.differences if one not in lost]
    if not opener or not closer or not lost or len(broken) < len(trip.failures):
        return None
    if any(recognise(trip, one) is None for one in others):
        return None
    if any(one.call is not None and trip.adapted.reply.calls[one.call].arguments for one in lost):
        return None
    bodies = [raw.partition(opener)[2].partition(closer)[0] for raw in broken]
    return "empty_arguments_broken" if not any(map(_is_json, bodies)) else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _otherwise_after_result(
    spec: Spec, failed: Sequence[Judgement], held: Sequence[Trip], means: tuple[Adapter, Stage, Traveller]
) -> Iterator[str | None]:
    """The same turn holds behind a user message, and behind a result it is another text."""
    adapter, stage, traveller = means
    wanted: list[tuple[Case, Setting]] = [
        (replace(one.trip.adapted.case, place="first"), one.trip.adapted.setting) for one in failed
    ]
    for one, trip in zip(failed, render_trips(adapter, stage, wanted), strict=True):
        if not isinstance(trip, Trip):
            yield None
            continue
        trip.adapted = replace(trip.adapted, reply=one.trip.adapted.reply, truth=_truth(one.trip, trip))
        traveller.travel(trip)
        holds = trip.held or _section_not_closed(spec, trip, held) or _calls_behind_end(spec, trip)
        yield "turn_after_result_broken" if holds and _is_otherwise(one.trip, trip) else None


def _otherwise_behind_system(
    judged: Sequence[Judgement], adapter: Adapter, stage: Stage, traveller: Traveller
) -> None:
    """Excuses turns behind a system message where the very same turn without it is another text, and is read right."""
    failed = [one for one in judged if one.outcome == "failed" and one.trip.adapted.case.place == "system"]
    cases = [(replace(one.trip.adapted.case, place="first"), one.trip.adapted.setting) for one in failed]
    pairs = []
    for one, trip in zip(failed, render_trips(adapter, stage, cases), strict=True):
        if isinstance(trip, Trip):
            trip.adapted = replace(trip.adapted, reply=one.trip.adapted.reply, truth=_truth(one.trip, trip))
            traveller.travel(trip)
            pairs.append((one, trip))
    again = judge([trip for _, trip in pairs], adapter, stage)
    for (one, first), found in zip(pairs, again, strict=True):
        if found.outcome in ("held", "defect") and first.written != one.trip.written:
            excuse_one(one, "turn_changed_by_system", first.written, one.trip.written)


def _is_otherwise(later: Trip, first: Trip) -> bool:
    """Whether a turn behind a result is another text than behind a user message.

    Without calls only white space before it counts: everything else there is a matter of headers and results.
    """
    bare = later.before.bare or ""
    text = first.cut.text if first.cut is not None else ""
    behind = later.full.removeprefix(bare)
    if behind != later.full and behind != behind.lstrip() and behind.lstrip().startswith(text):
        return True
    return bool(later.adapted.reply.calls) and (text not in later.full or not later.full.startswith(bare))


def _truth(settled: Trip, trip: Trip) -> Message:
    calls = trip.adapted.truth.tool_calls if settled.adapted.reply.calls else ()
    return replace(settled.adapted.truth, tool_calls=calls)
