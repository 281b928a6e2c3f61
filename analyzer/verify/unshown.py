"""Templates whose history never shows a turn as the model writes it: verified as far as a generation prompt allows.

No render shows a reply, so none proves how it is written.  What is tried: that no turn of the history begins as the prompt
does (else the spec must say more), that the prompts are the template's own, and that a text behind them is read as content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from analyzer.chat import Message
from analyzer.observe.lexemes import common_suffix
from analyzer.render import Renderer
from analyzer.spec.model import Defect, Spec, Verification
from analyzer.verify.adapt import Adapter, settings_of
from analyzer.verify.cases import Case, Reply, needles_in
from analyzer.verify.coverage import FACTORS, Coverage, levels_of, plan
from analyzer.verify.cut import Cut, squeezed
from analyzer.verify.defects import KINDS
from analyzer.verify.inputs import probe_inputs
from analyzer.verify.other_formats import KIND as OTHER_FORMATS
from analyzer.verify.other_formats import unknown_settings, varies
from analyzer.verify.prefills import after_of, check_prompts, check_thoughts, stated_prompt
from analyzer.verify.samples import cases
from analyzer.verify.shapes import declare_less
from analyzer.verify.trips import NoTrip, Stage, TemplateText, Traveller, Trip, render_trips
from analyzer.verify.verdict import Verdict
from analyzer.verify.witnesses import prompt_witness

_KIND: Final = "turn_not_in_history"
_FAILURES: Final = 8
_UNPROVEN: Final = "turn.segments: no render shows what the model writes behind the generation prompt"


def verify_unshown(
    spec: Spec, template: TemplateText, renderer: Renderer, seed: int = 0, *, effort: str = "normal"
) -> Verdict:
    """Verify the prompts, that the history shows no turn behind them, and that a text behind them is read as content."""
    stage = Stage(renderer, template, spec.input.mutable)
    settings = settings_of(spec)
    adapter = Adapter(spec, template.special_tokens)
    undeclared = declare_less(adapter, stage, settings[0])
    inputs = probe_inputs(spec, stage, undeclared, shows_tools=adapter.shows_tools)
    coverage = Coverage(tuple(setting.label for setting in settings))
    known = cases(seed, effort)
    wanted = [(_said(known[case]), settings[at]) for case, at in plan(seed, effort, len(settings))]
    trips: list[Trip] = []
    for trip in render_trips(adapter, stage, [(case, at) for case, at in wanted if case.reply.content]):
        if isinstance(trip, NoTrip):
            coverage.refuse(levels_of(trip.case, trip.setting.label), trip.reason)
        elif trip.before.prompt is not None:
            trips.append(trip)
    traveller = Traveller(spec, seed)
    failures = [*inputs.failures, *check_prompts(spec, trips), *check_thoughts(spec, trips, traveller)]
    failures += _shown(spec, trips)
    held, wrong = _replies(spec, traveller, trips)
    for trip in held:
        coverage.passed(levels_of(trip.adapted.case, trip.adapted.setting.label))
    for factor, levels in FACTORS.items():
        for level in levels:
            coverage.refuse_level((factor, level), _UNPROVEN)
    failures += wrong
    if not trips:
        failures.append("no conversation could be tried")
    found = Verification(
        verdict="failed" if failures else "proven_with_defects",
        round_trips=len(held),
        seed=seed,
        coverage=coverage.counts(),
        unproven=(_UNPROVEN,),
        failures=tuple(failures[:_FAILURES]),
    )
    defects = [*inputs.defects, *_defects(trips), *_other_settings(spec, adapter, stage, trips)]
    return Verdict(found, tuple(defects), (), len(held))


def _said(case: Case) -> Case:
    """The case without all that such a template does not write."""
    return case.with_reply(Reply(case.reply.content))


def _shown(spec: Spec, trips: Sequence[Trip]) -> list[str]:
    """Where a history does begin a turn as the generation prompt does."""
    ending = _ending(trips)
    for trip in filter(_is_written, trips):
        prompt = _stated(spec, trip) or ending
        if not prompt.strip():
            return [
                "turn.shown: the generation prompts have no end in common that could tell them from history"
            ]
        if _stands_in_front(prompt, trip):
            return [f"turn.shown: the history has a turn behind the generation prompt ({trip.label})"]
    return []


def _stated(spec: Spec, trip: Trip) -> str:
    """The generation prompt that the spec states, empty when it states none or nothing but white space."""
    stated = stated_prompt(spec, trip.adapted.setting, after_of(trip))
    return "" if stated is None or not stated.text.strip() else stated.text


def _stands_in_front(prompt: str, trip: Trip) -> bool:
    """Whether a prompt, white space aside, stands between the last message and the first word of the turn."""
    before = trip.full[: trip.full.find(_words(trip)[0])]
    last = trip.before.last
    return squeezed(prompt) in squeezed(before[before.rfind(last) + len(last) :] if last else before)


def _is_written(trip: Trip) -> bool:
    return any(word in trip.full for word in _words(trip)[:1])


def _words(trip: Trip) -> list[str]:
    """The made-up words of what is said."""
    return needles_in(trip.adapted.reply.content or "")


def _ending(trips: Sequence[Trip]) -> str:
    """What the renders with a generation prompt end in, whatever was said before."""
    return common_suffix(*dict.fromkeys(trip.before.prompt or "" for trip in trips)) if trips else ""


def _replies(spec: Spec, traveller: Traveller, trips: Sequence[Trip]) -> tuple[list[Trip], list[str]]:
    """The trips whose content is read back when a model writes it behind the prompt, and what is wrong with the others."""
    held, wrong = [], []
    for trip in trips:
        said = trip.adapted.reply.content or ""
        before = trip.before.prompt or ""
        opened = next((one for one in spec.reasoning if before.rstrip().endswith(one.open.strip())), None)
        text = said if opened is None else opened.close + said
        reading = traveller.read(trip.adapted, Cut(before, text, "", "prompt"))
        problems = [f"problem {problem}" for problem in reading.problems]
        problems += map(str, traveller.compare(Message(said), reading.message))
        if problems:
            wrong.append(f"{trip.label}, constructed: {problems[0]}")
        else:
            held.append(trip)
    return held, wrong


def _defects(trips: Sequence[Trip]) -> Iterator[Defect]:
    """With the smallest conversation that has a turn in it, and what the template writes of it and as its prompt."""
    if not trips:
        return
    smallest = min(trips, key=_size)
    kinds = [_KIND] if any(map(_is_written, trips)) else [_KIND, "content_lost"]
    for kind in kinds:
        yield Defect(kind=kind, message=KINDS[kind], witness=prompt_witness(smallest, smallest.full))


def _other_settings(spec: Spec, adapter: Adapter, stage: Stage, trips: Sequence[Trip]) -> Iterator[Defect]:
    """The settings, unknown to the spec, under which history does show a turn behind the prompt."""
    usual = min((trip for trip in trips if _words(trip)), key=_size, default=None)
    if usual is None:
        return
    case, prompt = usual.adapted.case, _stated(spec, usual) or _ending([usual])
    rendered = render_trips(adapter, stage, [(case, one) for one in unknown_settings(spec, stage)])
    found = [
        trip
        for trip in rendered
        if isinstance(trip, Trip) and _is_written(trip) and _stands_in_front(prompt, trip)
    ]
    if found:
        labels = [trip.adapted.setting.label for trip in found]
        witness = {**prompt_witness(found[0], found[0].full), "settings": labels}
        yield Defect(kind=OTHER_FORMATS, message=varies(labels), witness=witness)


def _size(trip: Trip) -> tuple[bool, int]:
    """What is said in one line comes first."""
    said = trip.adapted.reply.content or ""
    return "\n" in said, trip.adapted.size
