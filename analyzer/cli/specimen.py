"""Specimens: what a template writes for a few small conversations, cut and coloured by the spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rich.text import Text

from analyzer.cli.output import visible
from analyzer.cli.paint import STYLES, Span, coloured, spans_of
from analyzer.render import Renderer
from analyzer.report.example import HOTELS, TEXT, TOOLS, WEATHER
from analyzer.runtime import Parser
from analyzer.spec.model import Spec
from analyzer.template import Template
from analyzer.verify.adapt import Adapter, settings_of
from analyzer.verify.cases import Case, Reply
from analyzer.verify.cut import cut_turn
from analyzer.verify.reading import from_header
from analyzer.verify.trips import NoTrip, Stage, Trip, render_trips

_CASES: Final = (
    ("one call", Reply(calls=(WEATHER,))),
    ("two calls, with text before them", Reply(TEXT, calls=(WEATHER, HOTELS))),
    ("reasoning and an answer", Reply("It is sunny.", "They asked about Paris.")),
)
PROMPT_SHOWN: Final = 60
"""How much of the prompt is shown before the model's first character."""


@dataclass(frozen=True, slots=True)
class Specimen:
    """One conversation: the prompt's tail and the model's turn with its spans, or why there is none."""

    title: str
    prompt: str = ""
    text: str = ""
    spans: tuple[Span, ...] = ()
    refusal: str = ""

    def painted(self) -> Text:
        """The turn in colours."""
        if self.refusal:
            return Text(visible(self.refusal), "red")
        return Text(visible(self.prompt), STYLES["prompt"]) + coloured(self.text, self.spans)


def specimens(spec: Spec, template: Template, renderer: Renderer) -> list[Specimen]:
    """Render the specimens that this spec can say something about."""
    cases = [
        (title, Case(title, reply, TOOLS))
        for title, reply in _CASES
        if (not reply.calls or spec.calls is not None) and (reply.reasoning is None or spec.reasoning)
    ]
    setting = settings_of(spec)[0]
    stage = Stage(renderer, template, spec.input.mutable)
    adapter = Adapter(spec, template.special_tokens)
    trips = render_trips(adapter, stage, [(case, setting) for _, case in cases])
    return [_specimen(title, spec, trip) for (title, _), trip in zip(cases, trips, strict=True)]


def _specimen(title: str, spec: Spec, trip: Trip | NoTrip) -> Specimen:
    if isinstance(trip, NoTrip):
        return Specimen(title, refusal=trip.reason)
    cut = cut_turn(spec, trip.before, trip.full)
    if isinstance(cut, str):
        return Specimen(title, refusal=cut)
    if cut.by == "history":
        parser, prompt = Parser(from_header(spec), tools=TOOLS, prompt=spec.turn.header), spec.turn.header
    else:
        parser = Parser(spec, tools=TOOLS, prompt=cut.before)
        prompt = trip.before.prompt_text or spec.turn.header
    events = [*parser.feed(cut.text), *parser.finish("stop")]
    return Specimen(title, prompt[-PROMPT_SHOWN:], cut.text, tuple(spans_of(events)))
