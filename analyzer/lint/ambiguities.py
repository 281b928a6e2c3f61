"""Ambiguities: what a format leaves open, read from its spec alone.

Two degrees.  *Fatal*: two different turns are written alike, so no parser can tell which one was meant.  The others are
*collisions*: ordinary turns are clear, and only a text that holds the format's own literals reads as something else.

    unended_value      A1  a value or a name has no literal behind it
    blank_structure    A2  nothing but white space stands between two unescaped values
    same_opener        A3  two segments begin with the same literal
    unmarked_calls     A4  no literal but a brace or a bracket begins a call: text that begins so reads as a call; fatal
                           where calls stand in the line of the text before them
    unescaped_values   A5  an unescaped value may hold the literals that end it
    marker_begins_text A6  a closer is the beginning of the literal that opens content
    end_in_marker      A7  the literal that ends a turn stands inside another marker
    toggle_marker      A8  one literal both opens and closes
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from analyzer.spec.model import ContentSegment, Layout, ReasoningSegment, Spec
from analyzer.spec.parts import ArgumentsSlot, Codec, ItemPart, KeySlot, NameSlot, TypeSlot, ValueSlot

UNESCAPED: Final = frozenset({"raw", "quoted", "dialect", "cdata"})
"""The kinds of codec that write a string as it is."""


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """One thing that a format leaves open."""

    kind: str
    path: str
    """The field of the spec that it stands in."""
    message: str
    literals: tuple[str, ...] = ()
    fatal: bool = False
    """True: no parser can resolve it."""


def ambiguities(spec: Spec) -> tuple[Ambiguity, ...]:
    """Everything that the format leaves open, the fatal first."""
    found = [one for rule in RULES for one in rule(spec)]
    return tuple(sorted(found, key=lambda one: not one.fatal))


def is_ambiguous(spec: Spec) -> bool:
    """Whether two different turns are written alike, so that no parser can read the format."""
    return any(one.fatal for one in ambiguities(spec))


def _calls_path(spec: Spec) -> str:
    return f"turn.segments[{next(at for at, one in enumerate(spec.turn.segments) if one.kind == 'calls')}]"


def _layouts(spec: Spec) -> Iterator[tuple[str, Layout]]:
    calls = spec.calls
    if calls is not None:
        for number, layout in enumerate(calls.layouts):
            yield f"{_calls_path(spec)}.layouts[{number}]", layout


def _items(spec: Spec) -> Iterator[tuple[str, ArgumentsSlot, tuple[object, ...]]]:
    """The arguments slots that are runs of items, with the parts behind them."""
    for path, layout in _layouts(spec):
        for number, part in enumerate(layout.parts):
            if isinstance(part, ArgumentsSlot) and part.item is not None:
                yield f"{path}.parts[{number}]", part, layout.parts[number + 1 :]


def _is_unescaped(codec: Codec) -> bool:
    return codec.kind in UNESCAPED


def _behind(parts: tuple[object, ...], at: int) -> str:
    following = parts[at + 1] if at + 1 < len(parts) else ""
    return following if isinstance(following, str) else ""


def _text_closer(item: tuple[ItemPart, ...]) -> str:
    """What closes a text: the literals behind the value, and of words that follow the type a text's, up to another slot."""
    at = next(number for number, part in enumerate(item) if isinstance(part, ValueSlot))
    closer = ""
    for part in item[at + 1 :]:
        if isinstance(part, KeySlot | ValueSlot):
            break
        closer += part if isinstance(part, str) else part.words.get("string", "")
    return closer


# ------------------------------------------------------------------------------------------------------------- rules


