"""Exports held against the engines' own readers: what a format writes must come back, what is no call must not.

A text that an engine does not take, or takes though it is none, counts as a gap unless a declared loss says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from analyzer.engines import load, without_end
from analyzer.export import Export, Options, export
from analyzer.spec.model import Spec
from tests.export.samples import PROPERTIES, TOOLS, Written

EXCUSES: Final[Mapping[str, frozenset[str]]] = {
    "python_containers": frozenset({"containers"}),
    "python_words": frozenset({"null", "booleans"}),
    "quotes": frozenset({"quotes"}),
    "bare_keys": frozenset({"dashed"}),
    "escapes": frozenset({"quotes"}),
    "content_opener": frozenset({"content", "calls"}),
    "content_without_opener": frozenset({"content"}),
    "headers": frozenset({"both", "beside"}),
    "adjacent_calls": frozenset({"parallel"}),
    "second_reasoning": frozenset({"both"}),
    "name_in_id": frozenset({"calls"}),
    "raw_closer": frozenset({"closer", "quotes"}),
    "closer_in_value": frozenset({"closer"}),
    "opened_by_prompt": frozenset({"calls"}),
}
"""Which features of a message a loss excuses."""

WRONG_EXCUSES: Final[Mapping[str, frozenset[str]]] = {
    "unknown_names": frozenset({"unknown tool", "junk"}),
    "opened_by_prompt": frozenset(
        {"unknown tool", "wrong type", "missing argument", "unknown argument", "cut off", "junk"}
    ),
}
"""Which wrong texts a loss says are taken."""


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
    return ("order" in _kinds(done) and not _in_order(item)) or any(
        table.get(kind, frozenset()) & about for kind in _kinds(done)
    )


def _in_order(item: Written) -> bool:
    """Whether the arguments stand in the order of their schema."""
    known = list(PROPERTIES)
    for call in item.message.tool_calls:
        places = [known.index(key) for key in call.decoded() if key in known]
        if places != sorted(places):
            return False
    return True


def response_template(spec: Spec, done: Export, items: Sequence[Written]) -> Proof:
    """Transformers' parser must read back each good message."""
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
        kinds = _kinds(done)
        for reason, text in _broken(spec, items):
            known = any(reason in WRONG_EXCUSES.get(kind, ()) for kind in kinds)
            proof.note(held=not matcher.accepts(text), excused=known, text=f"{reason}: {text!r}")
        return proof

    return prove


def _broken(spec: Spec, items: Sequence[Written]) -> Iterator[tuple[str, str]]:
    """Calls that are cut off, and junk behind what a call begins with."""
    for item in items:
        if item.sample.name in ("zero", "many"):
            text = without_end(spec, item.text).rstrip()
            name = item.message.tool_calls[0].name
            start = text.index(name)
            yield "cut off", text[:-1]
            yield "cut off", text[: start + len(name)]
            yield "junk", f"{text[:start]}?!"


def choices(target: str, spec: Spec, items: Sequence[Written]) -> Proof:
    """`required` is a call from the first character on, a name is one call of that tool, `--no-parallel` one call a turn."""
    made = {
        word: export(target, spec, TOOLS, Options(word, parallel))
        for word, parallel in (("required", True), ("ping", True), ("auto", False))
    }
    loaded = {word: load(target, done.payload) for word, done in made.items()}
    opened = "opened_by_prompt" in _kinds(made["auto"])  # then a call is forced behind the prompt's opener
    proof = Proof()

    def expect(word: str, text: str, item: Written, *, accepted: bool) -> None:
        held = loaded[word].accepts(text) == accepted
        known = accepted and excused(made[word], item)
        proof.note(held=held, excused=known, text=f"{word} {item.sample.name}: {text!r}")

    for item in items:
        part = _calls_part(spec, item)
        if part is None or (opened and item.message.content):
            continue
        names = [call.name for call in item.message.tool_calls]
        right = not item.sample.wrong
        expect("required", part, item, accepted=right)
        expect("ping", part, item, accepted=right and names == ["ping"])
        if right:
            expect("required", f"Well. {part}", item, accepted=False)
            if not opened:
                expect("auto", without_end(spec, item.text), item, accepted=len(names) == 1)
    return proof


def _calls_part(spec: Spec, item: Written) -> str | None:
    """The calls of a turn; None where there are none, or text follows them."""
    text = without_end(spec, item.text)
    if not item.message.tool_calls:
        return None
    triggers = export("gbnf", spec, TOOLS).payload["grammar_triggers"]
    start = min((text.find(one["value"]) for one in triggers if one["value"] in text), default=0)
    names = [call.name for call in item.message.tool_calls]
    start = min(start, text.index(names[0]))
    content = item.message.content
    return None if content and text.find(content) > start else text[start:]


PROOFS: Final[Mapping[str, Callable[[Spec, Export, Sequence[Written]], Proof]]] = {
    "response-template": response_template,
    **{target: grammar(target) for target in ("structural-tag", "gbnf", "lark")},
}
"""The proof of each target."""
