"""Needles: unlikely, distinct, and different from series to series."""

from __future__ import annotations

from itertools import combinations

import pytest

from analyzer.observe.needles import Needles, needles


def all_needles(series: Needles) -> list[str]:
    """Return every needle of a series."""
    words = [
        series.uncalled,
        series.system,
        series.user,
        series.follow,
        series.content,
        series.final,
        series.reasoning,
    ]
    for call in series.calls:
        words += [call.name, call.id, *call.keys, *call.values]
    return [*words, *series.results]


@pytest.mark.parametrize("series", [0, 1, 7])
def test_no_needle_is_part_of_another(series: int) -> None:
    """A search for one needle never finds another."""
    words = all_needles(needles(series))
    assert len(set(words)) == len(words)
    assert [(a, b) for a, b in combinations(words, 2) if a in b or b in a] == []


def test_two_series_share_nothing() -> None:
    """Inference that depends on the needles themselves shows when it is run with the second series."""
    first, second = all_needles(needles(0)), all_needles(needles(1))
    assert set(first) & set(second) == set()
    assert sorted({len(word) for word in first}) != sorted({len(word) for word in second})


def test_ids_have_nine_letters_and_digits() -> None:
    """Templates that demand such ids accept the probes."""
    for series in (0, 1):
        for call in needles(series).calls:
            assert len(call.id) == 9
            assert call.id.isalnum()


def test_keys_are_sorted() -> None:
    """A template that sorts arguments writes those of the probes in the order in which they are given."""
    for call in needles(0).calls:
        assert list(call.keys) == sorted(call.keys)
