"""Renders of a probe's variants, with the needles found in them: the raw material of an explanation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from analyzer.cli.output import visible
from analyzer.cli.paint import STYLES
from analyzer.infer.fit import fit
from analyzer.observe.needles import Needles, needles
from analyzer.observe.session import Session, Shape
from analyzer.observe.variants import observe
from analyzer.render import Renderer
from analyzer.render.facts import template_facts
from analyzer.spec.model import Spec
from analyzer.template import Template

NEEDLE_STYLES = {
    "name": "bold yellow",
    "id": "blue",
    "key": "bold green",
    "value": "green",
    "content": "bold",
    "reasoning": STYLES["reasoning"],
    "result": "bold blue",
    "user": "dim",
}
"""By the kind of slot that a needle was put into."""


@dataclass(frozen=True, slots=True)
class Found:
    """A needle in a render."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What the template wrote for a variant, from the end of the user's message on; empty when it refused."""

    variant: str
    text: str
    needles: tuple[Found, ...] = ()

    def painted(self, markers: Sequence[str] = ()) -> Text:
        """The render with its needles, and the spec's own literals, in colours."""
        if not self.text:
            return Text("refused", "red")
        out = Text()
        at = 0
        for found in self.needles:
            out += _literal(self.text[at : found.start], markers)
            out.append(self.text[found.start : found.end], NEEDLE_STYLES[found.kind])
            at = found.end
        return out + _literal(self.text[at:], markers)


def _literal(text: str, markers: Sequence[str]) -> Text:
    out = Text(visible(text))
    out.highlight_words([visible(marker) for marker in markers], STYLES["markup"])
    return out


def renders(spec: Spec, template: Template, renderer: Renderer, variants: Iterable[str]) -> dict[str, Shown]:
    """The variants by name, in the shape of input that the spec speaks of."""
    session = _session(spec, template, renderer)
    if session is None:
        return {}
    names = tuple(dict.fromkeys(variants))
    seen = observe(session, names)
    return {name: _shown(name, seen[name], session.needles) for name in names}


def _session(spec: Spec, template: Template, renderer: Renderer) -> Session | None:
    shape = Shape(variables=dict(spec.input.variables))
    accepted = fit(Session(template, renderer, needles(0), shape), template_facts(template.text))
    wanted = "text" if spec.input.arguments == "text" else "mapping"
    fitting = [session for session in accepted.calls if session.shape.arguments == wanted]
    return next(iter(fitting or accepted.calls), accepted.plain)


def _shown(name: str, text: str | None, words: Needles) -> Shown:
    if text is None:
        return Shown(name, "")
    at = text.rfind(words.user)
    begin = at + len(words.user) if at >= 0 else 0
    behind = text[begin:]
    return Shown(name, behind, tuple(_search(behind, words)))


def _search(text: str, words: Needles) -> Iterator[Found]:
    kinds = {
        words.content: "content",
        words.final: "content",
        words.reasoning: "reasoning",
        words.follow: "user",
    }
    kinds |= dict.fromkeys(words.results, "result")
    for call in words.calls:
        kinds |= {call.name: "name", call.id: "id"}
        kinds |= dict.fromkeys(call.keys, "key") | dict.fromkeys(call.values, "value")
    found = []
    for word, kind in kinds.items():
        at = text.find(word)
        while at >= 0:
            found.append(Found(at, at + len(word), kind))
            at = text.find(word, at + len(word))
    end = 0
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if one.start >= end:
            yield one
            end = one.end
