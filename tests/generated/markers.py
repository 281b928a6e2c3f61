"""Markers of random formats: in many styles, sharing prefixes, one inside another, with and without special characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hypothesis import strategies as st

STYLES: Final[dict[str, tuple[str, str]]] = {
    "tag": ("<{w}>", "</{w}>"),
    "pipes": ("<|{w}|>", "<|/{w}|>"),
    "begin_end": ("<|{w}_begin|>", "<|{w}_end|>"),
    "half_pipes": ("<|{w}>", "<{w}|>"),
    "full_width": ("<｜{w}▁begin｜>", "<｜{w}▁end｜>"),
    "square": ("[{W}]", "[/{W}]"),
    "square_long": ("[BEGIN_{W}]", "[END_{W}]"),
    "prefixed_tag": ("<x:{w}>", "</x:{w}>"),
    "broken_brackets": ("]<]m[>[<{w}>", "]<]m[>[</{w}>"),
    "at": ("@@{w}", "@@/{w}"),
    "arrows": (">>>{w}<<<", "<<<{w}>>>"),
    "cjk": ("【{w}】", "【/{w}】"),
    "guillemets": ("«{w}»", "»{w}«"),
    "doubled": ("<<{w}>>", "<</{w}>>"),
    "words": ("BEGIN {W}:", "END {W}."),
    "accents": ("<é{w}☕>", "</é{w}☕>"),
    "percent": ("%{w}{{", "}}{w}%"),
}
"""How an opener and a closer are spelt; `w` is the role's word, `W` the same in capitals."""

WORDS: Final[dict[str, tuple[str, ...]]] = {
    "section": ("calls", "tool_calls", "tools", "function_calls", "actions"),
    "call": ("call", "tool_call", "tool", "function", "action", "invoke"),
    "item": ("arg", "parameter", "param", "argument", "tool_arg"),
    "key": ("key", "arg_key", "name"),
    "value": ("value", "arg_value", "val"),
    "middle": ("sep", "tool_sep", "call_args", "args"),
    "reasoning": ("think", "thought", "reasoning", "analysis", "call_plan"),
    "content": ("response", "answer", "text", "final"),
    "result": ("tool_response", "result", "output", "tool_result"),
    "turn": ("im", "turn", "msg", "message"),
}
"""Words by role; some are beginnings of others on purpose."""

SPACES: Final = ("", "", "", "\n", "\n", " ", "\n\n")


@dataclass(frozen=True, slots=True)
class Palette:
    """The markers of one format: an opener and a closer for each role."""

    openers: dict[str, str]
    closers: dict[str, str]

    def pair(self, role: str) -> tuple[str, str]:
        """The opener and the closer of a role."""
        return self.openers[role], self.closers[role]


@st.composite
def palettes(draw: st.DrawFn) -> Palette:
    """Markers in one style, sometimes two; no two openers alike."""
    first = draw(st.sampled_from(sorted(STYLES)))
    second = draw(st.one_of(st.just(first), st.just(first), st.sampled_from(sorted(STYLES))))
    openers: dict[str, str] = {}
    closers: dict[str, str] = {}
    used: set[str] = set()
    for role, words in WORDS.items():
        word = draw(st.sampled_from([word for word in words if word not in used]))
        used.add(word)
        style = draw(st.sampled_from([first, first, second]))
        openers[role], closers[role] = (text.format(w=word, W=word.upper()) for text in STYLES[style])
    if draw(st.integers(0, 5)) == 0:  # one marker inside another
        inner, outer = draw(st.sampled_from([("call", "section"), ("item", "call"), ("middle", "item")]))
        openers[outer], closers[outer] = f"<:{openers[inner]}:>", f"<:{closers[inner]}:>"
    return Palette(openers, closers)


def spaces() -> st.SearchStrategy[str]:
    """White space beside a marker, more often none."""
    return st.sampled_from(SPACES)
