"""Generation prompts: each is compared with the template's own, and those that no history begins with are spliced.

Where the history of a turn does not begin with the generation prompt (the prompt opens a thought that history drops),
the model's text is *constructed*: prompt, reasoning, its closer, and the body as the template wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from analyzer.chat import Message
from analyzer.spec.model import Prompt, ReasoningSegment, Scalar, Spec
from analyzer.verify.adapt import Setting
from analyzer.verify.cases import needle
from analyzer.verify.cut import Cut, shared_prefix
from analyzer.verify.trips import Traveller, Trip
from analyzer.verify.writer import applicable

_THOUGHT: Final = f"One {needle(269_000)} thought.\n\nAnother one."
_PER_PROMPT: Final = 3


def check_prompts(spec: Spec, trips: Sequence[Trip]) -> Iterator[str]:
    """What is wrong with the prompts of a spec, compared with those that the template wrote."""
    seen: set[tuple[str, str]] = set()
    for trip in trips:
        setting, after = trip.adapted.setting, after_of(trip)
        if (setting.label, after) in seen or trip.before.prompt is None:
            continue
        seen.add((setting.label, after))
        stated = stated_prompt(spec, setting, after)
        text = "" if stated is None else stated.text
        actual = trip.before.prompt_text
        fits = trip.before.prompt.endswith(text) if actual is None else actual == text
        header = spec.turn.header
        if actual and after == "user" and not (header in actual or header.startswith(actual)):
            yield f"turn.header: stated {header!r}, the generation prompt is {actual[:60]!r}"
        if not fits:
            yield f"turn.prompts ({setting.label}, after {after}): stated {text!r}, the template writes {actual!r}"


def after_of(trip: Trip) -> str:
    """The role of the last message before the turn, as prompts have it."""
    return "result" if trip.after_result else "user"


def stated_prompt(spec: Spec, setting: Setting, after: str) -> Prompt | None:
    """The spec's prompt for a setting: the one for the same variables, else the default one."""
    for wanted in (_set_of(spec, setting.variables), {}):
        for role in (after, "user"):
            for prompt in spec.turn.prompts:
                if prompt.set == wanted and prompt.after == role:
                    return prompt
    return None


