"""A call described by a JSON-like example: `{"name": <function-name>, "arguments": <args-object>}`.

An example is no JSON: placeholders stand without quotes, keys too, quotes may be Python's, an ellipsis may follow.  So it is read by
its structure.  Of the pairs between the braces one is the arguments: its value is an object, or its placeholder says that it is one.
One is the name: the only other pair, or the one that says so.  An object that is no call (a schema, a result) has no such two.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzer.spec.model import JsonLayout
from analyzer.spec.parts import ArgumentsSlot, IdSlot, JsonCodec, NameSlot, Part

LONGEST_GROUP = 20_000
"""How many characters of a brace group are looked at: enough for the declarations of all tools."""
LONGEST_EXAMPLE = 2_000
"""The same where a call is sought: an example is short."""
MOST_GROUPS = 200
"""How many braces of one text are looked at."""
MOST_UNCLOSED = 12
"""How many of them may have no closer: where so many have none, the text is not about objects."""
DEEPEST = 6
"""How deep groups inside groups are looked at."""

_KEY = re.compile(r"""\s*(?:"([^"\n]*)"|'([^'\n]*)'|(<[^<>\n]*>)|([^\W\d][\w-]*))\s*:""")
_WORD = re.compile(r"[^\W\d_]+")
_MORE = re.compile(r"\s*(?:\.\.\.|…)")
_IS_OBJECT = frozenset({"object", "dict", "dictionary", "json", "map", "mapping"})
_ARE_ARGUMENTS = frozenset({"arguments", "argument", "args", "parameters", "parameter", "params", "kwargs"})
_SAYS_NAME = "name"
_SAYS_ID = "id"
_NO_NAME = frozenset({"type", "role"})
_NO_CALL = frozenset({"description", "properties", "required"})


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair of an example object."""

    key: str
    text: str
    """The value as it stands, quotes and braces included."""
    inner: Group | None = None
    """The value when it is an object of pairs."""

    @property
    def quoted(self) -> bool:
        """Whether the value is a text in quotes."""
        return self.text[:1] in ("'", '"')

    @property
    def words(self) -> frozenset[str]:
        """The words of the placeholder."""
        return words(self.text)

    @property
    def is_object(self) -> bool:
        """Whether the value is an object, or its placeholder says so."""
        told = self.words
        says = bool(told & _IS_OBJECT) or (bool(told & _ARE_ARGUMENTS) and _SAYS_NAME not in told)
        return self.text.startswith("{") or says


@dataclass(frozen=True, slots=True)
class Group:
    """A brace group that reads as an object: `text[start:end]`."""

    start: int
    end: int
    pairs: tuple[Pair, ...]
    inside: tuple[Group, ...] = ()
    """The objects that stand in it, those in arrays too."""


@dataclass(frozen=True, slots=True)
class JsonExample:
    """An example of a call as one JSON object."""

    start: int
    end: int
    layout: JsonLayout
    """Without opener and closer."""
    plain: bool
    """True: a pair says that it is the name; False: it is merely the other one."""
    notes: tuple[str, ...] = field(default=())


def words(text: str) -> frozenset[str]:
    """The words of a text, in small letters and without numbers."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def balanced(text: str, start: int, longest: int = LONGEST_EXAMPLE) -> int | None:
    """The end of the brace group that begins at `start`; None when it does not close."""
    depth, at, stop = 0, start, min(len(text), start + longest)
    quote = ""
    last = ""
    while at < stop:
        char = text[at]
        if char == "\\":
            at += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char == '"' or (char == "'" and last in "{[,:"):
            quote = char
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return at + 1
        last = last if char.isspace() else char
        at += 1
    return None


def examples(text: str, refused: str) -> list[JsonExample]:
    """The call examples in `text`, plain ones first; none that holds the character `refused`."""
    found: list[JsonExample] = []
    at, seen, unclosed = text.find("{"), 0, 0
    while at >= 0 and seen < MOST_GROUPS and unclosed < MOST_UNCLOSED:
        seen += 1
        unclosed += balanced(text, at) is None
        group = read_group(text, at)
        here = (
            []
            if group is None
            else [one for one in _examples_of(text, group) if refused not in text[one.start : one.end]]
        )
        found += here
        at = text.find("{", here[-1].end if here else at + 1)
    return sorted(found, key=lambda one: (not one.plain, one.start))


def read_group(text: str, start: int, depth: int = 0) -> Group | None:
    """Read the object that begins at `start`; None when it is no object of pairs."""
    end = balanced(text, start)
    if end is None or depth > DEEPEST:
        return None
    pairs: list[Pair] = []
    inside: list[Group] = []
    at = start + 1
    while at < end - 1:
        key = _KEY.match(text, at, end - 1)
        if key is None:
            return None
        begin, stop = _value(text, key.end(), end - 1)
        groups = list(_groups(text, begin, stop, depth))
        inside += groups
        whole = groups[0] if groups and groups[0].start == begin else None
        pairs.append(Pair(next(name for name in key.groups() if name is not None), text[begin:stop], whole))
        at = stop + 1
        more = _MORE.match(text, at, end - 1)
        if more is not None:
            at = end
    return Group(start, end, tuple(pairs), tuple(inside)) if pairs else None


def _value(text: str, start: int, stop: int) -> tuple[int, int]:
    """Where a value begins and ends: at the comma before the next key, or at `stop`."""
    while start < stop and text[start].isspace():
        start += 1
    at = start
    while at < stop:
        char = text[at]
        if char in "{[":
            at = balanced(text, at) or at + 1
        elif char == '"' or (char == "'" and at == start):
            closing = text.find(char, at + 1, stop)
            at = closing + 1 if closing > 0 else at + 1
        elif char == "<":
            closing = text.find(">", at, stop)
            at = closing + 1 if closing > 0 else at + 1
        elif char == "," and (_KEY.match(text, at + 1, stop) or _MORE.match(text, at + 1, stop)):
            break
        else:
            at += 1
    end = min(at, stop)
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end if at >= stop else at


