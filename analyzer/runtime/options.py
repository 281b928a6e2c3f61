"""What the parser tolerates and what it does with the rest: one immutable value.

Two kinds of fields. *Rules* are things models do in every family; each is a switch, each use of it, white space
apart, leaves a problem event, and `STRICT` turns all of them off. *Policies* say where text goes that could go to more than one place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from analyzer.errors import UsageError

_CHOICES: Final = {
    "malformed": ("problem", "content"),
    "unknown_tools": ("call", "content", "drop"),
    "calls": ("parse", "text", "drop"),
    "calls_in_reasoning": ("late", "never"),
    "reasoning": ("split", "content", "drop"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """How a parser treats what the format does not say."""

    # rules
    soft_white_space: bool = True
    """White space between literals may be any run or none, and white space alone between two parts is nothing."""
    overlays: bool = True
    """Also read the spellings that the spec's overlays add."""
    missing_header: bool = True
    """The header between two messages of one turn may be missing, where a marker shows that the second one begins."""
    missing_open: bool = True
    """A call's own opener opens the section whose opener is missing, and its inner literal the call."""
    missing_close: bool = True
    """A complete call whose closer is missing is a call."""
    missing_brace: bool = True
    """A JSON call whose arguments are whole and whose outer closing brace is missing is a call."""
    missing_arguments: bool = True
    """A JSON call without its arguments key has the arguments `{}`."""
    missing_value_close: bool = True
    """The next declared argument's opener, or the call's closer, ends a raw value."""
    bare_object: bool = True
    """One call object where an array of them is usual."""
    arguments_as_text: bool = True
    """Arguments as JSON text in a string where an object is usual."""
    control_characters: bool = True
    """Raw control characters in JSON strings."""
    invalid_escapes: bool = True
    r"""A backslash that begins no JSON escape (`\d`) stands for itself."""
    python_values: bool = True
    """`True`, `None` and Python literals where a JSON value is usual, in encodings without types."""
    foreign_quotes: bool = True
    """Strings in JSON or Python quotes where the format has quotes of its own, and bare words."""
    orphan_close: bool = True
    """A reasoning closer without its opener is dropped when reasoning was open before or nothing stands before it."""
    repeated_open: bool = True
    """A reasoning opener right after the prompt's own is dropped."""
    text_in_section: bool = True
    """A little text between the section's opener and its first call is reported, and is no content."""
    id_names: bool = True
    """The name in an id of a foreign spelling is sought among the declared tools."""
    # policies
    malformed: Literal["problem", "content"] = "problem"
    """Where the text of a broken call goes. `content` holds each call until it is complete."""
    unknown_tools: Literal["call", "content", "drop"] = "call"
    """What a call of an undeclared tool is, in formats with markers (without markers it is content)."""
    calls: Literal["parse", "text", "drop"] = "parse"
    """`text` and `drop` are for `tool_choice="none"`: calls stay content, or vanish."""
    calls_in_reasoning: Literal["late", "never"] = "late"
    """`late`: a call inside open reasoning counts when the turn ends without a reasoning closer."""
    reasoning: Literal["split", "content", "drop"] = "split"
    """`content` leaves reasoning and its markers in the content (and writes the prompt's opener again)."""
    unwrap_arguments: bool = False
    """`{"arguments": {...}}` inside the arguments is unwrapped when the schema has no such property."""
    repair: bool = False
    """Repair broken JSON of a call with the `json_repair` library, and say so."""
    ignored: tuple[str, ...] = ()
    """Literals that are dropped wherever they stand at the top level, such as special tokens a server left in."""
    parallel: bool = True
    """False: calls after the first are dropped, with a problem."""
    max_calls: int | None = None
    """The most calls of one turn; further ones are dropped, with a problem."""
    max_call_chars: int | None = None
    """The most characters of one call; a longer one is ended as malformed."""
    raw_limit: int = 1 << 16
    """How much of a broken call's text a problem keeps."""

    def __post_init__(self) -> None:
        """Refuse what no field takes.

        Raises:
            UsageError: a policy that does not exist, or a number below 0.
        """
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                known = ", ".join(f"`{choice}`" for choice in choices)
                raise UsageError(f"`{name}` is `{getattr(self, name)}`", hint=f"It takes {known}.")
        for name in ("max_calls", "max_call_chars", "raw_limit"):
            number = getattr(self, name)
            if number is not None and number < 0:
                raise UsageError(f"`{name}` is {number}", hint="It counts from 0.")

    def with_(self, **changes: object) -> Options:
        """Return a copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


RULES: tuple[str, ...] = (
    "soft_white_space",
    "overlays",
    "missing_header",
    "missing_open",
    "missing_close",
    "missing_brace",
    "missing_arguments",
    "missing_value_close",
    "bare_object",
    "arguments_as_text",
    "control_characters",
    "invalid_escapes",
    "python_values",
    "foreign_quotes",
    "orphan_close",
    "repeated_open",
    "text_in_section",
    "id_names",
)
"""The fields of `Options` that are leniency rules."""

DEFAULT = Options()
STRICT = Options().with_(**dict.fromkeys(RULES, False))
"""No leniency: only what the template itself writes is read without a problem."""
