"""What shapes of tools and arguments a template takes, found before the cases are adapted to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analyzer.verify.adapt import Adapter, Setting
from analyzer.verify.cases import Call, Case, Reply, needle
from analyzer.verify.catalogue import GROUPS, TOOL_LEVELS, keys_of
from analyzer.verify.trips import NoTrip, Stage, Traveller, render_trips

_SAMPLE: Final = Case(
    "both shapes",
    Reply(None, None, (Call(GROUPS[0][0].name, {keys_of(0, "string")[0]: f"plain {needle(268_000)} text"}),)),
    GROUPS[0],
)


def check_shapes(adapter: Adapter, stage: Stage, traveller: Traveller, setting: Setting) -> Iterator[str]:
    """What is wrong with `both`; from then on the adapter gives the shape that is read."""
    if adapter.shape != "both" or adapter.spec.calls is None:
        return
    problems: dict[str, str] = {}
    for shape in ("mapping", "text"):
        adapter.shape = shape
        (trip,) = render_trips(adapter, stage, [(_SAMPLE, setting)])
        if isinstance(trip, NoTrip):
            problems[shape] = trip.reason
        else:
            traveller.travel(trip)
            if not trip.held:
                problems[shape] = "; ".join([*trip.failures, *map(str, trip.differences)])
    adapter.shape = "both"
    if len(problems) == 1:
        wrong, why = problems.popitem()
        adapter.shape = "text" if wrong == "mapping" else "mapping"
        given = "as JSON text" if wrong == "text" else "as a mapping"
        yield f"input.arguments: the spec says both, but a call given {given} is not read: {why}"


def declare_less(adapter: Adapter, stage: Stage, setting: Setting) -> frozenset[str]:
    """Has the adapter declare tools without the types that the template cannot print; says which."""
    plain = Case("tools", Reply("Hello."), GROUPS[0])
    for types in TOOL_LEVELS:
        adapter.undeclared = types
        (trip,) = render_trips(adapter, stage, [(plain, setting)])
        if not isinstance(trip, NoTrip):
            return types
    adapter.undeclared = frozenset()
    adapter.shows_tools = False
    (trip,) = render_trips(adapter, stage, [(plain, setting)])
    adapter.shows_tools = isinstance(trip, NoTrip)
    return frozenset()
