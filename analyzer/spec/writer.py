"""Writing plain data as YAML, always in the same way: short values on one line, long ones in blocks.

PyYAML's own emitter folds long texts, leaves no-break spaces as they are and quotes by rules of its own; the few lines here
give a file that a person can compare line by line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from analyzer.spec.scalars import quoted, text_scalar

WIDTH: Final = 120
"""A value that fits into this many columns is written on one line."""

_LONGEST_KEY: Final = 100
"""A longer key is written as an explicit key, since YAML reads `key: value` with short keys only."""


def write_yaml(data: Mapping[str, Any]) -> str:
    """Return `data` as a YAML document; the values of the document's own keys are blocks where they hold containers."""
    return "\n".join(_mapping_lines(data, 0)) + "\n"


def _mapping_lines(data: Mapping[str, Any], indent: int) -> list[str]:
    lines: list[str] = []
    for key, value in data.items():
        name = text_scalar(key)
        if len(name) > _LONGEST_KEY:
            lines.append(f"? {quoted(key)}")
            lines += _entry(":", value, indent)
        else:
            lines += _entry(f"{name}:", value, indent)
    return lines


def _entry(prefix: str, value: Any, indent: int) -> list[str]:
    """Return the lines of one entry of a mapping; the first one begins with `prefix`."""
    if _on_one_line(value, indent + len(prefix) + 1, indent):
        return [f"{prefix} {flow(value)}"]
    lines = _sequence_lines(value, indent + 2) if _is_sequence(value) else _mapping_lines(value, indent + 2)
    return [prefix, *(f"  {line}" for line in lines)]


def _sequence_lines(data: Sequence[Any], indent: int) -> list[str]:
    lines: list[str] = []
    for item in data:
        if _on_one_line(item, indent + 2, indent):
            lines.append(f"- {flow(item)}")
            continue
        block = _sequence_lines(item, indent + 2) if _is_sequence(item) else _mapping_lines(item, indent + 2)
        lines.append(f"- {block[0]}")
        lines += [f"  {line}" for line in block[1:]]
    return lines


def _on_one_line(value: Any, column: int, indent: int) -> bool:
    if not _is_container(value) or not value:
        return True
    items = list(value) if _is_sequence(value) else list(value.values())
    if _is_sequence(value) and all(isinstance(item, Mapping) for item in items):
        return False  # segments, layouts, prompts: one a line
    if indent == 0 and any(map(_is_container, items)) and not _is_sequence(value):
        return False
    if isinstance(value, Mapping) and any(len(text_scalar(key)) > _LONGEST_KEY for key in value):
        return False
    return not any(map(_holds_records, items)) and column + len(flow(value)) <= WIDTH


def _holds_records(value: Any) -> bool:
    """Whether a list below `value` would be written one item a line."""
    if isinstance(value, Mapping):
        return any(map(_holds_records, value.values()))
    if _is_sequence(value) and value:
        return all(isinstance(item, Mapping) for item in value) or any(map(_holds_records, value))
    return False


def flow(value: Any) -> str:
    """Return `value` on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{text_scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if _is_sequence(value):
        return "[" + ", ".join(map(flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return text_scalar(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        return ".nan" if math.isnan(value) else (".inf" if value > 0 else "-.inf")
    raise TypeError(f"{type(value).__name__} is no JSON value and cannot be written")


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _is_container(value: Any) -> bool:
    return isinstance(value, Mapping) or _is_sequence(value)
