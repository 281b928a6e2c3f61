"""The shape of a module's classes, to hold doubles against what they stand for."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.integrations.servers import installed


def assert_same(
    names: Iterable[str], doubles: Mapping[str, Path], own: Mapping[str, Path], stubbed: tuple[str, ...]
) -> None:
    """Each class and method of a double is there in the server's module, with the same parameters and fields."""
    found = []
    for files in (doubles, {**doubles, **own}):
        with installed(files, stubbed):
            found.append({name: shape(importlib.import_module(name)) for name in names})
    double, real = found
    for name, classes in double.items():
        assert classes
        for cls, members in classes.items():
            assert cls in real[name], (name, cls)
            for member, parameters in members.items():
                assert parameters == real[name][cls].get(member), (name, cls, member)


def shape(module: Any) -> dict[str, dict[str, Any]]:
    """The public members of a module's own classes: parameters of methods, names of fields."""
    found: dict[str, dict[str, Any]] = {}
    for name, cls in vars(module).items():
        if not inspect.isclass(cls) or cls.__module__ != module.__name__ or name.startswith("_"):
            continue
        members: dict[str, Any] = dict.fromkeys(getattr(cls, "model_fields", ()), "field")
        members |= dict.fromkeys(getattr(cls, "__dataclass_fields__", ()), "field")
        for member, value in inspect.getmembers(cls):
            plain = value.__func__ if inspect.ismethod(value) else value
            own = inspect.isfunction(plain) and plain.__module__ == module.__name__
            if own and (not member.startswith("_") or member == "__init__"):
                members[member] = [
                    (parameter.name, parameter.kind, parameter.default is not parameter.empty)
                    for parameter in inspect.signature(plain).parameters.values()
                ]
        found[name] = members
    return found
