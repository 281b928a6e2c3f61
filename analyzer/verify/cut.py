"""Cutting the model's part out of a render.

The cut is made at the render of the conversation *before* the turn, so that a spec cannot move it: behind the
generation prompt where the history of the turn begins with it (`by="prompt"`), else behind the render without a
generation prompt and the turn's header (`by="history"`: many prompts open a thought that history drops).

The end of the turn is where the spec says it is, and nothing but white space may stand behind it; in mid-conversation,
no needle of the turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from analyzer.chat import Message
from analyzer.observe.lexemes import common_suffix, is_marker, lexemes
from analyzer.spec.model import Spec
from analyzer.verify.writer import applicable, is_written


@dataclass(frozen=True, slots=True)
class Before:
    """The renders of the conversation before the turn, with and without a generation prompt."""

    prompt: str | None
    bare: str | None
    last: str = ""
    """The text of the last message: where the template finds another way to write what stands before it, the turn begins
    behind it and what follows it."""

    @property
    def prompt_text(self) -> str | None:
        """What the generation prompt added, None when that cannot be told."""
        if self.prompt is None or self.bare is None or not self.prompt.startswith(self.bare):
            return None
        return self.prompt[len(self.bare) :]


@dataclass(frozen=True, slots=True)
class Cut:
    """The model's part: ``before`` is all that stands before it, ``text`` goes to the parser, ``rest`` follows it."""

    before: str
    text: str
    rest: str
    by: Literal["prompt", "history", "found"]
    """Behind what: a generation prompt, the header in history, or anything, where the very text of the turn was found."""


def cut_turn(spec: Spec, before: Before, rendered: str, *, goes_on: bool = False) -> Cut | str:
    """The model's part of a render that begins with the conversation before the turn, or why there is none.

    ``goes_on``: a result stands before it, so that it may be the rest of the turn that called, without a header.
    """
    if before.prompt is not None and rendered.startswith(before.prompt):
        return Cut(before.prompt, rendered[len(before.prompt) :], "", "prompt")
    at = _behind_last_message(spec.turn.header, before, rendered)
    if at is None:
        at = _start_in_history(spec.turn.header, before, rendered)
    if at is None:
        at = _behind_prompt_header(spec.turn.header, before, rendered)
    if at is None and goes_on and before.bare is not None:
        at = _behind_result(spec, before, before.bare, rendered)
    if at is None:
        return f"the turn does not begin with the header {spec.turn.header!r}"
    return Cut(rendered[:at], rendered[at:], "", "history")


def _behind_prompt_header(header: str, before: Before, rendered: str) -> int | None:
    """Behind the header that the render with a generation prompt shares.

    Some templates print the messages before the turn otherwise when nothing follows them.
    """
    prompt = before.prompt or ""
    at = prompt.rfind(header) if header else -1
    stop = at + len(header)
    added = stop > shared_prefix(before.bare or "", prompt)  # not the header of an earlier turn
    return stop if at >= 0 and added and shared_prefix(prompt, rendered) >= stop else None


def _behind_result(spec: Spec, before: Before, bare: str, rendered: str) -> int | None:
    """Where a turn goes on behind a result: white space that the generation prompt begins with is not the turn's.

    The end that closes the conversation before it may be missing, as the turn goes on.
    """
    if rendered.startswith(bare):
        shared = rendered[len(bare) : shared_prefix(before.prompt or bare, rendered)]
        return len(bare) + len(shared) - len(shared.lstrip())
    open_ends = [bare.removesuffix(segment.end.literal) for segment in spec.turn.segments if segment.end]
    found = [len(text) for text in open_ends if text != bare and rendered.startswith(text)]
    return max(found) if found else _behind_respaced(bare, rendered)


def _behind_respaced(bare: str, rendered: str) -> int | None:
    """Behind the conversation before the turn where nothing but white space is written otherwise in it."""
    wanted = "".join(bare.split())
    places = [at for at, character in enumerate(rendered) if not character.isspace()]
    if not wanted or len(places) < len(wanted):
        return None
    stop = places[len(wanted) - 1] + 1
    return stop if "".join(rendered[:stop].split()) == wanted else None


def _behind_last_message(header: str, before: Before, rendered: str) -> int | None:
    """Behind the header that follows the last message, where the template writes what stands before otherwise.

    Some templates write tools or instructions beside the last message, whichever that is.
    """
    bare = before.bare
    if not before.last or bare is None or rendered.startswith(bare):
        return None
    known, at = bare.rfind(before.last), rendered.rfind(before.last)
    if known < 0 or at < 0:
        return None
    behind, start = bare[known + len(before.last) :], at + len(before.last)
    if rendered.startswith(behind + header, start):
        return start + len(behind + header)
    if not header.strip():
        return None
    at = rendered.find(header, start)
    return at + len(header) if at >= 0 and squeezed(rendered[start:at]) == squeezed(behind) else None


