"""Which message fields may hold reasoning."""

from __future__ import annotations

from analyzer.render.facts import TemplateFacts

STANDARD_FIELDS = frozenset(
    "role content tool_calls name id type function arguments tool_call_id text image image_url video audio "
    "tool_call parameters description properties required items enum url tools".split()
)
MOST_FIELDS = 12


def field_candidates(facts: TemplateFacts) -> list[str]:
    """Return the message fields that may hold reasoning: the names read from messages that are not standard ones."""
    direct = list(facts.fields("messages[]"))
    names = [name for name in [*direct, *facts.names] if name not in STANDARD_FIELDS and name.isidentifier()]
    likely = [name for name in names if any(word in name for word in ("reason", "think", "thought", "plan"))]
    ordered = dict.fromkeys([*likely, *(name for name in direct if name in names)])
    return list(ordered)[:MOST_FIELDS]
