"""The parts of a turn with their names: header, reasoning, text, the section's ends, each call, what is between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from analyzer.chat import Message
from analyzer.report.spans import Found
from analyzer.spec.model import Spec
from analyzer.verify.pieces import Piece
from analyzer.verify.writer import call_pieces


def parts(
    spec: Spec, message: Message, pieces: Sequence[Piece], found: Iterable[Found]
) -> dict[str, list[Found]]:
    """What was found of a turn's pieces, by the part they belong to, in the order of the text.

    What no piece explains belongs to the part before it.  A part that stands twice, such as a header, is numbered.
    """
    labels = list(_labels(spec, message, pieces))
    out: dict[str, list[Found]] = {}
    last = label = ""
    for one in found:
        wanted = labels[one.number] if one.number is not None else last or "header"
        if wanted != last:
            times = sum(known.split(" · ")[0] == wanted for known in out)
            label = wanted if not times else f"{wanted} · {times + 1}"
        out.setdefault(label, []).append(one)
        last = wanted
    return out


def _labels(spec: Spec, message: Message, pieces: Sequence[Piece]) -> Iterator[str]:
    """The part that each piece belongs to."""
    segments = {f"turn.segments[{n}]": segment.kind for n, segment in enumerate(spec.turn.segments)}
    left = _lengths(spec, message)
    call, label = 0, "header"
    for piece in pieces:
        segment = segments.get(piece.path.split("]")[0] + "]", "")
        if piece.path == "turn.header":
            label = "header"
        elif piece.path.endswith(".end.literal"):
            label = "end"
        elif segment in ("reasoning", "content") or piece.slot in ("reasoning", "content"):
            label = "reasoning" if "reasoning" in (segment, piece.slot) else "text"
        elif segment == "calls" and ".layouts[" not in piece.path:
            label = {"open": "section opens", "close": "section closes"}.get(
                piece.path.rpartition(".")[2], "between calls"
            )
        else:
            while call < len(left) and not left[call]:
                call += 1
            if call < len(left):
                left[call] -= 1
            label = f"call {min(call, len(left) - 1) + 1}"
        yield label


def _lengths(spec: Spec, message: Message) -> list[int]:
    """How many pieces each call is made of."""
    calls = spec.calls
    if calls is None:
        return []
    return [
        sum(bool(piece.text) or piece.codec is not None for piece in call_pieces(calls.layouts[0], call, n))
        for n, call in enumerate(message.tool_calls)
    ]
