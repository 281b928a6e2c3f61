"""I-comparisons: what a template demands of a conversation beyond the shape of one message.

I5  no tools, an empty list of them, and some
I6  two user messages in a row
I7  a result after its call, and two results in a row
I8  a tool's property without a type, with a list of types, without a description; and tools as bare function objects
I9  an argument of each JSON type in a call that is written argument by argument
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from analyzer.infer.calls import CallsFinding
from analyzer.infer.fit import plain_chat
from analyzer.observe import probes
from analyzer.observe.session import Ask, Chat, Session
from analyzer.observe.variants import Variants
from analyzer.spec.parts import JSON_TYPES, JsonType

_ALTERNATIVES: Final = ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["string", "null"]})
"""Schemas of a property that name no single type."""

FIELDS: Final[tuple[Literal["type", "description"], ...]] = ("type", "description")
"""Fields of a property that templates read without asking."""

_VALUES: Final[Mapping[JsonType, Any]] = {
    "integer": 7,
    "number": 2.5,
    "boolean": True,
    "null": None,
    "array": ["a"],
    "object": {"a": "b"},
}


@dataclass(frozen=True, slots=True)
class Demands:
    """What is demanded, as the fields of `InputFacts` of the same names say it."""

    tools: Literal["optional", "list", "required", "refused"] = "optional"
    turns: Literal["any", "alternate"] = "any"
    roles_refused: tuple[str, ...] = ()
    parallel_results: bool = True
    bare_tools: bool = False
    property_fields: tuple[Literal["type", "description"], ...] = ()
    values_refused: tuple[JsonType, ...] = ()


def find_demands(
    plain: Session, calls_session: Session | None, seen: Variants | None, calls: CallsFinding | None
) -> Demands:
    """Find what the template demands.

    `calls_session` and `seen` are the shape in which calls are rendered and the variants rendered in it, None when calls are not.
    """
    needles, key = plain.needles, _key(plain)
    chat = [*plain_chat(plain), probes.assistant(needles.content), probes.user(needles.follow)]
    tools = probes.tools(needles)
    asks = {"I5": Ask(chat, tools=[]), "I6": Ask([*plain_chat(plain), probes.user(needles.follow)])}
    asks |= {"I8": Ask(chat, tools=tools), "I8 undescribed": Ask(chat, tools=_undescribed(tools))}
    asks |= {f"I8 {one}": Ask(chat, tools=probes.tools(needles, {key: one})) for one in _ALTERNATIVES}
    no_tools, two_users, typed, undescribed, *untyped = _render(plain, asks)
    results, parallel = _results(plain, calls_session, seen)
    lost = {"type": _is_lost(plain, untyped), "description": undescribed is None}
    return Demands(
        tools=_tools(plain, no_tools),
        turns="alternate" if two_users is None else "any",
        roles_refused=() if results else ("tool",),
        parallel_results=parallel,
        property_fields=tuple(name for name in FIELDS if lost[name]) if typed is not None else (),
        bare_tools=_wants_bare(plain, chat, typed),
        values_refused=_values(calls_session) if calls is not None and calls.items is not None else (),
    )


def _tools(plain: Session, no_tools: str | None) -> Literal["optional", "list", "required", "refused"]:
    """I5: what has to stand for no tools; whether a template takes tools at all is known from the fit of its calls."""
    if plain.shape.tools_refused:
        return "refused"  # unless they are taken bare, which `bare_tools` says
    if not plain.shape.tools_given:
        return "optional"
    return "required" if no_tools is None else "list"


def _render(session: Session, asks: Mapping[str, Ask]) -> list[str | None]:
    """Render several comparisons in one batch; each failure is kept under the number that its name begins with."""
    before = len(session.failures)
    texts = session.render(list(asks.values()))
    failed = [name.split()[0] for name, text in zip(asks, texts, strict=True) if text is None]
    found = session.failures[before:]
    session.failures[before:] = [(name, failure) for name, (_, failure) in zip(failed, found, strict=True)]
    return texts


def _undescribed(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Declarations without the descriptions of their properties."""
    out: list[dict[str, Any]] = json.loads(json.dumps(tools))
    for tool in out:
        for schema in tool["function"]["parameters"]["properties"].values():
            del schema["description"]
    return out


def _wants_bare(session: Session, chat: Chat, nested: str | None) -> bool:
    """I8: whether tools are shown as bare function objects only."""
    name = session.needles.calls[0].name
    if session.shape.flat or (nested is not None and name in nested):
        return session.shape.flat
    bare = session.with_shape(flat=True, tools_refused=False).one(
        chat, "I8", tools=probes.tools(session.needles)
    )
    return bare is not None and name in bare


def _key(session: Session) -> str:
    """The property that is declared in another way: the first of the first tool."""
    return session.needles.calls[0].keys[0]


def _is_lost(session: Session, texts: Sequence[str | None]) -> bool:
    """I8: whether a property without one type is refused, or is shown without its alternatives."""
    key = _key(session)
    alternatives, listed = texts
    if alternatives is None or listed is None:
        return True
    return key in alternatives and "anyOf" not in alternatives


def _results(plain: Session, calls_session: Session | None, seen: Variants | None) -> tuple[bool, bool]:
    """I7: whether a result is taken, and whether two in a row are."""
    if calls_session is not None and seen is not None:
        one, two = seen["c1a2+R"], seen["c2a2+R"]
        return one is not None or seen["c1a2"] is None, two is not None or one is None or seen["c2a2"] is None
    needles = plain.needles
    turn = probes.assistant(needles.content, probes.calls(needles, 1))
    chats = ([*plain_chat(plain), turn], [*plain_chat(plain), turn, probes.result(needles, 0)])
    asks = [Ask(chat, tools=probes.tools(needles)) for chat in chats]
    call, result = plain.render(asks, "I7")
    return result is not None or call is None, True


def _values(session: Session | None) -> tuple[JsonType, ...]:
    """I9: the types of values that are refused, where a text is taken."""
    if session is None:
        return ()
    needles = session.needles
    needle = needles.calls[0]
    asks = []
    for value in ("text", *_VALUES.values()):
        turn = probes.assistant("", [probes.call(needle, {needle.keys[0]: value})])
        more = [probes.result(needles, 0)] if session.shape.followed else []
        asks.append(Ask([*plain_chat(session), turn, *more], tools=probes.tools(needles)))
    text, *others = session.render(asks, "I9")
    if text is None:
        return ()
    refused = {kind for kind, one in zip(_VALUES, others, strict=True) if one is None}
    return tuple(kind for kind in JSON_TYPES if kind in refused)
