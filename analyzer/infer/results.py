"""S-comparisons: how tool results go back.

S1  a result after one call: what stands between the calls and the result, and after it
S2  two results: whether they share a turn
S3  the header of the result's turn against the user's
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from analyzer.infer.slots import counted_literal
from analyzer.infer.turn import Frame, Regions
from analyzer.observe.alignment import align
from analyzer.observe.lexemes import common_suffix, is_marker, lexemes
from analyzer.observe.session import Session
from analyzer.observe.variants import Variants
from analyzer.spec.model import Results
from analyzer.spec.parts import ContentSlot, IdSlot, IndexSlot, NameSlot, Part, ResultPart


def find_results(
    session: Session, seen: Variants, regions: Regions, frame: Frame, tail: str, calls_end: str
) -> Results | None:
    """Find the result markers; None when a result is not rendered behind its calls.

    `calls_end` is the text that closes the calls section (the last call's closer included), `tail` what ends the turn.
    """
    needles = session.needles
    one = regions.cut(seen["c1a2+R"]) or regions.cut(seen["c1a2+r"])
    two = regions.cut(seen["c2a2+R"])
    if one is None or needles.results[0] not in one:
        return None
    ends = (
        tail,
        frame.end,
        frame.end.lstrip(),
        "",
    )  # the last turn may end otherwise than one in mid-conversation
    tried = (_around(one, needles.results[0], calls_end + end) for end in ends)
    before, after = next((found for found in tried if found[0] is not None), (None, ""))
    if before is None:
        before, after = _around(
            one, needles.results[0], _as_written(one, needles.results[0], calls_end + tail)
        )
    if before is None:
        before, after = _around(one, needles.results[0], _last_marker(one, needles.calls[0].values[1]))
    if not (
        calls_end + tail + frame.end
    ).strip():  # nothing closes a call, so the turn itself says where it ends
        before, after = _behind(one, needles.results[0], regions.cut(seen["c1a2"]))
    if before is None or any(value in before for value in needles.calls[0].values):
        return None  # it stands before the calls, as in a template that writes the whole conversation as one document
    between = None
    if two is not None and needles.results[0] in two and needles.results[1] in two:
        first = two.find(needles.results[0]) + len(needles.results[0])
        second = two.find(needles.results[1], first)
        between = two[first:second] if second >= 0 else None
    call, call2 = needles.calls[0], needles.calls[1]
    written_id = "written" if call.id in before + after else "none"
    written_name = "written" if call.name in before + after else "none"
    clean = _masked(before, call.name, call.id)
    if between is not None:
        between = _masked(between, call2.name, call2.id)
        between = _masked(between, call.name, call.id)
    cut = align(clean, between, _masked(after, call.name, call.id))
    content, opened, close = _unquote(cut.open, cut.close)
    header, opened = _header(cut.outer_open, opened, frame)
    role, grouping = _role(header, frame), "own_turn"
    if not header.strip():
        grouping = (
            "in_turn"
            if not frame.user_header.strip()
            or not (header + opened).strip().startswith(frame.user_header.strip()[:3])
            else "own_turn"
        )
    elif between is not None and cut.outer_open.strip():
        grouping = "shared_turn"
    found = Results(
        role=role,
        header=header,
        open=opened,
        close=close,
        separator=cut.separator,
        end=cut.outer_close,
        id=written_id,
        name=written_name,
        content=content,
        grouping=grouping,
    )
    return _with_slots(found)


def _with_slots(found: Results) -> Results:
    """Write a result that names or counts its call as parts; a header that does is a part of each result that has a turn of its own."""
    counted = counted_literal((found.header, found.separator)) if found.separator else None
    if counted is not None and not found.end:  # what stands between two results is the header of the second
        parts = (*_slotted(counted), *_slotted([found.open]), ContentSlot(), *_slotted([found.close]))
        changes = {"header": "", "open": "", "close": "", "separator": "", "grouping": "own_turn"}
        return found.model_copy(update={**changes, "parts": parts})
    header, own = found.header, ""
    if found.grouping == "own_turn" and (at := _first_slot(header)) >= 0:
        header, own = header[:at], header[at:]
    if _first_slot(own + found.open + found.close) < 0:
        return found
    parts = (*_slotted([own + found.open]), ContentSlot(), *_slotted([found.close]))
    return found.model_copy(update={"header": header, "open": "", "close": "", "parts": parts})


def _slotted(parts: Sequence[Part]) -> Iterator[ResultPart]:
    """Turn the words for names and ids in literals into slots."""
    for part in parts:
        if isinstance(part, str):
            yield from (_SLOTS.get(text, text) for text in _SLOT.split(part) if text)
        elif isinstance(part, IndexSlot):
            yield part


_SLOTS: Final[Mapping[str, ResultPart]] = {
    "{name}": NameSlot(),
    "{id}": IdSlot(),
}
_SLOT: Final = re.compile(r"(\{name\}|\{id\})")


def _first_slot(text: str) -> int:
    found = _SLOT.search(text)
    return found.start() if found else -1


def _last_marker(text: str, value: str) -> str:
    """Return the text from a call's last value to the first marker after it, the end of a call that closes otherwise than usual."""
    rest = text.partition(value)[2]
    marker = ""
    for piece in lexemes(rest):
        marker += piece
        if is_marker(piece):
            break
    return value + marker


def _as_written(text: str, needle: str, marker: str) -> str:
    """Return what stands for `marker` before the needle, other white space in it; a text that is not there when nothing does."""
    pieces = [re.escape(piece) for piece in lexemes(marker) if piece.strip()]
    found = re.findall(r"\s*".join(pieces), text.partition(needle)[0]) if pieces else []
    return found[-1] if found else marker


def _around(text: str, needle: str, marker: str) -> tuple[str | None, str]:
    """Return what stands between the last `marker` before `needle` and the needle, and what follows the needle."""
    at = text.find(needle)
    start = text.rfind(marker, 0, at) if marker else 0
    if start < 0:
        return None, ""
    return text[start + len(marker) : at], text[at + len(needle) :]


def _behind(text: str, needle: str, turn: str | None) -> tuple[str | None, str]:
    """Return what stands between the turn, as it is written alone, and the needle, and what follows the needle."""
    if not turn or not text.startswith(turn) or needle not in text[len(turn) :]:
        return None, ""
    before, _, after = text[len(turn) :].partition(needle)
    return before, after


def _masked(text: str, name: str, call_id: str) -> str:
    return text.replace(name, "{name}").replace(call_id, "{id}")


def _unquote(opened: str, close: str) -> tuple[str, str, str]:
    """Take the quotes of a JSON string off the markers."""
    if opened.endswith('\\"') and close.startswith('\\"'):
        return "json_text", opened, close
    if opened.endswith('"') and close.startswith('"'):
        return "json", opened[:-1], close[1:]
    return "raw", opened, close


def _header(outer: str, opened: str, frame: Frame) -> tuple[str, str]:
    """S3: split the turn's header off the result's opener."""
    if outer.strip():
        return outer, opened
    user = frame.user_header
    text = outer + opened
    if user.strip() and text.startswith(user):
        return user, text[len(user) :]
    frame_text = frame.header.strip()
    first = next((piece for piece in lexemes(frame_text) if is_marker(piece)), "")
    if first and text.strip().startswith(first):  # the header of another role begins with the same marker
        shape = [is_marker(piece) for piece in lexemes(frame.header)]
        pieces = lexemes(text)
        count = len(shape)
        if [is_marker(piece) for piece in pieces[:count]] == shape:
            return "".join(pieces[:count]), "".join(pieces[count:])
    return outer, opened


def _role(header: str, frame: Frame) -> str:
    """Return the role word: what the header has where the assistant's header has its own."""
    if header.strip() and header.strip() == frame.user_header.strip():
        return "user"
    slot = _first_slot(header)
    header = header if slot < 0 else header[:slot]  # what follows is the call's
    shared_end = common_suffix(header, frame.header)
    middle = header[: len(header) - len(shared_end)]
    words = [piece for piece in lexemes(middle) if piece.isidentifier()]
    if words:
        return words[-1] if slot < 0 else words[0]
    marks = [piece for piece in lexemes(header) if is_marker(piece)]
    return marks[-1] if marks else json.dumps(header)[1:-1].strip()
