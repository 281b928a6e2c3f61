"""`lint`: what verification proved to be wrong, what probes show, and what the format leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analyzer.analysis import Analysis, analyze
from analyzer.lint.asking import TURN, USER, Asker
from analyzer.lint.defects import from_defects
from analyzer.lint.findings import Finding, finding
from analyzer.lint.openness import from_format
from analyzer.lint.probes import run
from analyzer.render import Renderer, RenderFailure
from analyzer.render.environment import FIXED_NOW
from analyzer.template import Template

_SHOWN: Final = 60
_DATES: Final = tuple(
    FIXED_NOW.strftime(form) for form in ("%Y-%m-%d", "%d %b", "%d %B", "%b %d", "%B %d", "%Y")
)


def lint(template: Template, renderer: Renderer) -> tuple[Finding, ...]:
    """What is wrong with a template, the worst first, each kind once unless its evidence differs.

    Raises:
        TemplateError: the template does not compile, or any render of it has to be stopped.
    """
    return lint_analysis(analyze(template, renderer=renderer), renderer)


def lint_analysis(analysis: Analysis, renderer: Renderer) -> tuple[Finding, ...]:
    """As `lint`, for a template that was analysed already."""
    spec = analysis.spec
    if spec is None:
        return (finding("not_understood", evidence={"failures": list(analysis.failures)}),)
    asker = Asker(spec, analysis.template, renderer)
    found = [
        *from_defects(asker),
        *run(asker),
        *_date(asker),
        *_mutation(asker, analysis),
        *from_format(asker),
    ]
    if analysis.verdict == "failed":
        found.append(finding("not_understood", evidence={"failures": list(analysis.failures)[:3]}))
    unique: dict[tuple[str, str], Finding] = {}
    for one in found:
        unique.setdefault((one.kind, one.message), one)
    return tuple(sorted(unique.values(), key=lambda one: one.rank))


def _date(asker: Asker) -> Iterator[Finding]:
    """Today's date in the prompt, unless it is one that was handed in or that the template holds itself."""
    asked = asker.prepared({"role": "user", "content": "Hello"}, tools=None)
    [text] = asker.texts([asked])
    handed = [asker.template.text, *map(str, asker.spec.input.variables.values())]
    shown = [date for date in _DATES if date in (text or "") and not any(date in one for one in handed)]
    if text is not None and shown:
        at = text.find(shown[0])
        evidence = {"render": text[max(0, at - _SHOWN) : at + _SHOWN]}
        yield finding("depends_on_date", evidence=evidence, conversation=asked)


def _mutation(asker: Asker, analysis: Analysis) -> Iterator[Finding]:
    """What the immutable sandbox refuses, with the shortest conversation that it refuses."""
    if not asker.spec.input.mutable:
        return
    plain = {"role": "assistant", "content": "21 degrees."}
    asked = [asker.prepared(*chat) for chat in ((USER,), (USER, plain), (USER, TURN))]
    for one, outcome in zip(asked, asker.outcomes(asked, mutable=False), strict=True):
        if isinstance(outcome, RenderFailure) and outcome.kind == "security":
            evidence = {"exception": outcome.message}
            yield finding("mutates_input", evidence=evidence, conversation=one, line=outcome.line)
            return
    evidence = next(({"exception": note.message} for note in analysis.notes if note.kind == "security"), {})
    yield finding("mutates_input", evidence=evidence)
