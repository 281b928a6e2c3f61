"""C-comparisons: how calls are written.

C1  decode JSON before the name needle (locate)
C2  slots of a call that is no JSON value (slots)
C3  counters, from three calls (slots)
C4  two calls against one: openers, closers, separator of calls, and of the section
C5  with and without text beside the calls: what joins text and calls
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from analyzer.infer.bodies import FoundBody, find_json, find_sequence, slotted
from analyzer.infer.items import ItemsCut
from analyzer.infer.locate import (
    json_bodies,
)
from analyzer.infer.turn import Frame, Regions, behind_header
from analyzer.observe.alignment import Cut, align
from analyzer.observe.lexemes import common_prefix, common_suffix, is_marker, lexemes
from analyzer.observe.session import Session
from analyzer.observe.variants import Variants
from analyzer.spec.parts import IndexSlot, Part


@dataclass(frozen=True, slots=True)
class CallsFinding:
    """What was found of the calls."""

    kind: str
    """`json` or `sequence`."""
    parts: tuple[Part, ...]
    """The body: from its first slot or brace to the end of its last."""
    open: str
    close: str
    section_open: str
    section_close: str
    separator: str
    array: bool
    parallel: bool
    lead: str
    """C5: what stands between text and calls and is not there without text."""
    before_text: str
    """What stands between the header and the text of a turn of text and calls."""
    before: str
    """What stands between the header and the calls of a turn without text: what other segments write when empty."""
    tail: str
    """What follows the calls section in a last turn."""
    content_position: str
    """`before`, `after` or `lost`."""
    after_calls: str = ""
    """Between the calls section and a text that stands behind it."""
    after_text: str = ""
    """What follows a text that stands behind the calls section."""
    name: tuple[str, ...] | str = ()
    arguments: tuple[str, ...] = ()
    arguments_codec: str = "json"
    id: tuple[str, ...] | None = None
    items: ItemsCut | None = None
    ambiguous: bool = False
    notes: tuple[str, ...] = field(default=())


def find_calls(session: Session, seen: Variants, regions: Regions, frame: Frame) -> CallsFinding | None:
    """Find the layout of calls; None when one call's name (or id) and arguments are not found in its turn."""
    one = regions.cut(seen["c1a2"])
    if one is None:
        return None
    needles = session.needles
    two = _several(regions.cut(seen["c2a2"]), needles.calls[1].name, needles.calls[1].id)
    three = _several(regions.cut(seen["c3a2"]), needles.calls[2].name, needles.calls[2].id)
    found = find_json(session, one, two, three) or find_sequence(session, seen, regions, one, two, three)
    if found is None:
        return None
    body, details = found
    return _frame_calls(session, seen, regions, frame, body, details)


def _several(region: str | None, name: str, call_id: str) -> str | None:
    return region if region is not None and (name in region or call_id in region) else None


