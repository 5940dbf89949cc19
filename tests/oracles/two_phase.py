"""Two-phase estimates straight from their definition, one number at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy import stats

Matrix = Sequence[Sequence[float]]


class Estimate(NamedTuple):
    """An estimate and its interval."""

    mean: float
    low: float
    high: float


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def ratio(deep: Matrix, shallow: Matrix, chosen: Sequence[int]) -> float:
    """ΣΣy / ΣΣx over runs and deep queries."""
    above = math.fsum(itertools.chain.from_iterable(deep))
    return above / math.fsum(row[topic] for row in shallow for topic in chosen)


def estimates(deep: Matrix, shallow: Matrix, chosen: Sequence[int], level: float) -> list[Estimate]:
    """The estimate of each run, within 0 to 1; `deep` has a column for each query of `chosen`."""
    b = ratio(deep, shallow, chosen)
    return [
        Estimate(*(min(max(number, 0.0), 1.0) for number in estimate))
        for estimate in _with_intervals(deep, shallow, chosen, level, b)
    ]


def differences(
    deep: Matrix, shallow: Matrix, chosen: Sequence[int], level: float
) -> list[Estimate]:
    """The same for the differences of all pairs of runs, with the ratio of the runs, within −1 to 1."""
    b = ratio(deep, shallow, chosen)
    pairs = list(itertools.combinations(range(len(deep)), 2))
    y = [[p - q for p, q in zip(deep[i], deep[j], strict=True)] for i, j in pairs]
    x = [[p - q for p, q in zip(shallow[i], shallow[j], strict=True)] for i, j in pairs]
    return [
        Estimate(*(min(max(number, -1.0), 1.0) for number in estimate))
        for estimate in _with_intervals(y, x, chosen, level, b)
    ]


def _with_intervals(
    deep: Matrix, shallow: Matrix, chosen: Sequence[int], level: float, b: float
) -> list[Estimate]:
    m, everything = len(chosen), len(shallow[0])
    centers, own = [], []
    for y, row in zip(deep, shallow, strict=True):
        x = [row[topic] for topic in chosen]
        centers.append(mean(y) + b * (mean(row) - mean(x)))
        residuals = [(p - mean(y)) - b * (q - mean(x)) for p, q in zip(y, x, strict=True)]
        own.append(math.fsum(e * e for e in residuals) / (m - 1) * (1 / m - 1 / everything))
    t = float(stats.t.ppf(0.5 + level / 2, m - 1))
    halves = [t * math.sqrt(max(variance, mean(own))) for variance in own]
    return [Estimate(c, c - half, c + half) for c, half in zip(centers, halves, strict=True)]
