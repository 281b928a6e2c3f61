"""`lint`: what verification proved to be wrong, what probes show, and what the format leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from analyzer.analysis import Analysis, analyze
from analyzer.lint.ambiguities import ambiguities
from analyzer.lint.findings import RULES, Finding, finding
from analyzer.lint.probes import run
from analyzer.render import Rendered, Renderer, RenderRequest
from analyzer.render.environment import FIXED_NOW
from analyzer.spec.model import Defect, Spec
from analyzer.template import Template

_COLLISION: Final = "collision: "
_SHOWN: Final = 400
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
    found = [*map(_from_defect, spec.defects), *_from_probes(spec, analysis.template, renderer)]
    found += _from_spec(spec, analysis)
    unique: dict[tuple[str, str], Finding] = {}
    for one in found:
        unique.setdefault((one.kind, one.message), one)
    return tuple(sorted(unique.values(), key=lambda one: one.rank))


def _from_defect(defect: Defect) -> Finding:
    witness: dict[str, Any] = dict(defect.witness)
    conversation = {key: witness.pop(key) for key in ("messages", "tools") if key in witness}
    kind = defect.kind if defect.kind in RULES else "not_understood"
    return finding(kind, defect.message, evidence=witness, conversation=conversation)


def _from_probes(spec: Spec, template: Template, renderer: Renderer) -> Iterator[Finding]:
    yield from run(spec, template, renderer)
    messages = [{"role": "user", "content": "Hello"}]
    request = RenderRequest(
        messages, special_tokens=template.special_tokens, variables=dict(spec.input.variables)
    )
    [outcome] = renderer.render(template.text, [request], mutable=spec.input.mutable)
    if not isinstance(outcome, Rendered):
        return
    shown = [date for date in _DATES if date in outcome.text]
    if shown and shown[0] not in template.text:
        at = outcome.text.find(shown[0])
        evidence = {"render": outcome.text[max(0, at - 60) : at + 60]}
        yield finding("depends_on_date", evidence=evidence, conversation={"messages": messages})


def _from_spec(spec: Spec, analysis: Analysis) -> Iterator[Finding]:
    if spec.input.mutable:
        evidence = next(
            ({"exception": note.message} for note in analysis.notes if note.kind == "security"), {}
        )
        yield finding("mutates_input", evidence=evidence)
    for line in spec.verification.unproven:
        if line.startswith(_COLLISION):
            yield finding("value_holds_closer", _sentence(line.removeprefix(_COLLISION)))
    for one in ambiguities(spec):
        kind = "ambiguous" if one.fatal else one.kind
        # what was proven can be read, whatever its literals look like
        resolved = one.fatal and spec.verification.verdict in ("proven", "proven_with_defects")
        if kind in RULES and not resolved:
            yield finding(kind, one.message, evidence={"field": one.path, "literals": list(one.literals)})
    if analysis.verdict == "failed":
        yield finding("not_understood", evidence={"failures": list(analysis.failures)[:3]})


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