def _frame_calls(
    session: Session,
    seen: Variants,
    regions: Regions,
    frame: Frame,
    body: FoundBody,
    details: dict[str, object],
) -> CallsFinding:
    """C4 and C5: cut the text around the bodies into call, section and turn."""
    bodies = body.two or body.one
    text, spans = bodies.text, bodies.spans
    before, after = text[: spans[0][0]], text[spans[-1][1] :].partition(session.needles.results[0])[0]
    before = behind_header(before, frame.header)
    content_in_shape = session.shape.empty_content == "text"
    empties = "" if content_in_shape else _respaced(before, frame.before_content)
    before = before[len(empties) :]
    between = text[spans[0][1] : spans[1][0]] if len(spans) > 1 else None
    array = (
        between is not None
        and between.strip() == ","
        and before.rstrip().endswith("[")
        and after.lstrip().startswith("]")
    )
    text_beside = _beside(session, seen, regions, details)
    beside = text_beside.lead
    before_text = behind_header(text_beside.before, frame.header)
    numbered = _numbered(before, between, after) if details["kind"] == "sequence" else None
    if numbered is not None and between is not None:  # calls begin with their number
        before, between = before.removesuffix(numbered.first), between.removesuffix(numbered.second)
        beside = beside.removesuffix(numbered.first) if beside is not None else None
        details = {**details, "parts": (*numbered.parts, *details["parts"])}  # type: ignore[misc]
    if array:
        assert between is not None  # noqa: S101
        cut = Cut(before, "", "", between, after)
    else:
        cut = align(before, between, after)
        if details["kind"] == "sequence" and cut.open.isspace() and cut.outer_open.strip():
            # white space alone tells no reader that a call begins: it opens the section, and separates calls
            section, separator = cut.outer_open + cut.open, cut.separator + cut.open
            cut = replace(cut, outer_open=section, open="", separator=separator)
    if between is None:
        cut = Cut(before, "", "", "", after)
    cut = _without_lead_of_others(cut, beside)
    opened, lead, more = _section_open(session, cut, beside, frame, empties)
    wrapper = before_text[len(empties) :] if before_text.startswith(empties) else ""
    if opened and wrapper.strip() and more.startswith(wrapper):
        opened, lead, more = (
            "",
            opened,
            more + opened,
        )  # a wrapper of the text that is written without text too
    close, tail = split_tail(cut.outer_close, opened, frame)
    if between is None:  # nothing tells the section from its only call
        cut, opened, close = Cut("", opened, close, "", ""), "", ""
    return CallsFinding(
        open=cut.open,
        close=cut.close,
        section_open=opened,
        section_close=close,
        separator=cut.separator,
        array=array,
        parallel=between is not None,
        lead=lead,
        before_text=before_text,
        before=empties + more,
        tail=tail,
        content_position=text_beside.position,
        after_calls=rest_of(text_beside.behind, cut.close + close),
        after_text=text_beside.rest,
        ambiguous=cut.ambiguous,
        **details,  # type: ignore[arg-type]
    )


def _respaced(text: str, beginning: str) -> str:
    """Return what `text` begins with of `beginning`, the white space behind its markers as it stands there; "" for nothing."""
    if text.startswith(beginning) or not any(map(is_marker, lexemes(beginning))):
        return beginning if text.startswith(beginning) else ""
    pattern = r"\s+".join(map(re.escape, re.split(r"\s+", beginning.strip())))
    found = re.match(rf"\s*{pattern}\s*", text)
    return found[0] if found is not None else ""


def _without_lead_of_others(cut: Cut, beside: str | None) -> Cut:
    """Take off a call's opener white space that stands before calls and between them, and not behind a text."""
    core = cut.open.lstrip()
    white = cut.open[: len(cut.open) - len(core)]
    if not white or not core or beside is None or beside.endswith(cut.open) or not beside.endswith(core):
        return cut
    return replace(cut, outer_open=cut.outer_open + white, open=core, separator=cut.separator + white)


