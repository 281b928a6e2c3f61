"""Spec mutation: each field of a spec, changed, must fail some round trip; what survives is not proven.

The rendered texts are there already, so a mutant costs no render.  It is killed by the first text that the mutant's
writer would have written otherwise, or that a parser of the mutant reads otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from analyzer.chat import Message
from analyzer.spec.model import CallsSegment, ContentSegment, ReasoningSegment, Spec
from analyzer.verify.adapt import Adapted
from analyzer.verify.cut import Cut
from analyzer.verify.mutants import ADDED_END, Mutant, mutants
from analyzer.verify.pieces import mismatch
from analyzer.verify.prefills import Construction
from analyzer.verify.trips import Traveller, Trip
from analyzer.verify.writer import applicable, turn_pieces

PARSES: Final = 6
"""How many texts a mutant is parsed from that no writer killed."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A trip that held, as a text that mutants are tried on.

    ``text`` is the turn with its header; ``exact``: the spec's writer writes the very same text.
    """

    adapted: Adapted
    cut: Cut
    message: Message
    text: str
    exact: bool

    @classmethod
    def of(cls, spec: Spec, trip: Trip, cut: Cut, message: Message) -> Witness:
        """The witness that a text with this message is."""
        text = _from_header(spec, trip, cut)
        exact = mismatch(turn_pieces(spec, message), text) is None
        return cls(trip.adapted, cut, message, text, exact)


def witnesses(spec: Spec, trips: Sequence[Trip], made: Sequence[Construction]) -> list[Witness]:
    """The trips and constructed texts that held, each with the message that came out."""
    found = [
        Witness.of(spec, trip, trip.cut, trip.reading.message)
        for trip in trips
        if trip.cut is not None and trip.reading is not None and not trip.failures
    ]
    return found + [Witness.of(spec, one.trip, one.cut, one.message) for one in made]


def _from_header(spec: Spec, trip: Trip, cut: Cut) -> str:
    """The turn's text with its header, and with what the prompt had written of it."""
    header, prompt = spec.turn.header, trip.before.prompt_text
    if cut.by == "history":
        return header + cut.text
    if prompt is None:
        at = cut.before.rfind(header)
        return (cut.before[at:] if header and at >= 0 else header) + cut.text
    if prompt.startswith(header) or (prompt and header.startswith(prompt)):
        return prompt + cut.text
    return cut.text if cut.text.startswith(header) else header + cut.text


def survivors(spec: Spec, traveller: Traveller, known: Sequence[Witness]) -> Iterator[Mutant]:
    """The mutants that no text killed."""
    last = {
        applicable(spec, witness.message)[-1][0] for witness in known if applicable(spec, witness.message)
    }
    for mutant in mutants(spec):
        if (
            mutant.change == ADDED_END
            and not spec.turn.header_repeats
            and _segment_number(mutant) not in last
        ):
            continue  # an end is not written in the middle of a message: the same spec in other words
        if not is_killed(mutant, traveller, known):
            yield mutant


def is_killed(mutant: Mutant, traveller: Traveller, known: Sequence[Witness]) -> bool:
    """Whether some text is written or read otherwise by the mutant."""
    likely = [witness for witness in known if _concerns(mutant, witness)]
    for witness in likely:
        if witness.exact and _writes_otherwise(mutant.spec, witness):
            return True
    return any(_reads_otherwise(mutant, traveller, witness) for witness in _most_telling(likely))


def _writes_otherwise(spec: Spec, witness: Witness) -> bool:
    return mismatch(turn_pieces(spec, witness.message), witness.text) is not None


def _reads_otherwise(mutant: Mutant, traveller: Traveller, witness: Witness) -> bool:
    reading = traveller.read(witness.adapted, witness.cut, mutant.spec)
    return bool(reading.problems) or bool(traveller.compare(witness.message, reading.message))


def _concerns(mutant: Mutant, witness: Witness) -> bool:
    """Whether the turn of a witness has the segment that the mutant changed."""
    if not mutant.path.startswith("turn.segments["):
        return True
    segment = mutant.spec.turn.segments[_segment_number(mutant)]
    if isinstance(segment, CallsSegment):
        return bool(witness.message.tool_calls)
    if mutant.path.endswith((".empty", ".when", ".end", ".end.literal")):
        return True
    value = (
        witness.message.content if isinstance(segment, ContentSegment) else witness.message.reasoning_content
    )
    assert isinstance(segment, (ContentSegment, ReasoningSegment))  # noqa: S101  (for the type checker)
    return bool(value)


def _segment_number(mutant: Mutant) -> int:
    return int(mutant.path[len("turn.segments[") : mutant.path.index("]")])


def _most_telling(known: Sequence[Witness]) -> list[Witness]:
    """The richest texts first, then the plainest: the ones in which a change is most likely to be seen."""
    rich = sorted(known, key=_richness, reverse=True)
    return [*rich[: PARSES // 2], *rich[len(rich) - PARSES // 2 :]] if len(rich) > PARSES else rich


def _richness(witness: Witness) -> int:
    message = witness.message
    return 2 * len(message.tool_calls) + bool(message.content) + bool(message.reasoning_content)
