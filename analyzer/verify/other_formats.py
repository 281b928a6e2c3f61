"""Settings under which a template writes another format than the spec says.

A spec holds one format.  Verification tries the settings that the spec knows, those that change the generation prompt.
A template can read more: a variable may choose between whole formats.  So a turn that held is written once more under
each value of each other variable.  The spec does not speak of a setting, and says so, where

* the turn's words are all there, and a marker of the turn is not, or its calls are not read, or
* the generation prompt is without the header.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from analyzer.errors import TemplateError
from analyzer.observe.choices import variable_choices
from analyzer.render.facts import template_facts
from analyzer.spec.markers import markers
from analyzer.spec.model import Defect, Scalar, Spec
from analyzer.verify.adapt import Adapter, Setting
from analyzer.verify.trips import Stage, Traveller, Trip, needles_of_reply, render_trips

KIND: Final = "format_varies"
_SHOWN: Final = 600


def other_formats(
    spec: Spec, adapter: Adapter, stage: Stage, traveller: Traveller, good: Sequence[Trip]
) -> Iterator[Defect]:
    """A defect that names the settings that the spec does not speak of, with the first of them as its witness."""
    usual = _usual(good)
    if usual is None:
        return
    settings = list(unknown_settings(spec, stage))
    case = usual.adapted.case.with_reply(usual.adapted.reply)
    found: dict[str, Trip] = {}
    for trip in render_trips(adapter, stage, [(case, setting) for setting in settings]):
        if isinstance(trip, Trip):
            traveller.travel(trip)
            if _has_another_header(spec, trip, usual) or _writes_otherwise(spec, trip, usual):
                found.setdefault(trip.adapted.setting.label, trip)
    if found:
        yield Defect(kind=KIND, message=varies(list(found)), witness=_witness(found))


def varies(labels: Sequence[str]) -> str:
    """What is said of the settings that a spec is not for."""
    return f"Under {', '.join(labels)} turns are written in another format; this spec is not for that."


def _has_another_header(spec: Spec, trip: Trip, usual: Trip) -> bool:
    header = spec.turn.header.strip()
    prompt, known = trip.before.prompt_text or "", usual.before.prompt_text or ""
    return bool(prompt.strip()) and header in known and header not in prompt


def _writes_otherwise(spec: Spec, trip: Trip, usual: Trip) -> bool:
    if not all(word in trip.full for word in _words(usual)):
        return False  # what is lost is no format
    marked = all(marker in trip.full for marker in markers(spec) if marker in usual.written)
    missed = trip.reading is not None and len(trip.reading.message.tool_calls) < len(
        usual.adapted.reply.calls
    )
    return missed or not marked


def unknown_settings(spec: Spec, stage: Stage) -> Iterator[Setting]:
    """Each value of each variable that the template reads and the spec knows nothing of."""
    try:
        facts = template_facts(stage.template.text)
    except TemplateError:
        return  # a renderer with its own syntax: nothing is known of its variables
    needed = dict(spec.input.variables)
    for name, values in variable_choices(facts, needed).items():
        for value in values:
            if not any(_same(value, known) for known in spec.input.settings.get(name, ())):
                yield Setting(f"{name}={json.dumps(value)}", {**needed, name: value})


def _same(value: Scalar, other: Scalar) -> bool:
    return value == other and type(value) is type(other)


def _usual(good: Sequence[Trip]) -> Trip | None:
    """The shortest turn of one call with arguments behind a question that held by default; without calls, the shortest of all."""
    default = [
        trip
        for trip in good
        if trip.adapted.setting.label == "default" and not trip.after_result and _words(trip)
    ]
    calling = [trip for trip in default if any(call.arguments for call in trip.adapted.reply.calls)]
    return min(calling or default, key=lambda trip: len(trip.written), default=None)


def _words(trip: Trip) -> list[str]:
    """What the turn is known by: the needles of its values and the names of its calls, as far as the template writes them."""
    reply = trip.adapted.reply
    words = [*needles_of_reply(reply), *(call.name for call in reply.calls)]
    return [word for word in words if word in trip.written]


def _witness(found: dict[str, Trip]) -> dict[str, Any]:
    trip = next(iter(found.values()))
    adapted = trip.adapted
    return {
        "messages": [*adapted.before, adapted.turn],
        "variables": dict(adapted.setting.variables),
        "settings": list(found),
        "prompt": trip.before.prompt_text or "",
        "render": trip.full[-_SHOWN:],
        "proof": "render",
    }
