"""One analysis to be made: everything that its result hangs on besides the program itself.

Templates that are equal in text and tokens make one task, however many names they have.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analyzer.template import Template


@dataclass(frozen=True, slots=True)
class Task:
    """A template without its name, and the seed of its verification."""

    text: str
    special_tokens: tuple[tuple[str, str], ...] = ()
    """By the name that the template knows them under, sorted."""
    added_tokens: tuple[str, ...] = ()
    seed: int = 0

    @classmethod
    def of(cls, template: Template, seed: int = 0) -> Task:
        """The task that this template makes."""
        return cls(template.text, tuple(sorted(template.special_tokens.items())), template.added_tokens, seed)

    def key(self, fingerprint: str) -> str:
        """The sha256 that names the result of this task by the program with that fingerprint, in hexadecimal."""
        parts = [fingerprint, self.to_json()]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("ascii")).hexdigest()

    def template(self) -> Template:
        """The template to analyse; it has no name."""
        return Template(
            text=self.text,
            name="",
            special_tokens=dict(self.special_tokens),
            added_tokens=self.added_tokens,
        )

    def to_json(self) -> dict[str, Any]:
        """The task as JSON data."""
        return {
            "text": self.text,
            "special_tokens": dict(self.special_tokens),
            "added_tokens": list(self.added_tokens),
            "seed": self.seed,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Task:
        """The task that `to_json` made."""
        special = tuple(sorted(data["special_tokens"].items()))
        return cls(data["text"], special, tuple(data["added_tokens"]), data["seed"])
