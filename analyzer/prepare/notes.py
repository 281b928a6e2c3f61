"""Notes: what was changed in a conversation, and why; nothing is changed without one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

Severity: TypeAlias = Literal["change", "loss", "problem"]
"""`change`: said in another way; `loss`: something is left out; `problem`: the template may refuse it still."""

KINDS: Final[Mapping[str, tuple[Severity, str]]] = {
    "arguments_to_mapping": (
        "change",
        "Arguments given as JSON text are decoded: the template wants a mapping.",
    ),
    "arguments_to_text": (
        "change",
        "Arguments given as a mapping are written as JSON: the template wants text.",
    ),
    "arguments_decoded_twice": ("change", "Arguments that were encoded twice are decoded once more."),
    "arguments_empty": ("change", "Absent or empty arguments become an empty object."),
    "arguments_invalid": (
        "change",
        "Arguments that are no JSON object are kept as one text argument, `invalid_json`.",
    ),
    "value_to_text": ("change", "An argument is written as text: the template refuses values of its type."),
    "call_completed": ("change", "A call gets the shape `{id, type, function: {name, arguments}}`."),
    "calls_absent": ("change", "An empty `tool_calls` is left out."),
    "calls_split": (
        "change",
        "A turn of several calls becomes several turns: the template takes one call, or one result, a turn.",
    ),
    "calls_bared": (
        "change",
        "Name and arguments of calls stand beside the id: the template wants no `function`.",
    ),
    "function_call_dropped": (
        "loss",
        "The older `function_call` is left out, as it stands beside `tool_calls`.",
    ),
    "content_to_text": ("change", "Content given as parts is joined to text: the template wants text."),
    "content_to_parts": ("change", "Text becomes one part: the template wants parts."),
    "content_filled": ("change", "Absent or null content becomes an empty text: the template wants one."),
    "content_emptied": (
        "change",
        "Calls without a text have the content with which the template shows them.",
    ),
    "content_required": ("problem", "The template shows calls only beside a text, and there is none."),
    "part_dropped": ("loss", "A part that is no text is left out: the template takes text only."),
    "developer_to_system": ("change", "A developer message becomes a system message."),
    "function_to_tool": ("change", "A result of the role `function` becomes one of the role `tool`."),
    "system_hoisted": (
        "change",
        "System messages are joined at the beginning, where templates look for them.",
    ),
    "system_merged": (
        "change",
        "The system message goes into the first user message: the template refuses it.",
    ),
    "reasoning_moved": ("change", "Reasoning is put under the field that the template reads."),
    "reasoning_joined": ("change", "Reasoning that stood under several names is joined."),
    "reasoning_absent": ("change", "Reasoning that is null is left out."),
    "reasoning_dropped": (
        "loss",
        "Reasoning is left out: the template reads it from no field, or it is no text.",
    ),
    "field_added": ("change", "A message of the assistant gets a field that the template demands, empty."),
    "id_mapped": ("change", "A call's id is replaced by one that the template accepts; `ids` maps it back."),
    "id_made": ("change", "A call without an id gets one."),
    "id_unmatched": ("problem", "No id could be made that matches the template's pattern."),
    "result_moved": ("change", "Results are put in the order of their calls."),
    "result_completed": ("change", "A result gets the id and the name of its call."),
    "result_to_text": ("change", "A result that is no text is written as JSON."),
    "result_missing": ("problem", "A call has no result, though the conversation goes on."),
    "result_orphan": ("change", "A result belongs to no call; it is passed on as a user message."),
    "result_to_user": ("change", "Results become user messages: the template takes none of the role `tool`."),
    "not_alternating": (
        "problem",
        "User and assistant do not take turns, calls and results aside, which the template demands.",
    ),
    "messages_joined": (
        "change",
        "Messages of one side are joined: the template demands that sides take turns.",
    ),
    "tools_absent": ("change", "An empty list of tools is left out."),
    "tools_listed": ("change", "No tools are given as an empty list: the template wants one."),
    "tools_required": ("problem", "The template does not render without tools."),
    "tools_refused": ("problem", "The template does not render with tools, whichever they are."),
    "tool_dropped": ("loss", "A tool that is no function is left out: templates print functions."),
    "tool_bared": (
        "change",
        "A tool becomes the function object itself: the template wants no `function` around it.",
    ),
    "property_completed": ("change", "A property gets a field that the template reads without asking."),
    "tool_completed": ("change", "A tool gets the description and the parameters that templates print."),
}
"""The closed list of kinds: the severity and what each says."""


@dataclass(frozen=True, slots=True)
class Note:
    """One change: its kind, the place in the conversation as it was given, and what is particular about it."""

    kind: str
    path: str
    detail: str = ""

    @property
    def severity(self) -> Severity:
        """How much it matters."""
        return KINDS[self.kind][0]

    def __str__(self) -> str:
        more = f" ({self.detail})" if self.detail else ""
        return f"{self.path}: {KINDS[self.kind][1]}{more}"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A conversation that a template accepts, and what was changed to make it so."""

    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...] | None
    notes: tuple[Note, ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict, hash=False)
    """By the id that the template is given, the id that stood in the conversation."""

    def original_id(self, identity: str) -> str:
        """The id that a call had before; an id that was not changed is returned as it is."""
        return self.ids.get(identity, identity)

    @property
    def problems(self) -> tuple[Note, ...]:
        """The notes that say why the template may refuse the conversation still."""
        return tuple(note for note in self.notes if note.severity == "problem")


class Notes:
    """The notes taken so far."""

    def __init__(self) -> None:
        self._taken: dict[Note, None] = {}

    def take(self, kind: str, path: str, detail: str = "") -> None:
        """Take a note; the same one twice counts once."""
        self._taken[Note(kind, path, detail)] = None

    def __iter__(self) -> Iterator[Note]:
        return iter(self._taken)


def kinds_table() -> str:
    """The kinds as a table for the documentation."""
    rows = [f"| `{kind}` | {severity} | {text} |" for kind, (severity, text) in KINDS.items()]
    return "\n".join(["| note | severity | what it says |", "| --- | --- | --- |", *rows])
