"""Markers that open and close the same thing are told by what they say."""

from __future__ import annotations

import pytest

from analyzer.infer.pairing import Pair, are_pair, find_pair


@pytest.mark.parametrize(
    ("opener", "closer", "expected"),
    [
        ("<think>", "</think>", True),
        ("[THINK]", "[/THINK]", True),
        ("<|START_THINKING|>", "<|END_THINKING|>", True),
        ("<|channel>", "<channel|>", True),
        ("<think>", "</answer>", False),
        ("<|sep|>", "<|close|>", False),
        ("<a>", "<a>", False),
    ],
)
def test_pairs_share_a_word(opener: str, closer: str, expected: bool) -> None:  # noqa: FBT001
    """Words such as `start` and `end` do not count, and a marker does not close itself."""
    assert are_pair(opener, closer) is expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("<|a|>\n<think>\n", "\n</think>\n\nText", Pair("<think>\n", "\n</think>\n\n")),
        ("<|t|>m\n<|channel>thought\n", "\n<channel|>Text", Pair("<|channel>thought\n", "\n<channel|>")),
        (
            "<|open|>message<|sep|><|open|>think<|sep|>",
            "<|close|>think<|sep|><|open|>response<|sep|>",
            Pair("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
        ),
        ("<|begin_assistant|>\n", "\n[FINAL RESPONSE]\n", None),
        ("<think>", "text", None),
    ],
)
def test_the_pair_around_a_slot_is_found(before: str, after: str, expected: Pair | None) -> None:
    """The last marker before the slot, or a run of lexemes that differs in its first marker only."""
    assert find_pair(before, after) == expected
