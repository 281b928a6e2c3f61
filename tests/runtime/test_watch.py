"""The search for literals: the leftmost, the longest, however the text was cut."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.runtime.literals import Watch


def sought(watch: Watch, chunks: list[str]) -> list[tuple[int, str]]:
    """All tokens with their places, the text given in chunks, what is settled dropped."""
    found: list[tuple[int, str]] = []
    base = 0
    text = ""
    for number, chunk in enumerate([*chunks, ""]):
        text += chunk
        final = number == len(chunks)
        at = 0
        while True:
            at, token = watch.seek(text, at, final)
            if not token:
                break
            found.append((base + at, token))
            at += len(token)
        base, text = base + at, text[at:]
    return found


@given(
    st.lists(st.text("<>ab", min_size=1, max_size=12), min_size=1, max_size=5),
    st.integers(0, 500),
    st.text("<>ab", max_size=40),
    st.integers(0, 540),
)
@example(
    ["<<ab>", "<a"], 450, "<<ab>", 453
)  # the shorter token stands in the longer one, of which the end is missing
def test_the_longest_at_the_leftmost_place(tokens: list[str], before: int, text: str, cut: int) -> None:
    """As a regular expression would find them, in one piece and in two, in short text and in long."""
    text = "-" * before + text
    pattern = re.compile("|".join(map(re.escape, sorted(set(tokens), key=len, reverse=True))))
    expected = [(match.start(), match.group()) for match in pattern.finditer(text)]

    for chunks in ([text], [text[:cut], text[cut:]], list(text[-60:])):
        shift = len(text) - sum(map(len, chunks))
        got = [(at + shift, token) for at, token in sought(Watch(tokens), chunks)]
        assert got == expected
