"""T-comparisons: the frame of the assistant's turn.

T1  with and without the generation prompt: the prompt's text
T2  a turn of text that is the last: what follows the text
T3  the same turn followed by a user message: the turn's end in mid-conversation
T4  the prompt against the history of several turns: the header
T5  the prompts under every setting against the header (prompts)
"""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.observe.lexemes import common_prefix, common_start, common_suffix, is_marker, lexemes
from analyzer.observe.session import Session
from analyzer.observe.variants import Variants


@dataclass(frozen=True, slots=True)
class Frame:
    """Where turns begin and end."""

    user_end: str
    """What follows a user message's text in a conversation that ends with it."""
    user_header: str
    prompt: str
    """What the generation prompt adds after a user message."""
    header: str
    before_content: str
    """In a turn of text only: what stands between the header and the text."""
    tail: str
    """In a last turn of text only: what follows the text (T2)."""
    end: str
    """What ends a turn of text in mid-conversation (T3)."""
    last_goes_on: bool = False
    """True: the last turn is written as what goes on with the generation prompt; only mid-conversation shows a whole turn."""


class Regions:
    """Cuts renders to what follows the last user message of the head."""

    def __init__(self, session: Session, base: str, text: str | None = None) -> None:
        """`base` ends with the user's message; `text` goes on with a turn of text, which may not have all that `base` ends with."""
        self._user = session.needles.user
        self.base_end = self._rest(base)
        self.user_end = self.base_end
        followed = self._rest(text or "")
        shared = common_start(self.base_end, followed)
        if followed and any(map(is_marker, lexemes(shared))):
            self.user_end = (
                shared  # a prompt that stands behind every conversation goes on otherwise than the turn
            )

    def _rest(self, text: str) -> str:
        at = text.rfind(self._user)
        return text[at + len(self._user) :] if at >= 0 else ""

    def cut(self, text: str | None) -> str | None:
        """Return the text after the user's turn, None when there is no render or no user text in it."""
        if text is None or self._user not in text:
            return None
        rest = text[text.rfind(self._user) + len(self._user) :]
        if rest.startswith(self.user_end):
            return rest[len(self.user_end) :]
        return rest[len(common_prefix(rest, self.user_end)) :]


def frame(session: Session, seen: Variants, regions: Regions) -> Frame:
    """Find the frame from the variants of text turns."""
    needles = session.needles
    base = seen["base"] or ""
    prompt = added(base, seen["base+p"])
    text = regions.cut(seen["t"]) or ""
    before, _, tail = text.partition(needles.content)
    followed = regions.cut(seen["t+u"]) or ""
    before_mid, _, rest = followed.partition(needles.content)
    middle = rest.partition(needles.follow)[0] if needles.follow in rest else ""
    leads = [lead.partition(needles.user)[0] for name in ("t+u", "user") if (lead := seen[name]) is not None]
    user_header = common_suffix(middle, *leads) if middle else ""
    if not user_header.strip():
        user_header = common_suffix(middle, *leads[:1]) if middle else ""
    user_header = _from_turn_start(user_header, leads[-1] if leads else "")
    end = _end(tail, middle, regions.user_end, user_header)
    shown = common_start(prompt, before)
    if (
        any(map(is_marker, lexemes(shown))) and shown in before_mid
    ):  # the user's turn goes on in mid-conversation
        before_mid = before_mid[before_mid.rfind(shown) :]
    starts = [start for start in (before, before_mid) if start or text]
    starts += [
        start
        for name in ("c1a2", "c2a2")
        if (start := _before_call(session, regions, seen[name])) is not None
    ]
    header = common_start(*([prompt] if prompt.strip() else []), *starts) if starts else prompt
    if prompt.strip() and starts and not header.strip():  # the prompt and the history disagree
        header = common_start(prompt.lstrip(), *starts)
    if prompt.strip() and starts and not header.strip():  # white space before it differs from turn to turn
        header = common_start(prompt.lstrip(), *(start.lstrip() for start in starts))
    if prompt.strip() and starts and not header.strip():
        header = common_start(*starts)
    header = _without_dangling(header) if header.strip() else ""
    header = header or _always_opened(prompt, tail, end, regions)
    opened = [piece for piece in lexemes(prompt[len(header) :]) if is_marker(piece)]
    last_goes_on = before == prompt and before_mid == header and len(opened) == 1
    if last_goes_on:
        before, tail = before_mid, end
    return Frame(
        user_end=regions.user_end,
        user_header=user_header[len(end) :] if end and user_header.startswith(end) else user_header,
        prompt=prompt,
        header=header,
        before_content=behind_header(before, header),
        tail=tail,
        end=end,
        last_goes_on=last_goes_on,
    )


