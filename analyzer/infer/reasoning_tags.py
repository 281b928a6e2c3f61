"""Reasoning that no message field holds: tags inside content (R2), and openers that only a generation prompt writes (R5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analyzer.infer.calls import CallsFinding
from analyzer.infer.pairing import are_pair
from analyzer.infer.reasoning_fields import ReasoningFinding
from analyzer.infer.turn import Frame, Regions
from analyzer.observe import probes
from analyzer.observe.lexemes import is_marker, lexemes
from analyzer.observe.session import Ask, Session
from analyzer.observe.variants import Variants, head
from analyzer.render.facts import TemplateFacts
from analyzer.spec.model import Prompt

MOST_PAIRS = 16
_PAIR = 2


def find_in_content(
    session: Session,
    facts: TemplateFacts,
    regions: Regions,
    frame: Frame,
    calls: CallsFinding | None,
    seen: Variants | None = None,
) -> ReasoningFinding | None:
    """R2: content that holds `OPEN r CLOSE c`, for each closer among the template's literals, in a last turn and in an earlier one.

    A template that takes the reasoning out of such content knows the tags; the opener's white space is read from a generation prompt
    that ends with the opener.
    """
    taken = "" if calls is None else f"{calls.section_open}{calls.open}{calls.close}{calls.section_close}"
    pairs = [pair for pair in tag_pairs(facts) if pair[0] not in taken and pair[1] not in taken]
    needles = session.needles
    written = [cut for text in seen.texts.values() if (cut := regions.cut(text))] if seen is not None else []
    for following in ([], [probes.user(needles.follow)]) if pairs else ():
        asks = []
        for opener, closer in pairs:
            for space in ("", "\n\n"):
                content = f"{opener}{space[:1]}{needles.reasoning}{space[:1]}{closer}{space}{needles.content}"
                asks.append(Ask([*head(session), probes.assistant(content), *following]))
        texts = [regions.cut(text) for text in session.render(asks, "R2")]
        for number, (opener, closer) in enumerate(pairs):
            tight, spaced = texts[2 * number], texts[2 * number + 1]
            if tight is None or needles.content not in tight:
                continue
            before = tight.partition(needles.content)[0]
            if f"{opener}{needles.reasoning}{closer}" in before:
                continue  # printed as it is: the template does not know these tags
            stripped = spaced is not None and spaced.partition(needles.content)[0] == before
            kept = "never" if needles.reasoning not in before else "always"
            return _in_tags(frame, opener, closer, "\n\n" if stripped else "", kept, calls, written)
    return None


def find_in_prompt(
    frame: Frame, prompts: Sequence[Prompt], calls: CallsFinding | None
) -> ReasoningFinding | None:
    """R5: a generation prompt that goes on behind the header with an opening tag, open or closed again at once."""
    if not frame.header.strip():
        return None
    rests = [prompt.text[len(frame.header) :] for prompt in prompts if prompt.text.startswith(frame.header)]
    for rest in rests:
        pieces = lexemes(rest)
        marks = [at for at, piece in enumerate(pieces) if is_marker(piece)]
        if (
            len(marks) == _PAIR
            and are_pair(pieces[marks[0]], pieces[marks[1]])
            and pieces[marks[0]][1:2] != "/"
        ):
            opened, space = split_middle("".join(pieces[marks[0] : marks[1]]))
            return _tagged(frame, opened, space + "".join(pieces[marks[1] :]), "never", calls)
    for rest in rests:
        marks = [at for at, piece in enumerate(lexemes(rest)) if is_marker(piece)]
        if len(marks) == 1 and lexemes(rest)[marks[0]][1:2] not in ("/", "|"):
            opener = lexemes(rest)[marks[0]]
            return _in_tags(frame, opener, f"{opener[0]}/{opener[1:]}", "\n\n", "never", calls)
    return None


def split_middle(text: str) -> tuple[str, str]:
    """Split the white space at the end of `text` evenly: what stays with it, and what is left for what follows."""
    core = text.rstrip()
    space = text[len(core) :]
    return core + space[: (len(space) + 1) // 2], space[(len(space) + 1) // 2 :]


def _in_tags(
    frame: Frame,
    opener: str,
    closer: str,
    after: str,
    kept: str,
    calls: CallsFinding | None,
    texts: Sequence[str] = (),
) -> ReasoningFinding:
    frame, moved = _without_opener(frame, opener)
    for text in texts:  # a turn that writes both tags with nothing between shows their white space
        inside, found, rest = text.partition(opener)[2].partition(closer)
        if found and inside and not inside.strip():
            start, middle = split_middle(opener + inside)
            after = rest[: len(rest) - len(rest.lstrip())]
            return _tagged(frame, start, middle + closer + after, kept, calls, moved)
    opened = (
        frame.prompt.partition(opener)[2] if opener in frame.prompt and closer not in frame.prompt else ""
    )
    space = opened if opened and not opened.strip() else ""
    return _tagged(frame, opener + space, ("\n" if space else "") + closer + after, kept, calls, moved)


def _without_opener(frame: Frame, opener: str) -> tuple[Frame, str]:
    """Take from the header the opener that it ends in, where every turn and every prompt begins with a thought, open or closed."""
    at = frame.header.rfind(opener)
    if at <= 0 or frame.header[at + len(opener) :].strip() or not frame.header[:at].strip():
        return frame, ""
    moved = frame.header[at:]
    return replace(frame, header=frame.header[:at], before_content=moved + frame.before_content), moved


def _tagged(
    frame: Frame, opened: str, close: str, kept: str, calls: CallsFinding | None, moved: str = ""
) -> ReasoningFinding:
    empty = ""
    before = frame.before_content
    first, last = opened.strip(), close.strip()
    beside = before if calls is None else moved + calls.before
    both = all(first in text and last in text.partition(first)[2] for text in (before, beside))
    if both:  # a turn without reasoning writes both tags
        start, _, rest = before.partition(first)
        inside, _, after = rest.partition(last)
        after = after[: len(after) - len(after.lstrip())]
        head, middle = split_middle(inside) if not inside.strip() else ("", inside)
        opened, close = start + first + head, middle + last + after
        empty = opened + close
    return ReasoningFinding(
        fields=(),
        open=opened,
        close=close,
        empty=empty,
        empty_beside_calls="",
        content_open="",
        kept=kept,
        beside_calls=False,
        with_content=True,
        header=frame.header,
        in_content=True,
    )


def tag_pairs(facts: TemplateFacts) -> list[tuple[str, str]]:
    """Return pairs of opener and closer among the markers of the template's literals: `<x>` and `</x>`, `[X]` and `[/X]`."""
    marks: dict[str, None] = {}
    for literal in facts.literals:
        for piece in lexemes(literal):
            if is_marker(piece):
                marks[piece] = None
    pairs = [(mark[0] + mark[2:], mark) for mark in marks if mark[1:2] == "/"]
    return [pair for pair in pairs if len(pair[0]) > _PAIR][:MOST_PAIRS]
