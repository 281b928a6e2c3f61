"""Slots that end where the next literal begins: names, ids, counters, keys, type words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.runtime.literals import FAIL, MORE, NAME_CAP, OK, WHITE_CAP, Watch, white_end

if TYPE_CHECKING:
    from analyzer.runtime.coerce import CompiledTools

_not_in_name = re.compile(r"""[\s\x00-\x1f\x7f{}<>()\[\]"'`,;=|]""").search
_some_letter = re.compile(r"\w").search


def valid_name(text: str) -> bool:
    """True for what can be a tool's name."""
    return bool(text) and _not_in_name(text) is None and _some_letter(text) is not None


def slot(buf: str, start: int, scan: int, watch: Watch, final: bool, *, name: bool) -> tuple[int, int]:
    """Find where the slot that begins at `start` ends: (OK, where) | (MORE, from where to look again) | (FAIL, where).

    Where it fails must not depend on how much text is here: at its start, or where it has become too long.
    """
    room = NAME_CAP + WHITE_CAP + watch.longest + 1
    if len(buf) - start > room:  # no slot reaches further, and a marker may stand a million times
        where, token = watch.seek(buf[start : start + room], max(scan - start, 0), final=False)
        where += start
    else:
        where, token = watch.seek(buf, max(scan, start), final)
    too_long = start if name else start + NAME_CAP
    if token:
        return (OK, where) if where - start <= NAME_CAP else (FAIL, too_long)
    if where - start > NAME_CAP + WHITE_CAP:
        return FAIL, too_long
    if final:
        return FAIL, start
    if name:
        begin = white_end(buf, start)
        bad = _not_in_name(buf, begin, where)
        if bad is not None and white_end(buf, bad.start()) < where:
            return FAIL, start
    return MORE, where


def name_from_id(text: str, pattern: re.Pattern[str] | None, tools: CompiledTools | None) -> tuple[str, bool]:
    """Return (the name in an id, was a foreign spelling), ("", True) when there is none."""
    if pattern is not None:
        found = pattern.fullmatch(text)
        if found is not None:
            return found.group("name"), False
    if tools is None:
        return "", True
    best = ""
    for name in tools.names:
        if len(name) > len(best) and re.search(rf"(?:^|[._:/-]){re.escape(name)}(?:$|[._:/-]\d*$)", text):
            best = name
    return best, True