def _unended(spec: Spec) -> Iterator[Ambiguity]:
    """A1."""
    for path, layout in _layouts(spec):
        for number, part in enumerate(layout.parts):
            last = number == len(layout.parts) - 1
            if isinstance(part, NameSlot) and not last and not _behind(layout.parts, number):
                following = layout.parts[number + 1]
                if isinstance(following, ArgumentsSlot) and _begins_itself(following):
                    continue
                yield Ambiguity(
                    "unended_value", f"{path}.parts[{number}]", "Nothing ends the tool's name.", fatal=True
                )
    for path, slot, rest in _items(spec):
        item = slot.item or ()
        for number, piece in enumerate(item):
            if isinstance(piece, KeySlot) and not _behind(item, number):
                yield Ambiguity(
                    "unended_value", f"{path}.item[{number}]", "Nothing ends an argument's name.", fatal=True
                )
        if slot.codecs is None or slot.codecs.string.kind not in ("raw", "escaped"):
            continue
        after = rest[0] if rest and isinstance(rest[0], str) else ""
        unclosed = not isinstance(item[-1], str) and not _text_closer(item)
        if unclosed and not isinstance(item[-1], KeySlot) and not (slot.separator and after):
            yield Ambiguity(
                "unended_value", f"{path}.item[{len(item) - 1}]", "Nothing ends a raw value.", fatal=True
            )


def _begins_itself(slot: ArgumentsSlot) -> bool:
    """Whether the arguments begin with something that no name holds."""
    if slot.item is not None:
        return isinstance(slot.item[0], str) and bool(slot.item[0].strip())
    return slot.codec is not None and slot.codec.kind in ("json", "json_text", "python", "dialect")


def _blank_structure(spec: Spec) -> Iterator[Ambiguity]:
    """A2."""
    for path, slot, _ in _items(spec):
        if slot.item is None or slot.codecs is None or slot.codecs.string.kind != "raw":
            continue
        kinds = [part if isinstance(part, str) else part.slot for part in slot.item]
        at = kinds.index("value")
        words = "".join(part.words.get("string", "") for part in slot.item[at:] if isinstance(part, TypeSlot))
        between = [*kinds[at + 1 :], slot.separator, *kinds[:at]]
        literal = words + "".join(text for text in between if text not in ("key", "type", "value"))
        if not literal.strip():
            yield Ambiguity(
                "blank_structure",
                f"{path}.item",
                "Nothing but white space stands between two raw values.",
                (literal,),
                fatal=True,
            )


def call_opener(spec: Spec) -> str:
    """Every literal before the first slot of the first call."""
    calls = spec.calls
    if calls is None:
        return ""
    layout = calls.layouts[0]
    opener = calls.open + (layout.open if layout.kind == "json" else "")
    for part in layout.parts:
        if not isinstance(part, str):
            break
        opener += part
    return opener


def _same_opener(spec: Spec) -> Iterator[Ambiguity]:
    """A3."""
    calls = spec.calls
    opener = call_opener(spec)
    for number, segment in enumerate(spec.turn.segments):
        if segment.kind == "calls" or not segment.open.strip() or calls is None:
            continue
        path = f"turn.segments[{number}].open"
        name = "content" if segment.kind == "content" else "reasoning"
        if segment.open.strip() == opener.strip():
            yield Ambiguity(
                "same_opener",
                path,
                f"{name.capitalize()} and calls begin alike.",
                (segment.open,),
                fatal=True,
            )
    opens = {one.open.strip() for one in spec.reasoning if one.open.strip()}
    for number, segment in enumerate(spec.turn.segments):
        if isinstance(segment, ContentSegment) and segment.open.strip() in opens:
            yield Ambiguity(
                "same_opener",
                f"turn.segments[{number}].open",
                "Content and reasoning begin alike.",
                (segment.open,),
                fatal=True,
            )


def _unmarked_calls(spec: Spec) -> Iterator[Ambiguity]:
    """A4."""
    opener = call_opener(spec)
    if spec.calls is not None and not any(
        character not in " \t\r\n{[\"'" for character in _until_key(opener)
    ):
        glued = _glued_text(spec) and not opener[:1].isspace()
        yield Ambiguity(
            "unmarked_calls",
            f"{_calls_path(spec)}.open",
            "No marker begins a call, and it stands in the same line as the text before it; the two read as one text."
            if glued
            else "No marker begins a call; text that begins like one reads as a call.",
            (opener,),
            fatal=glued,
        )