def _groups(text: str, start: int, stop: int, depth: int) -> Iterator[Group]:
    at = text.find("{", start, stop)
    while at >= 0:
        group = read_group(text, at, depth + 1)
        if group is not None:
            yield group
        at = text.find("{", group.end if group is not None else at + 1, stop)


def _examples_of(text: str, group: Group) -> list[JsonExample]:
    """The call that a group is or holds: the outermost plain one, else the innermost."""
    own = _example(text, group)
    if own is not None and own.plain:
        return [own]
    inner = [one for part in group.inside for one in _examples_of(text, part)]
    return inner[:1] or ([own] if own is not None else [])


def _example(text: str, group: Group) -> JsonExample | None:
    if any(pair.key in _NO_CALL for pair in group.pairs):
        return None
    if len(group.pairs) == 1:
        return _keyed(group) or _wrapped(text, group)
    nested = _wrapped(text, group)
    return nested if nested is not None else _flat(text, group)


def _keyed(group: Group) -> JsonExample | None:
    """`{"<function name>": {...}}`: the name is the key."""
    (pair,) = group.pairs
    placeholder = pair.key.startswith("<") or (_SAYS_NAME in words(pair.key) and pair.key != _SAYS_NAME)
    if not placeholder or not pair.is_object:
        return None
    parts: tuple[Part, ...] = ('{"', NameSlot(), '": ', ArgumentsSlot(codec=JsonCodec()), "}")
    return JsonExample(group.start, group.end, JsonLayout(name="key", parts=parts), plain=True)


def _wrapped(text: str, group: Group) -> JsonExample | None:
    """`{"type": "function", "function": {"name": ..., "arguments": ...}}`: the roles stand one level down, beside constants."""
    holders = [(number, pair) for number, pair in enumerate(group.pairs) if pair.inner is not None]
    others = [pair for pair in group.pairs if pair.inner is None]
    if len(holders) != 1 or any(not _constant(pair) for pair in others):
        return None
    number, holder = holders[0]
    assert holder.inner is not None  # noqa: S101  (just filtered)
    inner = _flat(text, holder.inner)
    if inner is None or not inner.plain:
        return None
    parts: list[Part] = ["{"]
    for at, pair in enumerate(group.pairs):
        lead = (", " if at else "") + f"{json.dumps(pair.key, ensure_ascii=False)}: "
        _append(parts, lead)
        for part in (
            inner.layout.parts if at == number else (json.dumps(_unquoted(pair.text), ensure_ascii=False),)
        ):
            _append(parts, part)
    _append(parts, "}")
    assert not isinstance(inner.layout.name, str)  # noqa: S101  (a flat example has paths)
    layout = JsonLayout(
        name=(holder.key, *inner.layout.name),
        arguments=(holder.key, *inner.layout.arguments),
        id=(holder.key, *inner.layout.id) if inner.layout.id is not None else None,
        parts=tuple(parts),
    )
    return JsonExample(group.start, group.end, layout, plain=True, notes=inner.notes)


def _flat(text: str, group: Group) -> JsonExample | None:
    objects = [pair for pair in group.pairs if pair.is_object]
    if len(objects) > 1:
        objects = [pair for pair in objects if words(pair.key) & (_ARE_ARGUMENTS | _IS_OBJECT)]
    if len(objects) != 1:
        return None
    arguments = objects[0]
    others = [pair for pair in group.pairs if pair is not arguments]
    named = [pair for pair in others if _SAYS_NAME in words(pair.key)]
    named = named or [pair for pair in others if _SAYS_NAME in pair.words]
    plain = len(named) == 1
    if not plain:
        named = [pair for pair in others if words(pair.key).isdisjoint(_NO_NAME)] if len(others) == 1 else []
    if len(named) != 1:
        return None
    name = named[0]
    ids = [pair for pair in others if pair is not name and _SAYS_ID in words(pair.key)]
    parts: list[Part] = ["{"]
    for at, pair in enumerate(group.pairs):
        _append(parts, (", " if at else "") + f"{json.dumps(pair.key, ensure_ascii=False)}: ")
        if pair is name:
            _append(parts, '"', NameSlot(), '"')
        elif pair is arguments:
            _append(parts, ArgumentsSlot(codec=JsonCodec()))
        elif pair in ids[:1]:
            _append(parts, '"', IdSlot(), '"')
        elif _constant(pair):
            _append(parts, json.dumps(_unquoted(pair.text), ensure_ascii=False))
        else:
            return None
    _append(parts, "}")
    layout = JsonLayout(
        name=(name.key,), arguments=(arguments.key,), id=(ids[0].key,) if ids else None, parts=tuple(parts)
    )
    return JsonExample(group.start, group.end, layout, plain=plain, notes=tuple(_spelling(text, group)))


def _constant(pair: Pair) -> bool:
    """Whether a value is meant as it stands: one word in quotes."""
    return pair.quoted and re.fullmatch(r"\w+", _unquoted(pair.text)) is not None


def _unquoted(text: str) -> str:
    return text[1:-1]


def _append(parts: list[Part], *more: Part) -> None:
    """Append parts, neighbouring literals joined."""
    for part in more:
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            parts[-1] += part
        else:
            parts.append(part)


def _spelling(text: str, group: Group) -> Iterator[str]:
    first = text[group.start + 1 : group.end].lstrip()[:1]
    if first == "'":
        yield "the example has single quotes; read as JSON"
    elif first != '"':
        yield "the example's keys have no quotes; read as JSON"
