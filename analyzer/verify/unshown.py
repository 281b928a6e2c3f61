"""Templates whose history never shows a turn as the model writes it: verified as far as a generation prompt allows.

No render shows a reply, so none proves how it is written.  What is tried: that no turn of the history begins as the prompt
does (else the spec must say more), that the prompts are the template's own, and that a text behind them is read as content.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from analyzer.chat import Message
from analyzer.observe.lexemes import common_suffix
from analyzer.render import Renderer
from analyzer.spec.model import Defect, Spec, Verification
from analyzer.verify.adapt import Adapter, settings_of
from analyzer.verify.cases import Case, Reply, needles_in
from analyzer.verify.coverage import FACTORS, Coverage, levels_of, plan
from analyzer.verify.cut import Cut
from analyzer.verify.defects import KINDS
from analyzer.verify.inputs import probe_inputs
from analyzer.verify.prefills import check_prompts, stated_prompt
from analyzer.verify.samples import cases
from analyzer.verify.shapes import declare_less
from analyzer.verify.trips import NoTrip, Stage, TemplateText, Traveller, Trip, render_trips
from analyzer.verify.verdict import Verdict

_KIND: Final = "turn_not_in_history"
_SHOWN: Final = 600
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
    failures = [*inputs.failures, *check_prompts(spec, trips), *_shown(spec, trips)]
    held, wrong = _replies(spec, Traveller(spec, seed), trips)
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
    defects = (*inputs.defects, *([_defect(trips)] if trips else []))
    return Verdict(found, defects, (), len(held))


def _said(case: Case) -> Case:
    """The case without all that such a template does not write."""
    return case.with_reply(Reply(case.reply.content))


def _shown(spec: Spec, trips: Sequence[Trip]) -> list[str]:
    """Where a history does begin a turn as the generation prompt does, white space aside."""
    ending = _ending(trips)
    written = [trip for trip in trips if any(word in trip.full for word in _words(trip)[:1])]
    if written and not ending.strip():
        return ["turn.shown: the generation prompts have no end in common that could tell them from history"]
    for trip in written:
        stated = stated_prompt(spec, trip.adapted.setting, "result" if trip.after_result else "user")
        prompt = stated.text if stated is not None and stated.text.strip() else ending
        word = _words(trip)[0]
        said = (trip.adapted.reply.content or "").partition(word)[0] + word
        if _squeezed(prompt + said) in _squeezed(trip.full):
            return [f"turn.shown: the history has a turn behind the generation prompt ({trip.label})"]
    return []


def _words(trip: Trip) -> list[str]:
    """The made-up words of what is said."""
    return needles_in(trip.adapted.reply.content or "")


def _ending(trips: Sequence[Trip]) -> str:
    """What the renders with a generation prompt end in, whatever was said before."""
    return common_suffix(*dict.fromkeys(trip.before.prompt or "" for trip in trips)) if trips else ""


def _replies(spec: Spec, traveller: Traveller, trips: Sequence[Trip]) -> tuple[list[Trip], list[str]]:
    """The trips whose content is read back when a model writes it behind the prompt, and what is wrong with the others."""
    end = spec.content[0].end
    held, wrong = [], []
    for trip in trips:
        said = trip.adapted.reply.content or ""
        text = said + (end.literal if end is not None else "")
        reading = traveller.read(trip.adapted, Cut(trip.before.prompt or "", text, "", "prompt"))
        problems = [f"problem {problem}" for problem in reading.problems]
        problems += map(str, traveller.compare(Message(said), reading.message))
        if problems:
            wrong.append(f"{trip.label}, constructed: {problems[0]}")
        else:
            held.append(trip)
    return held, wrong


def _defect(trips: Sequence[Trip]) -> Defect:
    """The smallest conversation with a turn in it, and what the template writes of it and as its prompt."""
    trip = min(trips, key=_size)
    adapted, before = trip.adapted, trip.before
    witness = {
        "messages": [*adapted.before, adapted.turn],
        "prompt": before.prompt_text or (before.prompt or "")[-_SHOWN:],
        "render": trip.full[-_SHOWN:],
        "proof": "render",
    }
    return Defect(kind=_KIND, message=KINDS[_KIND], witness=witness)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _size(trip: Trip) -> tuple[bool, int]:
    """What is said in one line comes first."""
    said = trip.adapted.reply.content or ""
    return "\n" in said, len(json.dumps([*trip.adapted.before, trip.adapted.turn]))
