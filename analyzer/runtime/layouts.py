"""Call layouts as small programs: literals and slots in order, with what ends each slot worked out beforehand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias

from analyzer.runtime.coerce import ALL
from analyzer.runtime.json_head import UsualHead, usual_head
from analyzer.runtime.literals import FAIL, MARKER, MORE, OK, Lit, Watch, white_end

LITERAL, NAME, ID, INDEX, ARGUMENTS, KEY, TYPE, VALUE = range(8)

Step: TypeAlias = tuple[int, Any]
Closer: TypeAlias = tuple[Lit, frozenset[str] | None]
"""What closes a value, and the JSON types that it stands behind; None: all."""

SELF_DELIMITING: Final = frozenset({"json", "python", "dialect", "json_text", "quoted"})
_CLOSES: Final = 1024
"""For how many keys the closers of nested tags are kept."""
_json_key = re.compile(r'"([^"\\]+)"\s*:')


class JsonProgram:
    """A call as one JSON value."""

    __slots__ = (
        "aliases",
        "arguments",
        "by_key",
        "closer",
        "codec",
        "id",
        "keys",
        "name",
        "opener",
        "overlay",
        "usual",
        "weak",
    )

    def __init__(self, layout: Any, *, soft: bool, aliases: dict[str, tuple[str, str]]) -> None:
        self.overlay = ""
        """The overlay that adds this layout; empty for the template's own."""
        self.opener = Lit(layout.open, soft=soft)
        self.closer = Lit(layout.close, soft=soft)
        self.by_key = layout.name == "key"
        self.name: tuple[str, ...] = () if self.by_key else tuple(layout.name)
        self.arguments: tuple[str, ...] = tuple(layout.arguments)
        self.id: tuple[str, ...] | None = tuple(layout.id) if layout.id else None
        self.codec: str = layout.arguments_codec
        self.aliases = aliases
        """Other spellings of keys: the key that is meant, and the overlay that allows the spelling."""
        literals = "".join(part for part in layout.parts if isinstance(part, str))
        self.keys = frozenset(_json_key.findall(literals)) | {
            path[0] for path in (self.name, self.arguments, self.id or ()) if path
        }
        self.weak = not self.opener.core
        """True: no marker says that a call begins."""
        self.usual: UsualHead | None = None
        if not self.by_key and self.codec == "json":
            self.usual = usual_head(layout.parts, self.name, self.arguments, self.id)

    def link(self, structure: set[str]) -> None:
        """Nothing to do: a JSON value ends by itself."""