def behind_header(text: str, header: str) -> str:
    """Return `text` without the header it begins with; white space before a header that begins with none is left out too."""
    if text.startswith(header):
        return text[len(header) :]
    bare = text.lstrip()
    return bare[len(header) :] if header.strip() and bare.startswith(header) else text


def _from_turn_start(header: str, lead: str) -> str:
    """Cut from a header what ends the turn before it: turns begin with the marker that begins the first one."""
    first = next((piece for piece in lexemes(lead) if is_marker(piece) and piece in header), "")
    return header[header.rfind(first) :] if first else header


def _always_opened(prompt: str, tail: str, end: str, regions: Regions) -> str:
    """Return the header that a template opens behind every conversation, whether a generation prompt is asked for or not."""
    always = tail[len(end) :] if end.strip() and tail.startswith(end) else ""
    more = regions.base_end[len(regions.user_end) :]
    if prompt:
        return ""
    if always.strip():
        return always.removesuffix(more) if regions.base_end.endswith(always) else ""
    marks = [piece for piece in lexemes(regions.user_end) if is_marker(piece)]
    return regions.user_end if more and len(marks) == 1 else ""


def added(without: str, with_prompt: str | None) -> str:
    """Return what the generation prompt adds (T1)."""
    if with_prompt is None:
        return ""
    if with_prompt.startswith(without):
        return with_prompt[len(without) :]
    return with_prompt[len(common_prefix(with_prompt, without)) :]


def _before_call(session: Session, regions: Regions, text: str | None) -> str | None:
    region = regions.cut(text)
    if region is None:
        return None
    call = session.needles.calls[0]
    found = [
        at for needle in (call.name, call.id, *call.keys, *call.values) if (at := region.find(needle)) >= 0
    ]
    return region[: min(found)] if found else None


def _without_dangling(header: str) -> str:
    """Cut an unfinished marker such as `<` from the end of a header."""
    pieces = lexemes(header)
    while pieces and pieces[-1] in ("<", "[", "{"):
        pieces.pop()
    return "".join(pieces)


def _end(tail: str, middle: str, user_end: str, user_header: str) -> str:
    """Find what ends a turn in mid-conversation: the last turn's tail, the user's own end, or what contexts share."""
    if not middle:
        return tail
    if tail.strip() and middle.startswith(tail):
        return tail
    rest = middle[: len(middle) - len(user_header)]
    if rest.strip() and tail.startswith(
        rest
    ):  # the last turn is followed by more, such as a generation prompt
        return rest
    shared = common_prefix(tail, middle)
    if shared.strip() and shared != tail and any(is_marker(piece) for piece in lexemes(shared)):
        return shared
    if user_end.strip() and middle.startswith(user_end):
        return user_end
    if user_end.strip() and middle.lstrip().startswith(user_end.strip()):
        return middle[: len(middle) - len(middle.lstrip())] + user_end.strip()
    if tail.strip():  # the last turn ends otherwise than the turns before it
        return rest if user_header != middle else ""
    if user_header and user_header != middle and not rest.isidentifier():  # a bare word is the next turn's
        return rest
    return tail if not tail.strip() else ""
