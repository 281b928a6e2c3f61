"""Spec mutation: each field of a spec, changed, must fail some round trip; what survives is not proven.

The rendered texts are there already, so a mutant costs no render.  It is killed by the first text that the mutant's
writer would have written otherwise, or that a parser of the mutant reads otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from analyzer.chat import Message
from analyzer.spec.model import CallsSegment, ContentSegment, ReasoningSegment, Spec
from analyzer.verify.adapt import Adapted
from analyzer.verify.constructions import Construction
from analyzer.verify.cut import Cut, shared_prefix
from analyzer.verify.junctions import Junction, soft_misfit
from analyzer.verify.mutants import ADDED_END, Mutant, mutants
from analyzer.verify.pieces import Piece, misfit, mismatch
from analyzer.verify.samples import EMPTY_TURN
from analyzer.verify.trips import Traveller, Trip
from analyzer.verify.writer import Thought, applicable, is_written, turn_pieces

PARSES: Final = 6
"""How many texts a mutant is parsed from that no writer killed."""


OTHER_THOUGHTS: Final[Mapping[Thought, str]] = {
    "marked": "reasoning: some turns without any are written with its opener and closer and nothing between them",
    "none": "reasoning: some turns without any have nothing in its place",
}
"""Ways to write a turn without reasoning that a spec's `empty` does not say, and what is then not proven of it."""


@dataclass(frozen=True, slots=True)
class Witness:
    """A trip that held, as a text that mutants are tried on.

    ``text`` is the turn with its header; ``exact``: the spec's writer writes the very same text; ``rest``: the very same text behind
    a generation prompt that is written otherwise than the beginning of a turn.
    """

    adapted: Adapted
    cut: Cut
    message: Message
    text: str
    exact: bool
    label: str = ""
    rest: bool = False
    prompt: str = ""
    whole: bool = True
    """False: the rest of a turn that called, behind a result; it has no header and may lack what begins a turn."""

    @classmethod
    def of(cls, spec: Spec, trip: Trip, cut: Cut, message: Message) -> Witness:
        """The witness that a text with this message is."""
        text = _from_header(spec, trip, cut)
        pieces = turn_pieces(spec, message)
        exact = mismatch(pieces, text) is None
        rest = not exact and cut.by == "prompt" and _is_written_behind(spec, pieces, _prompt_of(trip), cut)
        whole = not trip.after_result or cut.by == "prompt" or cut.before.endswith(spec.turn.header)
        whole = whole and (cut.by == "history" or not trip.after_result or bool(trip.before.prompt_text))
        return cls(trip.adapted, cut, message, text, exact, trip.label, rest, _prompt_of(trip), whole)


def _prompt_of(trip: Trip) -> str:
    """What the generation prompt added, as far as it can be told."""
    known, prompt = trip.before.prompt_text, trip.before.prompt or ""
    return prompt[shared_prefix(trip.before.bare or "", prompt) :] if known is None else known


def witnesses(spec: Spec, trips: Sequence[Trip]) -> list[Witness]:
    """The trips that held, each with the message that came out."""
    return [
        Witness.of(spec, trip, trip.cut, trip.reading.message)
        for trip in trips
        if trip.cut is not None and trip.reading is not None and not trip.failures
    ]


def witnesses_of_constructions(spec: Spec, made: Sequence[Construction]) -> list[Witness]:
    """The constructed texts that held."""
    return [Witness.of(spec, one.trip, one.cut, one.message) for one in made]


def _from_header(spec: Spec, trip: Trip, cut: Cut) -> str:
    """The turn's text with its header, and with what the prompt had written of it."""
    header, prompt = spec.turn.header, trip.before.prompt_text
    if cut.by == "history":
        return header + cut.text
    if prompt is None:
        at = cut.before.rfind(header)
        return (cut.before[at:] if header and at >= 0 else header) + cut.text
    opened = cut.before[cut.before.rfind(header) :] if header and header in cut.before else ""
    if opened and not prompt and (not trip.before.last or trip.before.last not in opened):
        return opened + cut.text  # the template opens a turn behind every conversation
    if header and header in prompt:
        return prompt[prompt.rindex(header) :] + cut.text
    if prompt and (not header or header.startswith(prompt)):
        return prompt + cut.text
    if trip.after_result and prompt.strip():
        return header + prompt.lstrip() + cut.text  # the turn goes on behind a result, without its header
    return cut.text if cut.text.startswith(header) else header + cut.text


@dataclass(frozen=True, slots=True)
class Unexplained:
    """Where renders hold characters that are neither literals of the spec nor values of slots."""

    failures: list[str]
    junctions: list[str]
    """White space where two segments meet, as notes."""
    respaced: list[tuple[Witness, Junction]]
    """Turns in which nothing but white space between two literals is written otherwise."""


