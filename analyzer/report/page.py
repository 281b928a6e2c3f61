"""The page of one template, as data: everything that is shown there, found with the real runtime and the real template."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from analyzer.chat import Message, ToolCall
from analyzer.errors import ExportError
from analyzer.export import TARGETS, export
from analyzer.infer.comparisons import comparisons
from analyzer.lint.findings import Finding
from analyzer.lint.linting import lint_analysis
from analyzer.observe.variants import BASIC, FOLLOWED, describe
from analyzer.render import Renderer
from analyzer.report.conversation import Conversations, Shown, conversations
from analyzer.report.example import HOTELS, REASONING, TEXT, TOOLS, WEATHER
from analyzer.report.facts import Fact, facts
from analyzer.report.replay import Replay, own_replay
from analyzer.report.spans import KINDS, Span, evidence_for
from analyzer.report.subject import Subject
from analyzer.spec.document import dumps
from analyzer.spec.model import Spec


@dataclass(frozen=True, slots=True)
class Exported:
    """A spec in the form of one target, or why there is none."""

    target: str
    summary: str
    text: str = ""
    losses: tuple[str, ...] = ()
    refusal: str = ""


class Prefill(NamedTuple):
    """What the generation prompt says under one setting: the header and what it goes on with."""

    setting: str
    after: str
    header: str
    more: str


class Told(NamedTuple):
    """What is told of a span: what it is, the field of the spec, and the evidence."""

    kind: str
    path: str
    marker: bool
    evidence: tuple[Mapping[str, Any], ...]

    def to_json(self) -> dict[str, Any]:
        """The same as JSON data."""
        return {
            "kind": self.kind,
            "what": KINDS[self.kind],
            "path": self.path,
            "marker": self.marker,
            "evidence": list(self.evidence),
        }


@dataclass(frozen=True, slots=True)
class Page:
    """All that the page of a template shows."""

    subject: Subject
    findings: tuple[Finding, ...]
    shown: Conversations | None = None
    told: tuple[Told, ...] = ()
    """What spans say, each once; a span's number is its place in here."""
    facts: tuple[Fact, ...] = ()
    prefills: tuple[Prefill, ...] = ()
    exports: tuple[Exported, ...] = ()
    replay: Replay | None = None
    spec_text: str = ""

    def number(self, span: Span) -> int:
        """The place in `told` of what is said of a span."""
        return next(
            at
            for at, one in enumerate(self.told)
            if (one.kind, one.path, one.marker) == (span.kind, span.path, span.marker)
        )

    def data(self) -> dict[str, Any]:
        """What the page's scripts need."""
        return {
            "page": self.subject.slug,
            "told": [one.to_json() for one in self.told],
            "replay": self.replay.to_json() if self.replay is not None else None,
        }


def page_of(subject: Subject, renderer: Renderer, exports: dict[str, tuple[Exported, ...]]) -> Page:
    """The page of a subject.  `exports` keeps what was made of each format, by its key."""
    from analyzer.report.families import format_key  # noqa: PLC0415  (families know subjects)

    spec = subject.spec
    findings = tuple(lint_analysis(subject.analysis(), renderer)) if spec is not None else ()
    if spec is None:
        return Page(subject, findings)
    shown = conversations(spec, subject.template, renderer)
    key = format_key(spec)
    if key not in exports:
        exports[key] = tuple(exported(spec))
    return Page(
        subject,
        findings,
        shown,
        tuple(_told(spec, _spans(shown))),
        tuple(facts(spec)),
        tuple(_prefills(spec)),
        exports[key],
        own_replay(spec, example_reply(spec)),
        dumps(spec),
    )


def example_reply(spec: Spec) -> Message:
    """The turn that the live parser begins with: reasoning, text and two calls, as far as the spec has them."""
    calls = [WEATHER, HOTELS] if spec.calls is not None else []
    if spec.calls is not None and not spec.calls.parallel:
        calls = calls[:1]
    return Message(
        TEXT,
        REASONING if spec.reasoning else None,
        tuple(ToolCall(call.name, json.dumps(call.arguments), f"call_{n}") for n, call in enumerate(calls)),
    )


def exported(spec: Spec) -> Iterator[Exported]:
    """The spec in the form of every target."""
    for target in TARGETS.values():
        try:
            done = export(target.name, spec, TOOLS)
        except ExportError as error:
            yield Exported(target.name, target.summary, refusal=f"{error.found} {error.hint}".strip())
            continue
        payload = done.payload
        text = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False, indent=2)
        losses = tuple(loss.text for loss in done.losses)
        yield Exported(target.name, target.summary, text, losses)


def _spans(shown: Conversations) -> Iterator[Span]:
    sides: list[Shown | None] = [shown.whole, shown.written]
    sides += [side for row in shown.rows for side in (row.one, row.two)]
    for side in sides:
        yield from side.spans if side is not None else ()


def _told(spec: Spec, spans: Iterator[Span]) -> Iterator[Told]:
    seen = set()
    for span in spans:
        key = (span.kind, span.path, span.marker)
        if key not in seen:
            seen.add(key)
            yield Told(*key, tuple(_evidence(spec, span.path)))


_KNOWN: Final = frozenset({*BASIC, *FOLLOWED})


def _evidence(spec: Spec, path: str) -> Iterator[dict[str, Any]]:
    for field, one in evidence_for(spec, path):
        yield {
            "field": field,
            "comparison": one.comparison,
            "compared": comparisons().get(one.comparison, ""),
            "found": one.found,
            "renders": [describe(name) if name in _KNOWN else name for name in one.variants],
            "note": one.note,
        }


def _prefills(spec: Spec) -> Iterator[Prefill]:
    header = spec.turn.header
    for prompt in spec.turn.prompts:
        setting = ", ".join(f"{name} = {json.dumps(value)}" for name, value in prompt.set.items())
        whole = prompt.text.startswith(header)
        shared = header if whole else prompt.text
        yield Prefill(setting or "default", prompt.after, shared, prompt.text[len(shared) :])


def severities(findings: Sequence[Finding]) -> Mapping[str, int]:
    """How many findings there are of each severity."""
    return {
        severity: count
        for severity in ("error", "warning", "note")
        if (count := sum(finding.severity == severity for finding in findings))
    }
