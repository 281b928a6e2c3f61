"""Collisions: raw values that hold what ends them.

A format without escapes cannot write every string: a value that holds its own closer and then the next argument's
opener reads as two arguments, and no parser can know better.  Such values are tried and shown, never failed.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.chat import ToolCall
from analyzer.spec.model import Spec
from analyzer.verify.adapt import Adapter, Setting
from analyzer.verify.cases import Call, Case, Reply
from analyzer.verify.catalogue import GROUPS, keys_of
from analyzer.verify.literals import string_codec
from analyzer.verify.trips import Stage, Traveller, Trip, render_trips
from analyzer.verify.writer import write_call

_UNESCAPED = frozenset({"raw", "quoted", "dialect", "cdata"})


def colliding_value(spec: Spec) -> str | None:
    """A string that holds the whole text between two arguments' values; None where values are escaped."""
    calls = spec.calls
    if calls is None or string_codec(calls.layouts[0]).kind not in _UNESCAPED:
        return None
    one, other = keys_of(0, "string")
    written = write_call(spec, ToolCall(GROUPS[0][0].name, f'{{"{one}": "qBEFOREx", "{other}": "qAFTERx"}}'))
    start, end = written.find("qBEFOREx"), written.find("qAFTERx")
    if start < 0 or end < start:
        return None
    return f"one{written[start + len('qBEFOREx') : end]}two"


def collisions(
    spec: Spec, adapter: Adapter, stage: Stage, traveller: Traveller, setting: Setting
) -> Iterator[str]:
    """One line for each colliding value that did not come out as it was sent."""
    for name, opener in adapter.reserved.items():
        yield f"collision: a call of a tool named {name!r} begins like {opener!r}"
    value = colliding_value(spec)
    if value is None:
        return
    key = keys_of(0, "string")[0]
    reply = Reply(None, None, (Call(GROUPS[0][0].name, {key: value}),))
    for trip in render_trips(adapter, stage, [(Case("collision", reply, GROUPS[0]), setting)]):
        if isinstance(trip, Trip):
            traveller.travel(trip)
            if not trip.held:
                yield f"collision: a value that holds {value[3:-3]!r} is read as the end of the value"
