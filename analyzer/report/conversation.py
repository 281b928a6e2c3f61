"""The renders of a page: one conversation with everything in it, and its turn with one call beside its turn with two."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from analyzer.chat import Message, ToolCall
from analyzer.render import Rendered, Renderer
from analyzer.report.example import ANSWER, HOTELS, REASONING, RESULTS, TEXT, TOOLS, WEATHER
from analyzer.report.parts import parts
from analyzer.report.spans import Found, Span, explain, locate
from analyzer.spec.model import Spec
from analyzer.template import Template
from analyzer.verify.adapt import Adapted, Adapter, Refused, settings_of
from analyzer.verify.cases import Case, Reply
from analyzer.verify.cut import Before, cut_turn, end_literals, without_closing
from analyzer.verify.pieces import Piece
from analyzer.verify.results import Answer, results_pieces
from analyzer.verify.trips import Stage
from analyzer.verify.writer import turn_pieces

_FOLDED: Final = 420
_TAIL: Final = 180
"""A prompt of more characters is folded but for its last ones."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A text with its spans, which tile it from the model's first turn on; or why there is none."""

    text: str = ""
    spans: tuple[Span, ...] = ()
    refusal: str = ""

    @property
    def preamble(self) -> int:
        """How many characters at the beginning may be folded away: the prompt but for its last lines."""
        first = self.spans[0] if self.spans else None
        if first is None or first.kind != "prompt" or first.end <= _FOLDED:
            return 0
        return self.text.find("\n", first.end - _TAIL, first.end) + 1 or first.end - _TAIL

    @property
    def explained(self) -> float:
        """Which part of the characters behind the first turn's start the spec explains."""
        inside = [span for span in self.spans if span.kind != "prompt"]
        total = sum(span.end - span.start for span in inside)
        lost = sum(span.end - span.start for span in inside if span.kind == "unexplained")
        return 1.0 if total == 0 else (total - lost) / total


class Row(NamedTuple):
    """A part of a turn in two renders; a side is empty where that render has no such part."""

    label: str
    one: Shown
    two: Shown

    @property
    def differs(self) -> bool:
        """Whether the two renders do not say the same here."""
        return self.one.text != self.two.text


@dataclass(frozen=True, slots=True)
class Conversations:
    """What a page shows of a template's renders."""

    whole: Shown
    """The conversation with two calls, results and an answer; with one call, or none, where the template takes no more."""
    told: str = ""
    """Why the conversation holds less than that."""
    rows: tuple[Row, ...] = ()
    """The turn with one call beside the turn with two."""
    written: Shown | None = None
    """Calls that are described and not rendered: the turn as the spec says to write it."""


_CALLS: Final = (WEATHER, HOTELS)


def conversations(spec: Spec, template: Template, renderer: Renderer) -> Conversations:
    """Render the conversations of a page."""
    painter = _Painter(spec, template, renderer)
    calls = _CALLS if spec.calls is not None else ()
    described = any(one.described for found in spec.evidence.values() for one in found)
    if calls and described:
        message = _message(Reply(TEXT, None, calls))
        pieces = turn_pieces(spec, message)
        text = "".join(piece.text for piece in pieces)
        written = Shown(text, explain(spec, pieces, text, locate(pieces, text)))
        return Conversations(painter.whole(()), "its calls are described, not rendered", written=written)
    whole, told = painter.whole(calls), ""
    if whole.refusal and len(calls) > 1:
        whole, told = painter.whole(calls[:1]), "the template takes one call in a turn"
    if whole.refusal and calls:
        whole, told = painter.whole(()), f"a turn with calls is refused: {whole.refusal}"
    rows = painter.rows() if calls and not told else ()
    return Conversations(whole, told, tuple(rows))


