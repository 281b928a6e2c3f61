"""The verdict: everything that verification does, in its order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from analyzer.render import Renderer
from analyzer.spec.model import Defect, Spec, Verification
from analyzer.verify.adapt import Adapter, settings_of
from analyzer.verify.collisions import collisions
from analyzer.verify.constructions import Construction, constructions, reads_strictly, try_construction
from analyzer.verify.coverage import Coverage, describe, levels_of, plan
from analyzer.verify.defects import EXPECTED_SHAPES
from analyzer.verify.followed import followed_defects
from analyzer.verify.indentation import indented_headers
from analyzer.verify.inputs import probe_inputs
from analyzer.verify.judgement import TEXT_LIKE_CALL, Judgement, judge, reads_reasoning, settle
from analyzer.verify.malformed import BROKEN, excuse
from analyzer.verify.middles import MiddleFindings, check_middles, choose
from analyzer.verify.mutation import (
    survivors,
    unexplained,
    why_unnoticed,
    witnesses,
    witnesses_of_constructions,
)
from analyzer.verify.other_formats import other_formats
from analyzer.verify.prefills import check_prompts, check_thoughts
from analyzer.verify.results import check_results
from analyzer.verify.samples import EMPTY_TURN, cases
from analyzer.verify.shapes import check_shapes, declare_less
from analyzer.verify.trips import NoTrip, Stage, TemplateText, Traveller, Trip, render_trips
from analyzer.verify.witnesses import (
    defects_of,
    escaped_markup,
    odd_prompt,
    respaced_prompt,
    respaced_turn,
    style_defects,
)

_SHOWN_FAILURES = 8


@dataclass(frozen=True, slots=True)
class Verdict:
    """What verification found: the `Verification` for the spec, the template's defects, and collisions."""

    verification: Verification
    defects: tuple[Defect, ...] = ()
    collisions: tuple[str, ...] = ()
    constructed: int = 0
    """How many round trips were spliced from prompt, reasoning and body."""

    @property
    def word(self) -> str:
        """`proven`, `proven_with_defects` or `failed`."""
        return self.verification.verdict


@dataclass(slots=True)
class _Work:
    """What has been found so far."""

    failures: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    defects: list[Defect] = field(default_factory=list)
    judged: list[Judgement] = field(default_factory=list)
    round_trips: int = 0
    constructed: list[Construction] = field(default_factory=list)


def verify(
    spec: Spec, template: TemplateText, renderer: Renderer, seed: int = 0, *, effort: str = "normal"
) -> Verdict:
    """Proves a spec by round trips through its template and the strict runtime.

    ``effort`` is `low` (the covering array), `normal` or `high` (more random conversations).  The same seed gives the same
    verdict.
    """
    from analyzer.verify.described import is_described, verify_described  # noqa: PLC0415  (which needs this module)
    from analyzer.verify.unshown import verify_unshown  # noqa: PLC0415  (and so does this)

    if is_described(spec):
        return verify_described(spec, template, renderer, seed, effort=effort)
    if not spec.turn.shown:
        return verify_unshown(spec, template, renderer, seed, effort=effort)
    stage = Stage(renderer, template, spec.input.mutable)
    settings = settings_of(spec)
    adapter = Adapter(spec, template.special_tokens)
    undeclared = declare_less(adapter, stage, settings[0])
    inputs = probe_inputs(spec, stage, undeclared, shows_tools=adapter.shows_tools)
    adapter.null_content = inputs.null_content
    traveller = Traveller(spec, seed)
    inputs.failures += check_shapes(adapter, stage, traveller, settings[0])
    coverage = Coverage(tuple(setting.label for setting in settings))
    for kind in sorted(undeclared):
        coverage.refuse_level(
            ("types", kind), f"the template cannot print tools with a parameter of type {kind}"
        )
    work = _Work(failures=list(inputs.failures), defects=list(inputs.defects))

    known = cases(seed, effort)
    wanted = [(known[case], settings[setting]) for case, setting in plan(seed, effort, len(settings))]
    trips = _travel(spec, render_trips(adapter, stage, wanted), traveller, coverage)
    work.judged = judge(trips, adapter, stage)
    excuse(spec, work.judged, adapter, stage, traveller)
    _note_coverage(spec, work, coverage)
    good = [
        one.trip for one in work.judged if one.outcome in ("held", "defect") and not set(one.kinds) & BROKEN
    ]

    work.failures += [*check_prompts(spec, trips), *check_thoughts(spec, trips, traveller)]
    _note_constructions(spec, traveller, good, work)
    middles = check_middles(spec, adapter, stage, traveller, choose(good))
    _note_middles(spec, middles, work)
    work.defects += followed_defects(spec, adapter, stage, traveller, middles)
    known_defects = {defect.kind for defect in work.defects}
    work.defects += [
        defect
        for defect in defects_of(work.judged, adapter, stage, traveller)
        if defect.kind not in known_defects
    ]
    work.defects += style_defects(work.judged)
    work.defects += other_formats(spec, adapter, stage, traveller, good)
    work.defects += escaped_markup(spec, work.judged, adapter, stage)
    collided = tuple(collisions(spec, adapter, stage, traveller, settings[0])) if spec.calls else ()
    work.unproven += collided
    known_texts = witnesses(spec, good)
    unfit = unexplained(spec, known_texts)
    work.failures += unfit.failures
    work.unproven += unfit.junctions
    if unfit.respaced and all(defect.kind != "indentation_leaks" for defect in work.defects):
        work.defects.append(respaced_turn(unfit.respaced))
    if not work.failures:
        known_texts += witnesses_of_constructions(
            spec, [one for one in work.constructed if reads_strictly(traveller, one)]
        )
        work.unproven += [
            f"{mutant.path}: {mutant.change} ({why_unnoticed(mutant, spec, known_texts)})"
            for mutant in survivors(spec, traveller, known_texts)
        ]
        work.unproven += check_results(spec, middles.followed)
    work.unproven += describe(coverage.missing())
    return Verdict(_verification(work, coverage, seed), tuple(work.defects), collided, len(work.constructed))


