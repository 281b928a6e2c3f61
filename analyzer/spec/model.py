r"""The format spec: what one chat template's assistant turns look like, as data.

A spec holds nothing about a model, only about a format. Inference writes it, people read and edit it, the runtime, the
exporters and the server plug-ins load it. The models here are its only definition; the JSON Schema and the documentation are
made from them.

A turn is `prompt  segment*  end`. The generation prompt has written the turn's header and perhaps more (the *prefill*);
segments may come in any order and number, `segments` lists them in the order in which the template writes them.

    header            <|im_start|>assistant\n
    reasoning         open  <think>\n       value   close  \n</think>\n\n
    content           open                   value   close  (a line break when calls follow)
    calls             open  call separator call ...  close
    end               <|im_end|>
"""
# ruff: noqa: RUF012 - pydantic copies the defaults, and frozen models do not change them

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, StrictBool, model_validator

from analyzer.spec.parts import Frozen, Part, ResultPart

FORMAT_VERSION: Literal[1] = 1
"""The version of the spec format that this package reads and writes."""

Scalar: TypeAlias = bool | int | float | str | None


class TemplateRef(Frozen):
    """Which template the spec was inferred from; informative, nothing is selected by it."""

    name: str = ""
    sha256: str = ""


class InputFacts(Frozen):
    """What the template wants as input."""

    arguments: Literal["mapping", "text", "both", "none"] = "mapping"
    """The shape of `tool_calls[].function.arguments` that renders to the same object; `none`: calls are not rendered."""
    content: Literal["text", "parts", "both"] = "text"
    ids: str | None = None
    """A pattern that a call id must match (a regular expression), None when any id or none will do."""
    results_by: Literal["position", "id", "name"] = "position"
    reasoning_fields: tuple[str, ...] = ()
    """The message fields that the template reads reasoning from, in order of preference."""
    system: Literal["accepted", "merged", "refused"] = "accepted"
    roles_refused: tuple[str, ...] = ()
    parallel_calls: StrictBool = True
    variables: dict[str, Scalar] = {}
    """Variables without which the template does not render, with the value used."""
    settings: dict[str, tuple[Scalar, ...]] = {}
    """Variables that change the generation prompt, with the values tried."""
    mutable: StrictBool = False
    """True: the template changes its input (`list.append`) and needs the mutable sandbox."""


class Prompt(Frozen):
    """One generation prompt. The parser's start state comes from feeding `text` to it."""

    set: dict[str, Scalar] = {}
    """The variables that were set; empty for the default."""
    after: Literal["user", "result"] = "user"
    """The role of the last message."""
    text: str = ""


class End(Frozen):
    """What ends a message. `stop`: the model stops generating there, so a server may treat it as a stop string."""

    literal: str = Field(min_length=1)
    stop: StrictBool = True


When: TypeAlias = Literal["any", "alone", "beside_calls"]


class ReasoningSegment(Frozen):
    """The model's reasoning."""

    kind: Literal["reasoning"] = "reasoning"
    when: When = "any"
    fields: tuple[str, ...] = ("reasoning_content",)
    open: str
    close: str
    empty: str = ""
    """What the template writes in place of the whole segment when a turn has no reasoning."""
    kept: Literal["always", "current_turn", "beside_calls", "never"] = "always"
    """In which turns of the history the template keeps reasoning."""
    end: End | None = None
    """What ends the message right after this segment; None: the segment is not the last of its message."""


class ContentSegment(Frozen):
    """Text for the user."""

    kind: Literal["content"] = "content"
    when: When = "any"
    open: str = ""
    close: str = ""
    empty: str = ""
    """What the template writes in place of the whole segment when the content is empty."""
    end: End | None = None


class JsonLayout(Frozen):
    """A call as one JSON value.

    `parts` is the exact text the template writes (literals and slots; a name or id slot stands inside its JSON string);
    the paths say how to read any JSON spelling of it.
    """

    kind: Literal["json"] = "json"
    open: str = ""
    close: str = ""
    name: tuple[str, ...] | Literal["key"]
    """The path to the tool's name; `key`: the object's only key is the name and its value the arguments."""
    arguments: tuple[str, ...] = ()
    """The path to the arguments; ignored when the name is the key."""
    arguments_codec: Literal["json", "json_text", "python"] = "json"
    """`json_text`: the arguments stand as JSON text inside a JSON string; `python`: as a Python literal (a defect)."""
    id: tuple[str, ...] | None = None
    parts: tuple[Part, ...] = ()
    """The canonical spelling, for exporters and strict checks; without `open` and `close`."""


class SequenceLayout(Frozen):
    """A call as a sequence of literals and slots; `parts` is the whole call with its own opener and closer."""

    kind: Literal["sequence"] = "sequence"
    parts: tuple[Part, ...]

    @model_validator(mode="after")
    def _has_name_and_arguments(self) -> SequenceLayout:
        kinds = [part.slot for part in self.parts if not isinstance(part, str)]
        named = "name" in kinds or "id" in kinds
        if not named or kinds.count("arguments") != 1:
            raise ValueError(
                "a sequence layout has a name slot (or an id slot) and exactly one arguments slot"
            )
        return self


Layout: TypeAlias = Annotated[JsonLayout | SequenceLayout, Field(discriminator="kind")]


