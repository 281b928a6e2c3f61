"""I-comparisons: the shape of input that a template accepts.

I1  a plain conversation, starting rich (system message, text content) and falling back one step at a time
I2  a turn with one call: arguments as a mapping, then as JSON text; empty content as "", null, absent or present
I3  the same with two calls
I10  a turn behind a system message and without one: where it differs, what is written without one counts
What a template refuses on the way is kept in the session's failures, with its message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.infer.reasoning_fields import field_candidates
from analyzer.observe.session import Ask, Session, render_each
from analyzer.observe.variants import ask, chat
from analyzer.render.facts import TemplateFacts

EMPTY_CONTENTS = ("empty", "null", "absent", "space", "text")

_VARIABLES: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("functions", ([], "")),
    ("datetime", ("2031-10-14",)),
    ("date_string", ("14 Oct 2031",)),
)
"""Values for variables that a template may ask for, in the order in which they are tried."""


_PRINTED_PARTS = "'type': 'text'"


@dataclass(frozen=True, slots=True)
class Fit:
    """What a template accepts."""

    plain: Session | None
    """A session in whose shape a plain conversation renders, the user's words in it; None when none does."""
    calls: tuple[Session, ...]
    """Sessions in whose shapes a call renders: mapping first, then text. Empty when calls are not rendered."""
    names_only: bool = False
    """Whether the name of a call is rendered in some shape, and its arguments are in none."""
    system_taken: bool = False
    """Whether a conversation with a system message renders."""


def fit(session: Session, facts: TemplateFacts) -> Fit:
    """Find the accepted shapes of `session`'s template."""
    plain, silent = _fit_plain(session, facts)
    base = plain or silent
    if base is None:
        return Fit(None, ())
    fitted, hangs, named = _fit_calls(base)
    if hangs:
        base, *without = (one.with_shape(system=False) for one in (base, *fitted))
        return Fit(base, tuple(without), named and not without, system_taken=True)
    return Fit(base, fitted, named and not fitted, system_taken=base.shape.system)


def _around_system(plain: Session, usual: Session) -> list[tuple[Session, Ask]]:
    """I10: a turn of text behind a system message, then that turn and one of a call without the message."""
    if not plain.shape.system:
        return []
    bare, called = plain.with_shape(system=False), usual.with_shape(system=False)
    return [(plain, Ask(chat(plain, "t"))), (bare, Ask(chat(bare, "t"))), (called, ask(called, "c1a2"))]


def _hangs_on_system(user: str, behind: Sequence[str | None], without: Sequence[str | None]) -> bool:
    """I10: whether a turn is written otherwise behind a system message than without one.

    Then it is written by a miscount, or with the system message in it: a conversation without one is the plainer of the two.
    """
    pairs = [(one, other) for one, other in zip(behind, without, strict=True) if one and other]
    return any(one[one.rfind(user) :] != other[other.rfind(user) :] for one, other in pairs)


def _plain_shapes(facts: TemplateFacts) -> Iterator[dict[str, Any]]:
    """Yield shapes from the usual one to the unusual ones, as changes to the default."""
    for parts in (False, True):
        for system in (True, False):
            yield {"parts": parts, "system": system}
    yield {"tools_given": True}
    yield {"tools_given": True, "flat": True}
    for name, values in _VARIABLES:
        if name in facts.variables:
            for value in values:
                yield {"variables": {name: value}}
                yield {"variables": {name: value}, "system": False}
    known = {name: values[-1] for name, values in _VARIABLES if name in facts.variables}
    if len(known) > 1:
        yield {"variables": known}
        yield {"variables": known, "tools_given": True}
    for name in field_candidates(facts)[:4]:
        yield {"assistant_fields": {name: ""}}
        yield {"assistant_fields": {name: ""}, "system": False}


