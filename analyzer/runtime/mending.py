"""What may be done to a call's arguments once they are whole, on request only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from analyzer.errors import UsageError
from analyzer.runtime.events import ArgumentsDelta, Event

if TYPE_CHECKING:
    from analyzer.runtime.coerce import Types

_WRAPPERS: Final = frozenset({"arguments", "parameters", "input", "args"})


def check_repair() -> None:
    """Raise `UsageError` when the repair library is not installed."""
    try:
        import json_repair  # noqa: F401, PLC0415 - wanted on request only
    except ImportError as error:
        raise UsageError(
            "`repair` needs the json-repair library",
            hint="Install it with: pip install 'chat-template-analyzer[repair]'",
        ) from error


def repair(text: str) -> dict[str, Any] | None:
    """Return broken JSON as the object it most likely was, None when it is none."""
    import json_repair  # noqa: PLC0415 - wanted on request only

    try:
        value = json_repair.loads(text)
    except (ValueError, RecursionError, IndexError):
        return None
    return value if isinstance(value, dict) and value else None


def unwrap(events: Sequence[Event], types: Types | None) -> list[Event]:
    """Take the arguments of a whole call out of an object around them, unless the schema wants that object."""
    pieces = [event for event in events if isinstance(event, ArgumentsDelta)]
    inner = _inner("".join(event.text for event in pieces), types)
    if inner is None:
        return list(events)
    out: list[Event] = []
    for event in events:
        if isinstance(event, ArgumentsDelta):
            out.append(ArgumentsDelta(event.index, inner, event.start, event.end))
            inner = ""
        else:
            out.append(event)
    return out


def _inner(text: str, types: Types | None) -> str | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or len(value) != 1:
        return None
    (key, inner), *_ = value.items()
    if key not in _WRAPPERS or (types is not None and types.is_known(key)):
        return None
    if isinstance(inner, str):
        try:
            inner = json.loads(inner)
        except (ValueError, RecursionError):
            return None
    return json.dumps(inner, ensure_ascii=False) if isinstance(inner, dict) else None
