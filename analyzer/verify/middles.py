"""Turns in mid-conversation: the same turn with something after it, so that its end is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from analyzer.chat import Message
from analyzer.observe.lexemes import is_marker, lexemes
from analyzer.render import Rendered, RenderFailure
from analyzer.spec.model import Spec
from analyzer.verify.adapt import Adapter
from analyzer.verify.cases import Reply, needles_in
from analyzer.verify.compare import Difference
from analyzer.verify.cut import Cut, at_first_end, cut_turn, end_literals, without_closing
from analyzer.verify.samples import EMPTY_TURN
from analyzer.verify.trips import Stage, Traveller, Trip, needles_of_reply
from analyzer.verify.writer import applicable


@dataclass(slots=True)
class MiddleFindings:
    """What mid-conversation showed."""

    tried: int = 0
    ends_seen: int = 0
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    reasoning_dropped: list[Trip] = field(default_factory=list)
    content_moved: list[Trip] = field(default_factory=list)
    """Trips whose content stands behind the results of their calls."""
    content_lost: list[Trip] = field(default_factory=list)
    """Trips whose content is not written any more."""
    followed: list[tuple[Trip, str]] = field(default_factory=list)
    """Trips with what stands behind their turn's end."""
    not_closed: list[Trip] = field(default_factory=list)
    """Trips whose turn nothing ends, so that what follows reads as more of its content."""
    changed: list[Trip] = field(default_factory=list)
    """Trips whose turn stands behind the generation prompt as the last one, and does not any more."""


_Wrong: TypeAlias = tuple[Trip, str, list[str]]
"""A trip, its render in mid-conversation, and what is wrong with that."""


def choose(trips: Sequence[Trip], most: int = 12) -> list[Trip]:
    """One trip for each kind of turn and place."""
    chosen: dict[tuple[object, ...], Trip] = {}
    for trip in trips:
        reply = trip.adapted.reply
        key = (min(len(reply.calls), 2), bool(reply.content), bool(reply.reasoning))
        if trip.adapted.case is EMPTY_TURN:
            continue  # some templates write nothing at all for it
        if trip.cut is not None and trip.reading is not None and not trip.failures:
            chosen.setdefault(key, trip)
    return list(chosen.values())[:most]


def check_middles(
    spec: Spec, adapter: Adapter, stage: Stage, traveller: Traveller, trips: Sequence[Trip]
) -> MiddleFindings:
    """Renders the chosen trips with something after the turn and looks at its end."""
    found = MiddleFindings()
    wrong: list[_Wrong] = []
    requests = [
        adapter.request(one, [*one.before, one.turn, *one.after()])
        for one in (trip.adapted for trip in trips)
    ]
    for trip, outcome in zip(trips, stage.render(requests), strict=True):
        if isinstance(outcome, RenderFailure):
            found.notes.append(f"mid-conversation ({trip.label}): {outcome.kind}: {outcome.message[:120]}")
            continue
        found.tried += 1
        known = len(found.failures)
        _check(spec, traveller, trip, outcome.text, found)
        if found.failures[known:]:
            wrong.append((trip, outcome.text, found.failures[known:]))
    if spec.calls is None:
        found.changed += [trip for trip, text, _ in wrong if _is_changed(trip, text)]
        left = [one for one in wrong if one[0] not in found.changed]
        found.not_closed += _unclosed(spec, left, adapter, stage)
        for trip, _, failures in wrong:
            if trip in found.changed or trip in found.not_closed:
                found.failures = [one for one in found.failures if one not in failures]
    return found


def _is_changed(trip: Trip, text: str) -> bool:
    """Whether the last turn stands right behind the generation prompt, and this one, which has all its words, behind none."""
    opener, words = _prompt_end(trip), needles_in(trip.adapted.reply.content or "")
    written = trip.cut.text if trip.cut is not None else ""
    said = written.partition(words[0])[0] + words[0] if words else ""
    return bool(opener and said) and words[0] in text and opener + said not in text


