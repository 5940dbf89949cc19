"""How good forecasts are: over the rows of a track, and over its systems."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rankgauge.arrays import Floats, Ints
from rankgauge.comparison.correlation import concordance_of

FEWEST = 3


class ForecastQuality(NamedTuple):
    """R², τ-a, τ-b and ρ over rows, and τ over the means of systems; NaN where it is undefined."""

    r2: float
    tau_a: float
    tau_b: float
    rho: float
    system_tau: float


def quality_of(target: Floats, forecast: Floats, systems: Ints | None) -> ForecastQuality:
    """The quality of forecasts of the rows of one track. `systems` has the number of the run of each
    row; None where runs have different topics, so that their means cannot be compared."""
    if len(target) < FEWEST:
        return ForecastQuality(*(math.nan,) * 5)
    spread = float(((target - target.mean()) ** 2).sum())
    r2 = 1 - float(((target - forecast) ** 2).sum()) / spread if spread else math.nan
    tau_a, tau_b = taus(target, forecast)
    return ForecastQuality(
        r2, tau_a, tau_b, _spearman(target, forecast), _system_tau(target, forecast, systems)
    )


def taus(x: Floats, y: Floats) -> tuple[float, float]:
    """Kendall's τ-a, by the number of all pairs (the paper's Equation 2), and τ-b, which allows for
    ties."""
    from scipy.stats import kendalltau

    pairs = len(x) * (len(x) - 1) / 2
    untied = [pairs - _tied(values) for values in (x, y)]
    if not min(untied):
        return 0.0, math.nan
    tau_b = float(kendalltau(x, y).statistic)
    return tau_b * math.sqrt(untied[0] * untied[1]) / pairs, tau_b


def _tied(values: Floats) -> float:
    counts = np.unique(values, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1) / 2).sum())


def _spearman(x: Floats, y: Floats) -> float:
    from scipy.stats import rankdata

    first, second = rankdata(x), rankdata(y)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return math.nan
    return float(np.corrcoef(first, second)[0, 1])


def _system_tau(target: Floats, forecast: Floats, systems: Ints | None) -> float:
    if systems is None:
        return math.nan
    numbers, inverse = np.unique(systems, return_inverse=True)
    if len(numbers) < FEWEST:
        return math.nan
    counts = np.bincount(inverse)
    means = [np.bincount(inverse, values) / counts for values in (target, forecast)]
    return concordance_of(means[0], means[1]).tau