class Arguments:
    """How the arguments of a sequence layout are written."""

    __slots__ = (
        "_closers",
        "_closes",
        "after",
        "alike",
        "by_type",
        "call_follow",
        "codecs",
        "dynamic",
        "extra",
        "first",
        "follow",
        "item",
        "key_watch",
        "nested",
        "opener",
        "post",
        "raw",
        "separator",
        "single",
        "soft",
        "stops",
        "stops_in_words",
        "value_at",
        "words",
    )  # fmt: skip

    def __init__(self, slot: Any, after: Lit, *, soft: bool) -> None:
        self.soft = soft
        self.after = after
        self.single = slot.codec
        self.separator = Lit(slot.separator, soft=soft)
        self.codecs: Any = slot.codecs
        self.item: list[Step] = []
        self.words: dict[str, frozenset[str]] = {}
        self.nested = ""
        self.raw = False
        self.opener = Lit("", soft=soft)
        self.post: list[Any] = []
        self.value_at = 0
        self.stops: tuple[str, ...] = ()
        """What ends a word that stands as a value."""
        self.stops_in_words = False
        """True when that may begin inside of a number, such as an E."""
        self.first: tuple[str, ...] = ()
        self._closes: dict[str, tuple[Lit, Watch]] = {}
        self._closers: dict[str, tuple[Closer, ...]] = {}
        self.dynamic = False
        """True when the key stands in what closes a value."""
        self.alike = False
        """True when what ends the arguments begins as what separates them does."""
        self.by_type = False
        """True when what closes a value depends on its type."""
        self.follow = self.call_follow = Watch(())
        self.extra: set[str] = set()
        self.key_watch: dict[int, Watch] = {}
        if slot.item is not None:
            self._item(slot)
        else:
            self.first = ("{", "(") if self.single.kind != "json_text" else ('"', "{")

    def _item(self, slot: Any) -> None:
        self.item = steps(slot.item, soft=self.soft)
        self.alike = bool(self.after.core) and self.separator.core == self.after.core
        if self.item[0][0] == LITERAL:
            self.opener = self.item[0][1]
        self.value_at = next(n for n, step in enumerate(self.item) if step[0] == VALUE)
        self.post = self.item[self.value_at + 1 :]
        self.dynamic = any(kind == KEY for kind, _ in self.post)
        self.by_type = any(kind == TYPE for kind, _ in self.post)
        codecs = self.codecs
        self.raw = codecs.string.kind in {"raw", "escaped", "cdata"}
        for container in ("array", "object"):
            codec = getattr(codecs, container)
            if codec.kind == "nested":
                self.nested = codec.array_key
        for kind, step in self.item[: self.value_at]:
            if kind == TYPE:
                words: dict[str, set[str]] = {}
                for name, word in step.words.items():
                    words.setdefault(word, set()).add(name)
                self.words = {word: frozenset(names) for word, names in words.items()}
        for n, step in enumerate(self.item):
            if step[0] in {KEY, TYPE} and n + 1 < len(self.item) and self.item[n + 1][0] == LITERAL:
                self.key_watch[n] = Watch([self.item[n + 1][1].core or self.item[n + 1][1].text])
        self.first = tuple(core for core in (self.opener.core, self.after.core) if core)
        closer = self.post[0][1].core if self.post and self.post[0][0] == LITERAL else ""
        ends: tuple[str, ...] = (closer,) if closer else (self.separator.core, self.after.core)
        if self.by_type and not closer:
            ends = tuple(lit.core for lit, _ in self.closers(""))
        self.stops = tuple(core for core in ends if core)
        self.stops_in_words = any(core[0].isalnum() for core in self.stops)

    def same_as(self, other: Arguments) -> bool:
        """True when the two begin alike, so that nothing tells which is meant."""
        return self.first == other.first and bool(self.item) == bool(other.item)

    def begin(self, buf: str, at: int, final: bool) -> int:
        """Look whether these arguments, or their end, begin at `at`."""
        if self.soft:
            at = white_end(buf, at)
        if at == len(buf):
            return FAIL if final else MORE
        waiting = False
        for core in self.first:
            if buf.startswith(core, at):
                return OK
            waiting = waiting or (not final and core.startswith(buf[at:]))
        return MORE if waiting else FAIL

    def link(self, structure: set[str], separators: Iterable[Lit]) -> None:
        """Take in what may follow the call, to tell a value's closer from its spelling inside the value."""
        soft = self.soft
        follow = {self.separator.core, self.opener.core}
        if soft:
            follow |= (
                {self.after.tokens[start] for start in self.after.starts}
                | structure
                | {lit.core for lit in separators}
            )
        else:
            follow |= {self.after.core}
        self.follow = Watch(follow - {""})
        self.call_follow = Watch((structure | {lit.core for lit in separators}) - {""})

    def closer(self, key: str, *, lenient: bool) -> tuple[Lit, Watch]:
        """Return what closes the value of argument `key`, and the search for it and for what ends it without."""
        slot = f"{key if self.dynamic else ''}\0{lenient}"
        found = self._closes.get(slot)
        if found is None:
            lit = Lit(self._text_behind(key, "string"), soft=self.soft)
            leads = [lit.lead]
            tokens = [lit.core]
            if self.by_type:
                leads += [one.lead for one, _ in self.closers(key)]
                tokens += [one.core for one, _ in self.closers(key)]
            if not lit.core:
                tokens += [self.separator.core, self.after.core]
                leads += [self.after.lead]
                if not self.separator.core and self.opener.core:
                    tokens.append(self.opener.core)
            elif lenient:
                tokens += [
                    self.after.core,
                    self.opener.core if self.opener.strong or len(self.opener.core) >= MARKER else "",
                ]
                leads += [self.after.lead, self.opener.lead]
            watch = Watch(tokens, leads, also_hot='"\\\\\\x00-\\x1f')
            found = (lit, watch)
            if len(self._closes) < _CLOSES:
                self._closes[slot] = found
        return found

    def closers(self, key: str) -> tuple[Closer, ...]:
        """Return all that may close the value of argument `key`, the longest first."""
        slot = key if self.dynamic else ""
        found = self._closers.get(slot)
        if found is None:
            texts: dict[str, set[str]] = {}
            for kind in ALL:
                texts.setdefault(self._text_behind(key, kind), set()).add(kind)
            found = tuple(
                (Lit(text, soft=self.soft), frozenset(texts[text]) if self.by_type else None)
                for text in sorted(texts, key=lambda text: (-len(text), text))
            )
            if len(self._closers) < _CLOSES:
                self._closers[slot] = found
        return found

    def closer_behind(self, key: str, kind: str) -> Lit:
        """Return what closes the value of argument `key` when it is of this JSON type."""
        return next(lit for lit, kinds in self.closers(key) if kinds is None or kind in kinds)

    def _text_behind(self, key: str, kind: str) -> str:
        """What stands behind a value of this JSON type."""
        return "".join(
            key if what == KEY else step.words.get(kind, "") if what == TYPE else step.text
            for what, step in self.post
        )


