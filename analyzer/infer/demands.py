"""I-comparisons: what a template demands of a conversation beyond the shape of one message.

I4  ids of other forms than nine letters and digits, and shorter ones
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
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from analyzer.infer.calls import CallsFinding
from analyzer.observe import probes
from analyzer.observe.session import Ask, Chat, Session, render_each
from analyzer.observe.variants import Variants, chat, head
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
    ids: str | None = None


_Question: TypeAlias = tuple[str, Session, Ask]
"""The number of a comparison, and a probe in the shape of a session."""


def find_demands(
    plain: Session, calls_session: Session | None, seen: Variants | None, calls: CallsFinding | None
) -> Demands:
    """Find what the template demands.

    `calls_session` and `seen` are the shape in which calls are rendered and the variants rendered in it, None when calls are not.
    """
    talk = chat(plain, "t+u")
    written = calls is not None and calls.items is not None
    general, results, values, ids = _answers(
        _general(plain, talk),
        _results(plain) if calls_session is None or seen is None else [],
        _values(calls_session) if calls_session is not None and written else [],
        _ids(calls_session, _forms(calls_session)) if calls_session is not None else [],
    )
    no_tools, two_users, typed, undescribed, *untyped = general
    lost = {"type": _is_lost(plain, untyped), "description": undescribed is None}
    taken, parallel = _results_taken(results, seen)
    return Demands(
        tools=_tools(plain, no_tools),
        turns="alternate" if two_users is None else "any",
        roles_refused=() if taken else ("tool",),
        parallel_results=parallel,
        property_fields=tuple(name for name in FIELDS if lost[name]) if typed is not None else (),
        bare_tools=_wants_bare(plain, talk, typed),
        values_refused=_values_refused(values),
        ids=_id_pattern(calls_session, ids) if calls_session is not None else None,
    )


def _answers(*groups: Sequence[_Question]) -> list[list[str | None]]:
    """The texts of each group of questions, all rendered in one batch."""
    asked = [question for group in groups for question in group]
    texts = iter(render_each([(session, ask) for _, session, ask in asked], [number for number, *_ in asked]))
    return [list(islice(texts, len(group))) for group in groups]


def _general(plain: Session, chat: Chat) -> list[_Question]:
    """I5, I6 and I8."""
    needles, tools = plain.needles, probes.tools(plain.needles)
    untyped = [probes.tools(needles, {_key(plain): one}) for one in _ALTERNATIVES]
    return [
        ("I5", plain, Ask(chat, tools=[])),
        ("I6", plain, Ask([*head(plain), probes.user(needles.follow)])),
        *(("I8", plain, Ask(chat, tools=one)) for one in (tools, _undescribed(tools), *untyped)),
    ]


def _tools(plain: Session, no_tools: str | None) -> Literal["optional", "list", "required", "refused"]:
    """I5: what has to stand for no tools; whether a template takes tools at all is known from the fit of its calls."""
    if plain.shape.tools_refused:
        return "refused"  # unless they are taken bare, which `bare_tools` says
    if not plain.shape.tools_given:
        return "optional"
    return "required" if no_tools is None else "list"


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


def _results(plain: Session) -> list[_Question]:
    """I7, for a template of which no call is seen."""
    needles = plain.needles
    turn = probes.assistant(needles.content, probes.calls(needles, 1))
    chats = ([*head(plain), turn], [*head(plain), turn, probes.result(needles, 0)])
    return [("I7", plain, Ask(chat, tools=probes.tools(needles))) for chat in chats]


def _results_taken(texts: Sequence[str | None], seen: Variants | None) -> tuple[bool, bool]:
    """I7: whether a result is taken, and whether two in a row are."""
    if texts:
        call, result = texts
        return result is not None or call is None, True
    assert seen is not None  # noqa: S101  (asked only without it)
    one, two = seen["c1a2+R"], seen["c2a2+R"]
    return one is not None or seen["c1a2"] is None, two is not None or one is None or seen["c2a2"] is None


def _values(session: Session) -> list[_Question]:
    """I9: a text and a value of each other type."""
    needles = session.needles
    needle = needles.calls[0]
    more = [probes.result(needles, 0)] if session.shape.followed else []
    turns = [
        probes.assistant("", [probes.call(needle, {needle.keys[0]: value})])
        for value in ("text", *_VALUES.values())
    ]
    tools = probes.tools(needles)
    return [("I9", session, Ask([*head(session), turn, *more], tools)) for turn in turns]


def _values_refused(texts: Sequence[str | None]) -> tuple[JsonType, ...]:
    """I9: the types of values that are refused, where a text is taken."""
    if not texts or texts[0] is None:
        return ()
    refused = {kind for kind, one in zip(_VALUES, texts[1:], strict=True) if one is None}
    return tuple(kind for kind in JSON_TYPES if kind in refused)


def _forms(session: Session) -> tuple[str, ...]:
    """The forms of ids that are tried: nine letters and digits, longer, with a name in it, shorter."""
    nine = session.needles.calls[0].id
    return nine, "call_0123456789abcdef", "functions.f:0", nine[:1]


def _ids(session: Session, forms: Sequence[str]) -> list[_Question]:
    """I4: a call and its result under ids of these forms."""
    needles = session.needles
    called = probes.call(needles.calls[0], needles.calls[0].arguments(1))
    asks = []
    for form in forms:
        turn = probes.assistant("", [{**called, "id": form}])
        result = {**probes.result(needles, 0), "tool_call_id": form}
        asks.append(Ask([*head(session), turn, result], tools=probes.tools(needles)))
    return [("I4", session, ask) for ask in asks]


def _id_pattern(session: Session, texts: Sequence[str | None]) -> str | None:
    """I4: a pattern that call ids must match, None when ids of other forms are accepted, short ones among them."""
    nine = session.needles.calls[0].id
    whole, long, named, short = texts
    if whole is None or (long is not None and short is not None):
        return None
    if long is not None:
        (shorter,) = _answers(_ids(session, [nine[:length] for length in range(2, len(nine))]))
        least = next((at for at, text in enumerate(shorter, 2) if text is not None), len(nine))
        return f"[A-Za-z0-9_-]{{{least},}}"
    return "functions\\..+:[0-9]+" if named is not None else "[A-Za-z0-9]{9}"
