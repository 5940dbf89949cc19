"""Intent-aware precision and average precision: the mean over the subtopics of a query.

As in ndeval, a subtopic counts when some document is relevant to it, and all weigh the same. Judgments
without subtopics are those of one subtopic, by which these are P and AP.
"""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.measures.base import ratio
from rankgauge.measures.diversity import (
    DiversityMeasure,
    Intents,
    SubtopicMeasure,
    served_subtopics,
    sort_served_subtopics,
)
from rankgauge.measures.formulas import harmonic_between
from rankgauge.measures.registry import register
from rankgauge.native import segments as native
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

SOURCE = "Agrawal, Gollapudi, Halverson and Ieong 2009, Diversifying search results; as in ndeval"


class IntentAwarePrecision(DiversityMeasure):
    """The share of the first k places that hold a relevant document, averaged over subtopics."""

    name = "P_IA"
    summary = "Intent-aware precision: precision for each subtopic, averaged over the subtopics."
    formula = "P_IA@k = (1/subtopics) · Σ_subtopics |documents of the top k that serve it| / k"
    source = SOURCE
    cutoffs = "required"
    monotone = True
    examples = ("P_IA@10", "P_IA(rel=2)@5")
    deeper = "divides"

    @property
    def _remaining_share(self) -> float:
        return 1.0

    def _weights(self, count: int) -> Floats:
        return np.ones(count)

    def _perfect_sum(self) -> float:
        return float(self.cutoff or 1)

    def _gains(self, lists: Rankings) -> Floats:
        """How many subtopics each document serves."""
        row, _ = served_subtopics(lists, Intents.of(lists.judged, self.rel), self.rel)
        return np.bincount(row, minlength=len(lists.labels)).astype(np.float64)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The mean gain of each group times its places in the top k."""
        lists = tied.rankings
        mean = ratio(tied.sum(self._gains(lists)), tied.sizes)
        total = tied.sum_over_groups(mean * tied.within(self.depth))
        return ratio(total, self._divisor(lists.judged)[lists.query])

    def expected_each(self, judged: JudgedLabels) -> Floats:
        tied = TiedRankings.all_tied(judged)
        return np.asarray(self.complete()._tied(tied))

    def _variance(self, tied: TiedRankings) -> Floats:
        """That of the sum of m of n gains: m·(n − m)/(n − 1) times the variance of the gains."""
        lists, gains = tied.rankings, self._gains(tied.rankings)
        n, m = tied.sizes.astype(np.float64), tied.within(self.depth).astype(np.float64)
        mean = ratio(tied.sum(gains), n)
        spread = np.maximum(ratio(tied.sum(gains**2), n) - mean**2, 0.0)
        divisor = self._divisor(lists.judged)[lists.query]
        return ratio(ratio(m * (n - m), n - 1) * spread, divisor**2)


class IntentAwareAveragePrecision(SubtopicMeasure):
    """Average precision for each subtopic, averaged over the subtopics.

    The mean over orders is exact with any number of subtopics. The best and the worst order, and the
    bounds, are known for one subtopic only.
    """

    name = "AP_IA"
    summary = "Intent-aware average precision: AP for each subtopic, averaged over the subtopics."
    formula = (
        "AP_IA@k = (1/subtopics) · Σ_subtopics (1/R_s) · Σ_{i≤k} [i serves it] · P_s@i, R_s the "
        "documents that serve a subtopic and P_s the precision for it"
    )
    source = SOURCE
    range = (0.0, 1.0)
    examples = ("AP_IA", "AP_IA(rel=2)", "AP_IA@100")
    deeper = "same"

    def _score(self, lists: Rankings) -> Floats:
        intents = Intents.of(lists.judged, self.rel)
        row, intent, above = sort_served_subtopics(lists, intents, self.rel)
        first = intents.bounds[:-1][lists.query]
        found = intents.relevant[lists.each_row(first)[row] + intent]
        precision = (above + 1) / lists.ranks[row]
        gains = np.bincount(row, ratio(precision, found), len(lists.labels))
        total = lists.sum(gains.astype(np.float64))
        return ratio(total, intents.counts[lists.query])

    def expected_each(self, judged: JudgedLabels) -> Floats:
        """For each subtopic (1/n)·[H_m + (m − H_m)·(R_s − 1)/(n − 1)], m the documents that count."""
        intents = Intents.of(judged, self.rel)
        size = judged.sizes[intents.query]
        counted = size if self.cutoff is None else np.minimum(size, self.cutoff)
        harmonic = harmonic_between(np.zeros_like(counted), counted)
        pairs = (counted - harmonic) * ratio(intents.relevant - 1, size - 1)
        each = np.where(intents.relevant > 0, ratio(harmonic + pairs, size), 0.0)
        return ratio(native.segment_sum(each, intents.bounds), intents.counts)

    def _extreme(self, tied: TiedRankings, *, best: bool) -> Floats:
        if tied.rankings.judged.aspects is None:
            return super()._extreme(tied, best=best)
        raise self._unsupported_error(
            "the best or worst score of any order", "with subtopics no algorithm is known"
        )


P_IA = register(IntentAwarePrecision())
AP_IA = register(IntentAwareAveragePrecision())