class SequenceProgram:
    """A call as literals and slots."""

    __slots__ = (
        "arguments",
        "closer",
        "forks",
        "id_pattern",
        "opener",
        "overlay",
        "separators",
        "steps",
        "watches",
        "weak",
    )

    def __init__(
        self, parts: Sequence[Any], *, soft: bool, id_pattern: str | None, separators: list[Lit], end: str
    ) -> None:
        self.overlay = ""
        """The overlay that adds this layout; empty for the template's own."""
        self.separators = separators
        self.steps = steps(parts, soft=soft)
        self.id_pattern: re.Pattern[str] | None = None
        none = Lit("", soft=soft)
        self.opener: Lit = self.steps[0][1] if self.steps[0][0] == LITERAL else none
        self.closer: Lit = none
        self.weak = not self.opener.core
        self.watches: dict[int, Watch] = {}
        self.forks: dict[int, tuple[SequenceProgram, ...]] = {}
        """At which step other layouts, alike up to there, go on in another way."""
        self.arguments: Arguments
        for n, (kind, step) in enumerate(self.steps):
            if kind == ARGUMENTS:
                after = self.steps[n + 1][1] if self._is_literal(n + 1) else none
                self.arguments = Arguments(step, after, soft=soft)
                self.steps[n] = (ARGUMENTS, self.arguments)
                self.closer = after
            elif kind == ID:
                pattern = step.pattern or id_pattern
                has_name = any(kind == NAME for kind, _ in self.steps)
                if pattern and not has_name:
                    self.id_pattern = _id_pattern(pattern)
        for n, (kind, _) in enumerate(self.steps):
            if kind in {NAME, ID, INDEX}:
                self.watches[n] = Watch(self._ends(n, end))

    def _is_literal(self, n: int) -> bool:
        return n < len(self.steps) and self.steps[n][0] == LITERAL

    def _ends(self, n: int, end: str) -> list[str]:
        """The tokens that may end the slot at step `n`."""
        if n + 1 >= len(self.steps):
            return [end]
        kind, step = self.steps[n + 1]
        if kind == LITERAL:
            return [step.core] if step.core else self._ends(n + 1, end)
        if kind == ARGUMENTS:
            return [*step.first]
        return []

    def link(self, structure: set[str]) -> None:
        """Take in the literals that may follow a call."""
        self.arguments.link(structure, self.separators)


Program: TypeAlias = JsonProgram | SequenceProgram


def link_forks(programs: Iterable[Program]) -> None:
    """Tell each sequence which others begin as it does, and where they part behind the name."""
    sequences = [program for program in programs if isinstance(program, SequenceProgram)]
    for program in sequences:
        found: dict[int, list[SequenceProgram]] = {}
        for other in sequences:
            at = _parting(program, other)
            if at >= 0:
                found.setdefault(at, []).append(other)
        program.forks = {at: tuple(others) for at, others in found.items()}


def _parting(one: SequenceProgram, other: SequenceProgram) -> int:
    """The first step at which two layouts differ, -1 when none does or no name stands before it."""
    named = False
    for at, (mine, yours) in enumerate(zip(one.steps, other.steps, strict=False)):
        same = mine[0] == yours[0] and (mine[1].text == yours[1].text if mine[0] == LITERAL else True)
        if not same or (mine[0] == ARGUMENTS and not mine[1].same_as(yours[1])):
            return at if named else -1
        if mine[0] == ARGUMENTS:
            return -1
        named = named or mine[0] in {NAME, ID}
    return -1


def steps(parts: Iterable[Any], *, soft: bool) -> list[Step]:
    """Turn parts into steps, neighbouring literals joined."""
    kinds = {
        "name": NAME,
        "id": ID,
        "index": INDEX,
        "arguments": ARGUMENTS,
        "key": KEY,
        "type": TYPE,
        "value": VALUE,
    }
    found: list[Step] = []
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if text:
            found.append((LITERAL, Lit(text, soft=soft)))
            text = ""
        found.append((kinds[part.slot], part))
    if text:
        found.append((LITERAL, Lit(text, soft=soft)))
    return found


def compile_layout(
    layout: Any,
    *,
    soft: bool,
    aliases: dict[str, tuple[str, str]],
    id_pattern: str | None,
    separators: list[Lit],
    section_close: str,
) -> Program:
    """Return the program of one layout."""
    if layout.kind == "json":
        return JsonProgram(layout, soft=soft, aliases=aliases)
    return SequenceProgram(
        layout.parts, soft=soft, id_pattern=id_pattern, separators=separators, end=section_close
    )


def _id_pattern(pattern: str) -> re.Pattern[str]:
    escaped = re.escape(pattern)
    escaped = escaped.replace(re.escape("{name}"), r"(?P<name>.+)").replace(
        re.escape("{index}"), r"(?P<index>\d+)"
    )
    return re.compile(escaped)