def unexplained(spec: Spec, known: Sequence[Witness]) -> Unexplained:
    """Hold every text against what the spec's writer writes.

    A turn that is the last may lack the literals at its end, which mid-conversation shows; how a value is spelt inside its slot is no
    matter here.  White space at a junction may differ where all the literals that meet there stand exactly elsewhere.
    """
    failures: list[str] = []
    notes: list[str] = []
    respaced: list[tuple[Witness, Junction]] = []
    exact = Exact.of(spec, known)
    for witness in known:
        if witness.exact or not witness.whole or witness.adapted.case is EMPTY_TURN:
            continue
        pieces = turn_pieces(spec, witness.message)
        found = misfit(pieces, witness.text)
        if found is None or _is_tolerable(spec, witness, found):
            continue
        other = next(
            (note for way, note in OTHER_THOUGHTS.items() if _fits_thought(spec, witness, way)), None
        )
        if other is not None:
            notes.append(other)
            continue
        left, junctions = soft_misfit(pieces, witness.text)
        proven = all(path in exact.literals for junction in junctions for path in junction.paths)
        if proven and (left is None or _is_tolerable(spec, witness, left)):
            notes += map(str, junctions)
            continue
        left, junctions = soft_misfit(pieces, witness.text, inside=True)
        if left is None and exact.holds(junctions):
            respaced.append((witness, junctions[0]))
            continue
        at, piece = found
        wanted = (
            "nothing more"
            if piece is None
            else f"{piece.text[:60]!r}" + (f" ({piece.path})" if piece.path else "")
        )
        failures.append(
            f"{witness.label}: the template writes {witness.text[at : at + 60]!r} where the spec has {wanted}"
        )
    return Unexplained(failures, notes, respaced)


@dataclass(frozen=True, slots=True)
class Exact:
    """What some turn is written with to the letter: the literals of a spec by their places, and which follow each other."""

    literals: frozenset[str]
    pairs: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, spec: Spec, known: Sequence[Witness]) -> Exact:
        """What stands exactly in whole turns."""
        turns = [
            [piece.path for piece in turn_pieces(spec, witness.message)]
            for witness in known
            if witness.exact and witness.whole
        ]
        pairs = {pair for turn in turns for pair in pairwise(turn)}
        return cls(frozenset(path for turn in turns for path in turn), frozenset(pairs))

    def holds(self, junctions: Sequence[Junction]) -> bool:
        """Whether the literals that meet at each junction stand exactly somewhere, one behind the other."""
        met = [pair for junction in junctions for pair in pairwise(junction.paths)]
        return all(path in self.literals for junction in junctions for path in junction.paths) and all(
            pair in self.pairs for pair in met
        )


def _fits_thought(spec: Spec, witness: Witness, thought: Thought) -> bool:
    if witness.message.reasoning_content:
        return False
    return mismatch(turn_pieces(spec, witness.message, thought=thought), witness.text) is None


def _is_tolerable(spec: Spec, witness: Witness, found: tuple[int, Piece | None]) -> bool:
    at, piece = found
    if _is_rest(witness, at):
        return True
    if piece is None:
        return witness.text[at:].strip() in spec.grammar.stops
    return piece.codec is not None or (bool(piece.path) and at == len(witness.text))


def _is_rest(witness: Witness, at: int) -> bool:
    """Whether only what the generation prompt wrote is otherwise, and all behind it is as the spec writes it."""
    if witness.cut.by == "history" or at >= len(witness.text) - len(witness.cut.text):
        return False
    return witness.rest


def _is_written_behind(spec: Spec, pieces: Sequence[Piece], prompt: str, cut: Cut) -> bool:
    """Whether the pieces but for the first ones are the text, and the first ones are what the prompt says."""
    return any(
        mismatch(pieces[start:], cut.text) is None and _says(spec, pieces[:start], prompt)
        for start in range(1, len(pieces))
    )


def _says(spec: Spec, head: Sequence[Piece], prompt: str) -> bool:
    """Whether a prompt says the end of these pieces, or some of them and reasoning that is over; white space is free."""
    said = "".join(prompt.split())
    if "".join("".join(piece.text for piece in head).split()).endswith(said):
        return True
    known = [spec.turn.header, *(piece.text for piece in head)]
    for segment in spec.reasoning:
        known += [segment.empty, segment.open, segment.close]
    for literal in sorted(("".join(text.split()) for text in known), key=len, reverse=True):
        said = said.replace(literal, "")
    return not said


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


def why_unnoticed(mutant: Mutant, spec: Spec, known: Sequence[Witness]) -> str:
    """Why no text could kill a mutant of `spec`: what the template would have to write, and does not."""
    if mutant.path.startswith("turn.segments["):
        number = _segment_number(mutant)
        segment = spec.turn.segments[number]
        turns = [(witness.message, applicable(spec, witness.message)) for witness in known]
        having = [(message, found) for message, found in turns if number in dict(found)]
        written = [found for message, found in having if is_written(segment, message)]
        if mutant.path.endswith(".empty"):
            if len(written) == len(having):
                return "the template writes no turn of that kind without it"
        elif not written:
            return "the template writes no turn with it"
        elif mutant.path.endswith((".end", ".end.literal")) and all(
            found[-1][0] != number for found in written
        ):
            return "no turn ends with it"
    return "every turn that the template writes is written and read alike with it"


def is_killed(mutant: Mutant, traveller: Traveller, known: Sequence[Witness]) -> bool:
    """Whether some text is written or read otherwise by the mutant."""
    likely = [witness for witness in known if _concerns(mutant, witness)]
    for witness in likely:
        if (witness.exact or witness.rest) and _writes_otherwise(mutant.spec, witness):
            return True
    return any(_reads_otherwise(mutant, traveller, witness) for witness in _most_telling(likely))


def _writes_otherwise(spec: Spec, witness: Witness) -> bool:
    pieces = turn_pieces(spec, witness.message)
    if witness.rest:
        return not _is_written_behind(spec, pieces, witness.prompt, witness.cut)
    return mismatch(pieces, witness.text) is not None


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
    if mutant.path.endswith((".empty", ".when", ".reasoning", ".end", ".end.literal")):
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