def _unclosed(spec: Spec, wrong: Sequence[_Wrong], adapter: Adapter, stage: Stage) -> list[Trip]:
    """Turns that nothing ends: one whose content holds all that follows, and is the last, renders to the very same text.

    Without a generation prompt what ends every render may be one, and no end of a turn.  Where the end of a turn stands in what
    follows, it is ended after all.
    """
    prompted = [
        (trip, text, failures)
        for trip, text, failures in wrong
        if trip.before.prompt != trip.before.bare
        and not any(end in _swallowed(trip, text) for end in end_literals(spec, trip.adapted.truth))
    ]
    requests = []
    for trip, text, _ in prompted:
        turn = adapter.turn(Reply(_swallowed(trip, text), trip.adapted.reply.reasoning), ())
        requests.append(adapter.request(trip.adapted, [*trip.adapted.before, turn]))
    return [
        trip
        for (trip, text, _), outcome in zip(prompted, stage.render(requests), strict=True)
        if isinstance(outcome, Rendered) and outcome.text == text
    ]


def _swallowed(trip: Trip, text: str) -> str:
    """The content of a turn with all that stands behind it, up to what ends the conversation."""
    said = (trip.adapted.reply.content or "").strip()
    behind = trip.full[trip.full.rfind(said) + len(said) :]
    return text[text.rfind(said) :].removesuffix(behind)


def _check(spec: Spec, traveller: Traveller, trip: Trip, text: str, found: MiddleFindings) -> None:
    assert trip.cut is not None  # noqa: S101  (`choose` has looked)
    assert trip.reading is not None  # noqa: S101
    cut = _find(spec, trip, text)
    if cut is None:
        found.notes.append(f"mid-conversation ({trip.label}): the turn was not found")
        return
    lost = trip.adapted.truth.tool_calls and not trip.reading.message.tool_calls
    ends = end_literals(spec, trip.reading.message if lost else trip.adapted.truth)
    written = trip.cut.text
    if spec.calls is None and _is_elsewhere(spec, trip, cut):
        found.changed.append(trip)
        return
    if cut.text.startswith(written):
        stop = len(written)
        if ends and not written.endswith(ends):
            stop += _closer_length(spec, trip, cut.text, stop)
            if not cut.text.startswith(ends[0], stop):
                seen = cut.text[stop : stop + 40]
                found.failures.append(
                    f"mid-conversation ({trip.label}): the turn ends in {seen!r}, not in {ends[0]!r}"
                )
                return
            stop += len(ends[0])
        found.ends_seen += 1
        _look_behind(trip, cut.text[stop:], found)
        return
    _check_otherwise(spec, traveller, trip, cut, ends, found)


def _is_elsewhere(spec: Spec, trip: Trip, cut: Cut) -> bool:
    """Whether the turn's text stands behind something else than what opens the last turn."""
    opener = (_prompt_end(trip) or spec.turn.header).strip()
    return cut.by == "found" and bool(opener) and not cut.before.rstrip().endswith(opener)


def _prompt_end(trip: Trip) -> str:
    """The generation prompt from its last marker on, where the last turn stands right behind it."""
    if trip.cut is None or trip.cut.by != "prompt":
        return ""
    pieces = lexemes(trip.cut.before)
    last = max((at for at, piece in enumerate(pieces) if is_marker(piece)), default=len(pieces))
    return "".join(pieces[last:])


def _closer_length(spec: Spec, trip: Trip, text: str, start: int) -> int:
    """How much of a text is what closes the turn's last segment, which a last turn lacks as it lacks its end."""
    segments = applicable(spec, trip.adapted.truth)
    close = segments[-1][1].close if segments else ""
    return len(close) if text.startswith(close, start) else 0


