"""Judging trips: held, defective with a proof, collided with a proof, or failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from analyzer.chat import Message
from analyzer.render import Rendered
from analyzer.spec.model import Spec
from analyzer.verify.adapt import Adapter
from analyzer.verify.cases import Reply, needles_in, needles_of
from analyzer.verify.compare import Difference
from analyzer.verify.coverage import Level, levels_of
from analyzer.verify.defects import Finding, proves_absence, recognise, restored
from analyzer.verify.literals import is_marked
from analyzer.verify.trips import NoTrip, Stage, Trip

Outcome = Literal["held", "defect", "collided", "failed"]
"""`collided`: no parser can tell what was sent from what came out, and the template is not to blame."""

MOVED = "content_as_reasoning"
"""The kind of defect of a template that writes content beside calls as reasoning."""

TEXT_LIKE_CALL = "collision: calls that no marker opens, directly behind content, read as more of it"


@dataclass(slots=True)
class Judgement:
    """A trip with what was made of it."""

    trip: Trip
    outcome: Outcome
    findings: list[Finding] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        """The kinds of defect, each once."""
        return list(dict.fromkeys(finding.kind for finding in self.findings))

    def levels(self) -> frozenset[Level]:
        """The levels that the trip has proved something of: those whose value was written at all."""
        adapted = self.trip.adapted
        if {"turn_after_result_broken", "turn_changed_by_system", "empty_arguments_broken"} & set(self.kinds):
            return frozenset()
        levels = dict(_seen(levels_of(replace(adapted.case, reply=adapted.reply), adapted.setting.label)))
        for kind in self.kinds:
            for slot, level in _LOST.get(kind, ()):
                levels[slot] = {level}
            if kind == "calls_behind_end" and self.trip.reading is not None:
                levels["calls"] = {str(len(self.trip.reading.message.tool_calls))}
        return frozenset((factor, level) for factor, found in levels.items() for level in found)


_LOST = {
    "content_lost_beside_calls": (("content", "absent"),),
    "content_lost": (("content", "absent"),),
    "content_as_reasoning": (("content", "absent"), ("reasoning", "absent")),
    "reasoning_lost_beside_calls": (("reasoning", "absent"),),
    "reasoning_lost_without_calls": (("reasoning", "absent"),),
    "second_call_lost": (("calls", "1"),),
    "calls_lost": (("calls", "0"),),
}


def _seen(levels: Iterable[Level]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for factor, level in levels:
        found.setdefault(factor, set()).add(level)
    return found


def settle(spec: Spec, trips: Sequence[Trip]) -> list[Trip | NoTrip]:
    """The trips without what the spec says the template never writes, if it is indeed not there.

    A template without reasoning, or without calls, has no defect for that; but when the values do stand in a render, the
    spec is wrong and the trips will fail.
    """
    no_calls = spec.calls is None and not any(_any_written(trip, _call_needles(trip)) for trip in trips)
    no_reasoning = not reads_reasoning(spec)
    return [_without(trip, calls=no_calls, reasoning=no_reasoning) for trip in trips]


def _without(trip: Trip, *, calls: bool, reasoning: bool) -> Trip | NoTrip:
    adapted = trip.adapted
    reply, sent = adapted.reply, adapted.truth.tool_calls
    if reasoning and reply.reasoning and not _any_written(trip, needles_in(reply.reasoning)):
        reply = replace(reply, reasoning=None)
    if calls and reply.calls:
        reply, sent = replace(reply, calls=()), ()
        if not reply.content:
            return NoTrip(adapted.case, adapted.setting, "the template writes no calls")
    if reply is not adapted.reply:
        truth = Message(reply.content or None, reply.reasoning, sent)
        trip.adapted = replace(adapted, reply=reply, truth=truth)
    return trip


def _call_needles(trip: Trip) -> list[str]:
    return [word for call in trip.adapted.reply.calls for word in needles_of(call)]


def _any_written(trip: Trip, words: Sequence[str]) -> bool:
    return any(word in trip.full for word in words)


def reads_reasoning(spec: Spec) -> bool:
    """Whether the spec says that the template writes reasoning that it is given."""
    if spec.input.reasoning_fields:
        return True
    return any(segment.fields and segment.kept != "never" for segment in spec.reasoning)


def judge(trips: Sequence[Trip], adapter: Adapter, stage: Stage) -> list[Judgement]:
    """A judgement for each trip; those that need it are rendered again with what came out."""
    marked = is_marked(adapter.spec)
    judged = [
        Judgement(trip, "collided") if not marked and _reads_as_content(trip) else _first_look(trip)
        for trip in trips
    ]
    doubtful = [
        one
        for one in judged
        if one.outcome == "collided" or any(finding.proof == "same_render" for finding in one.findings)
    ]
    requests = [
        adapter.request(one.trip.adapted, [*one.trip.adapted.before, _again(one, adapter)])
        for one in doubtful
    ]
    for one, outcome in zip(doubtful, stage.render(requests), strict=True):
        proved = isinstance(outcome, Rendered) and (
            _is_same(one, outcome.text) or _is_nowhere_else(one, outcome.text)
        )
        if not proved:
            _fail(one, "rendered again it is another text")
    _support(judged)
    return judged


def _reads_as_content(trip: Trip) -> bool:
    """Whether the calls of a turn came out as the rest of the content that they stand behind."""
    sent, got = trip.adapted.reply, trip.reading.message if trip.reading is not None else Message()
    if trip.failures or not sent.calls or not sent.content or got.tool_calls:
        return False
    return (got.content or "").lstrip().startswith(sent.content.strip())


def _is_same(one: Judgement, text: str) -> bool:
    """Whether a render is that of the trip; where a call is told as content, the white space before the turn is not the turn's."""
    full = one.trip.full if one.trip.last is None else one.trip.last
    if text == full or one.outcome != "collided" or one.trip.cut is None:
        return text == full
    before = text.removesuffix(one.trip.written)
    return before != text and "".join(before.split()) == "".join(one.trip.cut.before.split())


