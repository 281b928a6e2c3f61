"""Indentation that leaks: white space of a template's own lines between markers, in one turn otherwise than in another.

No model is trained on one spelling then, and the runtime takes any white space between two literals.  A trip that the
strict runtime misread is excused where

* all of it comes out exactly once white space between literals is free, content and arguments to the last blank;
* its text is what the spec's writer writes, but for white space where two literals meet, never beside a value; and
* the literals beside that white space stand exactly, one behind the other, in some turn that held.

A turn that goes on behind a result may lack its header and what opens its first segment; the white space that the
opener ends in may stand there nevertheless.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from analyzer.chat import Message
from analyzer.spec.model import Spec
from analyzer.verify.compare import Difference
from analyzer.verify.defects import Finding
from analyzer.verify.judgement import Judgement
from analyzer.verify.junctions import Junction, soft_misfit
from analyzer.verify.mutation import Exact, Witness, witnesses
from analyzer.verify.pieces import Piece
from analyzer.verify.samples import EMPTY_TURN
from analyzer.verify.trips import Traveller, Trip
from analyzer.verify.writer import turn_pieces

KIND = "indentation_leaks"


def excuse_indentation(spec: Spec, judged: Sequence[Judgement], traveller: Traveller) -> None:
    """Turns failures that are white space between literals, and nothing else, into defects of the template."""
    failed = [one for one in judged if one.outcome == "failed" and one.trip.cut is not None]
    if not failed:
        return
    exact = Exact.of(spec, witnesses(spec, [one.trip for one in judged if one.outcome == "held"]))
    for one in failed:
        assert one.trip.cut is not None  # noqa: S101  (they were chosen so)
        reading = traveller.read(one.trip.adapted, one.trip.cut, soft=True)
        if reading.problems or traveller.compare(one.trip.adapted.truth, reading.message):
            continue
        found = _respaced(spec, one.trip, reading.message)
        if found and exact.holds(found):
            one.outcome, one.failures = "defect", []
            one.trip.reading, one.trip.differences, one.trip.failures = reading, [], []
            one.findings = [leak(found[0].wanted, found[0].seen)]


def leak(wanted: str, seen: str) -> Finding:
    """The finding for white space that another turn has otherwise."""
    return Finding(KIND, "render", Difference("white space", wanted, seen))


def _respaced(spec: Spec, trip: Trip, message: Message) -> Sequence[Junction]:
    """Where the text of a turn is spaced otherwise than the writer writes it; empty where that is not all."""
    assert trip.cut is not None  # noqa: S101  (the caller has looked)
    pieces = turn_pieces(spec, message)
    misfit, found = soft_misfit(pieces, Witness.of(spec, trip, trip.cut, message).text, inside=True)
    if misfit is None:
        return found
    return _without_opener(pieces, trip.cut.text) if trip.after_result else ()


def _without_opener(pieces: Sequence[Piece], text: str) -> Sequence[Junction]:
    """The white space that a turn begins with, where what it ends elsewhere is left out."""
    blank = text[: len(text) - len(text.lstrip())]
    for number, piece in enumerate(pieces):
        if not piece.path:
            break
        if not blank or not piece.text.strip() or not piece.text.endswith(blank):
            continue
        misfit, found = soft_misfit(pieces[number + 1 :], text[len(blank) :], inside=True)
        if misfit is None:
            return (Junction((piece.path,), "", blank), *found)
    return ()


def indented_headers(spec: Spec, trips: Iterable[Trip]) -> Iterator[Trip]:
    """The turns before whose header history writes other white space than the generation prompt."""
    header = spec.turn.header
    for trip in trips:
        bare, prompt = trip.before.bare, trip.before.prompt_text or ""
        if trip.cut is None or trip.cut.by != "history" or bare is None or not header.strip():
            continue
        if trip.adapted.case is EMPTY_TURN:
            continue
        seen = trip.cut.before.removeprefix(bare).removesuffix(header)
        known = prompt[: prompt.find(header)]
        if trip.cut.before == f"{bare}{seen}{header}" and header in prompt and f"{seen}{known}".isspace():
            yield from [trip] if seen != known else []
