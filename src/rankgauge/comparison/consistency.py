"""Would other queries give the same result? The disagreement between two halves of the queries.

The queries are split at random into two halves, many times. Each half gives each run a mean. A swap is a
pair of runs that the two halves put in opposite orders (Voorhees and Buckley 2002; Sakai 2006). A
difference of at most `fuzziness` times the greater mean counts as a tie (Buckley and Voorhees 2000).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.records import Record
from rankgauge.core.resampling import CELLS, SamplingOptions
from rankgauge.core.rounding import ROUNDING, greatest_magnitude
from rankgauge.errors import RankgaugeError
from rankgauge.native.differences import agreements

BINS = 40
LEAST_DECISIONS = 100
"""Minimum number of decisions for the swap rate of a difference size to count."""


class Splits(Record):
    """How far two halves of the queries agree on pairs of runs, over many splits.

    `queries` is the number of queries in a half. `tau` has for each split Kendall's τ between the orders
    of the runs by the two halves; fuzziness does not change it. A decision is a pair of runs and a split
    in which neither half ties the two runs. `tied` counts the pairs and splits with a tie. `edges` are
    sizes of the difference on the first half. From each edge to the next, `decided` counts the
    decisions, and `swapped` counts the decisions in which the halves disagree. The last edge has no end.
    """

    _renamed: ClassVar[dict[str, str]] = {"topics": "queries", "trusted": "trust_threshold"}

    queries: int
    tau: Floats
    tied: int
    edges: Floats
    decided: Ints
    swapped: Ints

    def to_dict(self) -> dict[str, Any]:
        """The numbers for each split and each size of difference, as lists that JSON can hold."""
        names = ("edges", "tau", "tied", "decided", "swapped")
        return {name: np.asarray(getattr(self, name)).tolist() for name in names}

    @property
    def swap_rate(self) -> float:
        """The share of the decisions in which the halves disagree; NaN if there is no decision."""
        decisions = self.decided.sum()
        return float(self.swapped.sum() / decisions) if decisions else float("nan")

    @property
    def tie_rate(self) -> float:
        """The share of all pairs and splits in which a half ties the two runs."""
        return float(self.tied / (self.tied + self.decided.sum()))

    @property
    def swap_rates(self) -> Floats:
        """The swap rate from each edge to the next; NaN if there is no decision."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.swapped / self.decided)

    def trust_threshold(self, rate: float = 0.05) -> tuple[float, float]:
        """The size from which on differences can be trusted, and the share of decisions that reach it.

        From this size on, differences have a swap rate of at most `rate`. The share is the share of the
        decisions with a difference of this size or more.

        The two are NaN and 0 if there is no such size. Both are NaN if there are too few decisions.
        Beginning with the greatest, sizes are pooled until they have `LEAST_DECISIONS` decisions.
        """
        if self.decided.sum() < LEAST_DECISIONS:
            return float("nan"), float("nan")
        first, decided, swapped = len(self.edges), 0, 0
        for place in range(len(self.edges) - 1, -1, -1):
            decided += int(self.decided[place])
            swapped += int(self.swapped[place])
            if decided >= LEAST_DECISIONS:
                if swapped > rate * decided:
                    break
                first, decided, swapped = place, 0, 0
        else:
            first = first if decided else 0
        if first == len(self.edges):
            return float("nan"), 0.0
        return float(self.edges[first]), float(self.decided[first:].sum() / self.decided.sum())


def split_halves(
    values: Floats, first: Ints, second: Ints, drawing: SamplingOptions, fuzziness: float = 0.0
) -> Splits:
    """Split the queries into random halves, many times, and count the disagreements of the halves.

    If the number of queries is odd, one query is in neither half.

    Parameters
    ----------
    values: the scores, run × query.
    first: the number of the first run of each pair.
    second: the number of the second run of each pair.
    drawing: how many splits, and their seed.
    fuzziness: two runs are tied if their means differ by at most this share of the larger mean.
    """
    topics = values.shape[1]
    half = topics // 2
    if not half:
        raise RankgaugeError("1 query, expected at least two to split them into halves")
    least = ROUNDING * greatest_magnitude(values)
    differences = values.mean(axis=1)[first] - values.mean(axis=1)[second]
    greatest = float(np.abs(differences).max(initial=0.0))
    edges = np.linspace(0.0, greatest if greatest > least else 1.0, BINS, endpoint=False)
    tau = np.empty(drawing.samples)
    decided, swapped = np.zeros(BINS, dtype=np.int64), np.zeros(BINS, dtype=np.int64)
    tied = 0
    first, second = (np.ascontiguousarray(side, dtype=np.intp) for side in (first, second))
    step = max(1, CELLS // 4 // topics)
    for start in range(0, drawing.samples, step):
        some = range(start, min(start + step, drawing.samples))
        one, other = (
            np.ascontiguousarray((values @ counts / half).T)
            for counts in _halves(topics, half, some, drawing)
        )
        agreed, ties = agreements(
            one, other, first, second, least, fuzziness, float(edges[1]), decided, swapped
        )
        tau[start : start + len(some)] = agreed / len(first)
        tied += ties
    return Splits(half, tau, tied, edges, decided, swapped)


def _halves(
    topics: int, half: int, splits: range, drawing: SamplingOptions
) -> tuple[Floats, Floats]:
    """For either half, query × split: 1 for the queries of the half. Each split has its own seed."""
    one, other = np.zeros((topics, len(splits))), np.zeros((topics, len(splits)))
    for column, split in enumerate(splits):
        order = drawing.random(split).permutation(topics)
        one[order[:half], column] = 1.0
        other[order[half : 2 * half], column] = 1.0
    return one, other


# How far apart the means of systems are, as the UE papers have it


def absolute_difference(means: Floats, safe: bool = False) -> float:
    """PAD of the UE papers: the mean over pairs of systems of |a − b| / max(a, b), in percent.

    This makes no sense if a mean is 0 or below: PAD can then be huge or negative. safe=True divides by
    max(|a|, |b|) instead. Both change if a constant is added to all scores. So do not use them to
    compare measures for which 0 has different meanings.

    >>> round(absolute_difference(np.array([0.2, 0.4])), 1)
    50.0
    """
    first, second = np.triu_indices(len(means), 1)
    a, b = means[first], means[second]
    most = np.maximum(np.abs(a), np.abs(b)) if safe else np.maximum(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.abs(a - b) / most
    shares[a == b] = 0.0
    return float(100 * shares.mean()) if len(shares) else float("nan")
