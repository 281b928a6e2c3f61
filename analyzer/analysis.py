"""The whole way from a template to a proven spec, in one call.

    load -> try one render -> infer with two sets of needles -> overlays -> verify

A template that cannot be read or rendered at all raises `TemplateError`.  Everything else is a value: what the
template refuses is a note, a layout that was not found and a round trip that failed are a verdict.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from analyzer.errors import TemplateError
from analyzer.infer.inference import Inference, infer
from analyzer.infer.reasoning_tags import tag_pairs
from analyzer.infer.unshown import unshown
from analyzer.render import STOPPED, Outcome, Renderer, RenderFailure, RenderRequest, RenderWorker, submit
from analyzer.render.facts import TemplateFacts, template_facts
from analyzer.render.turns import in_turns
from analyzer.spec.document import to_data
from analyzer.spec.model import Scalar, Spec, Verification
from analyzer.spec.overlays import Overlay, apply_overlays, load_overlays
from analyzer.template import Template, load_templates, pick

Verdict: TypeAlias = Literal[
    "proven", "proven_with_defects", "failed", "described", "no_calls", "refused", "unverified"
]

VERDICTS: Final[Mapping[str, str]] = {
    "proven": "every round trip came out as it went in",
    "proven_with_defects": "proven; what the template itself loses is listed, each loss with its witness",
    "failed": "a round trip, the stability of inference or the layout of rendered calls failed",
    "described": "calls are told to the model in words and never rendered: read from there, and not proven",
    "no_calls": "the template renders no calls and describes none",
    "refused": "the template renders not even a plain conversation",
    "unverified": "nothing was verified, on request",
}
"""What each verdict means."""

DESCRIPTIONS: Final = frozenset({"D1", "D2", "D3"})
"""The comparisons that read calls from a description; what they find is no refusal."""

_FIRST_CHAT: Final = ({"role": "user", "content": "Hello"},)
_SILENT: Final = "it renders, but without the words of the messages: this may be no chat template"
_UNCOMPARED: Final = {"evidence": {}, "verification": Verification(), "defects": ()}


@dataclass(frozen=True, slots=True)
class Note:
    """Something noticed on the way, such as a conversation that the template refuses, with its own words."""

    subject: str
    """The number of the comparison, or `stability`."""
    kind: str
    message: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Analysis:
    """What became of one template."""

    template: Template
    spec: Spec | None
    """None when not even a plain conversation renders."""
    calls_shown: bool
    """Whether the template renders calls at all, with or without a layout that was found."""
    notes: tuple[Note, ...] = ()
    renders: int = 0
    """How many renders inference asked for, verification not counted."""
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)
    """Time by phase: `infer` (with both series of needles, which take turns) and `verify`."""

    @property
    def verification(self) -> Verification:
        """What `verify` found."""
        return self.spec.verification if self.spec is not None else Verification()

    @property
    def verdict(self) -> Verdict:
        """The outcome in one word; see `VERDICTS`."""
        if self.spec is None:
            return "refused"
        found = self.spec.verification.verdict
        if self.spec.calls is None:
            if self.calls_shown or found == "failed":
                return "failed"
            return "no_calls"
        if not self.calls_shown and found != "failed":
            return "described"
        return found

    @property
    def failures(self) -> tuple[str, ...]:
        """Why the verdict is `failed` or `refused`, one sentence each."""
        found = list(self.verification.failures)
        if self.spec is None:
            refusals = [note for note in self.notes if note.kind != "stand_in"]
            found += [f"{note.subject} {note.kind}: {note.message}" for note in refusals] or [_SILENT]
        elif self.spec.calls is None and self.calls_shown:
            found.insert(0, "the template renders calls whose layout was not found")
        return tuple(found)


def analyze(
    source: str | Path | Template,
    *,
    variant: str | None = None,
    renderer: Renderer | None = None,
    verify: bool = True,
    overlays: Sequence[str | Path] = (),
    variables: Mapping[str, Scalar] | None = None,
    seed: int = 0,
) -> Analysis:
    """Infer the format spec of a template and prove it.

    `source` is whatever `analyzer.template.load_templates` reads: a file, a model folder, a hub id; `variant` names one
    of several templates.  Rendering runs in a process of its own unless a `renderer` is given.  `overlays` are files
    that add to the ones of the package.  `variables` are set in each render: a template whose format hangs on a variable
    (the defect `format_varies`) gets a spec for each value.

    Raises:
        TemplateError: the template cannot be found, read or compiled, or any render of it has to be stopped.
        SpecError: an overlay file is not valid.
        UsageError: something that the source needs is missing, or an overlay file cannot be read.
    """
    template = source if isinstance(source, Template) else pick(load_templates(source), variant)
    extra = load_overlays(overlays)
    given = dict(variables or {})
    if renderer is not None:
        return _analyze(template, renderer, extra, given, verify=verify, seed=seed)
    with RenderWorker() as worker:
        return _analyze(template, worker, extra, given, verify=verify, seed=seed)


def with_stand_ins(template: Template) -> Template:
    """The template with a stand-in for each special token it uses, when nothing at all is known of its tokens.

    A template file on its own does not say what `eos_token` is; `<|eos_token|>` then stands for it, in the spec too.
    """
    used = [] if template.special_tokens else [n for n in _facts(template).variables if n.endswith("_token")]
    return replace(template, special_tokens={name: f"<|{name}|>" for name in used}) if used else template


def _facts(template: Template) -> TemplateFacts:
    try:
        return template_facts(template.text)
    except TemplateError as error:
        raise TemplateError(error.found, source=template.place, line=error.line, hint=error.hint) from None


def _analyze(
    given: Template,
    renderer: Renderer,
    overlays: Sequence[Overlay],
    variables: Mapping[str, Scalar],
    *,
    verify: bool,
    seed: int,
) -> Analysis:
    try_render(given, renderer)
    template = with_stand_ins(given)
    seconds: dict[str, float] = {}
    with _timed(seconds, "infer"):
        (first, second), renders = _inferences(template, renderer, variables)
    notes = [*_stand_ins(given, template), *_refusals(first)]
    notes += _descriptions(first.spec)
    if first.spec is None:
        return Analysis(template, None, first.calls_shown, tuple(notes), renders, seconds)
    unstable = instability(first.spec, second.spec)
    spec = apply_overlays(first.spec, overlays)
    if verify:
        with _timed(seconds, "verify"):
            spec = _verified(spec, template, renderer, seed)
            problem = next(iter(spec.verification.failures), unstable)
            alone = bool(problem) and not first.calls_shown
            other = _without_history(spec, template, renderer, seed) if alone else None
        if other is not None and second.spec is not None:
            notes.append(Note("T4", "history", f"what history shows is no reply: {problem}"))
            spec, unstable = other, instability(other, unshown(second.spec, _pairs(template)))
    if unstable:
        message = f"inference is not stable: {unstable}"
        notes.append(Note("stability", "difference", message))
        spec = _with_failure(spec, message) if verify else spec
    return Analysis(template, spec, first.calls_shown, tuple(notes), renders, seconds)


def _verified(spec: Spec, template: Template, renderer: Renderer, seed: int) -> Spec:
    from analyzer.verify import verified  # noqa: PLC0415  (loads Hypothesis)

    return verified(spec, template, renderer, seed)


def _without_history(spec: Spec, template: Template, renderer: Renderer, seed: int) -> Spec | None:
    """The spec of the generation prompts alone, None where history does show a turn behind one."""
    other = _verified(unshown(spec, _pairs(template)), template, renderer, seed)
    return None if other.verification.verdict == "failed" else other


def _pairs(template: Template) -> list[tuple[str, str]]:
    return tag_pairs(_facts(template))


def _inferences(
    template: Template, renderer: Renderer, variables: Mapping[str, Any]
) -> tuple[list[Inference], int]:
    """The inferences with two series of needles, and how many renders they asked for."""
    counters: list[_Counting] = []

    def task(series: int, seat: Renderer) -> Inference:
        counters.append(_Counting(seat))
        return infer(template, counters[-1], series, variables)

    found = in_turns(renderer, [partial(task, series) for series in (0, 1)])
    return found, sum(counter.renders for counter in counters)


def try_render(template: Template, renderer: Renderer) -> None:
    """Render one message; raise when the template does not compile or has to be stopped.

    The facts of its source are read meanwhile: both take about as long, and the renderer is another process.
    """
    request = RenderRequest(_FIRST_CHAT, special_tokens=template.special_tokens)
    fetch = submit(renderer, template.text, [request])
    with suppress(TemplateError):  # the compiler's own words are better
        template_facts(template.text)
    (outcome,) = fetch()
    if not isinstance(outcome, RenderFailure):
        return
    if outcome.kind == "syntax":
        raise TemplateError(
            f"the template does not compile: {outcome.message}", source=template.place, line=outcome.line
        )
    if outcome.kind in STOPPED:
        found = f"rendering one message had to be given up ({outcome.kind}): {outcome.message}"
        hint = "A template that never ends or whose output grows without bound cannot be analysed."
        raise TemplateError(found, source=template.place, line=outcome.line, hint=hint)


def _stand_ins(given: Template, template: Template) -> Iterator[Note]:
    if not given.special_tokens and template.special_tokens:
        listed = ", ".join(f"{text} for {name}" for name, text in template.special_tokens.items())
        yield Note(
            "tokens", "stand_in", f"the template's special tokens are not known; the spec has {listed}"
        )


def _refusals(inference: Inference) -> Iterator[Note]:
    """What the template refused, equal refusals of one comparison counted."""
    counted: dict[tuple[str, str, str], int] = {}
    for label, failure in inference.failures:
        key = (label, failure.kind, failure.message)
        counted[key] = counted.get(key, 0) + 1
    for (label, kind, message), times in counted.items():
        yield Note(label, kind, message, times)


def _descriptions(spec: Spec | None) -> Iterator[Note]:
    """What was read, or could not be read, of calls that the template does not render."""
    for found in spec.evidence.values() if spec is not None else ():
        for one in found:
            if one.comparison in DESCRIPTIONS:
                kind = "described" if one.described else "no_format"
                yield Note(one.comparison, kind, f"{one.found} ({one.note})")


def instability(one: Spec, other: Spec | None) -> str:
    """Where two specs of one template differ, empty when they do not; evidence and verification are left out."""
    if other is None:
        return "with other values nothing renders"
    first, second = (spec.model_copy(update=_UNCOMPARED) for spec in (one, other))
    return "" if first == second else next(_differences(to_data(first), to_data(second), ""), "")


def _differences(one: Any, other: Any, path: str) -> Iterator[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {**one, **other}:
            yield from _differences(one.get(key), other.get(key), f"{path}.{key}" if path else key)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from _differences(first, second, f"{path}[{number}]")
    elif one != other:
        yield f"{path} is {_short(one)} with one set of values and {_short(other)} with another"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}...{text[-15:]}"  # noqa: PLR2004  (one line of a message)


def _with_failure(spec: Spec, message: str) -> Spec:
    found = spec.verification
    changes = {"verdict": "failed", "failures": (message, *found.failures)}
    return spec.model_copy(update={"verification": found.model_copy(update=changes)})


class _Counting:
    """A renderer that counts what it is asked for."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self.renders = 0

    def render(
        self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False
    ) -> list[Outcome]:
        """See `Renderer`."""
        self.renders += len(requests)
        return self._renderer.render(source, requests, mutable=mutable)


class _timed:  # noqa: N801  (reads as a statement)
    """Adds the seconds of its block to a mapping."""

    def __init__(self, seconds: dict[str, float], phase: str) -> None:
        self._seconds, self._phase = seconds, phase
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._seconds[self._phase] = round(time.perf_counter() - self._started, 4)
