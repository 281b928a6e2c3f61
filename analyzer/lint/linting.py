"""`lint`: what verification proved to be wrong, what probes show, and what the format leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from analyzer.analysis import Analysis, analyze
from analyzer.lint.asking import NEEDLE, RESULT, TURN, USER, Asker, conversation
from analyzer.lint.defects import from_defects
from analyzer.lint.findings import Finding, finding
from analyzer.lint.openness import from_format
from analyzer.lint.probes import run
from analyzer.render import STOPPED, Renderer, RenderFailure, RenderWorker
from analyzer.render.environment import FIXED_NOW
from analyzer.spec.model import ContentSegment, Scalar, Spec, Turn
from analyzer.template import Template

_SHOWN: Final = 60
_TAIL: Final = 400
_NO_SPEC: Final = Spec(turn=Turn(segments=(ContentSegment(),)))
"""What is asked with where there is no spec: conversations as they are."""
_DATES: Final = tuple(
    FIXED_NOW.strftime(form) for form in ("%Y-%m-%d", "%d %b", "%d %B", "%b %d", "%B %d", "%Y")
)


def lint(
    template: Template, renderer: Renderer, variables: Mapping[str, Scalar] | None = None
) -> tuple[Finding, ...]:
    """What is wrong with a template, the worst first, each kind once unless its evidence differs.

    `variables` are set in each render, as those of `analyze`.

    Raises:
        TemplateError: the template does not compile, or any render of it has to be stopped.
    """
    return lint_analysis(analyze(template, renderer=renderer, variables=variables), renderer)


def lint_analysis(analysis: Analysis, renderer: Renderer) -> tuple[Finding, ...]:
    """As `lint`, for a template that was analysed already."""
    spec = analysis.spec
    if spec is None:
        return (_refused(analysis),)
    asker = Asker(spec, analysis.template, renderer)
    found = [
        *from_defects(asker),
        *run(asker),
        *_date(asker),
        *_mutation(asker, analysis),
        *_stopped(asker, analysis),
        *from_format(asker),
    ]
    if analysis.verdict == "failed":
        found.append(finding("not_understood", evidence={"failures": list(analysis.failures)[:3]}))
    unique: dict[tuple[str, str], Finding] = {}
    for one in found:
        unique.setdefault((one.kind, one.message), one)
    return tuple(sorted(unique.values(), key=lambda one: one.rank))


def _refused(analysis: Analysis) -> Finding:
    """Not even a plain conversation renders, or none of its words are in the render: with the first that shows it."""
    answer = {"role": "assistant", "content": f"It says {NEEDLE}."}
    asked = [conversation(chat, None) for chat in ((USER,), (USER, answer), (USER, answer, USER))]
    shown: dict[str, object] = {"failures": list(analysis.failures)}
    with RenderWorker() as fresh:  # one that had to be stopped too often tries the template no more
        asker = Asker(_NO_SPEC, analysis.template, fresh)
        for one in asked:
            [outcome] = asker.outcomes([one])
            if isinstance(outcome, RenderFailure):
                kind = "render_stopped" if outcome.kind in STOPPED else "conversation_refused"
                return finding(kind, evidence={"exception": outcome.message}, conversation=one)
            shown["render"] = outcome.text[-_TAIL:]
    return finding("conversation_refused", evidence=shown, conversation=asked[1])


def _stopped(asker: Asker, analysis: Analysis) -> Iterator[Finding]:
    """Renders that had to be stopped, with the shortest conversation that has to be, where a small one is enough."""
    found = [note for note in analysis.notes if note.kind in STOPPED]
    if not found:
        return
    evidence = {"exception": found[0].message, "comparison": found[0].subject}
    with RenderWorker() as fresh:  # a renderer that had to be stopped too often tries the template no more
        again = replace(asker, renderer=fresh)
        for one in (asker.prepared(USER, TURN), asker.prepared(USER, TURN, RESULT)):
            [outcome] = again.outcomes([one])
            if isinstance(outcome, RenderFailure) and outcome.kind in STOPPED:
                yield finding("render_stopped", evidence=evidence, conversation=one)
                return
    yield finding("render_stopped", evidence=evidence)


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
