from __future__ import annotations

import math
import random

from hypothesis import given
from hypothesis import strategies as st

from analyzer.report.families import distance, families
from analyzer.report.layout import fit, place, stress
from tests.report.conftest import NAMES, own_subject

PLANE = st.lists(
    st.tuples(st.floats(0, 1, allow_nan=False), st.floats(0, 1, allow_nan=False)), min_size=2, max_size=12
)


@given(PLANE)
def test_points_of_a_plane_are_found_again(points: list[tuple[float, float]]) -> None:
    """Distances of real points are laid out nearly exactly, and far better than points at random; twice the same."""
    distances = [
        [max(math.dist(one, other), 0.05) * (one is not other) for other in points] for one in points
    ]
    placed = place(distances)
    chance = random.Random(1)  # noqa: S311  (repeatable, not secret)
    thrown = [(chance.random(), chance.random()) for _ in points]

    assert placed == place(distances)
    assert stress(distances, placed) < 0.35
    assert stress(distances, placed) <= stress(distances, thrown) + 0.05


@given(PLANE, st.integers(3, 30))
def test_discs_stay_in_their_frame(points: list[tuple[float, float]], size: int) -> None:
    """Every disc is whole."""
    radii = [float(size)] * len(points)
    for (x, y), radius in zip(fit(points, radii, 800, 500), radii, strict=True):
        assert radius <= x <= 800 - radius
        assert radius <= y <= 500 - radius


def test_families_are_equal_formats() -> None:
    """Two templates with one format are one family, the largest; distance is 0 to itself, alike both ways, at most 1."""
    subjects = [*map(own_subject, NAMES), own_subject(NAMES[0])]
    found = families(subjects)

    assert len(NAMES) == len(found)
    assert 2 == len(found[0].members)
    for one in found:
        assert 0 == distance(one, one)
        for other in found:
            assert distance(one, other) == distance(other, one)
            assert 0 < distance(one, other) <= 1 or one is other
