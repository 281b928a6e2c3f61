"""What rendering gives, and what it is asked: plain values, safe to compare and to keep.

A render that fails is a value too.  An empty string is a legal render, so failure must never look like one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, get_args

from analyzer.errors import UsageError

FailureKind: TypeAlias = Literal[
    "syntax",  # the template does not compile
    "raised",  # the template called raise_exception: it refuses this conversation
    "undefined",  # an undefined value was used
    "type",  # a value of the wrong type was used
    "security",  # the sandbox refused (an unsafe attribute, or a list changed where lists are immutable)
    "timeout",  # stopped: too slow
    "memory",  # stopped: too much memory
    "output",  # stopped: too many characters
    "crash",  # the rendering process died
    "error",  # any other exception
]

FAILURE_KINDS: Final[frozenset[str]] = frozenset(get_args(FailureKind))

STOPPED: Final[frozenset[str]] = frozenset({"timeout", "memory", "output", "crash"})
"""The kinds of failure that say nothing about a conversation: the render was stopped."""

STANDARD_VARIABLES: Final[tuple[str, ...]] = ("messages", "tools", "documents", "add_generation_prompt")
"""The variables that every template is given, set or not."""

FUNCTIONS: Final[tuple[str, ...]] = (
    "raise_exception",
    "strftime_now",
    "namespace",
    "dict",
    "range",
    "lipsum",
    "cycler",
    "joiner",
)
"""The functions that every template is given, by Jinja and by the servers."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A successful render: ``text`` is the whole prompt."""

    text: str


@dataclass(frozen=True, slots=True)
class RenderFailure:
    """A render that gave no text.

    ``message`` is the exception's own (cut to 2,000 characters); ``line`` is the template's line, one-based, where
    it is known.
    """

    kind: FailureKind
    message: str
    line: int | None = None


Outcome: TypeAlias = Rendered | RenderFailure


class EncodedOnce(tuple[Mapping[str, Any], ...]):  # noqa: SLOT001  (the text is kept)
    """Mappings that nobody changes, so that their JSON is written once for however many requests hold them."""

    @cached_property
    def encoded(self) -> str:
        """The JSON of the list."""
        return _encode(self)


@dataclass(frozen=True, slots=True)
class RenderRequest:
    """One conversation to render, exactly as given (see :func:`analyzer.render.as_transformers`).

    Every value must be plain JSON.  ``special_tokens`` holds only the tokens that are set; ``variables`` are the
    template's further arguments and win over special tokens.  Raises `UsageError` when ``variables`` tries to
    replace one of `STANDARD_VARIABLES`.
    """

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] | None = None
    add_generation_prompt: bool = False
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)
    documents: Sequence[Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        taken = [name for name in STANDARD_VARIABLES if name in self.variables]
        if taken:
            raise UsageError(f"The variable {taken[0]!r} has its own field in a render request")

    def context(self) -> dict[str, Any]:
        """The template's variables, in one mapping."""
        return {
            **self.special_tokens,
            **self.variables,
            "messages": self.messages,
            "tools": self.tools,
            "documents": self.documents,
            "add_generation_prompt": self.add_generation_prompt,
        }

    def encode(self) -> str:
        """The context as one line of ASCII JSON, order kept: the identity of a request.

        Raises `UsageError` when a value is not plain JSON.
        """
        try:
            return self._encoded()
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(f"A render request holds a value that is not plain JSON: {error}") from None

    def _encoded(self) -> str:
        context = self.context()
        lists = [f'"{name}":{_list(context.pop(name))}' for name in ("messages", "tools")]
        return f"{_encode(context)[:-1]},{','.join(lists)}}}"


def _list(value: Any) -> str:
    return value.encoded if isinstance(value, EncodedOnce) else _encode(value)


_encode: Final = json.JSONEncoder(separators=(",", ":")).encode
