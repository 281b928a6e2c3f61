"""Copies of slotted objects, for `fork`: what can change is copied, what is shared and immutable is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def clone(old: T) -> T:
    """Return a copy of a slotted object; a value with a `copy` method is copied by it, all others are shared."""
    cls = type(old)
    new = cls.__new__(cls)
    for part in cls.__mro__:
        for name in getattr(part, "__slots__", ()):
            if hasattr(old, name):
                value = getattr(old, name)
                copier = getattr(value, "copy", None)
                setattr(new, name, value if copier is None else copier())
    return new


def assigner(names: Iterable[str]) -> Callable[[Any, Any], None]:
    """Return a function `(new, old)` that sets these attributes of `new` to those of `old`.

    It is written out and compiled, as `dataclasses` does it: making a parser is little else than this, and a loop over the
    names takes three times as long.
    """
    lines = "".join(f"\n    new.{name} = old.{name}" for name in names)
    made: dict[str, Any] = {}
    exec(f"def assign(new, old):{lines}\n", made)  # noqa: S102 - of our own attributes' names
    assign: Callable[[Any, Any], None] = made["assign"]
    return assign
