"""Constructions: texts behind a generation prompt that no history of the turn begins with.

Where the history of a turn does not begin with the generation prompt (the prompt opens a thought that history drops),
the model's text is *constructed*: prompt, reasoning, its closer, and the body as the template wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from analyzer.chat import Message
from analyzer.observe.lexemes import is_marker, lexemes
from analyzer.spec.model import ContentSegment, ReasoningSegment, Spec
from analyzer.verify.cases import needle
from analyzer.verify.cut import Cut, shared_prefix, squeezed
from analyzer.verify.prefills import after_of
from analyzer.verify.samples import EMPTY_TURN
from analyzer.verify.trips import Traveller, Trip
from analyzer.verify.writer import applicable, is_written

_THOUGHT: Final = f"One {needle(269_000)} thought.\n\nAnother one."
_PER_PROMPT: Final = 3

Fit: TypeAlias = Literal["exact", "soft", "respaced", "odd"]
"""How a prompt begins a turn: to the letter, but for white space around reasoning, but for that around what opens content, or with
something that history never has."""


@dataclass(frozen=True, slots=True)
class Construction:
    """A spliced text with what must come out of it."""

    trip: Trip
    cut: Cut
    message: Message
    fit: Fit = "exact"


def constructions(spec: Spec, trips: Sequence[Trip]) -> Iterator[Construction | str]:
    """Texts for every prompt that no history begins with, or why there can be none."""
    taken: dict[tuple[str, str], list[bool]] = {}
    passed: dict[str, Trip] = {}
    thinks = any(trip.reading is not None and trip.reading.message.reasoning_content for trip in trips)
    for trip in trips:
        if trip.cut is None or trip.cut.by == "prompt" or trip.reading is None or trip.before.prompt is None:
            continue
        if trip.adapted.case is EMPTY_TURN:
            continue
        key = (trip.adapted.setting.label, after_of(trip))
        calls = bool(trip.reading.message.tool_calls)
        known = taken.setdefault(key, [])
        if len(known) >= _PER_PROMPT or known.count(calls) >= _PER_PROMPT - 1:
            continue
        made = _Splicer(spec, trip).construct(odd=thinks and trip.adapted.setting.label != "default")
        if made is None:
            passed.setdefault(trip.adapted.setting.label, trip)
        else:
            known.append(calls)
            yield made
    for label, trip in passed.items():
        if not any(known for (one, _), known in taken.items() if one == label):
            yield f"no turn could be written behind the generation prompt ({trip.label})"


class _Splicer:
    """Splices the text that a model would write behind one prompt to say what the history of one turn says."""

    def __init__(self, spec: Spec, trip: Trip) -> None:
        assert trip.cut is not None  # noqa: S101  (the callers have looked)
        assert trip.reading is not None  # noqa: S101
        self.spec, self.trip = spec, trip
        self.before = trip.before.prompt or ""
        self.said = trip.reading.message
        self.own = _reasoning(spec, self.said)
        self.segment = self.own or next(iter(spec.reasoning), None)
        self.body = self._body(trip.cut.text)
        going_on = ("",) if trip.after_result else ()
        self.headers = tuple(dict.fromkeys((self._header(), spec.turn.header, *going_on)))

    def construct(self, *, odd: bool) -> Construction | str | None:
        """The construction, why there can be none, or None where this turn cannot tell.

        ``odd``: a prompt may hold what history never has, as the default one does not and reasoning is known from history.
        """
        if self.said.reasoning_content and self.said.reasoning_content in self.body:
            return None
        prompt = self._prompt()
        if prompt is None:
            return self._loose() or (
                "the render without a generation prompt is no beginning of the one with it "
                f"({self.trip.label})"
            )
        made = self._exact(prompt) or self._respaced(prompt) or self._soft(prompt) or self._beside(prompt)
        headed = any(prompt.startswith(header) for header in self.headers)
        if made is None and headed and (odd or self._opens_no_thought(prompt)):
            if self._addresses_content(prompt):
                return None
            made = self._odd(prompt)
        return made or f"the generation prompt {prompt!r} is no beginning of a turn ({self.trip.label})"

    def _prompt(self) -> str | None:
        """What the generation prompt adds, from the turn's header on; None when that cannot be told."""
        prompt, header = self.trip.before.prompt_text, self.spec.turn.header
        added = shared_prefix(self.trip.before.bare or "", self.before)
        at = self.before.rfind(header) if header else -1
        if prompt is None and at >= 0 and at + len(header) > added:
            return self.before[at:]
        if prompt is not None and header in prompt:
            return prompt[prompt.index(header) :]  # what it adds to the message before is not the turn's
        return prompt

    def _exact(self, prompt: str) -> Construction | None:
        """A prompt that is the beginning of a turn as history or the spec writes it."""
        for header in self.headers:
            options = [(header + self.body, False)]
            if self.own is not None:
                closed = self.own.close + self._between(self.own)
                options = [
                    (header + self.own.open + _THOUGHT + closed + self.body, True),
                    (header + self.own.empty + self.body, False),
                    *options,
                    (header + self.own.open + closed + self.body, False),
                ]
            for text, thinks in options:
                if text.startswith(prompt):
                    return self._made(text[len(prompt) :], "exact", thinks=thinks)
        return None

    def _respaced(self, prompt: str) -> Construction | None:
        """A prompt that spaces the header and the opener of content otherwise than history does."""
        for _, segment in applicable(self.spec, self.said):
            if not isinstance(segment, ContentSegment):
                continue
            written = segment.open if self.said.content else segment.empty
            known = {squeezed(header + written) for header in self.headers}
            if written.strip() and self.body.startswith(written) and squeezed(prompt) in known:
                return self._made(self.body[len(written) :], "respaced", thinks=False)
        return None

    def _soft(self, prompt: str) -> Construction | None:
        """A prompt that spaces the opener of reasoning otherwise, or has closed reasoning already."""
        for header in self.headers:
            if self.segment is not None and squeezed(prompt) == squeezed(header + self.segment.open):
                return self._made(self._thought(self.segment), "soft", thinks=True)
            added = prompt[len(header) :]
            closers = [one.close.strip() for one in self.spec.reasoning if one.close.strip()]
            if prompt.startswith(header) and added.isspace():
                return self._made(self._behind(added), "exact", thinks=False)
            if prompt.startswith(header) and any(added.rstrip().endswith(closer) for closer in closers):
                return self._made(self.body, "exact", thinks=False)
        return None

    def _beside(self, prompt: str) -> Construction | None:
        """A prompt that opens content, before a turn that history writes without that opener."""
        openers = [header + one.open for header in self.headers for one in self.spec.content if one.open]
        if prompt and any(opener.startswith(prompt) for opener in openers) and not self.said.content:
            return self._made(self.body, "odd", thinks=False)
        return None

    def _odd(self, prompt: str) -> Construction:
        """A prompt that says something of its own: reasoning is open behind it or not, and the turn goes on."""
        opened = max((prompt.rfind(one.open.strip()) for one in self.spec.reasoning), default=-1)
        closed = max((prompt.rfind(one.close.strip()) for one in self.spec.reasoning), default=-1)
        if self.segment is not None and opened > closed:
            return self._made(self._thought(self.segment), "odd", thinks=True)
        return self._made(self._unopened(), "odd", thinks=False)

    def _unopened(self) -> str:
        """The body without white space that opens its first text: a prompt with words of its own takes the opener's place."""
        openers = [one.open for _, one in applicable(self.spec, self.said) if isinstance(one, ContentSegment)]
        return self.body.removeprefix(next((one for one in openers if one.isspace()), ""))

    def _opens_no_thought(self, prompt: str) -> bool:
        """Whether what a prompt says of its own can be no opener of reasoning: there is no marker in it, or reasoning has another."""
        added = prompt[len(self.spec.turn.header) :]
        known = any(one.open.strip() and one.open.strip() not in added for one in self.spec.reasoning)
        return bool(added.strip()) and (known or not any(map(is_marker, lexemes(added))))

    def _addresses_content(self, prompt: str) -> bool:
        """Whether the prompt ends in the opener of content, behind which this turn cannot be said."""
        openers = [one.open for one in self.spec.content if one.open.strip()]
        return not self.said.content and any(prompt.endswith(opener) for opener in openers)

    def _loose(self) -> Construction | None:
        """Behind a prompt that says less than history does, if what it says is a part of that and nothing new."""
        assert self.trip.cut is not None  # noqa: S101
        header = squeezed(self.spec.turn.header)
        prompt = squeezed(self.before[shared_prefix(self.trip.before.bare or "", self.before) :])
        if self.segment is not None and prompt and (header + squeezed(self.segment.open)).endswith(prompt):
            return self._made(self._thought(self.segment), "soft", thinks=True)
        if prompt in header:
            cut = Cut(self.before, self.trip.cut.text, "", "prompt")
            return Construction(self.trip, cut, self.said, "soft")
        return None

    def _made(self, text: str, fit: Fit, *, thinks: bool) -> Construction:
        message = Message(self.said.content, _THOUGHT if thinks else None, self.said.tool_calls)
        return Construction(self.trip, Cut(self.before, text, "", "prompt"), message, fit)

    def _behind(self, blank: str) -> str:
        """The body behind white space that the prompt ends in; an opener of white space alone stands in it already."""
        for _, segment in applicable(self.spec, self.said):
            if isinstance(segment, ContentSegment) and is_written(segment, self.said):
                said_already = segment.open.isspace() and segment.open in blank
                return self.body.removeprefix(segment.open) if said_already else self.body
        return self.body

    def _thought(self, segment: ReasoningSegment) -> str:
        return _THOUGHT + segment.close + self._between(segment) + self.body

    def _header(self) -> str:
        """The header as history has it: none where the turn goes on behind a result."""
        bare, before = self.trip.before.bare, self.trip.cut.before if self.trip.cut is not None else ""
        if bare is not None and before.startswith(bare):
            return before[len(bare) :]
        return self.spec.turn.header

    def _body(self, text: str) -> str:
        """The history of the turn without its reasoning."""
        segment = self.own
        if segment is None:
            return text
        written = f"{segment.open}{self.said.reasoning_content}{segment.close}{self._between(segment)}"
        if self.said.reasoning_content and text.startswith(written):
            return text[len(written) :]
        return text[len(segment.empty) :] if segment.empty and text.startswith(segment.empty) else text

    def _between(self, segment: ReasoningSegment) -> str:
        """What stands between reasoning and the next segment where each is a message of its own."""
        if not self.spec.turn.header_repeats:
            return ""
        return (segment.end.literal if segment.end is not None else "") + self.spec.turn.header


def _reasoning(spec: Spec, message: Message) -> ReasoningSegment | None:
    with_thought = Message(message.content, _THOUGHT, message.tool_calls)
    found = (segment for _, segment in applicable(spec, with_thought))
    return next((segment for segment in found if isinstance(segment, ReasoningSegment)), None)


def try_construction(traveller: Traveller, made: Construction) -> Iterator[str]:
    """What is wrong with what comes out of a constructed text."""
    reading = traveller.read(made.trip.adapted, made.cut, soft=made.fit in ("soft", "respaced"))
    label = f"{made.trip.label}, constructed"
    for problem in reading.problems:
        yield f"{label}: problem {problem}"
    for difference in traveller.compare(made.message, reading.message):
        yield f"{label}: {difference}"


def reads_strictly(traveller: Traveller, made: Construction) -> bool:
    """Whether a constructed text that holds can show that a changed spec is wrong: the spec as it is reads it to the letter."""
    if made.fit in ("exact", "odd"):
        return made.fit == "exact"
    reading = traveller.read(made.trip.adapted, made.cut)
    return not reading.problems and not traveller.compare(made.message, reading.message)