class _Painter:
    """Renders and explains the conversations of one template."""

    def __init__(self, spec: Spec, template: Template, renderer: Renderer) -> None:
        self._spec = spec
        self._stage = Stage(renderer, template, spec.input.mutable)
        self._adapter = Adapter(spec, template.special_tokens)
        self._needs_more = any(defect.kind == "last_turn_otherwise" for defect in spec.defects)

    def whole(self, calls: Sequence[Any]) -> Shown:
        """The longest conversation that renders: up to the answer, the results, or the first turn."""
        spec = self._spec
        reasoning = REASONING if spec.reasoning else None
        adapted = self._adapted(Reply(TEXT, reasoning, tuple(calls)))
        if isinstance(adapted, Refused):
            return Shown(refusal=adapted.reason)
        answer = Reply(ANSWER.content, ANSWER.reasoning if spec.reasoning else None)
        chat: list[dict[str, Any]] = [*adapted.before, adapted.turn]
        follow = [
            {**message, "content": content}
            for message, content in zip(adapted.after(), RESULTS, strict=False)
            if calls
        ]
        last = self._adapter.turn(answer, [])
        texts, failures = self._render(adapted, [chat, [*chat, *follow], [*chat, *follow, last]])
        if not texts:
            return Shown(refusal=failures[0])
        pieces = list(turn_pieces(spec, adapted.truth))
        results = [
            Answer(call, content) for call, content in zip(adapted.truth.tool_calls, RESULTS, strict=False)
        ]
        if spec.results is not None:
            pieces += _filled(results_pieces(spec.results, results), results)
        said = [content for content in (TEXT, *RESULTS) if content in texts[-1]]
        return self._explained(adapted, texts[-1], pieces, turn_pieces(spec, _message(answer)), said)

    def rows(self) -> Iterator[Row]:
        """The turn with one call beside the turn with two, part by part."""
        sides = [self._parts(Reply(TEXT, None, _CALLS[:count])) for count in (1, 2)]
        if not all(sides):
            return
        labels = list(dict.fromkeys(label for side in reversed(sides) for label in side))
        for label in labels:
            one, two = (side.get(label, Shown()) for side in sides)
            if one.text or two.text:
                yield Row(label, one, two)

    def _parts(self, reply: Reply) -> dict[str, Shown]:
        """The parts of a rendered turn, by what they are; empty when it does not render or is not explained."""
        adapted = self._adapted(reply)
        if isinstance(adapted, Refused):
            return {}
        behind = adapted.after() if self._needs_more else ()
        texts, _ = self._render(adapted, [[*adapted.before, adapted.turn, *behind]])
        turn = self._turn(adapted, texts[0]) if texts else None
        if turn is None:
            return {}
        start, _ = turn
        text = self._before_results(adapted, texts[0]) if behind else texts[0]
        pieces = turn_pieces(self._spec, adapted.truth)
        shown: dict[str, Shown] = {}
        for label, found in parts(self._spec, adapted.truth, pieces, locate(pieces, text, start)).items():
            shown[label] = self._slice(pieces, text, found)
        return shown

    def _before_results(self, adapted: Adapted, text: str) -> str:
        """The render up to the end of the turn that the results follow."""
        first = text.find(adapted.after()[0]["content"])
        ends = end_literals(self._spec, adapted.truth)
        stops = [at + len(end) for end in ends if (at := text.rfind(end, 0, first)) >= 0]
        return text[: max(stops)] if stops else text

    def _slice(self, pieces: Sequence[Piece], text: str, found: Sequence[Found]) -> Shown:
        start, end = found[0].start, found[-1].end
        spans = explain(self._spec, pieces, text, found)
        moved = [span._replace(start=span.start - start, end=span.end - start) for span in spans]
        return Shown(text[start:end], tuple(moved))

    def _adapted(self, reply: Reply) -> Adapted | Refused:
        return self._adapter.adapt(Case("page", reply, TOOLS), settings_of(self._spec)[0])

    def _render(
        self, adapted: Adapted, chats: Sequence[Sequence[Mapping[str, Any]]]
    ) -> tuple[list[str], list[str]]:
        outcomes = self._stage.render([self._adapter.request(adapted, chat) for chat in chats])
        texts = [outcome.text for outcome in outcomes if isinstance(outcome, Rendered)]
        failures = [
            f"{outcome.kind}: {outcome.message}" for outcome in outcomes if not isinstance(outcome, Rendered)
        ]
        return texts, failures

    def _explained(
        self,
        adapted: Adapted,
        text: str,
        pieces: Sequence[Piece],
        answer: Sequence[Piece],
        said: Sequence[str],
    ) -> Shown:
        """The spans of a whole conversation; the answer's turn is sought behind all that was `said` before it."""
        turn = self._turn(adapted, text)
        if turn is None:
            return Shown(text, (Span(0, len(text), "unexplained"),))
        start, stop = turn
        said_until = max((text.rfind(one) + len(one) for one in said), default=start)
        head = (Span(0, start, "prompt"),) if start else ()
        tail = (Span(stop, len(text), "prompt"),) if stop < len(text) else ()
        found = self._spans(text[:stop], start, said_until, pieces, answer)
        return Shown(text, (*head, *found, *tail))

    def _spans(
        self, text: str, start: int, behind: int, pieces: Sequence[Piece], answer: Sequence[Piece]
    ) -> tuple[Span, ...]:
        header = self._spec.turn.header
        middle = text.find(header, behind) if header.strip() else -1
        if middle < start:
            both = [*pieces, *answer]
            return tuple(explain(self._spec, both, text, locate(both, text, start)))
        first = explain(self._spec, pieces, text, locate(pieces, text[:middle], start))
        return (*first, *explain(self._spec, answer, text, locate(answer, text, middle)))

    def _turn(self, adapted: Adapted, text: str) -> tuple[int, int] | None:
        """Where the model's turn, header included, begins in a render, and where what follows every conversation does.

        None when that cannot be told.
        """
        asks = [self._adapter.request(adapted, adapted.before, prompt=prompt) for prompt in (True, False)]
        prompt, bare = (
            outcome.text if isinstance(outcome, Rendered) else None for outcome in self._stage.render(asks)
        )
        said = adapted.before[-1].get("content")
        before = Before(prompt, bare, said if isinstance(said, str) else "")
        cut = cut_turn(self._spec, before, text)
        if isinstance(cut, str):
            return None
        closing = without_closing(cut, before).rest
        return _turn_start(self._spec.turn.header, cut.before), len(text) - len(closing)


def _filled(pieces: Sequence[Piece], answers: Sequence[Answer]) -> Iterator[Piece]:
    """The pieces of results, where a spec writes the place of a name or an id into a literal as `{name}` or `{id}`."""
    seen = 0
    for piece in pieces:
        seen += piece.slot == "result"
        behind = piece.path.endswith((".close", ".end"))
        call = answers[min(max(seen - behind, 0), len(answers) - 1)].call if answers else None
        if piece.slot or call is None:
            yield piece
            continue
        for part in re.split(r"(\{name\}|\{id\})", piece.text):
            if part in ("{name}", "{id}"):
                yield Piece.raw((call.name if part == "{name}" else call.id) or "", part[1:-1])
            elif part:
                yield Piece.literal(part, piece.path)


def _turn_start(header: str, before: str) -> int:
    """Where the turn's header begins, in the text that stands before what the model writes."""
    at = before.rfind(header) if header else -1
    return len(before) if at < 0 else at


def _message(reply: Reply) -> Message:
    calls = tuple(
        ToolCall(call.name, json.dumps(call.arguments), f"call_{n}") for n, call in enumerate(reply.calls)
    )
    return Message(reply.content, reply.reasoning, calls)
