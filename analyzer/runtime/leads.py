"""White space before and behind the literals of a format: what may stand there and belongs to no text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from analyzer.runtime.literals import Lit


def lead_ins(contents: Iterable[Any], reasoning: Iterable[Any]) -> tuple[str, ...]:
    """White space that opens a text, or stands for a segment that is not there."""
    texts = {text for segment in contents for text in (segment.open, segment.empty)}
    texts |= {segment.empty for segment in reasoning}
    return tuple(sorted((text for text in texts if text and not text.strip()), key=len, reverse=True))


def opener_leads(contents: Iterable[Any], head: str, *, soft: bool) -> tuple[str, ...]:
    """White space before any of the openers of content that look alike without it."""
    openers = [Lit(content.open, soft=soft) for content in contents]
    return tuple(dict.fromkeys(lit.lead for lit in openers if lit.head == head and lit.lead))


def opener_tails(openers: Iterable[Lit]) -> dict[str, tuple[str, ...]]:
    """The runs of white space that each opener may end in, the longest first."""
    found: dict[str, set[str]] = {}
    for opener in openers:
        if len(opener.pieces) == 1 and opener.tail:
            found.setdefault(opener.head, set()).add(opener.tail)
    return {head: tuple(sorted(tails, key=len, reverse=True)) for head, tails in found.items()}


def white_closes(contents: Iterable[Any]) -> tuple[str, ...]:
    """White space that closes content which nothing else ends: at the end of the text it is no content."""
    found = {c.close for c in contents if c.end is None and c.close and not c.close.strip()}
    return tuple(sorted(found, key=len, reverse=True))


def closing_leads(contents: Iterable[Any], when: set[str]) -> tuple[str, ...]:
    """White space that closes content in such turns, and so may stand before what follows."""
    return tuple({c.close for c in contents if c.when in when and c.close and not c.close.strip()})


def leads_with(leads: tuple[str, ...], own: str) -> tuple[str, ...]:
    """Runs of white space, each with a literal's own behind it, and that alone."""
    found = {lead + own for lead in leads} | ({own} if own else set())
    return tuple(sorted(found, key=len, reverse=True))
