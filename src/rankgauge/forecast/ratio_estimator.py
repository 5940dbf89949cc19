"""The ratio estimator of two-phase samples, on plain arrays.

All M queries have shallow scores x. The deep scores y are known on m queries, chosen at random. One
ratio serves all runs: b = ΣΣy / ΣΣx, over runs and deep queries. The deep mean of a run over all M
queries is estimated by ȳ + b (X̄ − x̄), where X̄ is over all queries, and ȳ and x̄ are over the deep
queries. Its variance is s² (1/m − 1/M), where s² is the variance of the residuals
(y − ȳ) − b (x − x̄). A run's own s² from a few queries is often too small by chance, so each run has at
least the mean s² of all runs (Cochran, Sampling Techniques, 1977, chapters 6 and 12; the common ratio
and the floor are ours).

If the range of the scores is known, estimates and ends of intervals beyond it are moved to its nearest
end. The truth is within the range, so an interval holds as often as before.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.rounding import ROUNDING

Limits: TypeAlias = tuple[float, float]
"""The lowest and the highest possible score."""
UNLIMITED: Limits = (-np.inf, np.inf)


class Estimates(NamedTuple):
    """Values, the ends of their intervals, and the p-values of the hypothesis that they are 0."""

    value: Floats
    low: Floats
    high: Floats
    p: Floats


class RatioEstimate:
    """The estimates of the deep means of all runs.

    Parameters
    ----------
    shallow: run × query, the shallow scores on all queries.
    deep: run × deep query, the deep scores.
    chosen: the number of each deep query among all queries.
    level: the confidence level of the intervals.
    limits: the least and the greatest deep score that there can be.
    """

    def __init__(
        self,
        shallow: Floats,
        deep: Floats,
        chosen: Ints,
        level: float,
        limits: Limits = UNLIMITED,
    ) -> None:
        self.queries, self.deep_queries, self.level = shallow.shape[1], deep.shape[1], level
        self._limits = limits
        beside = shallow[:, chosen]
        self.ratio = common_ratio(deep, beside)
        slope = 0.0 if np.isnan(self.ratio) else self.ratio
        self.deep_mean, self.shallow_mean = deep.mean(axis=1), shallow.mean(axis=1)
        self._mean = self.deep_mean
        if self.deep_queries < self.queries:
            self._mean = self.deep_mean + slope * (self.shallow_mean - beside.mean(axis=1))
        self._of_deep = _center_scores(deep)
        self._residuals = self._of_deep - slope * _center_scores(beside)

    @property
    def variance(self) -> Floats:
        """The variance s² of the residuals of each run; NaN for a single deep query."""
        return self._variance_from_sums((self._residuals**2).sum(axis=1))

    @property
    def pooled_variance(self) -> float:
        """The mean of s² over the runs."""
        return float(self.variance.mean())

    def runs(self) -> Estimates:
        """The estimate of each run."""
        return self._interval(self._mean, _floor_at_mean(self.variance), self._limits)

    def deep_alone(self) -> Estimates:
        """The mean of each run over the deep queries, as an estimate of the mean over all queries."""
        variance = self._variance_from_sums((self._of_deep**2).sum(axis=1))
        return self._interval(self.deep_mean, variance, self._limits)

    def pairs(self, first: Ints, second: Ints) -> Estimates:
        """The difference of each pair of runs.

        The formulas are those for runs, applied to differences of scores. The ratio stays the
        common ratio of all runs, so that the difference equals the difference of the two estimates
        before they are clipped to the range of the scores.
        """
        squares = self._residuals @ self._residuals.T
        own = np.diag(squares)
        terms = own[first] + own[second]
        sums = terms - 2 * squares[first, second]
        sums[sums <= ROUNDING * terms] = 0.0
        difference = self._mean[first] - self._mean[second]
        greatest = np.maximum(np.abs(self._mean[first]), np.abs(self._mean[second]))
        difference[np.abs(difference) <= ROUNDING * greatest] = 0.0
        furthest = self._limits[1] - self._limits[0]
        variance = _floor_at_mean(self._variance_from_sums(sums))
        return self._interval(difference, variance, (-furthest, furthest))

    def _variance_from_sums(self, sums: Floats) -> Floats:
        """Sums of squares as variances."""
        if self.deep_queries < 2:
            return np.full(len(sums), np.nan)
        return np.asarray(sums / (self.deep_queries - 1))

    def _interval(self, value: Floats, variance: Floats, limits: Limits) -> Estimates:
        from scipy.special import stdtr

        half = half_width(variance, self.deep_queries, self.queries, self.level)
        error = np.sqrt(variance * sampling_factor(self.deep_queries, self.queries))
        if self.deep_queries == self.queries:
            error = np.zeros(len(value))
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(value == 0, 0.0 * error, np.abs(value) / error)
        p = 2 * stdtr(max(1, self.deep_queries - 1), -t)
        inside, low, high = (np.clip(each, *limits) for each in (value, value - half, value + half))
        return Estimates(inside, low, high, np.asarray(p))


def common_ratio(deep: Floats, shallow: Floats) -> float:
    """ΣΣy / ΣΣx over runs and deep queries; NaN if the shallow scores sum to 0.

    >>> common_ratio(np.array([[0.2, 0.4]]), np.array([[0.4, 0.8]]))
    0.5
    """
    total = float(shallow.sum())
    if abs(total) <= ROUNDING * float(np.abs(shallow).sum()):
        return float("nan")
    return float(deep.sum()) / total


def sampling_factor(deep_queries: int, topics: int) -> float:
    """1/m − 1/M, by which s² is multiplied; 0 if all queries are deep."""
    return 1 / deep_queries - 1 / topics if deep_queries < topics else 0.0


def half_width(variance: Floats, deep_queries: int, topics: int, level: float) -> Floats:
    """Half the width of intervals: t(m − 1) · √(s² (1/m − 1/M)).

    It is 0 if all queries are deep. Otherwise it is NaN for a single deep query.
    """
    from scipy.special import stdtrit

    if deep_queries == topics:
        return np.zeros(np.shape(variance))
    if deep_queries < 2:
        return np.full(np.shape(variance), np.nan)
    t = stdtrit(deep_queries - 1, 0.5 + level / 2)
    return np.asarray(t * np.sqrt(variance * sampling_factor(deep_queries, topics)))


def _center_scores(values: Floats) -> Floats:
    """The scores of each run minus their mean; exactly 0 where all are equal."""
    apart = values - values.mean(axis=1, keepdims=True)
    return np.where(np.ptp(values, axis=1, keepdims=True) == 0, 0.0, apart)


def _floor_at_mean(variance: Floats) -> Floats:
    return np.maximum(variance, variance.mean()) if len(variance) else variance
