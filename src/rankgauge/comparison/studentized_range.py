"""The distribution of the studentized range, for many values at once.

scipy's takes some hundredths of a second for each value; of all pairs of a hundred systems there are
thousands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from rankgauge.core.arrays import Floats

_TAIL = 1e-18
"""The part of an integral omitted on either side."""


class LogEstimate:
    """The logarithm of an estimate of a standard deviation of 1 with `df` degrees of freedom.

    It is given by all points that matter, `step` apart, and by their weights in a sum that is an
    expectation.
    """

    def __init__(self, df: int) -> None:
        from scipy.special import gammainccinv, gammaincinv

        half = df / 2
        self.df = df
        self.step = min(0.05, 0.2 / np.sqrt(2 * df))
        ends = (0.5 * np.log(of(half, _TAIL) / half) for of in (gammaincinv, gammainccinv))
        low, high = (end / self.step for end in ends)
        self.offsets = np.arange(int(np.floor(low)), int(np.ceil(high)) + 1)
        self.points = self.offsets * self.step
        self._total = self._density(self.points).sum()

    def weight(self, points: Floats) -> Floats:
        """The density at each point, such that the weights of points a step apart add up to 1."""
        return np.asarray(self._density(points) / self._total)

    def expectation(self, function: Callable[[Floats], Floats]) -> float:
        """The expectation of a smooth function of the estimate."""
        return float(self.weight(self.points) @ function(np.exp(self.points)))

    def _density(self, points: Floats) -> Floats:
        """s^df · e^(−df·s²/2) at ln s, without its constant."""
        return np.asarray(np.exp(self.df / 2 * (2 * points - np.expm1(2 * points))))


def upper_tail(q: Floats, groups: int, df: int) -> Floats:
    """P(Q ≥ q) for each q, where Q is a studentized range.

    Q is the range of so many (`groups`) standard normals over an independent estimate of their standard
    deviation with `df` degrees of freedom.

    With S that estimate and R(w) the probability that the range is w or more,
    P(Q ≥ q) = ∫ f_S(s) R(qs) ds. In v = ln s this is ∫ g(v) R(e^(ln q + v)) dv, a sum over points that
    are evenly apart, which for such functions is as good as exact; and R is needed only on one grid
    of ln w, whatever the q.

    >>> upper_tail(np.array([0.0, 3.877]), 3, 10).round(3).tolist()
    [1.0, 0.05]
    """
    from scipy.special import stdtr

    if groups == 2:
        return np.asarray(2 * stdtr(df, -np.asarray(q) / np.sqrt(2)))
    result = np.ones(len(q))
    positive = q > 0
    if not positive.any():
        return result
    estimate = LogEstimate(df)
    offsets, step = estimate.offsets, estimate.step
    places = np.log(q[positive]) / step
    nearest = np.rint(places).astype(np.int64)
    grid = np.arange(nearest.min() + offsets[0], nearest.max() + offsets[-1] + 1)
    beyond = _range_tail(np.exp(grid * step), groups)
    tails = np.empty(len(places))
    block = max(1, 1_000_000 // len(offsets))
    for start in range(0, len(places), block):
        some = slice(start, start + block)
        v = ((nearest[some] - places[some])[:, None] + offsets) * step
        index = (nearest[some] - grid[0])[:, None] + offsets
        tails[some] = (estimate.weight(v) * beyond[index]).sum(axis=1)
    result[positive] = np.minimum(tails, 1.0)
    return result


@lru_cache
def critical_value(share: float, groups: int, df: int) -> float:
    """The q that is reached with the probability `share`.

    >>> round(critical_value(0.05, 3, 10), 3)
    3.877
    """
    from scipy.optimize import brentq
    from scipy.special import stdtrit

    if groups == 2:
        return float(np.sqrt(2) * stdtrit(df, 1 - share / 2))

    def above(log_q: float) -> float:
        return float(upper_tail(np.exp([log_q]), groups, df)[0]) - share

    return float(np.exp(brentq(above, np.log(1e-12), np.log(1e12), xtol=1e-14)))


def _range_tail(widths: Floats, groups: int) -> Floats:
    """The probability that the range of so many standard normals is at least each width.

    k ∫ φ(z) [Φ(z)^(k-1) − (Φ(z) − Φ(z−w))^(k-1)] dz: the greatest is at z, and not all of the others
    are within w below it.
    """
    from scipy.special import log_ndtr

    step = 0.1
    z = np.arange(-9.0, 9.0 + step, step)
    log_phi = log_ndtr(z)
    density = np.exp(-0.5 * z**2 + (groups - 1) * log_phi) * (groups * step / np.sqrt(2 * np.pi))
    tail = np.empty(len(widths))
    block = 4096
    for start in range(0, len(widths), block):
        some = widths[start : start + block, None]
        below = np.exp(log_ndtr(z - some) - log_phi)
        with np.errstate(divide="ignore"):
            outside = -np.expm1((groups - 1) * np.log1p(-np.minimum(below, 1.0)))
        tail[start : start + block] = outside @ density
    return tail
