"""The hand-written specs of fifteen formats, and texts of each with the message they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from analyzer.spec import Spec, load_spec

FOLDER = Path(__file__).parent / "formats"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml") if not path.name.endswith(".texts.yaml"))

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Tells the weather.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "options": {"type": "object"},
                },
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "get_time",
            "description": "Tells the time.",
            "parameters": {"type": "object", "properties": {"local": {"type": "boolean"}}},
        },
    },
]
"""The tools that the texts call."""


@dataclass(frozen=True)
class FormatText:
    """One text of a format: what the model writes after the prompt, and the message that it means."""

    format: str
    name: str
    text: str
    message: Mapping[str, Any]
    settings: Mapping[str, Any]
    after: str
    layout: int
    canonical: bool
    """Whether the template itself writes the text in a history."""

    @property
    def prompt(self) -> str:
        """The generation prompt that the text follows."""
        prompts = spec_of(self.format).turn.prompts
        return next(item.text for item in prompts if item.set == self.settings and item.after == self.after)


@cache
def spec_of(name: str) -> Spec:
    """Return the spec of a format."""
    return load_spec(FOLDER / f"{name}.yaml")


def texts_of(name: str) -> Iterator[FormatText]:
    """Return the texts of a format."""
    data = yaml.safe_load((FOLDER / f"{name}.texts.yaml").read_text(encoding="utf-8"))
    for item in data["texts"]:
        yield FormatText(
            format=name,
            name=item["name"],
            text=item["text"],
            message=item["message"],
            settings=item.get("set", {}),
            after=item.get("after", "user"),
            layout=item.get("layout", 0),
            canonical=item.get("canonical", True),
        )


TEXTS = [text for name in NAMES for text in texts_of(name)]
