"""Last turns that the template writes as no turn in mid-conversation: what stands there is no whole turn, or more than one.

A model's turn is never the last of a conversation when it is written, so what a template does there is no model's to write.
What the same turn is in mid-conversation, rendered with something after it, takes its place or shows what is too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from analyzer.render import Rendered
from analyzer.spec.model import Spec
from analyzer.verify.adapt import Adapter
from analyzer.verify.cases import needles_of
from analyzer.verify.cut import Cut, at_first_end, cut_turn, end_literals, shared_prefix
from analyzer.verify.defects import closer_is_left_out
from analyzer.verify.judgement import Judgement, excuse_one, judge
from analyzer.verify.trips import TEXT_BEHIND, Stage, Traveller, Trip, needles_of_reply

KIND: Final = "last_turn_otherwise"


def excuse_last_turns(
    spec: Spec, judged: Sequence[Judgement], adapter: Adapter, stage: Stage, traveller: Traveller
) -> None:
    """Turns failures of last turns into defects of the template."""
    _look_in_history(spec, judged, adapter, stage, traveller)
    _closed_in_history(judged, adapter, stage)
    if spec.calls is None:
        _followed_by_more(judged, adapter, stage, traveller)


def _look_in_history(
    spec: Spec, judged: Sequence[Judgement], adapter: Adapter, stage: Stage, traveller: Traveller
) -> None:
    """Last turns that are no whole turns: what the same turn is in mid-conversation takes their place, where it holds."""
    wrong = [one for one in judged if one.outcome == "failed" or "calls_lost" in one.kinds]
    if not all(_goes_on_with_prompt(spec, one.trip) or one.trip.adapted.reply.calls for one in wrong):
        return
    requests = [
        adapter.request(one, [*one.before, one.turn, *one.after()])
        for one in (made.trip.adapted for made in wrong)
    ]
    wholes = []
    for one, outcome in zip(wrong, stage.render(requests), strict=True):
        whole = in_history(spec, one.trip, outcome.text) if isinstance(outcome, Rendered) else None
        if whole is not None and _is_no_whole_turn(spec, one.trip, whole):
            traveller.travel(whole)
            wholes.append((one, whole))
    again = judge([whole for _, whole in wholes], adapter, stage)
    for (one, _), found in zip(wholes, again, strict=True):
        if found.outcome in ("held", "defect") and "calls_lost" not in found.kinds:
            one.outcome = "failed"
            excuse_one(one, KIND)
            one.trip, one.findings = found.trip, [*one.findings, *found.findings]


def _closed_in_history(judged: Sequence[Judgement], adapter: Adapter, stage: Stage) -> None:
    """Texts that end in what closes them, which the last turn leaves out: mid-conversation writes it behind the very same text."""
    found: list[tuple[Judgement, str]] = []
    for one in judged:
        if one.outcome != "failed" or [wrong.slot for wrong in one.trip.differences] != ["content"]:
            continue
        (difference,) = one.trip.differences
        sent, got = difference.sent or "", difference.got or ""
        if got and closer_is_left_out(one.trip, sent, got):
            found.append((one, sent.removeprefix(got)))
    requests = [
        adapter.request(one, [*one.before, one.turn, *one.after()])
        for one in (made.trip.adapted for made, _ in found)
    ]
    for (one, closer), outcome in zip(found, stage.render(requests), strict=True):
        if isinstance(outcome, Rendered) and outcome.text.startswith(one.trip.full + closer):
            excuse_one(one, KIND)


def _followed_by_more(
    judged: Sequence[Judgement], adapter: Adapter, stage: Stage, traveller: Traveller
) -> None:
    """Whole turns with text behind their end that is the same for all, and that mid-conversation does not write there."""
    found = [one for one in judged if one.outcome == "failed" and _is_followed(one.trip)]
    rests = {one.trip.cut.rest.strip() for one in found if one.trip.cut is not None}
    if len(rests) != 1:
        return
    requests = [
        adapter.request(one, [*one.before, one.turn, *one.after()])
        for one in (made.trip.adapted for made in found)
    ]
    for one, outcome in zip(found, stage.render(requests), strict=True):
        cut = one.trip.cut
        if cut is None or not isinstance(outcome, Rendered):
            continue
        at = outcome.text.rfind(cut.text)
        behind = outcome.text[at + len(cut.text) :].lstrip()
        if at >= 0 and behind and not behind.startswith(cut.rest.strip()):
            excuse_one(one, KIND)
            one.trip = Trip(one.trip.adapted, one.trip.before, cut.before + cut.text, one.trip.full)
            traveller.travel(one.trip)


def _is_followed(trip: Trip) -> bool:
    """Whether all of a turn came out, and nothing is wrong but that text stands behind its end."""
    return len(trip.failures) == 1 and trip.failures[0].startswith(TEXT_BEHIND) and not trip.differences


def _goes_on_with_prompt(spec: Spec, trip: Trip) -> bool:
    """Whether the turn is text behind a generation prompt that opens reasoning, and nothing closes it."""
    opened = any(one.open.strip() and (trip.before.prompt or "").endswith(one.open) for one in spec.reasoning)
    kinds = {kind for kind, _, _ in trip.reading.kinds} if trip.reading is not None else set()
    return opened and trip.full.startswith(trip.before.prompt or "") and "unterminated_reasoning" in kinds


def in_history(spec: Spec, trip: Trip, text: str) -> Trip | None:
    """The trip with the turn as it stands in mid-conversation, up to its end."""
    truth = trip.adapted.truth
    cut = cut_turn(spec, trip.before, text)
    ends = end_literals(spec, truth)
    found = at_first_end(cut, ends, needles_of_reply(trip.adapted.reply)) if isinstance(cut, Cut) else None
    return None if found is None else Trip(trip.adapted, trip.before, found.before + found.text, trip.full)


def _is_no_whole_turn(spec: Spec, last: Trip, whole: Trip) -> bool:
    """Whether the last turn goes on with the prompt, lacks all its calls, or has other white space, what follows it included."""
    calls = last.adapted.reply.calls
    added = last.full[shared_prefix(last.before.bare or "", last.full) :]
    if _goes_on_with_prompt(spec, last):
        return True
    if calls and not any(word in added for call in calls for word in (call.name, *needles_of(call))):
        return True
    return "".join(last.full.split()) == "".join(whole.full.split())