def _check_otherwise(
    spec: Spec, traveller: Traveller, trip: Trip, cut: Cut, ends: Sequence[str], found: MiddleFindings
) -> None:
    """A turn that is written otherwise in mid-conversation: without reasoning, untrimmed, its content moved."""
    assert trip.reading is not None  # noqa: S101
    reply = trip.adapted.reply
    first_result = cut.text.find(trip.adapted.after()[0]["content"]) if reply.calls else len(cut.text)
    words = needles_in(trip.reading.message.content or "")
    lost = bool(words) and all(word not in cut.text for word in words)
    moved = [word for word in needles_in(reply.content or "") if cut.text.find(word) > first_result >= 0]
    shorter = at_first_end(cut, ends, [word for word in needles_of_reply(reply) if word not in moved])
    if first_result >= 0 and (shorter is None or len(shorter.text) > first_result):
        shorter = _at_results(spec, cut, first_result) or shorter
    if shorter is None:
        found.notes.append(f"mid-conversation ({trip.label}): the turn's end was not found")
        return
    found.ends_seen += 1
    reading = traveller.read(trip.adapted, shorter)
    problems = [f"problem {problem}" for problem in reading.problems]
    gone = _reasoning_is_gone(trip.reading.message, shorter.text)
    if gone:
        found.reasoning_dropped.append(trip)
    if lost:
        found.content_lost.append(trip)
    if moved:
        found.content_moved.append(trip)
    for sent in (trip.reading.message, trip.adapted.truth):  # what came out of the last turn, or what went in
        expected = Message(
            None if moved or lost else sent.content,
            None if gone else sent.reasoning_content,
            trip.reading.message.tool_calls,
        )
        differences = traveller.compare(expected, reading.message)
        if not differences:
            break
    if differences and (gone or _thought_is_gone(spec, trip.cut, shorter)) and _is_respaced(differences):
        differences = []
        found.notes.append(
            f"mid-conversation ({trip.label}): the content is spaced otherwise where its reasoning is dropped"
        )
    problems += map(str, differences)
    found.failures += [f"mid-conversation ({trip.label}): {problem}" for problem in problems]
    _look_behind(trip, shorter.rest, found, moved)


def _at_results(spec: Spec, cut: Cut, first_result: int) -> Cut | None:
    """The cut with its text up to the results that stand in the turn; it goes on behind them without an end."""
    results = spec.results
    if results is None or (results.role and results.grouping != "in_turn"):
        return None
    first = results.parts[0] if results.parts else results.open.partition("{")[0]
    opener = results.header + (first if isinstance(first, str) else "")
    at = cut.text.rfind(opener, 0, first_result) if opener.strip() else -1
    return None if at < 0 else Cut(cut.before, cut.text[:at], cut.text[at:], cut.by)


def _find(spec: Spec, trip: Trip, text: str) -> Cut | None:
    assert trip.cut is not None  # noqa: S101
    cut = cut_turn(spec, trip.before, text, goes_on=trip.after_result)
    if isinstance(cut, Cut) and (cut.text.startswith(trip.cut.text) or trip.adapted.reply.reasoning):
        return cut
    at = text.rfind(trip.cut.text)
    if at >= 0:
        return Cut(text[:at], text[at:], "", "found")
    return cut if isinstance(cut, Cut) else None


def _is_respaced(differences: Sequence[Difference]) -> bool:
    """Whether nothing but white space at the ends of the content differs."""
    return all(
        one.slot == "content" and (one.sent or "").strip() == (one.got or "").strip() for one in differences
    )


def _reasoning_is_gone(message: Message, text: str) -> bool:
    words = needles_in(message.reasoning_content or "")
    return bool(words) and all(word not in text for word in words)


def _thought_is_gone(spec: Spec, last: Cut | None, middle: Cut) -> bool:
    """Whether the last turn begins with a thought around nothing, which mid-conversation leaves out."""
    written = [one.empty for one in spec.reasoning if one.empty.strip()]
    begins = last is not None and any(last.text.startswith(empty) for empty in written)
    return begins and not any(middle.text.lstrip().startswith(empty.strip()) for empty in written)


def _look_behind(trip: Trip, rest: str, found: MiddleFindings, moved: Sequence[str] = ()) -> None:
    left = [word for word in needles_of_reply(trip.adapted.reply) if word in rest and word not in moved]
    if left:
        found.failures.append(f"mid-conversation ({trip.label}): {left[0]!r} stands behind the turn's end")
    behind = without_closing(Cut(trip.full, rest, "", "history"), trip.before)
    found.followed.append((trip, behind.text))
