"""How good forecasts are: over the rows of a track, and over its systems; and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rankgauge.comparison import rank_correlations
from rankgauge.extending import Floats, Ints, Record, round_values
from rankgauge_studies.verdicts import IntervalEstimate

FEWEST = 3
LEVEL = 0.95


class ForecastQuality(NamedTuple):
    """R², τ-a, τ-b and ρ over rows, and τ-a over the means of systems; NaN where it is undefined."""

    r2: float
    tau_a: float
    tau_b: float
    rho: float
    system_tau: float


NUMBERS = ForecastQuality._fields
ROW_NUMBERS = NUMBERS[:4]


def quality_of(target: Floats, forecast: Floats, systems: Ints | None) -> ForecastQuality:
    """The quality of forecasts of the rows of one track.

    `systems` has the number of the run of each row; None where runs have different queries, so that
    their means cannot be compared.
    """
    if len(target) < FEWEST:
        return ForecastQuality(*(math.nan,) * len(NUMBERS))
    tau_a, tau_b, rho = rank_correlations(target, forecast)
    system_tau = math.nan if systems is None else _system_tau(target, forecast, systems)
    return ForecastQuality(_r_squared(target, forecast), tau_a, tau_b, rho, system_tau)


def _r_squared(target: Floats, forecast: Floats) -> float:
    """1 − squared error / spread of the target; NaN where all targets are the same."""
    spread = float(((target - target.mean()) ** 2).sum())
    return 1 - float(((target - forecast) ** 2).sum()) / spread if spread else math.nan


def _system_tau(target: Floats, forecast: Floats, systems: Ints) -> float:
    """τ-a of the means of systems. Means that differ by rounding alone are tied."""
    numbers, inverse = np.unique(systems, return_inverse=True)
    if len(numbers) < FEWEST:
        return math.nan
    counts = np.bincount(inverse)
    means = [np.bincount(inverse, values) / counts for values in (target, forecast)]
    first, second = (round_values(each, np.abs(each).max()) for each in means)
    signs = np.sign(first[:, None] - first) * np.sign(second[:, None] - second)
    return float(signs.sum()) / (len(numbers) * (len(numbers) - 1))


class StudyNumber(Record):
    """A number of the study, and what its interval is made of.

    `repeats` has the number for each repetition of a split. `halves` has it for two halves of the
    queries (the rows), for each of several ways to halve them (the columns).
    """

    value: float
    repeats: Floats
    halves: Floats

    @property
    def standard_error(self) -> float:
        """How far the mean over the repetitions is off by the choice of the splits."""
        known = self.repeats[np.isfinite(self.repeats)]
        return float(np.std(known, ddof=1)) / math.sqrt(len(known)) if len(known) > 1 else 0.0

    @property
    def amount(self) -> IntervalEstimate:
        """The number with its 95% interval: for other queries like these, and other splits.

        The variance over queries is the mean of (a − b)²/4 over the ways to halve them: two halves vary
        twice as much as the whole, and their difference twice as much again. This also holds for τ, of
        which a jackknife makes too much. The variance of the mean over repetitions comes on top. The
        interval is by Student's t with a degree of freedom for each way to halve. NaN where fewer than
        two ways have a number.
        """
        from scipy.stats import t

        squares = (self.halves[0] - self.halves[1]) ** 2 / 4
        known = squares[np.isfinite(squares)]
        if len(known) < 2 or not math.isfinite(self.value):
            return IntervalEstimate(self.value, math.nan, math.nan)
        half = float(t.ppf((1 + LEVEL) / 2, len(known)))
        half *= math.sqrt(float(known.mean()) + self.standard_error**2)
        return IntervalEstimate(self.value, self.value - half, self.value + half)


def estimate_of(estimate: StudyNumber | None) -> IntervalEstimate:
    """The number with its interval; all NaN where there is none."""
    return IntervalEstimate(math.nan, math.nan, math.nan) if estimate is None else estimate.amount


def combine_numbers(
    formula: Callable[..., Floats], estimates: Sequence[StudyNumber]
) -> StudyNumber:
    """What a formula makes of several estimates on the same queries and splits.

    A split that is not drawn has one repetition, which goes with all those of the others.
    """
    drawn = [len(each.repeats) for each in estimates if len(each.repeats) > 1]
    count = min(drawn, default=1)
    repeats = [np.resize(each.repeats, count) for each in estimates]
    value = float(formula(*(np.array(each.value) for each in estimates)))
    return StudyNumber(value, formula(*repeats), formula(*(each.halves for each in estimates)))


def mean_of(estimates: Sequence[StudyNumber]) -> StudyNumber | None:
    """Return the mean of several numbers, each of the same weight.

    Undefined numbers are left out. The result is None if all are undefined.
    """
    known = [each for each in estimates if math.isfinite(each.value)]
    return combine_numbers(lambda *values: np.mean(values, axis=0), known) if known else None
