"""A model's text taken by the runtime step by step: what the live parser shows.

A page carries one replay, made when the page was written; `analyzer report --serve` makes others of any text.  Both are
the real runtime: nothing in the page parses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from analyzer.chat import Message
from analyzer.report.example import TOOLS
from analyzer.runtime import Event, Parser, Problem, assemble
from analyzer.spec.markers import markers
from analyzer.spec.model import Spec
from analyzer.verify.reading import from_header
from analyzer.verify.writer import write_turn

DELTA: Final = 6
"""How many characters a delta has where nothing else is asked for: about one token."""
_MOST: Final = 200
"""How many deltas a page's replay has at most, about."""


@dataclass(frozen=True, slots=True)
class Step:
    """One delta: the text that came, the events that it gave, and the text that is held back after it."""

    text: str
    """Empty in the last step, which is the end of the turn."""
    events: tuple[Event, ...]
    held: str = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """A turn as the runtime read it."""

    prompt: str
    """The end of the prompt that stands before the model's text."""
    steps: tuple[Step, ...]
    message: Message
    problems: tuple[Problem, ...] = ()
    marker: str = ""
    """The marker that a cut goes through, empty where there is none."""

    @property
    def text(self) -> str:
        """The whole text of the model."""
        return "".join(step.text for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        """The replay as JSON data; `held` is a number where so many characters at the end of the text are held back."""
        steps, came = [], ""
        for step in self.steps:
            came += step.text
            events = [event_data(event) for event in step.events]
            held: str | int = len(step.held) if came.endswith(step.held) else step.held
            steps.append({"text": step.text, "events": events, "held": held})
        return {
            "prompt": self.prompt,
            "marker": self.marker,
            "steps": steps,
            "message": self.message.to_openai(),
        }


def event_data(event: Event) -> dict[str, Any]:
    """An event as JSON data: what it is under `event`, and its fields."""
    name = "problem" if isinstance(event, Problem) else event.kind
    return {"event": name, **{key: value for key, value in event._asdict().items() if value is not None}}


def replay(
    spec: Spec, pieces: Sequence[str], *, prompt: str | None = None, finish_reason: str = "stop"
) -> Replay:
    """Take the pieces of a turn, one after another, and say what came of each."""
    parser = Parser(spec, TOOLS, prompt=prompt)
    steps = [Step(piece, tuple(parser.feed(piece)), parser.pending) for piece in pieces]
    steps.append(Step("", tuple(parser.finish(finish_reason))))
    parsed = assemble(event for step in steps for event in step.events)
    return Replay(prompt or "", tuple(steps), parsed.message, parsed.problems)


def own_replay(spec: Spec, message: Message) -> Replay:
    """The message as the spec writes it, taken in deltas of which one ends inside a marker.

    The turn stands behind the spec's own prompt; without reasoning where the prompt has closed it, without text where calls
    have to come first; behind the bare header where no turn goes on from the prompt.
    """
    prompts = [found.text for found in spec.turn.prompts if not found.set and found.after == "user"]
    silent = replace(message, reasoning_content=None)
    variants = (message, silent, replace(silent, content=None)) if message.tool_calls else (message, silent)
    tried = [(spec, prompt, sent) for sent in variants for prompt in prompts]
    tried.append((from_header(spec), spec.turn.header, message))
    made: Replay | None = None
    for used, prompt, sent in tried:
        whole = write_turn(spec, sent)
        if not whole.startswith(prompt):
            continue
        text = whole.removeprefix(prompt)
        marker, at = marker_in(spec, text)
        size = max(DELTA, len(text) // _MOST)
        done = replace(replay(used, list(cut(text, size, at)), prompt=prompt), marker=marker)
        if not done.problems and _says(done.message, sent):
            return done
        made = made or done
    return made if made is not None else replay(spec, list(cut(write_turn(spec, message), DELTA)))


def _says(got: Message, sent: Message) -> bool:
    return (got.content or "").strip() == (sent.content or "").strip() and [
        (call.name, call.decoded()) for call in got.tool_calls
    ] == [(call.name, call.decoded()) for call in sent.tool_calls]


def marker_in(spec: Spec, text: str) -> tuple[str, int]:
    """The marker that opens a call in a text and the offset of its middle; `("", 0)` where there is none."""
    known = [*spec.grammar.triggers, *markers(spec)]
    for marker in known:
        at = text.find(marker)
        if len(marker) > 1 and at >= 0:
            return marker, at + len(marker) // 2
    return "", 0


def cut(text: str, size: int, inside: int = 0) -> Iterator[str]:
    """The text in pieces of `size` characters, with one more cut at the offset `inside`."""
    at = 0
    while at < len(text):
        end = min(at + size, len(text))
        if at < inside < end:
            end = inside
        yield text[at:end]
        at = end
