"""Lexemes: markers, words, white space, single characters; common beginnings and endings in whole lexemes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.observe.lexemes import (
    _MARKER,
    common_prefix,
    common_start,
    common_suffix,
    is_marker,
    lexemes,
    split_space,
)

PIECES = st.lists(
    st.sampled_from(["<a>", "</a>", "<|x|>", "[T]", "[/T]", "word", " ", "\n", "\n\n", ".", "<", "{", "é"])
).map("".join)


@given(st.text())
def test_lexemes_joined_are_the_text(text: str) -> None:
    """Nothing is lost or doubled."""
    assert "".join(lexemes(text)) == text


@given(st.text() | PIECES | st.from_regex(_MARKER, fullmatch=True))
def test_markers_are_told_by_their_first_character(text: str) -> None:
    """No shape of a marker begins with a character that is left out."""
    assert (_MARKER.fullmatch(text) is not None) == is_marker(text)


@given(PIECES)
def test_lexemes_may_be_changed(text: str) -> None:
    """A list that a caller empties is given anew to the next one."""
    first = lexemes(text)
    expected = list(first)
    first.clear()

    assert expected == lexemes(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<tool_call>\n", ["<tool_call>", "\n"]),
        ("<function=", ["<", "function", "="]),
        ("[TOOL_CALLS][", ["[TOOL_CALLS]", "["]),
        ("<|a|>word two", ["<|a|>", "word", " ", "two"]),
        ("<|im start|>x", ["<|im start|>", "x"]),
        ("<:END PARAMETER.:>", ["<:END PARAMETER.:>"]),
        ("<</a>>>>>b<<<", ["<</a>>", ">>>b<<<"]),
        ("a <| b", ["a", " ", "<", "|", " ", "b"]),
        ("@@/callEND MESSAGE.", ["@@/call", "END MESSAGE."]),
        ("[1, 2]", ["[", "1", ",", " ", "2", "]"]),
    ],
)
def test_a_text_is_cut_into_markers_words_and_white_space(text: str, expected: list[str]) -> None:
    """A marker is whole only where its closing bracket stands."""
    assert lexemes(text) == expected


def test_markers_with_a_common_beginning_share_nothing() -> None:
    """Comparing characters would cut inside of both."""
    assert common_prefix("<|call_end|>", "<|calls_end|>") == ""
    assert common_suffix("<|call_end|>", "<|section_end|>") == ""


@given(PIECES, PIECES, PIECES)
def test_a_shared_beginning_is_found(shared: str, left: str, right: str) -> None:
    """What comes out begins both texts, and is at most all of either."""
    found = common_prefix(shared + left, shared + right)
    assert (shared + left).startswith(found)
    assert (shared + right).startswith(found)


@given(PIECES, PIECES, PIECES)
def test_a_shared_ending_is_found(shared: str, left: str, right: str) -> None:
    """What comes out ends both texts."""
    found = common_suffix(left + shared, right + shared)
    assert (left + shared).endswith(found)
    assert (right + shared).endswith(found)


def test_white_space_counts_by_character_in_a_common_start() -> None:
    """Two runs of white space of different length share the shorter one."""
    assert common_prefix("<a>\n", "<a>\n\nx") == "<a>"
    assert common_start("<a>\n", "<a>\n\nx") == "<a>\n"


@pytest.mark.parametrize(
    ("lexeme", "expected"), [("<think>", True), ("[/INST]", True), ("<", False), ("word", False)]
)
def test_a_marker_is_told_from_other_lexemes(lexeme: str, expected: bool) -> None:  # noqa: FBT001
    """Only a whole bracketed word is a marker."""
    assert is_marker(lexeme) is expected


@given(st.text())
def test_splitting_off_white_space_loses_nothing(text: str) -> None:
    """The three parts joined are the text, and the core has no white space at its ends."""
    before, core, after = split_space(text)
    assert before + core + after == text
    assert core == core.strip()
