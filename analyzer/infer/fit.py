"""I-comparisons: the shape of input that a template accepts.

I1  a plain conversation, starting rich (system message, text content) and falling back one step at a time
I2  a turn with one call: arguments as a mapping, then as JSON text; empty content as "", null, absent or present
I3  the same with two calls
What a template refuses on the way is kept in the session's failures, with its message.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from analyzer.observe import probes
from analyzer.observe.session import Session, Shape

EMPTY_CONTENTS = ("empty", "null", "absent", "space", "text")

_VARIABLES: tuple[tuple[str, Any], ...] = (
    ("documents", []),
    ("functions", []),
    ("datetime", "2031-10-14"),
    ("date_string", "14 Oct 2031"),
)


@dataclass(frozen=True, slots=True)
class Fit:
    """What a template accepts."""

    plain: Session | None
    """A session in whose shape a plain conversation renders; None when none does."""
    calls: tuple[Session, ...]
    """Sessions in whose shapes a call renders: mapping first, then text. Empty when calls are not rendered."""
    call_texts: tuple[str, ...] = ()


def fit(session: Session) -> Fit:
    """Find the accepted shapes of `session`'s template."""
    plain = _fit_plain(session)
    if plain is None:
        return Fit(None, ())
    fitted = [found for arguments in ("mapping", "text") if (found := _fit_calls(plain, arguments)) is not None]
    return Fit(plain, tuple(fitted))


def plain_chat(session: Session) -> list[probes.Message]:
    """Return `[system?, user]`, the beginning of every probe."""
    needles = session.needles
    head = [probes.system(needles.system)] if session.shape.system else []
    return [*head, probes.user(needles.user)]


def _plain_shapes(shape: Shape) -> Iterator[Shape]:
    for parts in (False, True):
        for system in (True, False):
            yield replace(shape, parts=parts, system=system)


def _fit_plain(session: Session) -> Session | None:
    needles = session.needles
    wanted = (needles.user, needles.content)
    variables: dict[str, Any] = {}
    for mutable in (False, True):
        refused = False
        for shape in _plain_shapes(session.shape):
            tried = session.with_shape(
                parts=shape.parts, system=shape.system, mutable=mutable, variables=dict(variables)
            )
            chat = [*plain_chat(tried), probes.assistant(needles.content), probes.user(needles.follow)]
            seen = len(session.failures)
            text = tried.one(chat, "I1")
            if text is None:
                refused = refused or any(failure.kind == "security" for _, failure in session.failures[seen:])
                variables.update(_missing(session, seen))
            elif all(needle in text for needle in wanted):
                return tried
        if not refused and not variables:
            break
    return None


def _missing(session: Session, seen: int) -> dict[str, Any]:
    """Return values for variables that the failures since `seen` complain about."""
    messages = " ".join(failure.message for _, failure in session.failures[seen:])
    return {name: value for name, value in _VARIABLES if f"'{name}'" in messages}


def call_chat(session: Session, count: int, arguments: int = 2, content: str = "") -> list[probes.Message]:
    """Return the plain chat with an assistant message of `count` calls."""
    if session.shape.empty_content == "text" and not content:
        content = session.needles.content
    return [*plain_chat(session), probes.assistant(content, probes.calls(session.needles, count, arguments))]


def _fit_calls(plain: Session, arguments: str) -> Session | None:
    needles = plain.needles
    call = needles.calls[0]
    for mutable in (plain.shape.mutable, True):
        refused = False
        for empty in EMPTY_CONTENTS:
            tried = plain.with_shape(arguments=arguments, empty_content=empty, mutable=mutable)
            seen = len(plain.failures)
            text = tried.one(call_chat(tried, 1), "I2", tools=probes.tools(needles))
            if text is None:
                refused = refused or any(failure.kind == "security" for _, failure in plain.failures[seen:])
                continue
            region = text[text.rfind(needles.user) :]
            shown = call.name in region or call.id in region
            if shown and all(value in region for value in call.values[:2]):
                return tried
        if not refused:
            break
    return None