def verified(
    spec: Spec, template: TemplateText, renderer: Renderer, seed: int = 0, *, effort: str = "normal"
) -> Spec:
    """The spec with its verification and its defects filled in."""
    verdict = verify(spec, template, renderer, seed=seed, effort=effort)
    kinds = {defect.kind for defect in verdict.defects}
    kept = tuple(defect for defect in spec.defects if defect.kind not in kinds)
    return spec.model_copy(
        update={"verification": verdict.verification, "defects": (*kept, *verdict.defects)}
    )


def _travel(
    spec: Spec, rendered: Sequence[Trip | NoTrip], traveller: Traveller, coverage: Coverage
) -> list[Trip]:
    """Takes every trip; what the template does not take is noted in the table."""
    taken: list[Trip] = []
    settled = settle(spec, [one for one in rendered if isinstance(one, Trip)])
    for trip in (*settled, *(one for one in rendered if isinstance(one, NoTrip))):
        if isinstance(trip, Trip) and trip.adapted.case is EMPTY_TURN:
            traveller.travel(trip)
            taken += [trip] if trip.held else []
        elif isinstance(trip, NoTrip):
            coverage.refuse(levels_of(trip.case, trip.setting.label), trip.reason)
        else:
            traveller.travel(trip)
            taken.append(trip)
    if not reads_reasoning(spec):
        coverage.refuse_level(("reasoning", "present"), "the template writes no reasoning")
    if spec.calls is None:
        for level in ("1", "2", "3"):
            coverage.refuse_level(("calls", level), "the template writes no calls")
    return taken


def _note_coverage(spec: Spec, work: _Work, coverage: Coverage) -> None:
    for one in work.judged:
        if one.outcome == "failed":
            work.failures += one.failures
            continue
        if one.outcome == "collided":
            case = one.trip.adapted.case
            work.unproven.append(TEXT_LIKE_CALL)
            coverage.refuse(levels_of(case, one.trip.adapted.setting.label), TEXT_LIKE_CALL)
            continue
        work.round_trips += 1
        coverage.passed(one.levels())
        if one.kinds:
            case = one.trip.adapted.case
            coverage.refuse(levels_of(case, one.trip.adapted.setting.label), ", ".join(one.kinds))
    reasons = list(dict.fromkeys(reason for reason in coverage.refused.values()))
    why = f": {reasons[0]}" if reasons else ""
    if not work.judged:
        work.failures.append(f"no conversation could be tried{why}")
    elif spec.calls is not None and not any(one.trip.adapted.reply.calls for one in work.judged):
        work.failures.append(f"no conversation with a call could be tried{why}")


def _note_constructions(spec: Spec, traveller: Traveller, trips: Sequence[Trip], work: _Work) -> None:
    for made in constructions(spec, trips):
        if isinstance(made, Construction):
            problems = list(try_construction(traveller, made))
            work.failures += problems
            if not problems:
                work.constructed.append(made)
                work.round_trips += 1
        else:
            work.failures.append(f"turn.prompts: {made}")
    odd = [made for made in work.constructed if made.fit == "odd"]
    work.defects += [odd_prompt(odd[0], trips)] if odd else []
    respaced = [made.trip for made in work.constructed if made.fit == "respaced"]
    respaced += indented_headers(spec, trips)
    work.defects += [respaced_prompt(respaced)] if respaced else []


def _note_middles(spec: Spec, middles: MiddleFindings, work: _Work) -> None:
    work.failures += middles.failures
    work.unproven += middles.notes
    work.round_trips += middles.ends_seen
    kept_always = any(segment.kept == "always" for segment in spec.reasoning)
    if middles.reasoning_dropped and kept_always:
        label = middles.reasoning_dropped[0].label
        work.unproven.append(f"reasoning kept: the spec says always, the template drops it later ({label})")


def _verification(work: _Work, coverage: Coverage, seed: int) -> Verification:
    failures = list(dict.fromkeys(work.failures))
    shown = failures[:_SHOWN_FAILURES]
    if len(failures) > len(shown):
        shown.append(f"and {len(failures) - len(shown)} more")
    lowering = any(defect.kind not in EXPECTED_SHAPES for defect in work.defects)
    return Verification(
        verdict="failed" if failures else "proven_with_defects" if lowering else "proven",
        round_trips=work.round_trips,
        seed=seed,
        coverage=coverage.counts(),
        unproven=tuple(dict.fromkeys(work.unproven)),
        failures=tuple(shown),
    )