def _is_nowhere_else(one: Judgement, text: str) -> bool:
    """Whether content stood where only reasoning stands, and reasoning itself, given the same words, is not written beside calls."""
    message = one.trip.reading.message if one.trip.reading is not None else Message()
    words = needles_in(message.reasoning_content or "")
    moved = MOVED in one.kinds
    return moved and bool(words) and not any(word in text for word in words)


def _first_look(trip: Trip) -> Judgement:
    if trip.failures:
        lines = [*trip.failures, *map(str, trip.differences)]
        return Judgement(trip, "failed", failures=[f"{trip.label}: {line}" for line in lines])
    if not trip.differences:
        return Judgement(trip, "held")
    findings = [(difference, recognise(trip, difference)) for difference in trip.differences]
    unknown = [difference for difference, finding in findings if finding is None]
    if unknown:
        return Judgement(trip, "failed", failures=[f"{trip.label}: {difference}" for difference in unknown])
    return Judgement(trip, "defect", [finding for _, finding in findings if finding is not None])


def _again(one: Judgement, adapter: Adapter) -> dict[str, object]:
    """The turn that came out, with what is proved to be lost put back."""
    trip = one.trip
    sent, got = trip.adapted.reply, trip.reading.message if trip.reading is not None else Message()
    if one.outcome == "collided":
        return adapter.turn(Reply(got.content, got.reasoning_content), ())
    lost = {finding.difference.slot for finding in one.findings if finding.proof == "absent"}
    if MOVED in one.kinds:
        lost.discard("reasoning")  # what came out as reasoning is what has to be shown
    reply = Reply(
        sent.content if "content" in lost else got.content,
        sent.reasoning if "reasoning" in lost else got.reasoning_content,
        tuple(restored(trip, one.findings)),
    )
    ids = [call["id"] for call in trip.adapted.turn.get("tool_calls", ())]
    return adapter.turn(reply, ids, as_text=trip.adapted.as_text)


def _fail(one: Judgement, why: str) -> None:
    one.outcome = "failed"
    wrong = [finding.difference for finding in one.findings] or one.trip.differences
    one.failures = [f"{one.trip.label}: {difference}; {why}" for difference in wrong]


def _support(judged: Sequence[Judgement]) -> None:
    """Fails calls that did not come out and had nothing to be seen, unless the same loss is proved elsewhere."""
    proved = {
        finding.kind
        for one in judged
        if one.outcome == "defect"
        for finding in one.findings
        if finding.difference.slot == "call" and proves_absence(one.trip, finding.difference)
    }
    for one in judged:
        for finding in one.findings:
            if one.outcome == "defect" and finding.difference.slot == "call" and finding.kind not in proved:
                _fail(one, "and nothing proves that the template does not write it")


def excuse_one(
    one: Judgement, kind: str | None, wanted: str = "the turn", seen: str = "another text"
) -> None:
    """Makes a failed trip one with a defect of this kind, None being no excuse."""
    if kind is not None and one.outcome == "failed":
        one.outcome, one.failures = "defect", []
        one.findings = [Finding(kind, "render", Difference("turn", wanted, seen))]
