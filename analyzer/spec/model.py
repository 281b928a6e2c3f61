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

from pydantic import Field, StrictBool, field_validator, model_validator

from analyzer.spec.figures import Count, Hash
from analyzer.spec.parts import Frozen, JsonType, Part, ResultPart

FORMAT_VERSION: Literal[1] = 1
"""The version of the spec format that this package reads and writes."""

Scalar: TypeAlias = bool | int | float | str | None


class TemplateRef(Frozen):
    """Which template the spec was inferred from; informative, nothing is selected by it."""

    name: str = ""
    """The template's name, as its source tells it."""
    sha256: Hash = ""
    """The hash of the template's text: 64 hexadecimal digits, or nothing."""


class InputFacts(Frozen):
    """What the template wants as input."""

    arguments: Literal["mapping", "text", "both", "none"] = "mapping"
    """The shape of `tool_calls[].function.arguments` that renders to the same object; `none`: calls are not rendered."""
    content: Literal["text", "parts", "both"] = "text"
    """The shape of a message's `content`."""
    empty_content: Literal["empty", "null", "absent", "space", "text"] = "empty"
    """What a turn of calls without a text has for `content`: `""`, null, nothing, one blank; `text`: it needs a text."""
    assistant_fields: tuple[str, ...] = ()
    """Fields without which the template refuses a message of the assistant."""
    bare_calls: StrictBool = False
    """True: calls are `{id, name, arguments}`, with no `function` around name and arguments."""
    bare_tools: StrictBool = False
    """True: tools are the function objects themselves, `{name, description, parameters}`, with no `function` around them."""
    tools: Literal["optional", "list", "required", "refused"] = "optional"
    """`list`: no tools must be given as an empty list; `required`: none are refused; `refused`: any are."""
    property_fields: tuple[Literal["type", "description"], ...] = ()
    """Fields without which the template refuses or loses a property of a tool; `type`: one word, as templates print it."""
    values_refused: tuple[JsonType, ...] = ()
    """JSON types of argument values that make the template raise."""
    ids: str | None = None
    """A pattern that a call id must match (a regular expression), None when any id or none will do."""
    results_by: Literal["position", "id", "name"] = "position"
    """By what the template finds the call that a result belongs to."""
    reasoning_fields: tuple[str, ...] = ()
    """The message fields that the template reads reasoning from, in order of preference."""
    system: Literal["accepted", "merged", "refused"] = "accepted"
    """What becomes of a system message; `merged`: it is written into the user's turn."""
    roles_refused: tuple[str, ...] = ()
    """Roles that make the template raise."""
    turns: Literal["any", "alternate"] = "any"
    """`alternate`: two messages of one side in a row make the template raise."""
    parallel_results: StrictBool = True
    """False: two results in a row make the template raise."""
    parallel_calls: StrictBool = True
    """False: the template writes or accepts one call a message."""
    variables: dict[str, Scalar] = {}
    """Variables that the spec is for: those without which the template does not render, with the value used, and those asked for."""
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
    """What the template appends, the header included; empty when it appends nothing."""


class End(Frozen):
    """What ends a message."""

    literal: str = Field(min_length=1)
    """The text."""
    stop: StrictBool = True
    """True: the model stops generating there, so a server may treat it as a stop string."""


When: TypeAlias = Literal["any", "alone", "beside_calls"]


class ReasoningSegment(Frozen):
    """The model's reasoning."""

    kind: Literal["reasoning"] = "reasoning"
    """The tag."""
    when: When = "any"
    """In which turns the template writes it: any, those without calls, those with calls."""
    fields: tuple[str, ...] = ("reasoning_content",)
    """The message fields that hold it, in order of preference; none when the template writes it from no field."""
    open: str
    """What opens it; a prompt may have written it already."""
    close: str
    """What closes it; empty when the message's end does."""
    empty: str = ""
    """What the template writes in place of the whole segment when a turn has no reasoning."""
    kept: Literal["always", "current_turn", "beside_calls", "never"] = "always"
    """In which turns of the history the template keeps reasoning."""
    end: End | None = None
    """What ends the message right after this segment; None: the segment is not the last of its message."""


