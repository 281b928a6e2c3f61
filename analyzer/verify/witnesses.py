"""Witnesses: the smallest conversation that shows a defect."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from analyzer.spec.model import Defect, Spec
from analyzer.verify.adapt import Adapter
from analyzer.verify.cases import Call, Case, Reply, strings
from analyzer.verify.compare import Difference
from analyzer.verify.constructions import Construction
from analyzer.verify.defects import KINDS, Finding
from analyzer.verify.judgement import Judgement, judge
from analyzer.verify.junctions import Junction
from analyzer.verify.literals import call_literals
from analyzer.verify.malformed import BROKEN, excuse
from analyzer.verify.mutation import Witness
from analyzer.verify.trips import Stage, Traveller, Trip, render_trips

_MARKER: Final = re.compile(r"</?\w[^<>]*>")
"""A tag, opening or closing."""
_ROUNDS: Final = 4
_SHOWN: Final = 600


def defects_of(
    judged: Sequence[Judgement], adapter: Adapter, stage: Stage, traveller: Traveller
) -> Iterator[Defect]:
    """One defect for each kind that was found, with its smallest witness."""
    held = [one for one in judged if one.outcome == "held"]
    by_kind: dict[str, list[Judgement]] = {}
    for one in judged:
        if one.outcome == "defect":
            for kind in one.kinds:
                by_kind.setdefault(kind, []).append(one)
    for kind, found in by_kind.items():
        smallest = min(found, key=lambda one: _size(one.trip.adapted.reply))
        smallest = _shrink(kind, smallest, held, (adapter, stage, traveller))
        yield Defect(kind=kind, message=KINDS[kind], witness=_witness(kind, smallest))


_STYLES: Final = {
    "non_ascii_escaped": ("Größe", ("Gr\\u00f6\\u00dfe", "Gr\\u00f6\u00dfe")),
    "html_escaped": ("<b>bold</b>", ("&lt;b&gt;bold&lt;/b&gt;", "\\u003cb\\u003ebold\\u003c/b\\u003e")),
}
"""Spellings that lose nothing and that no model should have to learn: what is sent, and how it must not be written."""


def style_defects(judged: Sequence[Judgement]) -> Iterator[Defect]:
    """One defect for each needless way of spelling, with the smallest turn that has it."""
    for kind, (plain, spellings) in _STYLES.items():
        found = [
            one
            for one in judged
            if any(plain in text for call in one.trip.adapted.reply.calls for text in strings(call.arguments))
            and plain not in one.trip.written
            and any(spelling in one.trip.written for spelling in spellings)
        ]
        if found:
            trip = min(found, key=lambda one: _size(one.trip.adapted.reply)).trip
            witness = {
                "messages": [*trip.adapted.before, trip.adapted.turn],
                "render": trip.written[-_SHOWN:],
            }
            yield Defect(kind=kind, message=KINDS[kind], witness={**witness, "proof": "render"})


def escaped_markup(
    spec: Spec, judged: Sequence[Judgement], adapter: Adapter, stage: Stage
) -> Iterator[Defect]:
    """The defect of a template that escapes what it writes itself around calls: shown by one call with one argument, if that will do."""
    kind = "markup_escaped"
    texts = () if spec.calls is None else call_literals(spec.calls.layouts[0])
    escaped = [text for text in texts if _MARKER.search(html.unescape(text)) and not _MARKER.search(text)]
    found = [one.trip for one in judged if any(text in one.trip.written for text in escaped)]
    if not found:
        return
    smallest = min(found, key=lambda trip: _size(trip.adapted.reply))
    case, setting = smallest.adapted.case, smallest.adapted.setting
    smaller = [
        (
            replace(case.with_reply(Reply(None, None, (Call(call.name, {key: value}),))), place="first"),
            setting,
        )
        for call in smallest.adapted.reply.calls
        for key, value in call.arguments.items()
    ]
    rendered = [trip for trip in render_trips(adapter, stage, smaller) if isinstance(trip, Trip)]
    found = [trip for trip in rendered if any(text in trip.written for text in escaped)]
    trip = min([*found, smallest], key=lambda trip: _size(trip.adapted.reply))
    witness = {"messages": [*trip.adapted.before, trip.adapted.turn], "render": trip.written[-_SHOWN:]}
    yield Defect(kind=kind, message=KINDS[kind], witness={**witness, "proof": "render"})


def odd_prompt(made: Construction, trips: Sequence[Trip]) -> Defect:
    """The defect of a template whose generation prompt says what no turn of the history begins with: the smallest turn shows it."""
    prompt = made.trip.before.prompt_text
    alike = [one for one in trips if prompt is not None and one.before.prompt_text == prompt]
    trip = min([made.trip, *alike], key=lambda one: one.adapted.size)
    return _prompted("prompt_not_in_history", trip, trip.written)


def respaced_prompt(trips: Sequence[Trip]) -> Defect:
    """The defect of a template whose generation prompt spaces the beginning of a turn otherwise than history does."""
    trip = min(trips, key=lambda one: one.adapted.size)
    return _prompted("indentation_leaks", trip, trip.full.removeprefix(trip.before.bare or ""))


def respaced_turn(found: Sequence[tuple[Witness, Junction]]) -> Defect:
    """The defect of a template that writes other white space between two literals in some turns than in others."""
    one, junction = min(found, key=lambda item: item[0].adapted.size)
    witness: dict[str, Any] = {"messages": [*one.adapted.before, one.adapted.turn]}
    if one.adapted.setting.variables:
        witness["variables"] = dict(one.adapted.setting.variables)
    witness |= {"render": one.text[-_SHOWN:], "proof": "render"}
    seen = str(Difference("white space", junction.wanted, junction.seen))
    return Defect(
        kind="indentation_leaks", message=KINDS["indentation_leaks"], witness={**witness, "seen": seen}
    )


def _prompted(kind: str, trip: Trip, render: str) -> Defect:
    return Defect(kind=kind, message=KINDS[kind], witness=prompt_witness(trip, render))


def prompt_witness(trip: Trip, render: str) -> dict[str, Any]:
    """A conversation with what the template writes of its turn, and as the prompt for one."""
    adapted, before = trip.adapted, trip.before
    witness: dict[str, Any] = {"messages": [*adapted.before, adapted.turn]}
    if adapted.setting.variables:
        witness["variables"] = dict(adapted.setting.variables)
    prompt = before.prompt_text or (before.prompt or "")[-_SHOWN:]
    return {**witness, "prompt": prompt, "render": render[-_SHOWN:], "proof": "render"}


def _witness(kind: str, one: Judgement) -> dict[str, Any]:
    adapted = one.trip.adapted
    finding = _finding(kind, one)
    shown: dict[str, Any] = {"messages": [*adapted.before, adapted.turn]}
    if adapted.setting.variables:
        shown["variables"] = dict(adapted.setting.variables)
    shown["render"] = (one.trip.last or one.trip.written)[-_SHOWN:]
    shown["proof"] = finding.proof
    shown["seen"] = str(finding.difference)
    return shown


def _finding(kind: str, one: Judgement) -> Finding:
    return next(finding for finding in one.findings if finding.kind == kind)


def _size(reply: Reply) -> int:
    values = [[call.name, call.arguments] for call in reply.calls]
    return len(json.dumps([reply.content, reply.reasoning, values]))


def _shrink(
    kind: str, one: Judgement, held: Sequence[Judgement], means: tuple[Adapter, Stage, Traveller]
) -> Judgement:
    """Drops what is not needed, one round of renders at a time, until nothing more can be dropped."""
    adapter, stage, traveller = means
    for _ in range(_ROUNDS):
        case = replace(one.trip.adapted.case, reply=one.trip.adapted.reply)
        smaller = sorted(_smaller(case, _finding(kind, one)), key=lambda made: _size(made.reply))
        if kind in BROKEN:
            smaller = [made for made in smaller if _is_turn(made.reply, case.reply)]
        if _says_less(case.reply, one.trip.adapted.case.reply):
            smaller.append(case)
        setting = one.trip.adapted.setting
        trips = [
            trip
            for trip in render_trips(adapter, stage, [(made, setting) for made in smaller])
            if isinstance(trip, Trip)
        ]
        for trip in trips:
            traveller.travel(trip)
        made = judge(trips, adapter, stage)
        if kind in BROKEN:
            excuse(traveller.spec, [*held, *made], adapter, stage, traveller)
        shown = [found for found in made if found.outcome == "defect" and kind in found.kinds]
        if not shown:
            return one
        one = shown[0]
    return one


def _is_turn(smaller: Reply, reply: Reply) -> bool:
    """Whether a smaller turn still says something, and calls where the other one does."""
    said = bool(smaller.content or smaller.reasoning or smaller.calls)
    return said and bool(smaller.calls) == bool(reply.calls)


def _says_less(reply: Reply, sent: Reply) -> bool:
    """Whether a reply lacks reasoning or calls that were sent with it, and that the template never writes."""
    return (reply.reasoning is None and sent.reasoning is not None) or bool(sent.calls and not reply.calls)


def _smaller(case: Case, finding: Finding) -> Iterator[Case]:
    """Cases with one thing less, those most likely to do first."""
    reply, slot, number = case.reply, finding.difference.slot, finding.difference.call
    if reply.reasoning is not None and slot != "reasoning":
        yield case.with_reply(replace(reply, reasoning=None))
    if reply.content is not None and slot != "content":
        yield case.with_reply(replace(reply, content=None))
        if reply.reasoning is not None:
            yield case.with_reply(replace(reply, content=None, reasoning=None))
    for at in range(len(reply.calls)):
        if at != number:
            yield case.with_reply(replace(reply, calls=(*reply.calls[:at], *reply.calls[at + 1 :])))
    kept = finding.difference.path[:1]
    bare = tuple(
        Call(call.name, _only(call, kept if at == number else ())) for at, call in enumerate(reply.calls)
    )
    if bare != reply.calls or any(len(one.arguments) > len(kept) for one in reply.calls):
        yield case.with_reply(replace(reply, calls=bare))
    if case.place != "first":
        yield replace(case, place="first")


def _only(call: Call, keys: Sequence[object]) -> dict[str, Any]:
    return {key: value for key, value in call.arguments.items() if key in keys}
