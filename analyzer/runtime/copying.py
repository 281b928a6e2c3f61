"""Copies of slotted objects, for `fork`: what can change is copied, what is shared and immutable is not."""

from __future__ import annotations

from typing import TypeVar

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