_NUMBER_AT_END: Final = re.compile(r"[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class _Numbered:
    """What calls begin with where they are counted: the texts of the first and the second, and their parts."""

    first: str
    second: str
    parts: tuple[Part, ...]


def _numbered(before: str, between: str | None, after: str) -> _Numbered | None:
    """Find a number that stands before the first call, where the next one stands before the second (C3)."""
    if between is None:
        return None
    link = align(before, between, after).open
    first = _NUMBER_AT_END.search(before.removesuffix(link))
    second = _NUMBER_AT_END.search(between.removesuffix(link))
    if first is None or second is None or int(second[0]) != int(first[0]) + 1:
        return None
    parts: tuple[Part, ...] = (IndexSlot(start=int(first[0])), *([link] if link else []))
    return _Numbered(first[0] + link, second[0] + link, parts)


@dataclass(frozen=True, slots=True)
class _Beside:
    """Where the content of a turn of text and calls stands."""

    position: str
    lead: str | None = None
    """Between the content and the first body, None unless the content stands before it."""
    before: str = ""
    behind: str = ""
    """Between the body and a content that stands behind it."""
    rest: str = ""
    """What follows a content that stands behind the body."""


def _beside(session: Session, seen: Variants, regions: Regions, details: dict[str, object]) -> _Beside:
    """C5: find the content in a turn that has text and calls."""
    region = regions.cut(seen["c1a2+t"])
    content = session.needles.content
    if region is None or content not in region:
        return _Beside("lost")
    at = region.find(content)
    if details["kind"] == "json":
        bodies = json_bodies(region, 0, session.needles.calls[:1], 2)
        span = (bodies[0].start, bodies[0].end) if bodies else None
    else:
        found = slotted(region, session.needles.calls[:1], details["items"])  # type: ignore[arg-type]
        span = (found[0].start, found[0].end) if found else None
    if span is None:
        return _Beside("lost")
    if at > span[0]:
        return _Beside("after", behind=region[span[1] : at], rest=region[at + len(content) :])
    return _Beside("before", lead=region[at + len(content) : span[0]], before=region[:at])


def rest_of(text: str, beginning: str) -> str:
    """Return `text` without `beginning`, "" when it does not begin so."""
    return text[len(beginning) :] if text.startswith(beginning) else ""


def _section_open(
    session: Session, cut: Cut, beside: str | None, frame: Frame, empties: str
) -> tuple[str, str, str]:
    """Split what stands before the first call into section opener, lead and what else empty segments write."""
    rest = cut.outer_open
    content = session.needles.content
    if session.shape.empty_content == "text" and content in rest:
        rest = rest.partition(content)[2]
    if beside is not None and beside.endswith(cut.open):
        with_text = beside[: len(beside) - len(cut.open)]
        opened = _from_element(rest, common_suffix(rest, with_text), frame)
        if not opened.strip() and not empties and rest.strip():
            opened = ""  # white space that ends what an empty segment writes
        return opened, with_text[: len(with_text) - len(opened)], rest[: len(rest) - len(opened)]
    more = common_prefix(rest, frame.before_content)
    return rest[len(more) :], "", more


def _from_element(rest: str, opened: str, frame: Frame) -> str:
    """Cut from a section's opener what the empty segment before it ends with: `<|sep|>` of `...<|sep|><|open|>tools<|sep|>`.

    Both the segment before it and the opener share markers with their counterparts in turns of text; elements begin with the marker
    that the turn begins with.
    """
    overlap = opened[: max(0, len(common_prefix(rest, frame.before_content)) + len(opened) - len(rest))]
    first = next(iter(lexemes(frame.header.lstrip() or rest)), "")
    if not is_marker(first) or opened.startswith(first) or first not in overlap:
        return opened
    return opened[opened.index(first) :]


def split_tail(text: str, opened: str, frame: Frame) -> tuple[str, str]:
    """Split what follows the last call into the section's close and the turn's tail.

    The tail is what turns of text end with too; where they share nothing, the last marker ends the turn unless it closes what the
    section's opener opened.
    """
    always = frame.tail[len(frame.end) :] if frame.end.strip() and frame.tail.startswith(frame.end) else ""
    if always.strip() and text.endswith(always):  # what stands behind every conversation, such as a prompt
        text = text[: -len(always)]
        return _split_end(text, (frame.end,)) or (text, "")
    found = _split_end(text, (frame.tail, frame.end))
    if found is not None:
        return found
    if text.strip() and not opened.strip() and frame.tail.endswith(text):
        return "", text  # words that end turns of text too
    pieces = lexemes(text)
    marks = [at for at, piece in enumerate(pieces) if is_marker(piece)]
    opened_marks = [piece for piece in lexemes(opened) if is_marker(piece)]
    if marks and len(marks) > len(opened_marks):
        return "".join(pieces[: marks[-1]]), "".join(pieces[marks[-1] :])
    return text, ""


def _split_end(text: str, ends: tuple[str, ...]) -> tuple[str, str] | None:
    """Split `text` where it ends as turns of text do; None when it shares no marker with `ends`."""
    for end in ends:
        shared = common_suffix(text, end)
        if any(is_marker(piece) for piece in lexemes(shared)):
            at = text.find(shared.strip())  # the first one, where a template goes on behind the turn's end
            early = at < len(text) - len(shared)
            return (text[:at], shared.strip()) if early else (text[: len(text) - len(shared)], shared)
        if end.strip() and end.strip() in text:
            at = text.rfind(end.strip())
            behind = text[at + len(end.strip()) :]
            return text[:at], text[at:] if not behind.strip() else end.strip()
    return None