def squeezed(text: str) -> str:
    """A text without its white space."""
    return "".join(text.split())


def _start_in_history(header: str, before: Before, rendered: str) -> int | None:
    """The offset behind the turn's header."""
    known = before.bare if before.bare is not None else before.prompt
    if known is None:
        return None
    common = shared_prefix(known, rendered)
    if rendered.startswith(header, common):
        return common + len(header)
    blank = rendered[common:]
    blank = blank[: len(blank) - len(blank.lstrip())]
    if header.strip() and rendered.startswith(header, common + len(blank)):
        return common + len(blank) + len(header)  # white space before it belongs to no turn
    if common == len(known):
        return None
    said = known.rfind(before.last) if before.last else -1
    behind = (
        said + len(before.last) if said >= 0 else common - len(header)
    )  # both may go on alike behind the header
    at = rendered.rfind(header, max(0, behind), common + len(header))
    return None if at < 0 else at + len(header)


def end_literals(spec: Spec, message: Message) -> tuple[str, ...]:
    """What may end the turn of a message: its last segment's end, and the stop strings; none when nothing does."""
    segments = applicable(spec, message)
    ends = [segment.end.literal for _, segment in segments if segment.end is not None]
    last = segments[-1][1] if segments else None
    own = [last.end.literal] if last is not None and last.end is not None else []
    if last is not None and not own and ends and spec.turn.header_repeats and not is_written(last, message):
        own = ends[-1:]
    return tuple(dict.fromkeys([*own, *spec.grammar.stops])) if own else ()


def _last_needle(text: str, needles: Sequence[str]) -> int:
    return max((text.rfind(word) + len(word) for word in needles if word in text), default=0)


def at_last_end(cut: Cut, ends: Sequence[str], needles: Sequence[str], before: Before) -> Cut:
    """The cut with its text up to the last end literal behind the last needle; the whole text when there is none.

    What a template writes behind every conversation, with the turn or without it, is not the turn's.
    """
    last = _last_needle(cut.text, needles)
    stops = [at + len(end) for end in ends if (at := cut.text.rfind(end)) >= last]
    if not stops:
        return cut if ends else without_closing(cut, before, last)
    first = min(at + len(end) for end in ends if (at := cut.text.find(end, last)) >= 0)
    stop = first if is_always_there(cut, before, cut.text[first:]) else max(stops)
    return Cut(cut.before, cut.text[:stop], cut.text[stop:], cut.by)


def without_closing(cut: Cut, before: Before, last: int = 0) -> Cut:
    """The cut without what the template writes behind every conversation; ``last``: where the turn's last needle ends."""
    shared = common_suffix(before.bare or "", cut.text[last:])
    marked = any(map(is_marker, lexemes(shared)))
    at = len(cut.text) - len(shared)
    if not marked or not is_always_there(replace(cut, text=cut.text[:at]), before, shared):
        return cut
    return Cut(cut.before, cut.text[:at], shared, cut.by)


def is_always_there(cut: Cut, before: Before, rest: str) -> bool:
    """Whether a template writes this text behind every conversation, so that it stands behind the turn too.

    Then the render without the turn ends in it, and does not begin the one with the turn.
    """
    bare = before.bare or ""
    return bool(rest.strip()) and bare.endswith(rest) and not f"{cut.before}{cut.text}".startswith(bare)


def opens_next(spec: Spec, before: Before, rest: str) -> bool:
    """Whether a text is the header of a turn that the template opens behind every conversation, asked for or not.

    What the prompt goes on with, such as reasoning that it opens, stands behind the header.
    """
    header = spec.turn.header.strip()
    bare = before.bare or ""
    always = bare == before.prompt and bare.rstrip().endswith(rest.strip())
    return bool(header) and always and rest.strip().startswith(header)


def at_first_end(cut: Cut, ends: Sequence[str], needles: Sequence[str]) -> Cut | None:
    """The cut with its text up to the first end literal behind the last needle; None when there is none."""
    last = _last_needle(cut.text, needles)
    stops = [at + len(end) for end in ends if (at := cut.text.find(end, last)) >= 0]
    if not stops:
        return None
    stop = min(stops)
    return Cut(cut.before, cut.text[:stop], cut.text[stop:], cut.by)


def shared_prefix(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
