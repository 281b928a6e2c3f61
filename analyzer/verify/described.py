"""Calls that a template describes and never renders: verified as far as a description allows.

No render can show such a call, so none proves it.  What can be tried is whether the layout holds together: the writer writes calls by
the spec alone, the strict runtime reads them back.  Everything else of the spec is verified as for any template, without the calls.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace

from analyzer.chat import Message, ToolCall
from analyzer.render import Renderer
from analyzer.spec.model import CallsSegment, Spec
from analyzer.verify.cases import OWN_LITERAL, Case
from analyzer.verify.compare import differences
from analyzer.verify.literals import is_marked, same_id
from analyzer.verify.reading import from_header, read
from analyzer.verify.samples import cases
from analyzer.verify.trips import TemplateText
from analyzer.verify.verdict import Verdict, verify
from analyzer.verify.writer import write_turn

_SHOWN = 3


def calls_path(spec: Spec) -> str:
    """The path of the calls segment in the spec, empty when there is none."""
    at = next(
        (number for number, one in enumerate(spec.turn.segments) if isinstance(one, CallsSegment)), None
    )
    return "" if at is None else f"turn.segments[{at}]"


def is_described(spec: Spec) -> bool:
    """Whether the spec's calls were read from a description."""
    return any(one.described for one in spec.evidence.get(calls_path(spec), ()))


def without_calls(spec: Spec) -> Spec:
    """The spec of what the template does render."""
    kept = tuple(segment for segment in spec.turn.segments if not isinstance(segment, CallsSegment))
    return spec.model_copy(update={"turn": spec.turn.model_copy(update={"segments": kept})})


def verify_described(
    spec: Spec, template: TemplateText, renderer: Renderer, seed: int = 0, *, effort: str = "normal"
) -> Verdict:
    """Verify the spec without its calls, and that the calls it writes are read back."""
    rest = verify(without_calls(spec), template, renderer, seed, effort=effort)
    tried, failures = self_trips(spec, seed, effort)
    found = rest.verification
    note = f"{calls_path(spec)}: described, not rendered; {tried} turns with calls that the spec wrote were read back"
    changes = {
        "verdict": "failed" if failures else found.verdict,
        "unproven": (*found.unproven, note),
        "failures": (*found.failures, *failures[:_SHOWN]),
    }
    return replace(rest, verification=found.model_copy(update=changes))


def self_trips(spec: Spec, seed: int, effort: str = "normal") -> tuple[int, list[str]]:
    """How many turns with calls were written and read back, and what went wrong with the others."""
    tried, failures = 0, []
    same = same_id(spec)
    header = spec.turn.header
    read_with = from_header(spec)
    marked = is_marked(spec)
    for case, message in _turns(cases(seed, effort)):
        truth = message if marked else replace(message, content=None)
        text = write_turn(spec, truth, prompt=header)
        chance = random.Random(f"{seed} {case.name}")  # noqa: S311  (repeatable, not secret)
        reading = read(read_with, text, case.tools, header, chance)
        wrong = [str(one) for one in differences(truth, reading.message, same)]
        wrong += [f"problem {problem}" for problem in reading.problems]
        if wrong:
            failures.append(
                f"{calls_path(spec)}: a call that the spec writes is not read back ({case.name}): {wrong[0]}"
            )
        else:
            tried += 1
    return tried, failures


def _turns(known: tuple[Case, ...]) -> Iterator[tuple[Case, Message]]:
    """The cases with calls as messages, without reasoning."""
    for case in known:
        made = tuple(
            ToolCall(
                call.name,
                json.dumps(call.arguments, ensure_ascii=False).replace(OWN_LITERAL, ""),
                f"call{at:05}",
            )
            for at, call in enumerate(case.reply.calls)
        )
        if made:
            yield case, Message(case.reply.content or None, None, made)
