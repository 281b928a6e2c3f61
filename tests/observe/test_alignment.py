"""Three-way alignment recovers opener, closer and separator from what stands before, between and after."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from analyzer.observe.alignment import Cut, align

MARKER = st.sampled_from(["<a>", "<b>", "</a>", "</b>", "<|c|>", "[D]", "[/D]", "<call>", "</call>"])
SPACE = st.sampled_from(["", "\n", " ", "\n\n"])


@given(MARKER, MARKER, SPACE, MARKER, MARKER)
def test_different_markers_come_apart(outer: str, opener: str, separator: str, closer: str, end: str) -> None:
    """With markers that differ, every literal is found where it was put."""
    assume(len({outer, opener, closer, end}) == 4)
    cut = align(outer + opener, closer + separator + opener, closer + end)
    assert cut == Cut(outer, opener, closer, separator, end)


@given(MARKER, SPACE, SPACE, MARKER, SPACE)
def test_the_cut_always_spells_the_texts(outer: str, first: str, second: str, marker: str, last: str) -> None:
    """Whatever is shared, the parts put together are the texts that were compared."""
    before, between, after = outer + first + marker, last + second + marker, last + outer
    cut = align(before, between, after)
    assert cut.outer_open + cut.open == before
    assert cut.close + cut.separator + cut.open == between
    assert cut.close + cut.outer_close == after


@pytest.mark.parametrize(
    ("before", "between", "after", "expected"),
    [
        ("\n<c>", "</c>\n<c>", "</c>\n", Cut("", "<c>", "</c>", "\n", "\n") ),
        ("<|s|>", "<|s|>", "<|s|>", Cut("<|s|>", "", "<|s|>", "", "", ambiguous=True)),
    ],
)  # fmt: skip
def test_what_belongs_to_both_goes_by_rule(before: str, between: str, after: str, expected: Cut) -> None:
    """White space that opener and closer share is the separator; a shared marker goes to the closer, and is told."""
    cut = align(before, between, after)
    assert (cut.close, cut.separator, cut.ambiguous) == (
        expected.close,
        expected.separator,
        expected.ambiguous,
    )


def test_one_call_only_has_no_separator() -> None:
    """Without a second call all of the text is outside."""
    assert align("<s><c>", None, "</c></s>") == Cut("", "<s><c>", "</c></s>", "", "")