def _glued_text(spec: Spec) -> bool:
    """Whether calls stand directly behind a text, with nothing between the two."""
    kinds = [segment.kind for segment in spec.turn.segments]
    before = spec.turn.segments[: kinds.index("calls")]
    beside = [one for one in before if isinstance(one, ContentSegment) and one.when != "alone"]
    ended = spec.turn.header_repeats and any(one.end is not None for one in beside[:1])
    return not ended and any(not one.close for one in beside[:1])


def _until_key(opener: str) -> str:
    """The opener up to the first key of a JSON object."""
    at = opener.find('{"')
    return opener if at < 0 else opener[: at + 1]


def _unescaped_values(spec: Spec) -> Iterator[Ambiguity]:
    """A5."""
    for path, slot, rest in _items(spec):
        if slot.codecs is None or not _is_unescaped(slot.codecs.string) or slot.item is None:
            continue
        closer = _text_closer(slot.item) or slot.separator or _behind(("", *rest), 0)
        yield Ambiguity(
            "unescaped_values",
            f"{path}.codecs.string",
            f"A text that holds {closer!r} and what follows it reads as the end of its value.",
            (closer,),
        )


def _marker_begins_text(spec: Spec) -> Iterator[Ambiguity]:
    """A6."""
    closers = [(f"turn.segments[{n}].close", s.close) for n, s in enumerate(spec.turn.segments)]
    for segment in spec.content:
        opener = segment.open.strip()
        for path, close in closers:
            text = close.strip()
            if text and opener != text and opener.startswith(text):
                yield Ambiguity(
                    "marker_begins_text",
                    path,
                    f"{text!r} closes a segment and begins {opener!r}, which opens content.",
                    (text, opener),
                )


def _markers(spec: Spec) -> Iterator[tuple[str, str]]:
    for number, segment in enumerate(spec.turn.segments):
        yield f"turn.segments[{number}].open", segment.open
        yield f"turn.segments[{number}].close", segment.close
    for path, layout in _layouts(spec):
        for number, part in enumerate(layout.parts):
            if isinstance(part, str):
                yield f"{path}.parts[{number}]", part
            elif isinstance(part, ArgumentsSlot):
                for at, piece in enumerate(part.item or ()):
                    place = f"{path}.parts[{number}].item[{at}]"
                    if isinstance(piece, str):
                        yield place, piece
                    elif isinstance(piece, TypeSlot):
                        yield from ((f"{place}.words", word) for word in piece.words.values())


def _end_in_marker(spec: Spec) -> Iterator[Ambiguity]:
    """A7."""
    ends = {segment.end.literal.strip() for segment in spec.turn.segments if segment.end is not None} - {""}
    for path, marker in _markers(spec):
        for end in sorted(ends):
            if end in marker and end != marker.strip():
                yield Ambiguity(
                    "end_in_marker",
                    path,
                    f"{end!r} ends the turn and stands inside {marker!r}.",
                    (end, marker),
                )


def _toggle_marker(spec: Spec) -> Iterator[Ambiguity]:
    """A8."""
    for number, segment in enumerate(spec.turn.segments):
        marker = segment.open.strip()
        texts = isinstance(segment, (ReasoningSegment, ContentSegment))
        if texts and marker and marker == segment.close.strip():
            yield Ambiguity(
                "toggle_marker",
                f"turn.segments[{number}]",
                f"{marker!r} both opens and closes {segment.kind}.",
                (segment.open,),
            )


RULES: Final[tuple[Callable[[Spec], Iterator[Ambiguity]], ...]] = (
    _unended,
    _blank_structure,
    _same_opener,
    _unmarked_calls,
    _unescaped_values,
    _marker_begins_text,
    _end_in_marker,
    _toggle_marker,
)
"""The rules, A1 to A8."""