class ContentSegment(Frozen):
    """Text for the user."""

    kind: Literal["content"] = "content"
    """The tag."""
    when: When = "any"
    """In which turns the template writes it: any, those without calls, those with calls."""
    reasoning: Literal["any", "present", "absent"] = "any"
    """And of those: any, those with reasoning, those without."""
    open: str = ""
    """What opens it."""
    close: str = ""
    """What closes it."""
    empty: str = ""
    """What the template writes in place of the whole segment when the content is empty."""
    end: End | None = None
    """What ends the message right after this segment; None: the segment is not the last of its message."""


class JsonLayout(Frozen):
    """A call as one JSON value.

    `parts` is the exact text the template writes (literals and slots; a name or id slot stands inside its JSON string);
    the paths say how to read any JSON spelling of it.
    """

    kind: Literal["json"] = "json"
    """The tag."""
    open: str = ""
    """What opens each call."""
    close: str = ""
    """What closes each call."""
    name: tuple[str, ...] | Literal["key"]
    """The path to the tool's name; `key`: the object's only key is the name and its value the arguments."""
    arguments: tuple[str, ...] = ()
    """The path to the arguments; ignored when the name is the key."""
    arguments_codec: Literal["json", "json_text", "python"] = "json"
    """`json_text`: the arguments stand as JSON text inside a JSON string; `python`: as a Python literal (a defect)."""
    id: tuple[str, ...] | None = None
    """The path to the call's id, None when the format has none."""
    parts: tuple[Part, ...] = ()
    """The canonical spelling, for exporters and strict checks; without `open` and `close`."""


class SequenceLayout(Frozen):
    """A call as a sequence of literals and slots; `parts` is the whole call with its own opener and closer."""

    kind: Literal["sequence"] = "sequence"
    """The tag."""
    parts: tuple[Part, ...]
    """The literals and slots of the whole call, in order."""

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
    """The tag."""
    open: str = ""
    """What opens the section, before the first call."""
    close: str = ""
    """What closes the section, after the last call."""
    separator: str = ""
    """What stands between two calls."""
    array: StrictBool = False
    """True: apart from white space `open` ends with `[` and `close` begins with `]`; the calls are the elements of one JSON array."""
    parallel: StrictBool = True
    """False: the template writes one call a turn."""
    layouts: tuple[Layout, ...] = Field(min_length=1)
    """The first is the canonical one; the others are further spellings of the same template."""
    end: End | None = None
    """What ends the message right after the calls."""


TextSegment: TypeAlias = Annotated[ReasoningSegment | ContentSegment, Field(discriminator="kind")]

Segment: TypeAlias = Annotated[ReasoningSegment | ContentSegment | CallsSegment, Field(discriminator="kind")]


class Turn(Frozen):
    """The assistant's turn."""

    prompts: tuple[Prompt, ...] = ()
    """The generation prompts, by setting and by the role of the last message."""
    header: str = ""
    """What opens the assistant's message, such as `<|im_start|>assistant\\n`; every prompt begins with it or stops inside it."""
    header_repeats: StrictBool = False
    """True: the header stands again before each further segment (several messages in one turn)."""
    shown: StrictBool = True
    """False: no render shows a turn as the model writes it, only the prompts are known; all that the model writes is content."""
    segments: tuple[Segment, ...]
    """What a turn is made of, in the order in which the template writes it."""

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
    """What stands before a result's content."""
    close: str = ""
    """What stands after a result's content."""
    separator: str = ""
    """What stands between two results of one turn."""
    end: str = ""
    """What ends the turn that holds the results."""
    id: Literal["none", "written"] = "none"
    """Whether the call's id is written beside the result."""
    name: Literal["none", "written"] = "none"
    """Whether the tool's name is written beside the result."""
    content: Literal["raw", "json", "json_text"] = "raw"
    """How the content is written; `json`: as a JSON string, `json_text`: encoded twice."""
    grouping: Literal["own_turn", "shared_turn", "in_turn"] = "own_turn"
    """Whether each result has a turn of its own, several share one, or they stand inside the model's turn."""
    parts: tuple[ResultPart, ...] = ()
    """One result as literals and slots, between `header` and `end`; for formats that write an id or a name beside it."""


