"""Measures of a user who reads down the list and stops: RBP and ERR."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rankgauge.data.model import Floats, Ints, Labels
from rankgauge.data.rankings import Rankings, offsets_of
from rankgauge.measures.base import Measure
from rankgauge.measures.parameters import (
    Gain,
    GainMap,
    Number,
    Whole,
    gains,
    most_gainful,
    parameter,
)
from rankgauge.measures.registry import register
from rankgauge.measures.ties import NEGLIGIBLE, TiedRankings, mean_reciprocal_rank
from rankgauge.measures.weighted import Weighted
from rankgauge.native import segments as native


class RankBiasedPrecision(Weighted):
    """The rate at which a user gains who goes on to the next document with probability p."""

    name = "RBP"
    summary = "Rank-biased precision: the gain of a user who reads on with probability p."
    formula = (
        "RBP(p)@k = (1 − p) · Σ_{i≤k} p^(i−1) · gain(label_i), binary at rel unless gain is set"
    )
    source = (
        "Moffat and Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness"
    )
    monotone = True
    examples = ("RBP(p=0.8)", "RBP(p=0.95)@100", "RBP(gain=scaled)@20", "RBP(p=0.5,rel=2)")

    p: float = parameter(
        Number(0, 1, closed=False), "persistence: the chance of reading on", default=0.8
    )
    rel: int = parameter(Whole(1), "the lowest label that counts as relevant", default=1)
    gain: str | GainMap | None = parameter(
        Gain(), "graded gain instead of 0 or 1 at rel", default=None
    )

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return (0.0, 1.0 if self.gain in (None, "scaled", "fraction") else np.inf)

    def _weights(self, count: int) -> Floats:
        return np.asarray((1 - self.p) * self.p ** np.arange(count))

    def _gains(self, labels: Labels, max_grade: int) -> Floats:
        if self.gain is None:
            return (labels >= self.rel).astype(np.float64)
        return gains(self.gain, labels, max_grade)

    def _most_gainful(self, max_grade: int) -> int:
        return max_grade if self.gain is None else most_gainful(self.gain, max_grade)


class ExpectedReciprocalRank(Measure):
    """The reciprocal rank at which a user stops whom each document may satisfy."""

    name = "ERR"
    summary = "Expected reciprocal rank: 1/rank where a user stops whom better documents satisfy."
    formula = "ERR@k = Σ_{i≤k} (ρ_i / i) · Π_{j<i} (1 − ρ_j), ρ = (2^label − 1)/2^max_grade"
    source = (
        "Chapelle, Metzler, Zhang and Grinspan 2009, Expected reciprocal rank for graded relevance"
    )
    monotone = True
    expectation = "exact"
    examples = ("ERR@20", "ERR")

    def _stops(self, labels: Labels, max_grade: int) -> Floats:
        """The chance that a document satisfies."""
        return gains("scaled", labels, max_grade)

    def _score(self, lists: Rankings) -> Floats:
        stop = self._stops(lists.labels, lists.judged.max_grade)
        reached = native.segment_cumprod(1 - stop, lists.offsets)
        return lists.sum(reached * stop / lists.ranks)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """Were it known beforehand which documents would satisfy, the user would stop at the first
        of them: the mean reciprocal rank of the first of a, over the chances that a of a group would."""
        stop = self._stops(tied.rankings.labels, tied.rankings.judged.max_grade)
        satisfying = stop > 0
        counts = tied.count(satisfying)
        # Groups whose documents cannot satisfy change nothing.
        groups = np.flatnonzero((counts > 0) & (tied.within(self.depth) > 0))
        stops = stop[satisfying]
        starts = offsets_of(counts)[groups]
        passing = np.log1p(-stop)
        above = native.segment_cumprod(np.exp(tied.sum(passing)), tied.offsets)
        total = np.zeros(len(counts))
        for chosen, chance in chances_of_counts(stops, starts, counts[groups]):
            group = groups[chosen]
            row, hits = np.nonzero(chance[:, 1:] > NEGLIGIBLE)
            mean = mean_reciprocal_rank(
                tied.sizes[group][row], hits + 1, tied.above[group][row], self.depth
            )
            total[group] = np.bincount(
                row, weights=chance[row, hits + 1] * mean, minlength=len(group)
            )
        return tied.over_groups(total * above)


def chances_of_counts(
    chances: Floats, starts: Ints, counts: Ints
) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Segments of independent events, and for each the chance that 0, 1, … of its events happen.

    Segment s has the events starts[s] to starts[s] + counts[s]; it comes in one of several tables,
    with others of about its size.
    """
    scale = np.frexp(counts)[1]
    for size in np.unique(scale):
        chosen = np.flatnonzero(scale == size)
        table = np.zeros((len(chosen), int(counts[chosen].max()) + 1))
        table[:, 0] = 1.0
        for event in range(table.shape[1] - 1):
            place = np.minimum(event, counts[chosen] - 1)
            chance = np.where(event < counts[chosen], chances[starts[chosen] + place], 0.0)
            happened = table[:, :-1] * chance[:, None]
            table *= 1 - chance[:, None]
            table[:, 1:] += happened
        yield chosen, table


RBP = register(RankBiasedPrecision())
ERR = register(ExpectedReciprocalRank())
