"""Inference, whole: a template in, a spec and what was noticed out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from analyzer.infer.assemble import Findings, assemble
from analyzer.infer.calls import CallsFinding, find_calls
from analyzer.infer.demands import find_demands
from analyzer.infer.described import with_described_calls
from analyzer.infer.evidence import evidence_of
from analyzer.infer.fit import Fit, fit
from analyzer.infer.prompts import find_prompts, narrowed, of_one_format
from analyzer.infer.reasoning import find_reasoning
from analyzer.infer.results import find_results
from analyzer.infer.turn import Frame, Regions, frame
from analyzer.infer.values import items_slot
from analyzer.observe.needles import needles
from analyzer.observe.session import Session, Shape
from analyzer.observe.variants import BASIC, FOLLOWED, Variants, observe, observe_each
from analyzer.render.facts import TemplateFacts, template_facts
from analyzer.render.outcome import RenderFailure
from analyzer.render.worker import Renderer
from analyzer.spec.model import InputFacts, Scalar, Spec, TemplateRef
from analyzer.template import Template

SAME_FOR_BOTH = ("c1a2", "c2a2", "c1a0", "c1a3")
TEXT_ONLY = ("base", "user", "base+p", "t", "t+u", "t+u+p")


@dataclass(frozen=True, slots=True)
class Inference:
    """What inference made of one template."""

    spec: Spec | None
    """None when not even a plain conversation renders."""
    calls_shown: bool
    """True: the template renders calls (whether or not their layout was found)."""
    failures: tuple[tuple[str, RenderFailure], ...]
    """What the template refused, by comparison."""
    renders: int = 0


@dataclass(frozen=True, slots=True)
class _CallsSeen:
    session: Session
    seen: Variants
    regions: Regions
    frame: Frame
    found: CallsFinding | None
    both: bool = False
    """True: arguments given as a mapping and as JSON text render alike."""


def infer(
    template: Template, renderer: Renderer, series: int = 0, variables: Mapping[str, Scalar] | None = None
) -> Inference:
    """Infer the format spec of `template`. `series` chooses the needles, `variables` are set in each render."""
    session = Session(template, renderer, needles(series), Shape(variables=dict(variables or {})))
    facts = template_facts(template.text)
    accepted = fit(session, facts)
    if accepted.plain is None:
        return Inference(None, calls_shown=False, failures=tuple(session.failures), renders=session.renders)
    chosen = _choose(accepted)
    spec = _spec(template, accepted, chosen, facts)
    if not accepted.calls:
        spec = with_described_calls(spec, accepted.plain, facts, names_only=accepted.names_only)
    shown = bool(accepted.calls) or accepted.names_only
    return Inference(spec, shown, tuple(session.failures), session.renders)


def _choose(accepted: Fit) -> _CallsSeen | None:
    """Observe calls and take the best shape: JSON arguments before a Python dict, mapping before text.

    A second shape is observed whole only where the first shows no JSON; else a few variants tell whether both render alike.
    """
    if not accepted.calls:
        return None
    first, *others = accepted.calls
    whole, *few = observe_each([(first, BASIC + FOLLOWED), *((other, SAME_FOR_BOTH) for other in others)])
    best = _see(first, whole)
    for other, texts in zip(others, few, strict=True):
        if best is not None and _badness(best) == 0:
            return replace(best, both=all(texts[name] == best.seen[name] for name in SAME_FOR_BOTH))
        seen = _see(other, observe(other))
        if seen is not None and (best is None or _badness(seen) < _badness(best)):
            best = seen
    return best


def _badness(seen: _CallsSeen) -> int:
    if seen.found is None:
        return 100
    if any(isinstance(part, str) and '\\"' in part for part in seen.found.parts):
        return 3  # JSON text inside a JSON string, taken for literals
    return {"json": 0, "json_text": 1, "python": 2}[seen.found.arguments_codec]


def _arguments(chosen: _CallsSeen | None) -> Literal["mapping", "text", "both", "none"]:
    if chosen is None or chosen.found is None:
        return "none"
    if chosen.both:
        return "both"
    return "text" if chosen.session.shape.arguments == "text" else "mapping"


def _see(session: Session, seen: Variants) -> _CallsSeen | None:
    base = seen["base"]
    if base is None:
        return None
    regions = Regions(session, base, seen["t"])
    framed = frame(session, seen, regions)
    if framed.last_goes_on and not session.shape.followed:
        followed = session.with_shape(followed=True)
        return _see(followed, observe(followed))
    return _CallsSeen(session, seen, regions, framed, find_calls(session, seen, regions, framed))


def _spec(template: Template, accepted: Fit, chosen: _CallsSeen | None, facts: TemplateFacts) -> Spec:
    plain = accepted.plain
    assert plain is not None  # noqa: S101  (checked by the caller)
    calls = chosen.found if chosen is not None else None
    if chosen is not None:
        regions, framed = chosen.regions, chosen.frame
    else:
        seen = observe(plain, tuple(name for name in (*BASIC, "t+u+p") if name in TEXT_ONLY))
        regions = Regions(plain, seen["base"] or "", seen["t"])
        framed = frame(plain, seen, regions)
    calls_session = chosen.session if chosen is not None else None
    if calls_session is not None and calls_session.shape.tools_refused:
        plain = plain.with_shape(tools_refused=True)
    every = find_prompts(plain, calls_session, facts)
    framed, calls = narrowed(framed, calls, every.prompts)
    prompts = of_one_format(every, plain, calls_session, framed, calls)
    texts = chosen.seen if chosen is not None else None
    reasoning = find_reasoning(plain, calls_session, facts, regions, framed, calls, prompts, texts)
    if prompts.other_formats and reasoning is not None and reasoning.header != framed.header:
        # of what every turn began with a part was reasoning's, such as the closer of none: the header is what is left
        prompts = of_one_format(every, plain, calls_session, replace(framed, header=reasoning.header), calls)
    results = None
    slot = None
    if chosen is not None and calls is not None:
        results = find_results(
            chosen.session, chosen.seen, regions, framed, calls.tail, calls.close + calls.section_close
        )
        if calls.items is not None:
            slot = items_slot(chosen.session, regions, calls.items)
    session = calls_session or plain
    demands = find_demands(plain, calls_session, texts, calls)
    wanted = InputFacts(
        arguments=_arguments(chosen),
        ids=demands.ids,
        content="parts" if plain.shape.parts else "text",
        reasoning_fields=reasoning.fields if reasoning is not None else (),
        empty_content=session.shape.empty_content,
        assistant_fields=tuple(session.shape.assistant_fields),
        bare_calls=session.shape.flat,
        bare_tools=demands.bare_tools,
        tools="optional" if demands.bare_tools and demands.tools == "refused" else demands.tools,
        property_fields=demands.property_fields,
        values_refused=demands.values_refused,
        turns=demands.turns,
        roles_refused=demands.roles_refused,
        parallel_results=demands.parallel_results,
        system="accepted" if accepted.system_taken else "refused",
        parallel_calls=calls.parallel if calls is not None else True,
        variables=dict(session.shape.variables),
        settings=dict(prompts.settings),
        mutable=session.shape.mutable,
    )
    found = Findings(framed, prompts, wanted, calls, slot, reasoning, results)
    spec = assemble(found, TemplateRef(name=template.name, sha256=template.sha256))
    return spec.model_copy(update={"evidence": evidence_of(spec, calls, reasoning, slot)})