def around_content(results: Results) -> tuple[str, str]:
    """What stands before and after a result's content, for people: a slot of its parts is its name in braces."""
    if not results.parts:
        return results.open, results.close
    texts = [part if isinstance(part, str) else f"{{{part.slot}}}" for part in results.parts]
    before, _, after = "".join(texts).partition("{content}")
    return before, after


class Grammar(Frozen):
    """Facts for constrained decoding."""

    triggers: tuple[str, ...] = ()
    """Literals with which a call begins; constrained decoding waits for one of them."""
    preserved_tokens: tuple[str, ...] = ()
    """Markers that a server must not strip from the model's text."""
    stops: tuple[str, ...] = ()
    """Stop strings: never a literal that also closes reasoning or begins a segment."""


class Defect(Frozen):
    """Something wrong with the template itself, with what shows it."""

    kind: str
    """The kind, such as `content_lost`."""
    message: str
    """One sentence for the template's author."""
    witness: dict[str, Any] = {}
    """The smallest conversation(s) that show it, and what was seen."""


class Evidence(Frozen):
    """Why a finding was made."""

    comparison: str
    """The comparison's number, as in docs/architecture.md: C1, R1, T3 ..."""
    found: str
    """What was found, as it was seen."""
    variants: tuple[str, ...] = ()
    """The names of the renders that were compared."""
    described: StrictBool = False
    """True: read from the description in the prompt, not from a rendered call."""
    note: str = ""
    """What is uncertain about it, such as `ambiguous_cut`."""


class Addition(Frozen):
    """What one overlay adds: spellings that models are known to write beside the template's own. Off in strict mode."""

    overlay: str
    """The overlay's name."""
    reason: str = ""
    """Why models write so."""
    layouts: tuple[Layout, ...] = ()
    """Further spellings of a call."""
    segments: tuple[TextSegment, ...] = ()
    """Further segments of reasoning or content."""
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
    """`proven_with_defects`: what the template writes is read back, but it does not write everything."""
    round_trips: Count = 0
    """How many conversations were rendered, parsed and compared."""
    seed: int = 0
    """The seed that the conversations were made from."""
    coverage: dict[str, Count] = {}
    """Cells of the pairwise coverage table: `total`, `covered`, `refused` (the template refuses such a conversation)."""
    unproven: tuple[str, ...] = ()
    """Fields whose mutation no round trip noticed, and cells that were not covered, each with its reason."""
    failures: tuple[str, ...] = ()
    """What failed, in one sentence each."""

    @field_validator("coverage")
    @classmethod
    def _within_the_total(cls, coverage: dict[str, int]) -> dict[str, int]:
        covered, refused = coverage.get("covered", 0), coverage.get("refused", 0)
        total = coverage.get("total")
        if total is not None and covered + refused > total:
            raise ValueError(f"{covered} covered and {refused} refused are more than {total}, the total")
        return coverage


class Spec(Frozen):
    """A format spec. See docs/spec-format.md."""

    format_version: Literal[1] = FORMAT_VERSION
    """The version of this format."""
    template: TemplateRef = TemplateRef()
    """Which template the spec was inferred from."""
    input: InputFacts = InputFacts()
    """What the template wants as input."""
    turn: Turn
    """How the model's turn is written."""
    results: Results | None = None
    """How tool results go back; null when the template writes none."""
    grammar: Grammar = Grammar()
    """Facts for constrained decoding."""
    overlays: tuple[Addition, ...] = ()
    """Spellings that overlays add."""
    defects: tuple[Defect, ...] = ()
    """What is wrong with the template itself."""
    evidence: dict[str, tuple[Evidence, ...]] = {}
    """By the path of the field in this file, such as `turn.calls.open`."""
    verification: Verification = Verification()
    """Whether the spec is proven."""

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
