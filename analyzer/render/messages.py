"""What happens to messages before a template sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_REASONING_NAMES: Final = ("reasoning_content", "thinking", "reasoning")


def as_transformers(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages as ``apply_chat_template`` of transformers 5.24 hands them to a template.

    Keys whose value is ``None`` are dropped (from messages only, not from values inside them), and reasoning, found
    under the first of ``reasoning_content``, ``thinking`` and ``reasoning``, is copied to ``reasoning_content`` and,
    unless it is set, to ``thinking``.  Order of keys as there, since some templates print whole messages.  The
    input is not changed.
    """
    normalised: list[dict[str, Any]] = []
    for message in messages:
        kept = {key: value for key, value in message.items() if value is not None}
        reasoning = next((kept[name] for name in _REASONING_NAMES if name in kept), None)
        if reasoning is not None:
            kept = {"thinking": reasoning, **kept, "reasoning_content": reasoning}
        normalised.append(kept)
    return normalised