def _set_of(spec: Spec, variables: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {name: value for name, value in variables.items() if name in spec.input.settings}


@dataclass(frozen=True, slots=True)
class Construction:
    """A spliced text with what must come out of it."""

    trip: Trip
    cut: Cut
    message: Message
    soft: bool = False
    """The prompt spaces its literals otherwise than history does."""


def constructions(spec: Spec, trips: Sequence[Trip]) -> Iterator[Construction | str]:
    """Texts for every prompt that no history begins with, or why there can be none."""
    taken: dict[tuple[str, str], list[bool]] = {}
    for trip in trips:
        if trip.cut is None or trip.cut.by == "prompt" or trip.reading is None or trip.before.prompt is None:
            continue
        key = (trip.adapted.setting.label, after_of(trip))
        calls = bool(trip.reading.message.tool_calls)
        known = taken.setdefault(key, [])
        if len(known) >= _PER_PROMPT or known.count(calls) >= _PER_PROMPT - 1:
            continue
        known.append(calls)
        yield construct(spec, trip)


def construct(spec: Spec, trip: Trip) -> Construction | str:
    """The text that a model would write behind the generation prompt to say what the history of the turn says."""
    assert trip.cut is not None  # noqa: S101  (the callers have looked)
    assert trip.reading is not None  # noqa: S101
    assert trip.before.prompt is not None  # noqa: S101
    prompt, said = trip.before.prompt_text, trip.reading.message
    added = shared_prefix(trip.before.bare or "", trip.before.prompt)
    at = trip.before.prompt.rfind(spec.turn.header) if spec.turn.header else -1
    if prompt is None and at >= 0 and at + len(spec.turn.header) > added:
        prompt = trip.before.prompt[at:]
    if prompt is not None and spec.turn.header in prompt:
        prompt = prompt[
            prompt.index(spec.turn.header) :
        ]  # what the prompt adds to the message before is not the turn's
    if prompt is None:
        loose = _loose(spec, trip, _squeezed(trip.before.prompt[added:]))
        if loose is not None:
            return loose
        return f"the render without a generation prompt is no beginning of the one with it ({trip.label})"
    segment = _reasoning(spec, said)
    body = _body(spec, segment, trip.cut.text, said)
    thought = Message(said.content, _THOUGHT, said.tool_calls)
    quiet = Message(said.content, None, said.tool_calls)
    before = trip.before.prompt
    options: list[tuple[str, Message]] = []
    for header in dict.fromkeys((_header(spec, trip), spec.turn.header)):
        if segment is not None:
            opening = header + segment.open + _THOUGHT + segment.close + _between(spec, segment)
            options += [(opening + body, thought), (header + segment.empty + body, quiet)]
        options.append((header + body, quiet))
    for text, message in options:
        if text.startswith(prompt):
            return Construction(trip, Cut(before, text[len(prompt) :], "", "prompt"), message)
    closed = segment is not None and segment.close.strip() and prompt.rstrip().endswith(segment.close.strip())
    header = spec.turn.header
    if segment is not None and _squeezed(prompt) == _squeezed(
        header + segment.open
    ):  # white space is soft there
        rest = _THOUGHT + segment.close + _between(spec, segment) + body
        return Construction(trip, Cut(before, rest, "", "prompt"), thought, soft=True)
    if prompt.startswith(header) and (closed or prompt[len(header) :].isspace()):
        return Construction(trip, Cut(before, body, "", "prompt"), quiet)
    return f"the generation prompt {prompt!r} is no beginning of a turn ({trip.label})"


def _loose(spec: Spec, trip: Trip, prompt: str) -> Construction | None:
    """The text behind a prompt that says less than history does, if what it says is a part of that and nothing new."""
    assert trip.cut is not None  # noqa: S101
    assert trip.reading is not None  # noqa: S101
    said, before, header = trip.reading.message, trip.before.prompt or "", spec.turn.header
    segment = _reasoning(spec, said)
    if segment is not None and prompt and _squeezed(header + segment.open).endswith(prompt):
        rest = _THOUGHT + segment.close + _between(spec, segment) + _body(spec, segment, trip.cut.text, said)
        message = Message(said.content, _THOUGHT, said.tool_calls)
        return Construction(trip, Cut(before, rest, "", "prompt"), message, soft=True)
    if prompt in _squeezed(header):
        return Construction(trip, Cut(before, trip.cut.text, "", "prompt"), said, soft=True)
    return None


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _header(spec: Spec, trip: Trip) -> str:
    """The header as history has it: none where the turn goes on behind a result."""
    bare, before = trip.before.bare, trip.cut.before if trip.cut is not None else ""
    return before[len(bare) :] if bare is not None and before.startswith(bare) else spec.turn.header


def _reasoning(spec: Spec, message: Message) -> ReasoningSegment | None:
    with_thought = Message(message.content, _THOUGHT, message.tool_calls)
    found = (segment for _, segment in applicable(spec, with_thought))
    return next((segment for segment in found if isinstance(segment, ReasoningSegment)), None)


def _body(spec: Spec, segment: ReasoningSegment | None, text: str, message: Message) -> str:
    """The history of a turn without its reasoning."""
    if segment is None:
        return text
    written = f"{segment.open}{message.reasoning_content}{segment.close}{_between(spec, segment)}"
    if message.reasoning_content and text.startswith(written):
        return text[len(written) :]
    return text[len(segment.empty) :] if segment.empty and text.startswith(segment.empty) else text


def _between(spec: Spec, segment: ReasoningSegment) -> str:
    """What stands between reasoning and the next segment where each is a message of its own."""
    if not spec.turn.header_repeats:
        return ""
    return (segment.end.literal if segment.end is not None else "") + spec.turn.header


def try_construction(traveller: Traveller, made: Construction) -> Iterator[str]:
    """What is wrong with what comes out of a constructed text."""
    reading = traveller.read(made.trip.adapted, made.cut, soft=made.soft)
    label = f"{made.trip.label}, constructed"
    for problem in reading.problems:
        yield f"{label}: problem {problem}"
    for difference in traveller.compare(made.message, reading.message):
        yield f"{label}: {difference}"
