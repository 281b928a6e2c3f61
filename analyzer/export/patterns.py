"""Literals and slots as regular expressions that `re`, `regex` and the servers' readers take alike.

Only literals, `(?:...)?` around white space, character classes and named groups are used: what all readers of a response
template have in common.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from analyzer.errors import ExportError
from analyzer.spec.parts import ItemPart, NameSlot, Part

_SPECIAL: Final = frozenset("\\.^$*+?{}[]()|")


def literal(text: str) -> str:
    """The text as a pattern, with line breaks as escapes and nothing else escaped without need."""
    spelt = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return "".join(spelt.get(char, f"\\{char}" if char in _SPECIAL else char) for char in text)


def soft(text: str) -> str:
    """As `literal`, with the white space at both ends optional."""
    core = text.strip()
    left = text[: len(text) - len(text.lstrip())] if core else text
    right = text[len(text.rstrip()) :] if core else ""
    return optional(left) + literal(core) + optional(right)


def maybe(pattern: str) -> str:
    """The pattern, or nothing."""
    if not pattern:
        return ""
    return f"(?:{pattern})?"


def optional(text: str) -> str:
    """The text, or nothing."""
    if not text:
        return ""
    return f"{literal(text)}?" if len(text) == 1 else f"(?:{literal(text)})?"


def until(following: str, separator: str = "") -> str:
    """One or more characters up to the literal that follows: a class without its first character, or the separator's."""
    stop = following.lstrip()[:1] or "\n"
    spelt = f"\\{stop}" if stop in "\\]^-[" else stop
    gap = separator.strip()[:1]
    more = f"{gap}\\s" if gap and gap not in "\\]^-[" else ""
    return "[^\\s]+" if stop == "\n" else f"[^{spelt}\\n{more}]+"


def of_parts(
    parts: Sequence[Part | ItemPart],
    target: str,
    *,
    after: str = "",
    reserved: Sequence[str] = (),
    separator: str = "",
) -> str:
    """The pattern of literals and slots; a slot that stands again is a back-reference.

    `after` is what follows the parts; no name begins with what is `reserved`; no key holds the `separator` of items.
    """
    out: list[str] = []
    seen: set[str] = set()
    for number, part in enumerate(parts):
        if isinstance(part, str):
            out.append(soft(part))
            continue
        following = next((later for later in parts[number + 1 :] if isinstance(later, str)), after)
        if part.slot in seen and part.slot != "type":
            out.append(f"(?P={part.slot})")
        elif isinstance(part, NameSlot) or part.slot == "key":
            ahead = alternatives([literal(text) for text in reserved]).removeprefix("(?:").removesuffix(")")
            out.append(f"(?!{ahead})" if ahead else "")
            out.append(f"(?P<{part.slot}>{until(following, separator)})")
        elif part.slot == "value":
            out.append("(?P<value>.*?)")
        elif part.slot == "index":
            out.append(r"\d+")
        elif part.slot == "id":
            out.append(f"(?P<id>{_identity(part.pattern, following)})")
        elif part.slot == "type":
            words = sorted(set(part.words.values()), key=lambda word: (-len(word), word))
            spell = soft if "value" in seen else literal  # behind the value they are what closes it
            out.append(f"(?:{'|'.join(spell(word) for word in words)})")
        else:
            raise ExportError(f"a slot {part.slot!r} cannot stand here", target=target)
        seen.add(part.slot)
    return "".join(out)


def _identity(pattern: str | None, following: str) -> str:
    if pattern is None or "{name}" not in pattern:
        return until(following)
    pieces = re.split(r"(\{name\}|\{index\})", pattern)
    spelt = {"{name}": "(?P<name>[\\w.-]+)", "{index}": "\\d+"}
    return "".join(spelt.get(piece, literal(piece)) for piece in pieces)


def alternatives(patterns: Sequence[str]) -> str:
    """Any of the patterns; doubles and empty ones left out."""
    kept = list(dict.fromkeys(pattern for pattern in patterns if pattern))
    return kept[0] if len(kept) == 1 else f"(?:{'|'.join(kept)})" if kept else ""
