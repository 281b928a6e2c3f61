"""What stands around a described call: markers, brackets, fences, and what repeats.

Only markers count that `tools` brought into the prompt, and of those not the ones that hold the tools themselves.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice

from analyzer.infer.described_json import balanced

MASK = "\x00"
"""Stands in a prompt's text where the declaration of a tool stood."""

_MARKER = r"<[^<>\s\x00]{1,120}>|\[/?[A-Z_]{3,40}\]|```\w*"
MARKER = re.compile(_MARKER)
_OPENERS = re.compile(rf"(?:(?:{_MARKER})\s*)+\Z")
_CLOSERS = re.compile(rf"(?:\s*(?:{_MARKER}))+")
_GAP = re.compile(r"\s*[,;]?\s*")
_MORE = re.compile(r"(?:\.\.\.|…)(?:[^\n\x00<\]]*[^\s\x00<\]])?")
_LOOKED_BACK = 400
_MOST_MARKERS = 64
_MOST_MASKS = 32


@dataclass(frozen=True, slots=True)
class Around:
    """How calls are framed."""

    section_open: str = ""
    open: str = ""
    close: str = ""
    section_close: str = ""
    separator: str = "\n"
    array: bool = False
    notes: tuple[str, ...] = ()

    @property
    def marked(self) -> bool:
        """Whether any marker frames a call."""
        return bool((self.section_open + self.open).strip().strip("["))


def own_markers(text: str, base: Collection[str]) -> list[str]:
    """The markers of `text` that are not in `base` and do not hold tools, in order."""
    seen = list(dict.fromkeys(MARKER.findall(text)))[:_MOST_MARKERS]
    held = {marker for marker in seen if _holds_tools(text, marker)}
    return [marker for marker in seen if marker not in base and marker not in held]


def _holds_tools(text: str, marker: str) -> bool:
    """Whether tools stand right beside a marker, or between it and its counterpart."""
    if any(one in text for one in (marker + MASK, f"{marker}[{MASK}", MASK + marker, f"{MASK}]{marker}")):
        return True
    name = marker.strip("</>")
    opener, closer = f"<{name}>", f"</{name}>"
    return any(
        text.rfind(opener, 0, at) > text.rfind(closer, 0, at) and text.find(closer, at) >= 0
        for at in islice((found.start() for found in re.finditer(MASK, text)), _MOST_MASKS)
    )


def around(text: str, start: int, end: int, own: Collection[str]) -> Around:
    """Read the frame of the example `text[start:end]`."""
    before = text[:start].rstrip()
    if before.endswith("["):
        found = _array(text, len(before) - 1, end, own)
        if found is not None:
            return found
    openers = _run_before(text[:start], own)
    closers = _leading_closers(text[end:], own)
    separator, at = _repeats(text, end + len(closers))
    outer = _leading_closers(text[at:], own) if at > end + len(closers) else ""
    return _with_levels(openers, closers, outer, separator)


def _array(text: str, bracket: int, end: int, own: Collection[str]) -> Around | None:
    """The frame when the calls are the elements of one array, whose bracket opens at `bracket`."""
    first = text[bracket + 1 :]
    lead = first[: len(first) - len(first.lstrip())]
    separator, at = _repeats(text, end)
    rest = text[at:].lstrip()
    if not rest.startswith("]"):
        return None
    gap = text[at : len(text) - len(rest)]
    return Around(
        section_open=_run_before(text[:bracket], own) + "[" + lead,
        section_close=gap + "]" + _leading_closers(rest[1:], own),
        separator=separator if separator.strip() == "," else ", ",
        array=True,
    )


def _repeats(text: str, at: int) -> tuple[str, int]:
    """The separator of further calls that an ellipsis or a second example shows, and where what follows them begins."""
    separator = ""
    while True:
        gap = _GAP.match(text, at)
        after = gap.end() if gap is not None else at
        second = balanced(text, after) if text[after : after + 1] == "{" else None
        more = _MORE.match(text, after)
        if second is None and more is None:
            return separator, at
        separator = separator or text[at:after]
        at = second or (more.end() if more is not None else at)


def _run_before(before: str, own: Collection[str]) -> str:
    """The run of own markers that ends the text, white space included; a pair without anything inside is a mention."""
    match = _OPENERS.search(before[-_LOOKED_BACK:])
    if match is None:
        return ""
    run = match.group()
    for marker in reversed(list(MARKER.finditer(run))):
        if marker.group() not in own or marker.group().startswith("</"):
            return run[marker.end() :].lstrip()
    return run


def _leading_closers(after: str, own: Collection[str]) -> str:
    """The run of own markers that begins the text."""
    match = _CLOSERS.match(after)
    if match is None:
        return ""
    end = 0
    for marker in MARKER.finditer(match.group()):
        if marker.group() not in own:
            break
        end = marker.end()
    return match.group()[:end]


def _with_levels(openers: str, closers: str, outer: str, separator: str) -> Around:
    """Give each level of markers its place: those that close before an ellipsis are the call's, those after it the section's."""
    marks = list(MARKER.finditer(openers))
    inner = MARKER.findall(closers)
    notes: list[str] = []
    if outer:
        kept = len(marks) - len(inner)
        cut = marks[kept].start() if kept < len(marks) else len(openers)
        gap = openers[:cut]
        return Around(gap, openers[cut:], closers, _space_before(outer, separator), separator or "\n")
    if len(marks) > 1 and len(marks) == len(inner):
        cut = marks[1].start()
        last = list(MARKER.finditer(closers))[-2].end()
        return Around(openers[:cut], openers[cut:], closers[:last], closers[last:], separator or "\n")
    if marks and not inner:
        notes.append("no closing marker is described")
    if any(mark.group().startswith("```") for mark in marks) and len(marks) == 1:
        notes.append("the fence is taken as part of the format")
    return Around(
        "", openers, closers, "", separator or _usual_separator(openers, closers), notes=tuple(notes)
    )


def _space_before(outer: str, separator: str) -> str:
    return outer if outer[:1].isspace() else separator[: len(separator) - len(separator.lstrip())] + outer


def _usual_separator(openers: str, closers: str) -> str:
    return "" if openers and "\n" not in openers + closers else "\n"


def mentioned(text: str, start: int, own: Collection[str]) -> tuple[str, str] | None:
    """The markers that the paragraph before `start` names: a pair, or one that opens."""
    since = max(text.rfind("\n\n", 0, start), text.rfind(MASK, 0, start), start - _LOOKED_BACK, 0)
    named = [marker for marker in dict.fromkeys(MARKER.findall(text[since:start])) if marker in own]
    for opener in named:
        if f"</{opener.strip('<>')}>" in named:
            return opener, f"</{opener.strip('<>')}>"
    if len(named) in (1, 2):
        return named[0], named[1] if len(named) > 1 else ""
    return None
