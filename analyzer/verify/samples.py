"""The cases of a seed: one for each shape of the covering array, then random ones.

They are made once in a process and adapted to each template: making them for each template anew would cost more than
everything else.  All values follow from the seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from typing import Any, Final

from analyzer.verify.cases import Call, Case, Reply, needle
from analyzer.verify.catalogue import (
    GROUPS,
    HOSTILE,
    HOSTILE_TEXT,
    INTEGERS,
    NUMBERS,
    TYPE_LEVELS,
    TYPED_LOOKING,
    TypeLevel,
    keys_of,
)
from analyzer.verify.covering import Shape, covering_array
from analyzer.verify.strategies import collect

RANDOM_CASES: Final[dict[str, int]] = {"low": 0, "normal": 12, "high": 150}
"""How many random cases an effort takes; the covering array is always there."""


@lru_cache(maxsize=4)
def cases(seed: int, effort: str = "normal") -> tuple[Case, ...]:
    """The cases of a seed, the covering array first."""
    maker = _Maker(seed)
    shaped = [maker.case(number, shape) for number, shape in enumerate(covering_array())]
    return (*shaped, *collect(seed, RANDOM_CASES[effort]), EMPTY_TURN)


EMPTY_TURN: Final = Case("empty turn", Reply(""), GROUPS[0])
"""A turn that says nothing: tried for what is written in place of absent segments, and no failure where it is not taken."""


class _Maker:
    """Fills shapes with values; each value of a list is used before one comes again."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311  (repeatable, not secret)
        self._words = (needle(number) for number in count(1 + seed * 7919 % 100_000))
        self._pools: dict[str, Iterator[Any]] = {}

    def case(self, number: int, shape: Shape) -> Case:
        """The case for a shape."""
        group = number % len(GROUPS)
        calls = tuple(self._call(group, number, at, shape) for at in range(shape.calls))
        reply = Reply(self._text(shape.content), self._text(shape.reasoning), calls)
        return Case(f"array {number}", reply, GROUPS[group], shape.place)

    def _call(self, group: int, number: int, at: int, shape: Shape) -> Call:
        tool = GROUPS[group][(number // len(GROUPS) + at) % 3]
        if shape.kind is None:
            return Call(tool.name)
        levels = [shape.kind]
        if shape.arguments == "several":
            others = [level for level in TYPE_LEVELS if level != shape.kind]
            levels += self._random.sample(others, 1 + (number + at) % 3)
        elif at and shape.calls > 1:
            levels = [shape.kind, "text"][: 1 + at % 2]
        free = {kind: list(keys_of(group, kind)) for kind in map(_kind_of, levels)}
        arguments: dict[str, Any] = {}
        for level in levels:
            keys = free[_kind_of(level)]
            if keys:
                arguments[keys.pop(0)] = self.value(level)
        return Call(tool.name, arguments)

    def value(self, level: TypeLevel) -> Any:
        """The next value of this level."""
        if level == "text":
            return f"plain {self._word()} text"
        if level == "hostile text":
            return self._next(level, HOSTILE).format(self._word())
        if level == "typed-looking text":
            return self._next(level, TYPED_LOOKING)
        if level == "integer":
            return self._next(level, INTEGERS)
        if level == "number":
            return self._next(level, NUMBERS)
        if level == "boolean":
            return self._next(level, (True, False))
        if level == "null":
            return None
        return self._array() if level == "array" else self._object()

    def _array(self) -> list[str]:
        sizes = self._next("sizes", (2, 1, 3, 0))
        hostile = [self._next("items", HOSTILE).format(self._word()) for _ in range(max(0, sizes - 1))]
        return [f"item {self._word()}", *hostile] if sizes else []

    def _object(self) -> dict[str, Any]:
        pattern = self._next("fields", HOSTILE)
        whole = {
            "street": pattern.format(self._word()),
            "number": self._next("number", (12, 0)),
            "open": self._next("open", (False, True)),
            "rates": self._next("rates", ([0.5, 2.25], [], [1.5])),
        }
        made: dict[str, Any] = self._next("objects", (whole, {"street": self._word()}, {}))
        return made

    def _text(self, level: str) -> str | None:
        if level == "absent":
            return None
        if level == "plain":
            return f"This says {self._word()} twice."
        return str(self._next("text", HOSTILE_TEXT)).format(self._word())

    def _word(self) -> str:
        return next(self._words)

    def _next(self, name: str, values: tuple[Any, ...]) -> Any:
        pool = self._pools.setdefault(name, iter(()))
        value = next(pool, _END)
        if value is _END:
            pool = self._pools[name] = iter(values)
            value = next(pool)
        return value


_END: Final = object()


def _kind_of(level: TypeLevel) -> str:
    return "string" if level.endswith("text") else level
