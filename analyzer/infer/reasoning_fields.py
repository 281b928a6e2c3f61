"""What is found of reasoning, and which message fields may hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from analyzer.render.facts import TemplateFacts

STANDARD_FIELDS = frozenset(
    [
        "role",
        "content",
        "tool_calls",
        "name",
        "id",
        "type",
        "function",
        "arguments",
        "tool_call_id",
        "text",
        "image",
        "image_url",
        "video",
        "audio",
        "tool_call",
        "parameters",
        "description",
        "properties",
        "required",
        "items",
        "enum",
        "url",
        "tools",
    ]
)
MOST_FIELDS = 12


def is_likely(name: str) -> bool:
    """Tell whether a field's name speaks of reasoning; such fields are tried first, and under every setting."""
    return any(word in name for word in ("reason", "think", "thought", "plan"))


def field_candidates(facts: TemplateFacts) -> list[str]:
    """Return the message fields that may hold reasoning: the names read from messages that are not standard ones."""
    direct = list(facts.fields("messages[]"))
    names = [name for name in [*direct, *facts.names] if name not in STANDARD_FIELDS and name.isidentifier()]
    likely = [name for name in names if is_likely(name)]
    ordered = dict.fromkeys([*likely, *(name for name in direct if name in names)])
    return list(ordered)[:MOST_FIELDS]


@dataclass(frozen=True, slots=True)
class ReasoningFinding:
    """How reasoning is written. Literals are those of the canonical turn."""

    fields: tuple[str, ...]
    open: str
    close: str
    empty: str
    """What a turn of text without reasoning has in its place."""
    empty_beside_calls: str
    content_open: str
    kept: str
    beside_calls: bool
    with_content: bool
    header: str
    """The turn's header, shortened where the reasoning opener was taken for a part of it."""
    in_content: bool = False
    """True: the reasoning stands inside the content, between tags (R2)."""
    behind_calls: bool = False
    """True: in a turn of calls it stands behind them."""
    setting: Mapping[str, Any] = field(default_factory=dict)
    """The variables under which the template shows reasoning; empty for the default."""
