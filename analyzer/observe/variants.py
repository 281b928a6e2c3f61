"""The variants of the call probe, rendered in one batch and kept by name.

Names: `cNaM` a last turn with N calls of M text arguments; `+t` with text beside the calls; `+r` followed by results and an answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from analyzer.observe import probes
from analyzer.observe.lexemes import common_suffix, is_marker, lexemes
from analyzer.observe.needles import Needles
from analyzer.observe.session import Ask, Form, Session, Shaped, render_each, shaped

BASIC = (
    "base",
    "user",
    "base+p",
    "t",
    "t+u",
    "c1a2",
    "c2a2",
    "c3a2",
    "c1a1",
    "c1a0",
    "c2a0",
    "c1a3",
    "c1a2+t",
    "c2a2+t",
)
FOLLOWED = ("c1a2+r", "c2a2+r", "c1a2+r+p", "c2a2+r+p", "t+u+p", "c1a2+t+r", "c1a2+R", "c2a2+R", "c1a0+r")

KEPT: Final = 1024
"""How many written conversations are kept, of about 1 KB each."""

_ENDS = ("base", "t", "t+u", "c1a2", "c2a2")
"""Variants that end in different ways."""


@dataclass(frozen=True, slots=True)
class Variants:
    """Renders by variant name; a refused one is None."""

    texts: Mapping[str, str | None]

    def __getitem__(self, name: str) -> str | None:
        return self.texts.get(name)


def describe(variant: str) -> str:
    """A variant's name in words."""
    first, *rest = variant.split("+")
    words = {"base": "the conversation before the turn", "user": "a user message", "t": "a turn of text"}
    text = (
        words.get(first)
        or f"{first[1]} call{'s' * (first[1] != '1')} with {first[3]} argument{'s' * (first[3] != '1')} each"
    )
    more = {
        "t": "text beside the calls",
        "r": "results and an answer",
        "R": "results",
        "u": "a user message after it",
        "p": "the generation prompt",
    }
    return ", ".join([text, *(more.get(word, word) for word in rest)])


def observe(session: Session, names: tuple[str, ...] = BASIC + FOLLOWED) -> Variants:
    """Render the variants `names`."""
    return observe_each([(session, names)])[0]


def observe_each(wanted: Sequence[tuple[Session, tuple[str, ...]]]) -> list[Variants]:
    """Render variants in several shapes of the same template, in one batch."""
    pairs = [(session, ask(session, name)) for session, names in wanted for name in names]
    texts = iter(render_each(pairs, "variants"))
    return [_closed(dict(zip(names, texts, strict=False))) for _, names in wanted]


def ask(session: Session, name: str) -> Ask:
    """Return the render that variant `name` is."""
    return Ask(chat(session, name), tools=probes.tools(session.needles), prompt=name.endswith("+p"))


def chat(session: Session, name: str) -> Shaped:
    """Return the conversation of variant `name`."""
    return _written(session.needles, session.shape.form, name)


def _closed(texts: Mapping[str, str | None]) -> Variants:
    closing = _behind_every_conversation(texts)
    if closing:
        texts = {name: text and "".join(text.rsplit(closing, 1)) for name, text in texts.items()}
    return Variants(texts)


def _behind_every_conversation(texts: Mapping[str, str | None]) -> str:
    """Return what the template closes every conversation with, such as instructions for the turn to come; "" for nothing.

    Turns end before it in a marker of their own, and in mid-conversation it does not stand.
    """
    ends = [text for name in _ENDS if (text := texts.get(name)) is not None]
    if len(ends) < len(_ENDS):
        return ""
    shared = common_suffix(*ends)
    alone = sum(map(is_marker, lexemes(shared))) > 1 and all(text.count(shared) == 1 for text in ends)
    return shared if alone and all(_ends_in_marker(texts[name], shared) for name in _ENDS[:2]) else ""


def _ends_in_marker(text: str | None, closing: str) -> bool:
    pieces = lexemes((text or "").removesuffix(closing).rstrip())
    return bool(pieces) and is_marker(pieces[-1])


def head(session: Session) -> list[probes.Message]:
    """Return `[system?, user]`, the beginning of every probe."""
    return _head(session.needles, session.shape.form)


def _head(needles: Needles, form: Form) -> list[probes.Message]:
    first = [probes.system(needles.system)] if form.system else []
    return [*first, probes.user(needles.user)]


@lru_cache(maxsize=KEPT)
def _written(needles: Needles, form: Form, name: str) -> Shaped:
    """Write a variant's conversation, once for all templates that take it in this form."""
    return Shaped(shaped(message, form) for message in _chat(needles, form, name))


def _chat(needles: Needles, form: Form, name: str) -> list[probes.Message]:
    first, *rest = name.split("+")
    chat = _head(needles, form)
    if first == "base":
        return chat
    if first == "user":
        return [probes.user(needles.user)]
    if first == "t":
        chat.append(probes.assistant(needles.content))
    else:
        count, arguments = int(first[1]), int(first[3])
        text = needles.content if "t" in rest or form.empty_content == "text" else ""
        chat.append(probes.assistant(text, probes.calls(needles, count, arguments)))
        if "r" in rest or "R" in rest or form.followed:
            chat += [probes.result(needles, index) for index in range(count)]
        if "r" in rest and "p" not in rest:
            chat.append(probes.assistant(needles.final))
    if "u" in rest:
        chat.append(probes.user(needles.follow))
    return chat
