"""Defects that mid-conversation shows, each with the smallest turn that does when a message follows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from analyzer.spec.model import Defect, Spec
from analyzer.verify.adapt import Adapter
from analyzer.verify.cases import Call, Reply
from analyzer.verify.defects import KINDS, Proof
from analyzer.verify.middles import MiddleFindings, check_middles
from analyzer.verify.trips import Stage, Traveller, Trip, render_trips

_PROOFS: Final[dict[str, Proof]] = {
    "content_moved_behind_results": "render",
    "content_lost_in_history": "absent",
    "turn_not_closed": "same_render",
    "turn_changed_in_history": "render",
}


def followed_defects(
    spec: Spec, adapter: Adapter, stage: Stage, traveller: Traveller, middles: MiddleFindings
) -> Iterator[Defect]:
    """One defect for each kind that mid-conversation showed."""
    for kind, proof in _PROOFS.items():
        found = _of_kind(kind, middles)
        if not found:
            continue
        trip = min(found, key=lambda one: one.adapted.size)
        for smaller in _smaller(trip, adapter, stage, traveller):
            if _of_kind(kind, check_middles(spec, adapter, stage, traveller, [smaller])):
                trip = smaller
                break
        adapted = trip.adapted
        messages = [*adapted.before, adapted.turn, *adapted.after()]
        yield Defect(kind=kind, message=KINDS[kind], witness={"messages": messages, "proof": proof})


def _of_kind(kind: str, middles: MiddleFindings) -> Sequence[Trip]:
    return {
        "content_moved_behind_results": middles.content_moved,
        "content_lost_in_history": middles.content_lost,
        "turn_not_closed": middles.not_closed,
        "turn_changed_in_history": middles.changed,
    }[kind]


def _smaller(trip: Trip, adapter: Adapter, stage: Stage, traveller: Traveller) -> Iterator[Trip]:
    """Turns that say less, behind one question, the smallest first."""
    reply = trip.adapted.reply
    bare = tuple(Call(call.name) for call in reply.calls[:1])
    replies = [Reply(reply.content, reply.reasoning if thinks else None, bare) for thinks in (False, True)]
    replies.append(Reply(reply.content, None, reply.calls[:1]))
    cases = [replace(trip.adapted.case.with_reply(one), place="first") for one in dict.fromkeys(replies)]
    for made in render_trips(adapter, stage, [(case, trip.adapted.setting) for case in cases]):
        if isinstance(made, Trip):
            traveller.travel(made)
            if made.cut is not None and made.reading is not None and not made.failures:
                yield made
