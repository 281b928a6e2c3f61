"""One turn read in two halves, as servers do it: a reasoning parser first, and a tool parser behind it that gets the rest.

Both halves run the same runtime on the same spec; what passes between them is the model's own text.

    ReasoningHalf    gives out reasoning, and passes on the text without it, markers of calls and messages included
    CallsHalf        reads that text as a turn of which nothing but the header has been written

The reasoning half reads the calls too, so that a reasoning marker inside an argument is no marker; a call inside open
reasoning is held until the turn's end and passed on then. Where no tool parser follows, `rest="content"` passes on content
as the runtime reads it, without markers, and calls as they were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from analyzer.runtime.events import Event, Markup, ReasoningDelta, TextDelta
from analyzer.runtime.options import DEFAULT, Options
from analyzer.runtime.parser import Parser
from analyzer.runtime.prompts import prompt_end, prompt_for

if TYPE_CHECKING:
    from analyzer.chat import Tool
    from analyzer.runtime.coerce import CompiledTools
    from analyzer.spec.model import Spec


class Start(NamedTuple):
    """Where a turn begins: the generation prompt, and text of the turn that stands behind it already."""

    prompt: str
    begun: str = ""


def start_of(spec: Spec, prompt: str | None, settings: Mapping[str, Any], after: str = "user") -> Start:
    """Return where a turn begins.

    `prompt` is what was rendered (its end is enough), None when nobody knows it; then the spec's own prompt for these
    template variables is taken. A prompt that goes on behind the header is a turn that the caller has begun.
    """
    if prompt is None:
        return Start(prompt_for(spec, settings, after))
    known = prompt_end(spec, prompt)
    header = spec.turn.header
    if known is not None or not header:
        return Start(known or "")
    _, found, begun = prompt.rpartition(header)
    return Start(header, begun) if found else Start("")


class Halves(NamedTuple):
    """What a piece of text says: reasoning, and the text that is passed on."""

    reasoning: str = ""
    rest: str = ""


class ReasoningHalf:
    """Takes the reasoning out of one turn."""

    def __init__(
        self,
        spec: Spec,
        start: Start,
        *,
        rest: Literal["raw", "content"] = "raw",
        options: Options = DEFAULT,
        tools: Sequence[Tool] | CompiledTools | None = None,
    ) -> None:
        self._content = rest == "content"
        if self._content:
            options = options.with_(calls="text")
        self._closers = closers(spec)
        self._close = {segment.close.strip() for segment in spec.reasoning} - {""}
        self._parser = Parser(spec, tools, options, prompt=start.prompt)
        self._parser.feed(start.begun)
        self._pieces = [start.begun]
        """The turn's text from `_base` on."""
        self._base = 0
        self._cut = len(start.begun)
        """Everything before this place was given out, passed on or dropped."""
        self._reasoned = self._apart = self._said = False
        self._behind = not self._parser.in_reasoning and closes_reasoning(spec, start.prompt)
        """Whether the end of reasoning is the last thing that was said."""
        self._lead = self._written(spec, start)

    @property
    def over(self) -> bool:
        """Whether something else than reasoning was said last."""
        return self._said and not self._parser.in_reasoning

    @property
    def reasoning_open(self) -> bool:
        """Whether the turn stands inside open reasoning."""
        return self._parser.in_reasoning

    def feed(self, text: str) -> Halves:
        """Take more of the model's text."""
        self._pieces.append(text)
        return self._of(self._parser.feed(text))

    def hand_over(self) -> str:
        """Return the text that is held, for another half to go on with; this one is not used any more."""
        end = self._base + sum(map(len, self._pieces))
        return "" if self._content else self._passed(end, end)

    def finish(self, finish_reason: str = "stop") -> Halves:
        """Say that the turn is over: what was held comes out."""
        found = self._of(self._parser.finish(finish_reason))
        return Halves(found.reasoning, found.rest + self.hand_over())

    def _written(self, spec: Spec, start: Start) -> str:
        """What the prompt wrote behind the header; a calls half knows the header alone."""
        if self._behind or self._parser.in_reasoning or not spec.reasoning:
            return ""
        return start.prompt.removeprefix(spec.turn.header)

    def _of(self, events: Iterable[Event]) -> Halves:
        reasoning: list[str] = []
        rest: list[str] = []
        for event in events:
            if isinstance(event, ReasoningDelta):
                if event.text:
                    reasoning.append(f"\n{event.text}" if self._apart else event.text)
                    self._reasoned, self._apart, self._said = True, False, False
                    self._lead = ""
                self._cut, self._behind = max(self._cut, event.end), True
            elif isinstance(event, Markup):
                if event.text.strip() in self._close:
                    self._cut, self._behind, self._lead = max(self._cut, event.end), True, ""
            else:
                self._said = self._said or event.end > event.start
                self._apart = self._reasoned  # blocks are joined by line breaks, as in an assembled message
                rest.append(self._rest_of(event))
        self._drop()
        return Halves("".join(reasoning), "".join(rest))

    def _rest_of(self, event: Event) -> str:
        if not self._content:
            passed = self._passed(event.start, event.end)
            self._behind = self._behind and event.end == event.start
            return passed
        self._cut = max(self._cut, event.end)
        return event.text if isinstance(event, TextDelta) else ""

    def _passed(self, start: int, end: int) -> str:
        """The text up to a place; the part before `start` are markers, right behind reasoning what closes that."""
        if end <= self._cut:
            return ""
        text = "".join(self._pieces)
        cut, start = self._cut - self._base, max(start, self._cut) - self._base
        markers, said = text[cut:start], text[start : end - self._base]
        self._cut = end
        if self._behind:
            markers = markers.lstrip()
            closer = next((closer for closer in self._closers if markers.startswith(closer)), "")
            markers = markers.removeprefix(closer).lstrip()
        lead, self._lead = self._lead, ""
        return lead + markers + said

    def _drop(self) -> None:
        """Forget the text before the cut."""
        if self._cut > self._base:
            kept = "".join(self._pieces)[self._cut - self._base :]
            self._pieces, self._base = [kept], self._cut