class CallsSegment(Frozen):
    """All tool calls of a turn (the *section*): `open call (separator call)* close`."""

    kind: Literal["calls"] = "calls"
    open: str = ""
    close: str = ""
    separator: str = ""
    array: StrictBool = False
    """True: apart from white space `open` ends with `[` and `close` begins with `]`; the calls are the elements of one JSON array."""
    parallel: StrictBool = True
    layouts: tuple[Layout, ...] = Field(min_length=1)
    """The first is the canonical one; the others are further spellings of the same template."""
    end: End | None = None


Segment: TypeAlias = Annotated[ReasoningSegment | ContentSegment | CallsSegment, Field(discriminator="kind")]


class Turn(Frozen):
    """The assistant's turn."""

    prompts: tuple[Prompt, ...] = ()
    header: str = ""
    """What opens the assistant's message, such as `<|im_start|>assistant\\n`; every prompt begins with it or stops inside it."""
    header_repeats: StrictBool = False
    """True: the header stands again before each further segment (several messages in one turn)."""
    segments: tuple[Segment, ...]

    @model_validator(mode="after")
    def _one_calls_segment(self) -> Turn:
        if sum(segment.kind == "calls" for segment in self.segments) > 1:
            raise ValueError("a turn has at most one segment of kind calls; give several layouts instead")
        return self


class Results(Frozen):
    """How tool results go back."""

    role: str
    """The role word in the header of the result turn; `user` when it is the user's own header; "" when it is in the turn."""
    header: str = ""
    """What opens the turn that holds the results."""
    open: str = ""
    close: str = ""
    separator: str = ""
    end: str = ""
    """What ends the turn that holds the results."""
    id: Literal["none", "written"] = "none"
    name: Literal["none", "written"] = "none"
    content: Literal["raw", "json", "json_text"] = "raw"
    grouping: Literal["own_turn", "shared_turn", "in_turn"] = "own_turn"
    parts: tuple[ResultPart, ...] = ()
    """One result as literals and slots, between `header` and `end`; for formats that write an id or a name beside it."""


class Grammar(Frozen):
    """Facts for constrained decoding."""

    triggers: tuple[str, ...] = ()
    preserved_tokens: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    """Stop strings: never a literal that also closes reasoning or begins a segment."""


class Defect(Frozen):
    """Something wrong with the template itself, with what shows it."""

    kind: str
    message: str
    witness: dict[str, Any] = {}
    """The smallest conversation(s) that show it, and what was seen."""


class Evidence(Frozen):
    """Why a finding was made."""

    comparison: str
    """The comparison's number, as in docs/architecture.md: C1, R1, T3 ..."""
    found: str
    variants: tuple[str, ...] = ()
    described: StrictBool = False
    """True: read from the description in the prompt, not from a rendered call."""
    note: str = ""


class Addition(Frozen):
    """What one overlay adds: spellings that models are known to write beside the template's own. Off in strict mode."""

    overlay: str
    reason: str = ""
    layouts: tuple[Layout, ...] = ()
    segments: tuple[ReasoningSegment | ContentSegment, ...] = ()
    call_opens: tuple[str, ...] = ()
    """Further spellings of the opener of the calls section."""
    key_aliases: dict[str, tuple[str, ...]] = {}
    """JSON layouts: other names of a key, such as `arguments: [parameters]`."""
    separators: tuple[str, ...] = ()
    """Further separators between calls."""
    ignored: tuple[str, ...] = ()
    """Literals that are dropped where they stand, such as an optional wrapper."""
    id_pattern: str | None = None
    """The pattern by which an id that is all the template writes holds the name: `functions.{name}:{index}`."""


class Verification(Frozen):
    """What `verify` found."""

    verdict: Literal["unverified", "proven", "proven_with_defects", "failed"] = "unverified"
    round_trips: int = 0
    seed: int = 0
    coverage: dict[str, int] = {}
    """Cells of the pairwise coverage table: `total`, `covered`, `refused` (the template refuses such a conversation)."""
    unproven: tuple[str, ...] = ()
    """Fields whose mutation no round trip noticed, and cells that were not covered, each with its reason."""
    failures: tuple[str, ...] = ()


class Spec(Frozen):
    """A format spec. See docs/spec-format.md."""

    format_version: Literal[1] = FORMAT_VERSION
    template: TemplateRef = TemplateRef()
    input: InputFacts = InputFacts()
    turn: Turn
    results: Results | None = None
    grammar: Grammar = Grammar()
    overlays: tuple[Addition, ...] = ()
    defects: tuple[Defect, ...] = ()
    evidence: dict[str, tuple[Evidence, ...]] = {}
    """By the path of the field in this file, such as `turn.calls.open`."""
    verification: Verification = Verification()

    @property
    def calls(self) -> CallsSegment | None:
        """The calls segment, None when the template writes no calls."""
        return next((segment for segment in self.turn.segments if segment.kind == "calls"), None)

    @property
    def reasoning(self) -> tuple[ReasoningSegment, ...]:
        """The reasoning segments."""
        return tuple(segment for segment in self.turn.segments if segment.kind == "reasoning")

    @property
    def content(self) -> tuple[ContentSegment, ...]:
        """The content segments."""
        return tuple(segment for segment in self.turn.segments if segment.kind == "content")
