"""What the plug-ins of all servers have in common: the request's tools, what is parsed, and what is constrained."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from analyzer.chat import Tool
from analyzer.errors import ExportError
from analyzer.export import structural_tag
from analyzer.export.choice import WORDS
from analyzer.export.result import Options as ExportOptions
from analyzer.runtime.options import DEFAULT, Options
from analyzer.spec.model import Spec

LOG: Final = logging.getLogger("analyzer.integrations")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request says about tools."""

    tools: tuple[Tool, ...] = ()
    choice: str = "auto"
    """`auto`, `none`, `required`, or a tool's name."""
    parallel: bool = True
    """False: at most one call."""
    strict: bool = False
    """Whether a tool's arguments must follow its schema."""

    @classmethod
    def of(cls, tools: Iterable[Any] | None, choice: Any = None, parallel: Any = None) -> Asked:
        """Read tools and choice as servers hold them: objects or mappings, of Chat Completions or of Responses."""
        found = [_plain(tool) for tool in tools or ()]
        functions = [_mapping(tool.get("function", tool)) for tool in found]
        named = [
            (function, bool(tool.get("strict") or function.get("strict")))
            for tool, function in zip(found, functions, strict=True)
            if isinstance(function.get("name"), str)
        ]
        return cls(
            tuple(Tool.from_openai(function) for function, _ in named),
            _choice(choice) or "auto",
            parallel is not False,
            any(strict for _, strict in named),
        )

    @property
    def forced(self) -> bool:
        """Whether a call is certain."""
        return self.choice not in ("auto", "none")

    @property
    def constrained(self) -> bool:
        """Whether the model's calls are to be held to a grammar."""
        return bool(self.tools) and (
            self.forced or (self.choice == "auto" and (self.strict or not self.parallel))
        )

    def options(self, options: Options = DEFAULT) -> Options:
        """Return how a reply is parsed."""
        if self.choice == "none":
            options = options.with_(calls="text")
        return options if self.parallel else options.with_(parallel=False)


def tag_for(spec: Spec, asked: Asked) -> dict[str, Any] | None:
    """Return the structural tag for a request, None when nothing is to be constrained.

    Raises `ExportError` when a call is forced and the target cannot say how; with `auto` that is logged, and the model is
    left free.  Raises `UsageError` when a tool is forced that is not offered.
    """
    if not asked.constrained:
        return None
    wanted = ExportOptions(asked.choice, parallel=asked.parallel)
    try:
        payload: dict[str, Any] = structural_tag.export(spec, asked.tools, wanted).payload
    except ExportError as error:
        if asked.forced:
            raise
        LOG.warning("Calls are not constrained: %s", error)
        return None
    return _behind_reasoning(spec, payload) if asked.forced else payload


def _behind_reasoning(spec: Spec, payload: dict[str, Any]) -> dict[str, Any]:
    """The tag of a forced call; the white space that stands between the closer of reasoning and a call may come first."""
    close = next((segment.close for segment in spec.reasoning if segment.close.strip()), "")
    white = close[len(close.rstrip()) :]
    if not white:
        return payload
    ahead = {"type": "optional", "content": {"type": "const_string", "value": white}}
    return {**payload, "format": {"type": "sequence", "elements": [ahead, payload["format"]]}}


def _choice(choice: Any) -> str | None:
    if choice is None or isinstance(choice, str):
        return choice if choice in WORDS else None
    data = _plain(choice)
    name = _mapping(data.get("function", data)).get("name")
    return name if isinstance(name, str) else None


def _plain(value: Any) -> Mapping[str, Any]:
    """A model of some server as a mapping."""
    return _mapping(value.model_dump() if hasattr(value, "model_dump") else value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
