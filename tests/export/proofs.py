"""Exports held against the engines' own readers: what a format writes must come back, what is no call must not.

A text that an engine does not take, or takes though it is none, counts as a gap unless a declared loss says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from analyzer.engines import load, without_end
from analyzer.export import Export
from analyzer.spec.model import Spec
from tests.export.samples import TOOLS, Written

EXCUSES: Final[Mapping[str, frozenset[str]]] = {
    "python_containers": frozenset({"containers"}),
    "python_words": frozenset({"null", "booleans"}),
    "quotes": frozenset({"quotes"}),
    "escapes": frozenset({"quotes"}),
    "content_opener": frozenset({"content", "calls"}),
    "content_without_opener": frozenset({"content"}),
    "headers": frozenset({"both", "beside"}),
    "adjacent_calls": frozenset({"parallel"}),
    "second_reasoning": frozenset({"both"}),
    "name_in_id": frozenset({"calls"}),
    "raw_closer": frozenset({"closer", "quotes"}),
    "closer_in_value": frozenset({"closer"}),
}
"""Which features of a message a loss excuses."""

WRONG_EXCUSES: Final[Mapping[str, frozenset[str]]] = {
    "unknown_names": frozenset({"unknown tool"}),
}
"""Which wrong calls a loss says are taken."""


@dataclass(slots=True)
class Proof:
    """What became of the texts of a format."""

    good: int = 0
    """How many texts were taken as they are, or refused as they should."""
    excused: list[str] = field(default_factory=list)
    """What was not, and a declared loss says so."""
    gaps: list[str] = field(default_factory=list)
    """What was not, and nothing says so."""

    def note(self, *, held: bool, excused: bool, text: str) -> None:
        """Count one text."""
        if held:
            self.good += 1
        elif excused:
            self.excused.append(text)
        else:
            self.gaps.append(text)


def _kinds(done: Export) -> set[str]:
    return {loss.kind for loss in done.losses}


def excused(done: Export, item: Written) -> bool:
    """Whether a declared loss says that this text is not handled."""
    table = WRONG_EXCUSES if item.sample.wrong else EXCUSES
    about = {item.sample.wrong} if item.sample.wrong else item.sample.features
    return any(table.get(kind, frozenset()) & about for kind in _kinds(done))


def response_template(spec: Spec, done: Export, items: Sequence[Written]) -> Proof:
    """transformers' parser must read back each good message."""
    del spec
    parser, proof = load("response-template", done.payload), Proof()
    for item in items:
        if item.sample.wrong:
            continue
        try:
            got = parser.parse(item.text, prompt=item.prompt, tools=TOOLS, cut=len(item.text) // 2)
        except ValueError as error:
            shown: Any = str(error)
        else:
            calls = [(call.name, call.decoded()) for call in got.tool_calls]
            shown = (got.content, got.reasoning_content, calls)
        expected = (item.message.content or None, item.message.reasoning_content, item.calls)
        proof.note(
            held=shown == expected,
            excused=excused(done, item),
            text=f"{item.sample.name}: {item.text!r} was read as {shown!r}",
        )
    return proof


def grammar(target: str) -> Callable[[Spec, Export, Sequence[Written]], Proof]:
    """The proof of a target that constrains: good texts are accepted, wrong ones refused."""

    def prove(spec: Spec, done: Export, items: Sequence[Written]) -> Proof:
        matcher, proof = load(target, done.payload), Proof()
        for item in items:
            text = without_end(spec, item.text)
            proof.note(
                held=matcher.accepts(text) == (not item.sample.wrong),
                excused=excused(done, item),
                text=f"{item.sample.name}: {text!r}",
            )
        for text in _broken(spec, done, items):
            proof.note(held=not matcher.accepts(text), excused=False, text=f"broken: {text!r}")
        return proof

    return prove


def _broken(spec: Spec, done: Export, items: Sequence[Written]) -> Iterator[str]:
    """Calls that are cut off, and junk behind what a call begins with."""
    del done
    for item in items:
        if item.sample.name in ("zero", "many"):
            text = without_end(spec, item.text).rstrip()
            yield text[:-1]
            name = item.message.tool_calls[0].name
            yield f"{text[: text.index(name)]}{name}"
            yield f"{text[: text.index(name)]}?!"


PROOFS: Final[Mapping[str, Callable[[Spec, Export, Sequence[Written]], Proof]]] = {
    "response-template": response_template,
    **{target: grammar(target) for target in ("structural-tag", "gbnf", "lark")},
}
"""The proof of each target."""
