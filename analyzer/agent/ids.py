"""Call ids: made where a model wrote none, and mapped to the form that a template or an API wants.

A template may refuse ids that are not of its own form (nine letters or digits), and a conversation may have come from
another model. `IdMap` gives each id one replacement, the same in calls and results, for the whole conversation.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import string
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from analyzer.chat import Message
from analyzer.errors import UsageError

ALPHANUMERIC: Final = string.ascii_letters + string.digits
NINE: Final = r"[A-Za-z0-9]{9}"
"""The strictest form in use; ids of this form are accepted everywhere."""
ANTHROPIC: Final = r"[A-Za-z0-9_-]+"
"""The form that the Anthropic API accepts."""
_LENGTHS: Final = (9, 8, 24, 32, 1, *range(2, 65))


def new_id() -> str:
    """Return a fresh id of nine letters and digits."""
    return "".join(secrets.choice(ALPHANUMERIC) for _ in range(9))


def with_ids(message: Message) -> Message:
    """Return the message with an id for each call: the model's own where there is one and no earlier call has it."""
    ids = CallIds()
    calls = []
    for call in message.tool_calls:
        kept = ids(call.id)
        calls.append(call if kept == call.id else replace(call, id=kept))
    return replace(message, tool_calls=tuple(calls))


class CallIds:
    """Gives each call of one turn an id: the model's own where there is one and no earlier call has it, else a new one.

    `pattern` is the form that ids must have (a spec's `input.ids`; None: any), `taken` are ids that earlier turns use.
    """

    def __init__(self, pattern: str | None = None, taken: Iterable[str] = ()) -> None:
        self._seen = set(taken)
        self._map = IdMap(pattern, self._seen)

    def __call__(self, own: str | None) -> str:
        """Return the id of the next call; `own` is what the model wrote."""
        found = self._map(own if own and own not in self._seen else new_id())
        self._seen.update((found, own or found))
        return found


class IdMap:
    """Maps ids to those that match a pattern; one that matches stays as it is, the same id always becomes the same.

    Two ids never become one. `taken` are ids that must stay free, such as those of a conversation that was mapped before.
    """

    def __init__(self, pattern: str | None, taken: Iterable[str] = ()) -> None:
        self._matches = None if pattern is None else re.compile(pattern).fullmatch
        self._pattern = pattern
        self._mapped: dict[str, str] = {}
        self._used = set(taken)

    def reserve(self, ids: Iterable[str | None]) -> None:
        """Say which ids will come, so that none that matches is given to another."""
        self._used.update(found for found in ids if found and self._fits(found))

    def __call__(self, found: str) -> str:
        """Return the id to write for this one."""
        if found not in self._mapped:
            made = found if self._fits(found) else self._made(found)
            self._used.add(made)
            self._mapped[found] = made
        return self._mapped[found]

    def _fits(self, text: str) -> bool:
        return self._matches is None or self._matches(text) is not None

    def _made(self, found: str) -> str:
        for attempt in range(100):
            seed = hashlib.sha512(f"{attempt} {found}".encode()).digest()
            letters = "".join(ALPHANUMERIC[byte % len(ALPHANUMERIC)] for byte in seed)
            for length in _LENGTHS:
                for form in (letters[:length], f"call_{letters[:length]}", f"toolu_{letters[:length]}"):
                    if form not in self._used and self._fits(form):
                        return form
            number = str(int.from_bytes(seed[:4], "big"))
            for form in (number, number[:9], str(attempt)):
                if form not in self._used and self._fits(form):
                    return form
        raise UsageError(f"no id of the form {self._pattern} could be made", hint="Map the ids yourself.")
