"""Measures that weigh ranks and add gains: Σ weight(i) · gain(label at i) / divisor(query).

Precision, recall, cumulative gains and rank-biased precision all have this form, so their best,
worst and expected values are written once, here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.errors import MeasureError
from rankgauge.measures.base import Binary, Measure, ratio
from rankgauge.measures.labeling import label_unjudged
from rankgauge.rankings.flips import Places
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

MOST_RANKS = 1_000_000
"""Over how many ranks weights are added up one by one, where ranks without documents count too."""


class GainMeasure(Measure):
    """A measure that uses only the gain of a label. Its best order is by gain, not by label."""

    def _gains(self, labels: Labels, max_grade: int) -> Floats:
        """The gain of each label; 0 for an unjudged document."""
        raise NotImplementedError

    def _most_gainful(self, max_grade: int) -> int:
        """The label from 0 to `max_grade` with the highest gain."""
        return max_grade

    def _merit(self, labels: Labels, max_grade: int) -> Floats:
        return self._gains(labels, max_grade)

    def _merged_labels(self, labels: Labels, max_grade: int) -> Labels:
        kinds, number = np.unique(labels, return_inverse=True)
        _, first, gain = np.unique(
            self._gains(kinds, max_grade), return_index=True, return_inverse=True
        )
        return np.asarray(kinds[first][gain][number])

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        if not self.monotone:
            return super().bounds_each(rankings)
        best = self._most_gainful(rankings.judged.max_grade)
        return self.score_each(label_unjudged(rankings, 0)), self.score_each(
            label_unjudged(rankings, best)
        )


class Weighted(GainMeasure):
    """A base class for measures that add up gains of labels, each weighted by its rank.

        score = Σ_i weight(i) · gain(label at rank i) / divisor(query)

    A subclass defines `_weights` and `_gains`, and `_divisor` unless it is 1. Weights never rise
    from rank to rank, and no gain is below 0. The best, the worst and the expected scores, the
    variance, and what a swap of neighbors changes follow from these.

    Parameters
    ----------
    cutoff : int, optional
        How many documents of a ranking count; by default all. `measure @ 10` sets it too.

    Examples
    --------
    >>> class Halving(Weighted):
    ...     name = "Halving"
    ...     def _weights(self, count):
    ...         return 0.5 ** np.arange(1, count + 1)
    ...     def _gains(self, labels, max_grade):
    ...         return np.maximum(labels, 0.0)
    >>> Halving().score([1, 0, 1]), Halving().ideal([1, 0, 1])
    (0.625, 0.75)
    """

    swap_monotone = True
    ideal_is_best = True
    tail_matters = False
    expectation = "exact"
    looks_above = False
    _distance = "fixed_weights"

    def _weights(self, count: int) -> Floats:
        """The weights of ranks 1 to `count`, none greater than the one before."""
        raise NotImplementedError

    def _divisor(self, judged: JudgedLabels) -> Floats:
        """What each query's sum is divided by; where it is 0 the score is 0."""
        return np.ones(len(judged))

    def divisor_each(self, judged: JudgedLabels) -> Floats:
        return self.complete()._divisor(judged)

    def _total(self, lists: Rankings) -> Floats:
        """The weighted sum of gains of each list."""
        gains = self._gains(lists.labels, lists.judged.max_grade)
        return lists.sum(self._apply_weights(gains, lists.ranks))

    def _apply_weights(self, gains: Floats, ranks: Ints) -> Floats:
        """Each gain times the weight of its rank."""
        return self._weights(int(ranks.max(initial=0)))[ranks - 1] * gains

    def _score(self, lists: Rankings) -> Floats:
        return ratio(self._total(lists), self._divisor(lists.judged)[lists.query])

    def _noncontributing_labels(self, labels: Labels, max_grade: int) -> Bools:
        return np.asarray(self._gains(labels, max_grade) == 0)

    def _contribution(self, places: Places) -> Floats:
        gain = self._gains(places.label, places.judged.max_grade)
        return ratio(
            self._apply_weights(gain, places.rank), self._divisor(places.judged)[places.query]
        )

    def _weight_of_first(self, counts: Ints) -> Floats:
        """The weights of the first ranks, so many of them, added up."""
        weights = self._weights(int(counts.max(initial=0)))
        return np.concatenate(([0.0], np.cumsum(weights)))[counts]

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """Each group's mean gain times the weights of its ranks (McSherry and Najork 2008)."""
        gain = self._mean_gain(tied)
        end = np.where(gain > 0, tied.above + tied.within(self.depth), 0)
        begin = np.minimum(tied.above, end)
        filled = self._weight_of_first(np.concatenate((begin, end))).reshape(2, -1)
        total = tied.sum_over_groups(gain * (filled[1] - filled[0]))
        return ratio(total, self._divisor(tied.rankings.judged)[tied.rankings.query])

    def _mean_gain(self, tied: TiedRankings) -> Floats:
        lists = tied.rankings
        return ratio(tied.sum(self._gains(lists.labels, lists.judged.max_grade)), tied.sizes)

    def _independent(self, tied: TiedRankings, places: Ints) -> Floats:
        """The mean gain times the weights of the ranks (Feng and Karmaker's Eq. 7)."""
        if places.max(initial=0) > MOST_RANKS:
            raise MeasureError(
                f"{self}: reb=independent adds up the weights of {int(places.max()):,} ranks, which "
                f"takes too long; expected a cutoff of at most {MOST_RANKS:,}"
            )
        gain = self._mean_gain(tied)
        total = gain * self._weight_of_first(np.where(gain > 0, places, 0))
        return ratio(total, self._divisor(tied.rankings.judged)[tied.rankings.query])

    def _variance(self, tied: TiedRankings) -> Floats:
        """σ²/(n−1) · [n Σw² − (Σw)²] over the first min(k, n) weights, σ² that of the gains."""
        lists, size, places = tied.rankings, tied.sizes, tied.within(self.depth)
        gain = self._gains(lists.labels, lists.judged.max_grade)
        mean = ratio(tied.sum(gain), size)
        spread = tied.sum((gain - lists.each_row(mean)) ** 2) + tied.unlisted * mean**2
        places = np.where(spread > 0, places, 0)
        weights = self._weights(int(places.max(initial=0)))
        squares = np.concatenate(([0.0], np.cumsum(weights**2)))[places]
        weighed = size * squares - self._weight_of_first(places) ** 2
        weighed[weighed <= 1e-12 * size * squares] = 0.0  # all ranks weigh the same: rounding alone
        variance = ratio(spread * weighed, size * (size - 1.0))
        return ratio(variance, self._divisor(lists.judged)[lists.query] ** 2)

    def _unseen_weight(self, lengths: Ints) -> Floats:
        """The share of the weight on ranks beyond the end of lists of these lengths.

        It matters where the measure is `open_ended`.
        """
        return np.zeros(len(lengths))


class BinaryWeighted(Binary, Weighted):
    """A weighted measure whose gain is 1 for relevant documents and 0 for the others."""

    def _best_score(self, judged: JudgedLabels) -> Floats:
        """The weights of the first min(k, R) ranks."""
        relevant = judged.relevant(self.rel)
        found = relevant if self.depth is None else np.minimum(relevant, self.depth)
        return ratio(self._weight_of_first(found), self._divisor(judged))

    def _gains(self, labels: Labels, max_grade: int) -> Floats:
        return (labels >= self.rel).astype(np.float64)


def sort_by_gain(judged: JudgedLabels, gains: Floats) -> JudgedLabels:
    """The same labels, sorted so that the most gainful of each query come first."""
    query = np.repeat(np.arange(len(judged)), judged.sizes)
    rises = (gains[1:] > gains[:-1]) & (query[1:] == query[:-1])
    if not rises.any():
        return judged
    return replace(judged, labels=judged.labels[np.lexsort((-gains, query))])
