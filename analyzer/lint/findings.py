"""Findings and their rules: everything that can be wrong with a template, how bad it is, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from analyzer.verify.defects import KINDS

Severity: TypeAlias = Literal["error", "warning", "note"]
"""`error`: models are shown something wrong; `warning`: clients have to work around it; `note`: worth knowing."""

_ERRORS: Final = frozenset(
    {
        "arguments_lost",
        "arguments_python_dict",
        "calls_lost",
        "content_as_reasoning",
        "content_lost",
        "content_lost_beside_calls",
        "content_moved_behind_results",
        "html_escaped",
        "markup_escaped",
        "null_content_printed",
        "second_call_lost",
        "value_type_lost",
    }
)
_NOTES: Final = frozenset({"arguments_mapping_only", "content_trimmed", "reasoning_trimmed"})

_OWN: Final[Mapping[str, tuple[Severity, str]]] = {
    "arguments_encoded_twice": ("warning", "Arguments given as JSON text are encoded once more."),
    "arguments_absent_refused": ("note", "A call without arguments is refused."),
    "content_absent_refused": ("warning", "A turn of calls without a `content` field is refused."),
    "description_absent_refused": ("warning", "A tool without a description is refused."),
    "parameters_absent_refused": ("warning", "A tool without parameters is refused."),
    "type_absent_refused": ("warning", "A call without `type` is refused."),
    "id_absent_refused": ("warning", "A call without an id is refused."),
    "undefined_printed": ("error", "An absent or null field prints `None` or `Undefined`."),
    "empty_tools_shown": ("warning", "An empty list of tools renders in another way than no tools."),
    "empty_calls_shown": ("warning", "An empty `tool_calls` renders in another way than none."),
    "developer_refused": ("note", "A developer message is refused."),
    "developer_ignored": ("warning", "A developer message is left out without a word."),
    "system_ignored": ("warning", "A system message is left out without a word."),
    "later_system_refused": ("note", "A system message is taken first, and a further one is refused."),
    "results_ignored": ("error", "A tool result is left out without a word."),
    "result_unquoted": ("error", "A result stands between JSON quotes and is not escaped."),
    "calls_lost_beside_content": ("error", "Calls are not written when the turn has content."),
    "calls_lost_without_tools": (
        "warning",
        "Calls in the history are not written when no tools are declared.",
    ),
    "bare_tools_only": (
        "warning",
        "Tools are taken as bare function objects only; the shape that servers send is refused or not shown.",
    ),
    "value_type_refused": ("error", "An argument whose value is no text is refused."),
    "ids_refused": ("warning", "Ids of calls are refused unless they have one form."),
    "mutates_input": (
        "error",
        "The template changes its input, which the immutable sandbox of servers refuses.",
    ),
    "depends_on_date": ("note", "The prompt holds today's date, so that it changes every day."),
    "value_holds_closer": (
        "note",
        "An argument that holds the format's own closer reads as the end of the value.",
    ),
    "reserved_name": (
        "note",
        "A call of a tool whose name the format keeps for itself reads as something else.",
    ),
    "ambiguous": ("error", "Two different turns are written alike: no parser can tell which was meant."),
    "unmarked_calls": ("note", "No marker begins a call: text that begins like one reads as a call."),
    "end_in_marker": ("note", "The literal that ends a turn stands inside another marker."),
    "marker_begins_text": ("note", "A closer is the beginning of the literal that opens content."),
    "toggle_marker": ("note", "One literal both opens and closes."),
    "conversation_refused": (
        "error",
        "Not even a plain conversation is rendered with the words of its messages.",
    ),
    "render_stopped": ("error", "A render had to be stopped: it does not end, or grows without bound."),
    "not_understood": ("note", "The format could not be proven, so that further findings may be missing."),
}


def _severity(kind: str) -> Severity:
    return "error" if kind in _ERRORS else "note" if kind in _NOTES else "warning"


RULES: Final[Mapping[str, tuple[Severity, str]]] = {
    **{kind: (_severity(kind), text) for kind, text in KINDS.items()},
    **_OWN,
}
"""The closed list of kinds: severity and message.  Those of verification come first."""

_RANK: Final[Mapping[Severity, int]] = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, with what was seen and the shortest conversation that shows it."""

    kind: str
    message: str
    severity: Severity
    evidence: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What was seen: `exception`, `render`, `literals`, `field` and the like."""
    conversation: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """`messages` and, where they matter, `tools`; empty when no conversation is needed to see it."""
    line: int | None = None
    """The line of the template, where the exception told it."""

    @property
    def rank(self) -> int:
        """0 for errors, 1 for warnings, 2 for notes."""
        return _RANK[self.severity]

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON data."""
        data: dict[str, Any] = {"kind": self.kind, "severity": self.severity, "message": self.message}
        if self.line is not None:
            data["line"] = self.line
        return {**data, "evidence": dict(self.evidence), "conversation": dict(self.conversation)}


def finding(kind: str, message: str = "", **more: Any) -> Finding:
    """A finding of this kind, with its rule's severity and, unless given, its message."""
    severity, text = RULES[kind]
    return Finding(kind, message or text, severity, **more)


def rules_table() -> str:
    """The rules as a table for docs/lint.md."""
    rows = [f"| `{kind}` | {severity} | {text} |" for kind, (severity, text) in RULES.items()]
    return "\n".join(["| kind | severity | what it says |", "| --- | --- | --- |", *rows])