def _fit_plain(session: Session, facts: TemplateFacts) -> tuple[Session | None, Session | None]:
    """I1: the first shape in which a plain conversation renders; the mutable sandbox only where the other refuses.

    Beside it, where there is none: the first shape that renders the user's text and not the assistant's. A template may
    write nothing of the assistant but its calls, or nothing at all.
    """
    needles = session.needles
    refused = False
    silent: Session | None = None
    for mutable in (False, True):
        for changes in _plain_shapes(facts):
            variables = {**session.shape.variables, **changes.pop("variables", {})}
            tried = session.with_shape(**changes, variables=variables, mutable=mutable)
            seen = len(session.failures)
            text = tried.one(chat(tried, "t+u"), "I1")
            if text is not None and tried.shape.parts and _PRINTED_PARTS in text:
                continue  # the list itself is printed, as Python does
            if text is not None and needles.user in text and needles.content in text:
                return tried, None
            if text is not None and needles.user in text:
                silent = silent or tried
            refused = refused or any(failure.kind == "security" for _, failure in session.failures[seen:])
        if not refused:
            break
    return None, silent


def _fit_calls(plain: Session) -> tuple[tuple[Session, ...], bool, bool]:
    """I2: the first shapes in which a call of one tool is rendered in its turn, with arguments as a mapping and as JSON text.

    Beside them whether turns hang on the system message, and whether the name of a call is rendered at all.

    The usual shape is tried alone, then all others at once; the mutable sandbox only where the other refuses.  With the first
    questions goes whether turns hang on the system message (I10).
    """
    hangs: bool | None = None
    named = False
    found: dict[str, Session] = {}
    missing = ["mapping", "text"]
    for mutable in dict.fromkeys((plain.shape.mutable, True)):
        refused: set[str] = set()
        for shapes in (_usual_shapes, _unusual_shapes, _shapes_without_tools):
            tried = [
                plain.with_shape(arguments=arguments, mutable=mutable, **changes)
                for arguments in missing
                for changes in shapes(plain)
            ]
            seen = len(plain.failures)
            more = _around_system(plain, tried[0]) if hangs is None else []
            pairs = [*((one, ask(one, "c1a2")) for one in tried), *more]
            texts = render_each(pairs, ["I2"] * len(tried) + ["I10"] * len(more))
            if hangs is None:
                text, *others = texts[len(tried) :] or [None]
                hangs = _hangs_on_system(plain.needles.user, (text, texts[0]), others or (None, None))
            texts = texts[: len(tried)]
            failed = [one.shape.arguments for one, text in zip(tried, texts, strict=True) if text is None]
            kinds = [failure.kind for _, failure in plain.failures[seen:]][: len(failed)]
            refused |= {one for one, kind in zip(failed, kinds, strict=True) if kind == "security"}
            for one, text in zip(tried, texts, strict=True):
                alone = one.shape.tools_refused and text is not None  # declared tools may stand there, too
                named = named or (alone and _shows_call(one, text or "", arguments=False))
                if text is not None and _shows_call(one, text):
                    found.setdefault(one.shape.arguments, one)
            missing = [arguments for arguments in missing if arguments not in found]
        missing = [arguments for arguments in missing if arguments in refused]
    shapes_found = tuple(found[arguments] for arguments in ("mapping", "text") if arguments in found)
    return shapes_found, bool(hangs), named


def _usual_shapes(plain: Session) -> Iterator[dict[str, Any]]:
    yield {"flat": plain.shape.flat}


def _unusual_shapes(plain: Session) -> Iterator[dict[str, Any]]:
    for flat in dict.fromkeys((plain.shape.flat, True)):
        for followed in (False, True):
            for empty in EMPTY_CONTENTS:
                if (flat, followed, empty) != (plain.shape.flat, False, EMPTY_CONTENTS[0]):
                    yield {"flat": flat, "followed": followed, "empty_content": empty}


def _shapes_without_tools(_: Session) -> Iterator[dict[str, Any]]:
    yield {"tools_refused": True}


def _shows_call(session: Session, text: str, *, arguments: bool = True) -> bool:
    needles = session.needles
    call = needles.calls[0]
    region = text[text.rfind(needles.user) :].partition(needles.results[0])[0]
    shown = call.name in region or call.id in region
    return shown and (not arguments or all(value in region for value in call.values[:2]))
