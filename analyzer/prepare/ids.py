"""Call ids in the form that a template accepts, and back."""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Iterator
from typing import Final

import regex

from analyzer.spec.model import JsonLayout, Layout, SequenceLayout, Spec
from analyzer.spec.parts import IdSlot, NameSlot

_ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_LENGTHS: Final = (9, 8, 10, 12, 16, 24, 32, 6, 4, 5, 7)
_PREFIXES: Final = ("", "call_", "call-", "toolu_", "chatcmpl-tool-", "fc_", "call")
_SECONDS: Final = 0.5
"""How long one match against a spec's pattern may take; patterns come from templates and from people."""

DEFAULT_PATTERN: Final = "functions.{name}:{index}"
"""How an id that is all the template writes holds the name, where neither spec nor overlay says."""


class IdMaker:
    """Makes the ids of one conversation: each fits the template's form and no two are alike."""

    def __init__(self, spec: Spec) -> None:
        self._wanted = spec.input.ids
        self._pattern, self._next = _pattern_of(spec)
        self._given: set[str] = set()
        self._hopeless = False
        """True: the pattern cannot be used, or one match took too long; nothing is tried against it again."""

    def fit(self, given: str | None, name: str) -> str | None:
        """The id for a call: the given one where it fits and is new, else one made from it; None when none can be made."""
        number, self._next = self._next, self._next + 1
        if self._pattern is not None:
            made = self._pattern.replace("{name}", name).replace("{index}", str(number))
        elif given and given not in self._given and self._fits(given):
            made = given
        else:
            made = next((one for one in self._candidates(given or "", name, number) if self._fits(one)), "")
        if not made:
            return None
        self._given.add(made)
        return made

    def _fits(self, identity: str) -> bool:
        if identity in self._given:
            return False
        if self._wanted is None or self._hopeless:
            return not self._hopeless
        try:
            return regex.fullmatch(self._wanted, identity, timeout=_SECONDS) is not None
        except (regex.error, TimeoutError):
            self._hopeless = True
            return False

    def _candidates(self, given: str, name: str, number: int) -> Iterator[str]:
        for attempt in range(4):
            text = _letters(f"{given}\0{name}\0{number}\0{attempt}")
            for prefix in _PREFIXES:
                for length in _LENGTHS:
                    yield prefix + text[:length]
        yield str(number)
        yield f"{name}:{number}"
        yield f"{name}_{number}"


def _letters(text: str) -> str:
    """Thirty-two letters and digits that depend on a text."""
    number = int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), "big")
    letters = []
    for _ in range(32):
        number, digit = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[digit])
    return "".join(letters)


def _pattern_of(spec: Spec) -> tuple[str | None, int]:
    """The pattern that ids are made by, with the first number; no pattern where any id will do."""
    calls = spec.calls
    if calls is None:
        return None, 0
    first = calls.layouts[0]
    slots = [part for part in first.parts if isinstance(part, IdSlot)]
    if slots and slots[0].pattern is not None:
        return slots[0].pattern, slots[0].start
    overlaid = next((one.id_pattern for one in spec.overlays if one.id_pattern), None)
    if slots and _is_nameless(first):
        return overlaid or DEFAULT_PATTERN, 0
    return None, 0


def _is_nameless(layout: Layout) -> bool:
    """Whether a call holds no name but the one inside its id."""
    if isinstance(layout, JsonLayout):
        return False
    assert isinstance(layout, SequenceLayout)  # noqa: S101  (the other kind)
    return not any(isinstance(part, NameSlot) for part in layout.parts)


def plain(identity: object) -> str | None:
    """An id as it was given, None where it is no text or blank."""
    return identity if isinstance(identity, str) and re.search(r"\S", identity) else None
