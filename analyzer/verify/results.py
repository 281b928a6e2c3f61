"""Tool results: what stands behind a call turn, compared with what the spec would write.

The runtime does not read results, so their literals are proved by writing alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzer.chat import ToolCall
from analyzer.spec.model import Results, Spec
from analyzer.spec.parts import IdSlot, IndexSlot, NameSlot
from analyzer.verify.mutants import literal_changes
from analyzer.verify.pieces import Piece, mismatch
from analyzer.verify.trips import Trip
from analyzer.verify.writer import identity


@dataclass(frozen=True, slots=True)
class Answer:
    """One result: the call that it answers and its content."""

    call: ToolCall
    content: str


def write_results(spec: Spec, answers: Sequence[Answer]) -> str:
    """The results as the template would write them.  The spec must have results."""
    if spec.results is None:
        raise ValueError("the spec has no results")
    return "".join(piece.text for piece in results_pieces(spec.results, answers))


def results_pieces(results: Results, answers: Sequence[Answer]) -> list[Piece]:
    """The pieces of the results of one turn."""
    pieces: list[Piece] = []
    for index, answer in enumerate(answers):
        own = results.grouping == "own_turn"
        if own or index == 0:
            pieces.append(Piece.literal(results.header, "results.header"))
        else:
            pieces.append(Piece.literal(results.separator, "results.separator"))
        pieces += _result_pieces(results, answer, index)
        if own or index == len(answers) - 1:
            pieces.append(Piece.literal(results.end, "results.end"))
    return pieces


def _result_pieces(results: Results, answer: Answer, index: int) -> Iterator[Piece]:
    if not results.parts:
        yield Piece.literal(results.open, "results.open")
        yield _content(results, answer)
        yield Piece.literal(results.close, "results.close")
        return
    for number, part in enumerate(results.parts):
        if isinstance(part, str):
            yield Piece.literal(part, f"results.parts[{number}]")
        elif isinstance(part, NameSlot):
            yield Piece.raw(answer.call.name, "name")
        elif isinstance(part, IdSlot):
            yield Piece.raw(identity(part, answer.call, index), "id")
        elif isinstance(part, IndexSlot):
            yield Piece.number(part.start + index)
        else:
            yield _content(results, answer)


def _content(results: Results, answer: Answer) -> Piece:
    text = answer.content
    for _ in range({"raw": 0, "json": 1, "json_text": 2}[results.content]):
        text = json.dumps(text, ensure_ascii=False)
    return Piece.raw(text, "result")


def check_results(spec: Spec, followed: Sequence[tuple[Trip, str]]) -> Iterator[str]:
    """What is not proven of the results: where they differ from the template's, and changes that nobody would notice."""
    known = [
        (answers, behind)
        for trip, behind in followed
        if (answers := _answers(trip)) and answers[0].content in behind
    ]
    if spec.results is None:
        if known:
            yield "results: the template writes tool results, the spec has none"
        return
    fitting = [(answers, behind) for answers, behind in known if _fits(spec.results, answers, behind)]
    if not known:
        yield "results: no result was rendered behind a call"
    elif not fitting:
        answers, behind = known[0]
        wanted = write_results(spec, answers)
        yield f"results: the template writes {behind[:200]!r}, the spec {wanted[:200]!r}"
    elif len(fitting) < len(known):
        yield f"results: {len(known) - len(fitting)} of {len(known)} renders are written otherwise than the spec says"
    if fitting:
        yield from _unnoticed(spec.results, fitting)


def _answers(trip: Trip) -> list[Answer]:
    calls = trip.adapted.truth.tool_calls
    contents = [message["content"] for message in trip.adapted.after()]
    return [Answer(call, content) for call, content in zip(calls, contents, strict=True)] if calls else []


def _fits(results: Results, answers: Sequence[Answer], behind: str) -> bool:
    pieces = results_pieces(results, answers)
    return any(mismatch(pieces, text, exact=True) is None for text in (behind, behind.lstrip()))


def _unnoticed(results: Results, fitting: Sequence[tuple[list[Answer], str]]) -> Iterator[str]:
    """The literals that can be changed without any render telling."""
    for name in ("header", "open", "close", "separator", "end"):
        if (results.parts and name in ("open", "close")) or (
            results.grouping == "own_turn" and name == "separator"
        ):
            continue  # not used
        for change, text in literal_changes(getattr(results, name)):
            mutant = results.model_copy(update={name: text})
            if all(_fits(mutant, answers, behind) for answers, behind in fitting):
                yield f"results.{name}: {change}"
                break
