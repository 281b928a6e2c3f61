"""What the templates themselves write: the samples rendered by a template and cut out as verification cuts them.

Only turns that our strict runtime reads back as they were sent count: what a template loses, no export can give back. A wrong
call counts where the runtime reads it as the wrong call that it is.
"""

from __future__ import annotations

from analyzer.analysis import with_stand_ins
from analyzer.render import Rendered, Renderer
from analyzer.spec.model import Spec
from analyzer.template import Template
from analyzer.verify.adapt import Adapter, settings_of
from analyzer.verify.cases import Call, Case, Reply
from analyzer.verify.inputs import probe_inputs
from analyzer.verify.judgement import settle
from analyzer.verify.last_turns import in_history
from analyzer.verify.literals import own_literal
from analyzer.verify.shapes import check_shapes, declare_less
from analyzer.verify.trips import Stage, Traveller, Trip, render_trips
from tests.export.samples import DECLARED, SAMPLES, Sample, Written


def rendered(spec: Spec, template: Template, renderer: Renderer) -> list[Written]:
    """The samples as the template writes them under its default settings."""
    template = with_stand_ins(template)
    stage = Stage(renderer, template, spec.input.mutable)
    setting = settings_of(spec)[0]
    adapter = Adapter(spec, template.special_tokens)
    undeclared = declare_less(adapter, stage, setting)
    adapter.null_content = probe_inputs(spec, stage, undeclared, shows_tools=adapter.shows_tools).null_content
    traveller = Traveller(spec, 0)
    list(check_shapes(adapter, stage, traveller, setting))
    literal = own_literal(spec)
    wanted = [sample for sample in SAMPLES if literal or "closer" not in sample.features]
    known = {sample.name: sample for sample in wanted}
    trips = render_trips(adapter, stage, [(_case(sample), setting) for sample in wanted])
    out = []
    for last in settle(spec, [trip for trip in trips if isinstance(trip, Trip)]):
        if isinstance(last, Trip):
            traveller.travel(last)
            trip = last if _is_read(last) else _in_mid_conversation(spec, last, adapter, stage, traveller)
            if trip is not None and _is_read(trip):
                out.append(_written(spec, known[trip.adapted.case.name], trip))
    return out


def _is_read(trip: Trip) -> bool:
    return not trip.failures and all(found.slot == "id" for found in trip.differences)


def _in_mid_conversation(
    spec: Spec, last: Trip, adapter: Adapter, stage: Stage, traveller: Traveller
) -> Trip | None:
    """The turn with what follows it, for templates whose last turn is no whole one."""
    adapted = last.adapted
    (outcome,) = stage.render([adapter.request(adapted, [*adapted.before, adapted.turn, *adapted.after()])])
    trip = in_history(spec, last, outcome.text) if isinstance(outcome, Rendered) else None
    if trip is not None:
        traveller.travel(trip)
    return trip


def _case(sample: Sample) -> Case:
    message = sample.message
    calls = tuple(Call(call.name, dict(call.decoded())) for call in message.tool_calls)
    return Case(sample.name, Reply(message.content, message.reasoning_content, calls), DECLARED)


def _written(spec: Spec, sample: Sample, trip: Trip) -> Written:
    assert trip.cut is not None
    assert trip.reading is not None
    prompt = trip.cut.before
    if trip.cut.by == "history" and not spec.turn.header:  # then servers have the prompt's text there
        prompt += next((found.text for found in spec.turn.prompts), "")
    return Written(sample, prompt, trip.cut.text, trip.reading.message)