class CallsHalf:
    """Reads what a reasoning half passed on, as events.

    `start` is for a turn without a reasoning half: where it begins. Behind a reasoning half it is not needed, unless the
    format has no reasoning at all.
    """

    def __init__(
        self,
        spec: Spec,
        tools: Sequence[Tool] | CompiledTools | None,
        options: Options = DEFAULT,
        start: Start | None = None,
    ) -> None:
        if start is None:
            start = Start(spec.turn.header if spec.reasoning else prompt_for(spec, {}))
        self._parser = Parser(spec, tools, options, prompt=start.prompt)
        self._parser.feed(start.begun)

    def feed(self, text: str) -> list[Event]:
        """Take more text."""
        return self._parser.feed(text)

    def finish(self, finish_reason: str = "stop") -> list[Event]:
        """Say that the turn is over."""
        return self._parser.finish(finish_reason)


def closes_reasoning(spec: Spec, prompt: str) -> bool:
    """Whether a generation prompt writes what closes reasoning."""
    lead = prompt.removeprefix(spec.turn.header)
    return any(closer in lead for closer in closers(spec))


def closed_start(spec: Spec) -> Start | None:
    """Return the start behind a prompt that closes reasoning, None when the spec has none."""
    texts = [prompt.text for prompt in spec.turn.prompts if closes_reasoning(spec, prompt.text)]
    return next((Start(text) for text in texts if not Parser(spec, prompt=text).in_reasoning), None)


def closers(spec: Spec) -> tuple[str, ...]:
    """What may close reasoning, without white space, the longest first: its closer, the end of its message, or both."""
    found: set[str] = set()
    for segment in spec.reasoning:
        end = segment.end.literal if segment.end is not None else ""
        found.update({f"{segment.close}{end}".strip(), segment.close.strip(), end.strip()})
    return tuple(sorted(found - {""}, key=len, reverse=True))
