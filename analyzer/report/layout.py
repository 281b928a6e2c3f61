"""A map: points in the plane whose distances are as near to given ones as they can be.

Stress is lowered pair by pair, in random order and with shrinking steps (stochastic gradient descent on the sum of
`(|x_i - x_j| - d_ij)^2 / d_ij^2`), so that near neighbours count most.  Then discs that overlap are pushed apart.  The random
numbers are seeded: the same distances give the same map.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Final, TypeAlias

Point: TypeAlias = tuple[float, float]

_ROUNDS: Final = 24
_LAST_STEP: Final = 0.05
_PUSHES: Final = 60
_NEAR: Final = 0.05
"""The least distance between two points."""


def place(distances: Sequence[Sequence[float]], seed: int = 0) -> list[Point]:
    """One point for each row of a symmetric matrix of distances."""
    count = len(distances)
    chance = random.Random(seed)  # noqa: S311  (repeatable, not secret)
    xs = [chance.random() for _ in range(count)]
    ys = [chance.random() for _ in range(count)]
    wanted = [(one, other, max(distances[one][other], _NEAR)) for one in range(count) for other in range(one)]
    for number in range(_ROUNDS):
        chance.shuffle(wanted)
        step = math.exp(math.log(_LAST_STEP) * number / (_ROUNDS - 1))
        for one, other, distance in wanted:
            across, down = xs[one] - xs[other], ys[one] - ys[other]
            apart = math.hypot(across, down) or 1e-9
            share = min(1.0, step / (distance * distance)) * (apart - distance) / 2 / apart
            xs[one] -= share * across
            ys[one] -= share * down
            xs[other] += share * across
            ys[other] += share * down
    return list(zip(xs, ys, strict=True))


def stress(distances: Sequence[Sequence[float]], points: Sequence[Point]) -> float:
    """How far the map is from the distances: 0 for exact, about 0.3 for points at random."""
    lost = total = 0.0
    for one, (x, y) in enumerate(points):
        for other in range(one):
            apart = math.hypot(x - points[other][0], y - points[other][1])
            lost += (apart - distances[one][other]) ** 2
            total += distances[one][other] ** 2
    return math.sqrt(lost / total) if total else 0.0


def fit(points: Sequence[Point], radii: Sequence[float], width: float, height: float) -> list[Point]:
    """The points in a frame, moved so that discs of these radii overlap little and stay inside."""
    if not points:
        return []
    margin = max(radii) + 4
    xs = _stretched([x for x, _ in points], margin, width - margin)
    ys = _stretched([y for _, y in points], margin, height - margin)
    for _ in range(_PUSHES):
        moved = False
        for one in range(len(points)):
            for other in range(one):
                across, down = xs[one] - xs[other], ys[one] - ys[other]
                room = radii[one] + radii[other] + 1
                if abs(across) >= room or abs(down) >= room:
                    continue
                apart = math.hypot(across, down) or 1e-9
                if apart >= room:
                    continue
                push = (room - apart) / 2 / apart
                xs[one] += push * across or 0.01
                ys[one] += push * down
                xs[other] -= push * across
                ys[other] -= push * down
                moved = True
        for at, radius in enumerate(radii):
            xs[at] = min(max(xs[at], radius + 2), width - radius - 2)
            ys[at] = min(max(ys[at], radius + 2), height - radius - 2)
        if not moved:
            break
    return list(zip(xs, ys, strict=True))


def _stretched(values: Sequence[float], low: float, high: float) -> list[float]:
    first, last = min(values), max(values)
    if last - first < 1e-9:  # noqa: PLR2004  (one point, or all in one place)
        return [(low + high) / 2 for _ in values]
    return [low + (value - first) / (last - first) * (high - low) for value in values]
