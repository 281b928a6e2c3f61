"""Grammar rules as text, in the two notations that engines read: GBNF (llama.cpp, xgrammar) and Lark (llguidance).

Both are rules of literals, character classes, sequences, alternatives and repeats; they differ in punctuation, and in what is
built in: Lark as llguidance reads it has JSON schemas and "any text up to", GBNF has neither and gets rules for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from analyzer.export.schemas import alone, without_words

Notation: TypeAlias = Literal["gbnf", "lark"]

_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_IN_CLASS: Final = {
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\\": "\\\\",
    "]": "\\]",
    "^": "\\^",
    "-": "\\-",
    "[": "\\[",
}

_NOT_OF_LLGUIDANCE: Final = frozenset(
    (
        *("not", "if", "then", "else", "contains", "minContains", "maxContains", "uniqueItems"),
        *("dependentSchemas", "dependentRequired", "propertyNames", "$dynamicRef"),
        *("unevaluatedProperties", "unevaluatedItems"),
    )
)
"""Keywords that llguidance (1.9) refuses a schema for."""
_FORMATS: Final = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", "uri")
)
"""The formats that it knows; it refuses others."""


def _known_formats(value: Any, dropped: set[str]) -> Any:
    """A schema without the formats that llguidance does not know."""
    if isinstance(value, list):
        return [_known_formats(one, dropped) for one in value]
    if not isinstance(value, Mapping):
        return value
    unknown = isinstance(value.get("format"), str) and value["format"] not in _FORMATS
    if unknown:
        dropped.add("format")
    return {
        key: _known_formats(held, dropped) for key, held in value.items() if not (unknown and key == "format")
    }


class Rules:
    """The rules of one grammar, in the order in which they were added."""

    def __init__(self, notation: Notation = "gbnf") -> None:
        self.notation: Notation = notation
        self._bodies: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self.unchecked: set[str] = set()
        """Keywords of schemas that the rules do not hold a value against."""

    # -------------------------------------------------------------------------------------------------------- expressions

    def literal(self, text: str) -> str:
        """The text itself; for Lark in pieces, as its lexer does not go back where two literals begin alike."""
        if self.notation == "lark" and text.strip() != text:
            core = text.strip()
            left = text[: len(text) - len(text.lstrip())] if core else text
            right = text[len(text.rstrip()) :] if core else ""
            return self.sequence(*(self._quoted(piece) for piece in (left, core, right)))
        return self._quoted(text)

    def _quoted(self, text: str) -> str:
        return '"' + "".join(_ESCAPES.get(char, char) for char in text) + '"'

    def one_of(self, characters: str, *, other: bool = False) -> str:
        """One of the characters, or one `other` than them."""
        inside = "".join(_IN_CLASS.get(char, char) for char in characters)
        if self.notation == "lark":
            inside = inside.replace("/", "\\/")
        return self.klass(f"{'^' if other else ''}{inside}")

    def klass(self, inside: str) -> str:
        """A character class, its inside as it is written."""
        return f"/[{inside}]/" if self.notation == "lark" else f"[{inside}]"

    def sequence(self, *expressions: str) -> str:
        """One after the other."""
        kept = [expression for expression in expressions if expression not in ("", '""')]
        return " ".join(kept) if kept else '""'

    def either(self, expressions: Iterable[str]) -> str:
        """One of several."""
        kept = list(dict.fromkeys(expressions))
        return kept[0] if len(kept) == 1 else f"({' | '.join(kept)})"

    def repeat(self, expression: str, sign: str) -> str:
        """The expression `*`, `+` or `?` times."""
        return f"({expression}){sign}"

    # -------------------------------------------------------------------------------------------------------------- rules

    def name(self, wish: str) -> str:
        """A rule's name like the wish that is not used yet."""
        mark = "-" if self.notation == "gbnf" else "_"
        base = re.sub(r"[^a-z0-9]+", mark, wish.lower()).strip(mark) or "r"
        base = base if base[0].isalpha() else f"r{base}"
        name, number = base, 1
        while name in self._bodies:
            number += 1
            name = f"{base}{mark}{number}"
        return name

    def reserve(self, wish: str) -> str:
        """A name for a rule that others refer to before it is made (see `automaton`)."""
        name = self.name(wish)
        self._bodies[name] = ""
        return name

    def add(self, wish: str, body: str | Callable[[str], str]) -> str:
        """Add a rule and return its name; a body that refers to itself is given its name."""
        if isinstance(body, str) and body in self._known:
            return self._known[body]
        name = self.name(wish)
        self._bodies[name] = ""
        self._bodies[name] = body if isinstance(body, str) else body(name)
        if isinstance(body, str):
            self._known[body] = name
        return name

    def shared(self, key: str, body: Callable[[], str], wish: str = "") -> str:
        """The rule known by a key, made when it is first asked for; `wish` is what its name is to be like."""
        if key not in self._known:
            name = self._known[key] = self.name(wish or key)
            self._bodies[name] = ""
            self._bodies[name] = body()
        return self._known[key]

    def terminal(self, name: str, body: str) -> str:
        """Add a terminal of that name, for Lark, whose terminals are written in capitals."""
        self._bodies[name] = body
        return name

    def until(self, stop: str, text: str = r"/(.|\n)*/") -> str:
        """Any text up to and with the first `stop`; for Lark, what `text` is can be said."""
        if self.notation == "lark":
            return self.shared(f"until {stop}", lambda: text)
        key = f"until {stop}"
        if key not in self._known:
            self._known[key] = self.name(f"until-{stop}"[:24])
            self.automaton(self._known[key], {stop: ""}, ends=False)
        return self._known[key]

    def automaton(self, base: str, stops: Mapping[str, str | None], *, ends: bool) -> None:
        """Add the rules of any text up to the first of the stops, and what follows that one; for GBNF.

        A rule a state: the longest beginning of a stop that the text just ended with (Aho, Corasick). No stop may begin with
        another; one that nothing may follow (None) may not stand at all. `ends`: the text may also end without any.
        """
        states = list(dict.fromkeys(stop[:size] for stop in stops for size in range(len(stop))))
        names = {state: base if not state else f"{base}-s{number}" for number, state in enumerate(states)}
        characters = "".join(dict.fromkeys("".join(stops)))
        for state, name in names.items():
            branches = []
            for char in characters:
                seen = state + char
                done = next((stop for stop in stops if seen.endswith(stop)), None)
                if done is not None:
                    follows = stops[done]
                    branches += [self.sequence(self.literal(char), follows)] if follows is not None else []
                else:
                    following = next(seen[at:] for at in range(len(seen) + 1) if seen[at:] in names)
                    branches.append(self.sequence(self.literal(char), names[following]))
            branches.append(self.sequence(self.one_of(characters, other=True), names[""]))
            self._bodies[name] = " | ".join([*branches, '""'] if ends else branches)

    def json(
        self,
        schema: Mapping[str, Any],
        fallback: Callable[[Rules, Mapping[str, Any], Mapping[str, Any]], str],
        root: Mapping[str, Any] | None = None,
    ) -> str:
        """A JSON value of a schema that may be part of the schema `root`: built in, or by rules that `fallback` makes."""
        if self.notation == "lark":
            whole = dict(schema) if root is None or root is schema else alone(schema, root)
            read = without_words(whole, _NOT_OF_LLGUIDANCE, self.unchecked)
            return self.add(
                "json", f"%json {json.dumps(_known_formats(read, self.unchecked), ensure_ascii=False)}"
            )
        return fallback(self, schema, schema if root is None else root)

    def text(self, root: str) -> str:
        """The whole grammar; `root` is the expression that it begins with."""
        define, first = ("::=", "root") if self.notation == "gbnf" else (":", "start")
        lines = ["%llguidance {}"] if self.notation == "lark" else []
        lines.append(f"{first} {define} {root}")
        stops = {
            name: key.removeprefix("until ") for key, name in self._known.items() if key.startswith("until ")
        }
        for name, body in self._bodies.items():
            suffix = (
                f"[suffix={self._quoted(stops[name])}]" if self.notation == "lark" and name in stops else ""
            )
            lines.append(f"{name}{suffix} {define} {body}")
        return "\n".join(lines) + "\n"


def joined(rules: Rules, items: Sequence[tuple[str, bool]], separator: str) -> str:
    """Items in order, each required or not, with an expression between those that stand."""
    if separator in ("", '""'):
        return rules.sequence(*(item if needed else rules.repeat(item, "?") for item, needed in items))
    after, before = '""', '""'
    for item, needed in reversed(items):
        # `before`: nothing stands yet; `after`: an item stands already.
        here = rules.sequence(item, after)
        before = rules.add("args", here if needed else f"{here} | {before}")
        following = rules.sequence(separator, item, after)
        after = rules.add("more", following if needed else f"{following} | {after}")
    return before
