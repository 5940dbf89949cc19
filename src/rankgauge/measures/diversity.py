"""Measures of novelty and diversity: what a ranking gives to each subtopic of an ambiguous query.

A document that serves a subtopic gains 1 there, times 1 − alpha for each document above that serves
it too; gains are weighed by rank, added over subtopics, and divided. They are computed as ndeval does
for the TREC Web track: a subtopic counts when some document is relevant to it, all weigh the same, and
grades only say whether a document is relevant. Judgments without subtopics are those of one subtopic,
to which every relevant document belongs.

The best ranking is a problem of maximum coverage, so with several subtopics it is built greedily, as
is usual: at each rank the document that gains most, of equals the one with the last id. Its sum is at
least 1 − 1/e of the best one (Nemhauser, Wolsey and Fisher 1978), so a score divided by it can pass 1.
With one subtopic it is exact.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Number
from rankgauge.core.parameters import parameter
from rankgauge.core.records import Value
from rankgauge.data.model import Subtopics
from rankgauge.errors import MeasureError
from rankgauge.measures.base import Binary, ratio
from rankgauge.measures.gains import divisors, sum_of_discounts
from rankgauge.measures.registry import register
from rankgauge.native import segments as native
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of
from rankgauge.rankings.tied_lists import TiedRankings

NEGLIGIBLE = 2.0**-70
"""Weights and gains below this share of the first cannot be seen in a sum."""


class Intents(Value):
    """The subtopics that count: query q has those from bounds[q] to bounds[q + 1].

    `relevant` is the number of documents relevant to each; `number`, where the judgments have
    subtopics, the place here of each of theirs.
    """

    bounds: Ints
    relevant: Ints
    number: Ints

    @classmethod
    def of(cls, judged: JudgedLabels, rel: int) -> Intents:
        """The subtopics with a document of grade `rel` or above; one a query where there are none."""
        aspects = judged.aspects
        if aspects is None:
            each = np.arange(len(judged) + 1)
            return cls(each, judged.relevant(rel), each[:-1])
        serving = aspects.numbers[aspects.grades >= rel]
        relevant = np.bincount(serving, minlength=len(aspects.names))
        number = np.concatenate(([0], np.cumsum(relevant > 0)))
        return cls(number[aspects.bounds], relevant[relevant > 0], number[:-1])

    @property
    def counts(self) -> Ints:
        """How many each query has, at least 1: a query without has one that nothing serves yet."""
        return np.maximum(np.diff(self.bounds), 1)

    @property
    def query(self) -> Ints:
        """The query of each."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))


class SubtopicMeasure(Binary):
    """A measure that asks which subtopics a document serves."""

    _of_some_scores = True
    swap_monotone = True
    ideal_is_best = True
    expectation = "exact"
    by_subtopic = True

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        if rankings.judged.aspects is None or self.monotone:
            return super().bounds_each(rankings)
        raise self._unsupported_error(
            "its bounds for this ranking",
            "with subtopics there are too many possible labels to try them all",
        )


class DiversityMeasure(SubtopicMeasure):
    """Σ over ranks and subtopics of weight(rank) · (1 − alpha)^(times served above) / divisor(query).

    Expected values are exact with any number of subtopics, and so are the bounds of the measures that
    are not divided by the ideal: an unjudged document may serve any of the subtopics that count. The
    worst order, and bounds where the ideal moves too, are known for one subtopic only.
    """

    range = (0.0, 1.0)

    @property
    def _remaining_share(self) -> float:
        """The share of a subtopic's gain that is left after a document serves it."""
        raise NotImplementedError

    def _weights(self, count: int) -> Floats:
        """The weights of ranks 1 to `count`, none greater than the one before."""
        raise NotImplementedError

    def _perfect_sum(self) -> float:
        """The sum for a subtopic that is served at every rank."""
        raise NotImplementedError

    def _divisor(self, judged: JudgedLabels) -> Floats:
        """What each query's sum is divided by: every subtopic served at every rank."""
        divisor: Floats = (
            Intents.of(judged, self.rel).counts.astype(np.float64) * self._perfect_sum()
        )
        return divisor

    def _score(self, lists: Rankings) -> Floats:
        row, _, above = sort_served_subtopics(lists, Intents.of(lists.judged, self.rel), self.rel)
        gains = np.bincount(
            row, self._remaining_share ** above.astype(np.float64), len(lists.labels)
        )
        weights = self._weights(int(lists.ranks.max(initial=0)))
        total = lists.sum(gains * weights[lists.ranks - 1])
        return ratio(total, self._divisor(lists.judged)[lists.query])

    def ideal_each(self, judged: JudgedLabels) -> Floats:
        if judged.aspects is None:
            return super().ideal_each(judged)
        return ratio(self.complete()._best_sum(judged), self._divisor(judged))

    def worst_each(self, judged: JudgedLabels) -> Floats:
        if judged.aspects is None:
            return super().worst_each(judged)
        raise self._unsupported_error(
            "the worst score of any order", "with subtopics no algorithm is known"
        )

    def _extreme(self, tied: TiedRankings, *, best: bool) -> Floats:
        if tied.rankings.judged.aspects is None:
            return super()._extreme(tied, best=best)
        raise self._unsupported_error(
            "the best or worst score of any order",
            "with subtopics it can be computed for the judged documents only",
        )

    def expected_each(self, judged: JudgedLabels) -> Floats:
        """For each subtopic, Σ_i weight(i) · P(it is served at i) · E[(1 − alpha)^(times above)].

        Rank after rank, `chance[j, h]` is the chance that subtopic j has been served h times, where
        so many times still leave a gain that can be seen.
        """
        self.complete()
        intents = Intents.of(judged, self.rel)
        size, relevant = judged.sizes[intents.query][:, None], intents.relevant[:, None]
        weights = self._nonnegligible_weights(int(judged.sizes.max(initial=0)))
        times = np.arange(min(int(relevant.max(initial=0)), len(weights)) + 1)
        gain = self._remaining_share**times
        times, gain = times[gain > NEGLIGIBLE], gain[gain > NEGLIGIBLE]
        chance = np.zeros((len(relevant), len(times)))
        chance[:, 0] = 1.0
        total = np.zeros(len(relevant))
        for above, weight in enumerate(weights.tolist()):
            left = np.maximum(size - above, 1)
            served = chance * np.maximum(relevant - times, 0) / left
            total += weight * (served @ gain)
            chance = chance * np.maximum(size - above - relevant + times, 0) / left
            chance[:, 1:] += served[:, :-1]
        return ratio(native.segment_sum(total, intents.bounds), self._divisor(judged))

    def _best_sum(self, judged: JudgedLabels) -> Floats:
        """The sum of the best ranking, built greedily where a query has several subtopics."""
        if judged.aspects is not None:
            return self._greedy_sum(judged, judged.aspects)
        relevant = judged.relevant(self.rel)
        weights = self._nonnegligible_weights(int(relevant.max(initial=0)))
        sums = np.cumsum(weights * self._remaining_share ** np.arange(len(weights)))
        best: Floats = np.concatenate(([0.0], sums))[np.minimum(relevant, len(weights))]
        return best

    def _greedy_sum(self, judged: JudgedLabels, aspects: Subtopics) -> Floats:
        """The sum of the greedy ranking of each query, all queries a rank at a time."""
        intents = Intents.of(judged, self.rel)
        entry, length = _entries(aspects, aspects.order)
        serves = aspects.grades[entry] >= self.rel
        document = np.repeat(np.arange(len(length)), length)[serves]
        served = intents.number[aspects.numbers[entry[serves]]]
        # The documents that serve nothing never come; the others are numbered anew.
        document = np.unique(document, return_inverse=True)[1]
        offsets = offsets_of(np.bincount(document))
        query = intents.query[served[offsets[:-1]]]
        answered, starts, sizes = np.unique(query, return_index=True, return_counts=True)
        total = np.zeros(len(judged))
        gain = np.ones(len(intents.relevant))
        taken = np.zeros(len(query), dtype=np.bool_)
        for weight in self._nonnegligible_weights(int(sizes.max(initial=0))).tolist():
            gains = np.where(taken, -1.0, native.segment_sum(gain[served], offsets))
            most = np.maximum.reduceat(gains, starts)
            if most.max() <= 0:
                break
            total[answered] += weight * np.maximum(most, 0)
            best = np.flatnonzero(gains == np.repeat(most, sizes))
            best = best[np.unique(query[best], return_index=True)[1]]
            taken[best] = True
            chosen = _ranges(offsets[best], offsets[best + 1] - offsets[best])
            gain[served[chosen]] *= self._remaining_share
        return total

    def _nonnegligible_weights(self, most: int) -> Floats:
        """The weights down to the cutoff or `most` ranks, without those too small to be seen."""
        weights = self._weights(most if self.cutoff is None else min(most, self.cutoff))
        return weights[weights > NEGLIGIBLE]


class _NoveltyMeasure(DiversityMeasure):
    """A diversity measure with the parameter alpha."""

    alpha: float = parameter(
        Number(0, 1),
        "the share by which a document reduces the gain of later documents on the same subtopic",
        default=0.5,
    )

    @property
    def _remaining_share(self) -> float:
        return 1 - self.alpha


class _IdealNormalizedMeasure(DiversityMeasure):
    """A diversity measure divided by its sum for the best ranking.

    With several subtopics the best ranking is built greedily and may be beaten: a score may pass 1.
    """

    range = (0.0, np.inf)
    monotone = False
    deeper = "same"

    def _divisor(self, judged: JudgedLabels) -> Floats:
        return self._best_sum(judged)


class AlphaDCG(_NoveltyMeasure):
    """Discounted gain for novelty, divided by that of a list whose documents all serve all subtopics."""

    name = "alpha_DCG"
    summary = (
        "Discounted gain over subtopics, multiplied by 1 − alpha for each document above on the "
        "same subtopic."
    )
    formula = (
        "alpha_DCG@k = (Σ_{i≤k} Σ_{subtopics that i serves} (1 − alpha)^above / log2(i+1)) / "
        "(subtopics · Σ_{i≤k} (1 − alpha)^(i−1) / log2(i+1)), above: how many documents above "
        "rank i serve the same subtopic"
    )
    source = (
        "Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher and MacKinnon 2008, "
        "Novelty and diversity in information retrieval evaluation; normalized as in ndeval"
    )
    cutoffs = "required"
    monotone = True
    examples: ClassVar[tuple[str, ...]] = ("alpha_DCG@20", "alpha_DCG(alpha=0.9)@10")

    def _weights(self, count: int) -> Floats:
        return 1 / divisors("log2", count)

    def _perfect_sum(self) -> float:
        return sum_of_discounts("log2", self.cutoff or 1, self._remaining_share)


class AlphaNDCG(_IdealNormalizedMeasure, AlphaDCG):
    """alpha_DCG divided by the alpha_DCG of the best ranking."""

    name = "alpha_nDCG"
    summary = "Normalized alpha-DCG: alpha_DCG divided by the alpha_DCG of the best ranking."
    formula = (
        "alpha_nDCG@k = alpha_DCG@k / alpha_DCG@k of the judged documents in the best order, "
        "built greedily"
    )
    source = (
        "Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher and MacKinnon 2008, "
        "Novelty and diversity in information retrieval evaluation; the ideal as in ndeval"
    )
    monotone = False
    examples = ("alpha_nDCG@20", "alpha_nDCG(alpha=0.9)@10", "alpha_nDCG(rel=2)@10")


class IntentAwareERR(_NoveltyMeasure):
    """ERR for users who each want one subtopic, averaged over the subtopics."""

    name = "ERR_IA"
    summary = (
        "Intent-aware ERR: ERR averaged over subtopics. With probability alpha, a document on a "
        "subtopic satisfies a user who wants that subtopic."
    )
    formula = (
        "ERR_IA@k = (Σ_{i≤k} Σ_{subtopics that i serves} (1 − alpha)^above / i) / (subtopics · "
        "Σ_{i≤k} (1 − alpha)^(i−1) / i), above: how many documents above rank i serve the same "
        "subtopic"
    )
    source = (
        "Chapelle, Metzler, Zhang and Grinspan 2009, Expected reciprocal rank for graded relevance; "
        "normalized as in Clarke, Craswell, Soboroff and Ashkan 2011, A comparative analysis of "
        "cascade measures for novelty and diversity"
    )
    cutoffs = "required"
    monotone = True
    examples = ("ERR_IA@20", "ERR_IA(alpha=0.9)@10")

    def _weights(self, count: int) -> Floats:
        return 1 / divisors("zipf", count)

    def _perfect_sum(self) -> float:
        return sum_of_discounts("zipf", self.cutoff or 1, self._remaining_share)


class NormalizedIntentAwareERR(_IdealNormalizedMeasure, IntentAwareERR):
    """ERR_IA divided by the ERR_IA of the best ranking."""

    name = "nERR_IA"
    summary = "Normalized intent-aware ERR: ERR_IA divided by the ERR_IA of the best ranking."
    formula = (
        "nERR_IA@k = ERR_IA@k / ERR_IA@k of the judged documents in the best order, built greedily"
    )
    source = (
        "Clarke, Craswell, Soboroff and Ashkan 2011, A comparative analysis of cascade measures for "
        "novelty and diversity"
    )
    monotone = False
    examples = ("nERR_IA@20", "nERR_IA(alpha=0.9)@10")


class NoveltyRankBiasedPrecision(_NoveltyMeasure):
    """Rank-biased precision for novelty."""

    name = "NRBP"
    summary = "Novelty- and rank-biased precision for users who read on with probability beta."
    formula = (
        "NRBP = (1 − (1 − alpha)·beta) / subtopics · Σ_i beta^(i−1) · Σ_{subtopics that i serves} "
        "(1 − alpha)^above, above: how many documents above rank i serve the same subtopic"
    )
    source = (
        "Clarke, Kolla and Vechtomova 2009, "
        "An effectiveness measure for ambiguous and underspecified queries"
    )
    monotone = True
    examples: ClassVar[tuple[str, ...]] = ("NRBP", "NRBP(alpha=0.9,beta=0.8)", "NRBP@20")
    deeper = "same"

    beta: float = parameter(
        Number(0, 1, closed=False), "patience: the probability of reading on", default=0.5
    )

    @property
    def open_ended(self) -> bool:  # type: ignore[override]
        return self.cutoff is None

    def _weights(self, count: int) -> Floats:
        return np.asarray(self.beta ** np.arange(count))

    def _perfect_sum(self) -> float:
        return 1 / (1 - self._remaining_share * self.beta)


class NormalizedNRBP(_IdealNormalizedMeasure, NoveltyRankBiasedPrecision):
    """NRBP divided by the NRBP of the best ranking."""

    name = "nNRBP"
    summary = "Normalized NRBP: NRBP divided by the NRBP of the best ranking."
    formula = "nNRBP = NRBP / NRBP of the judged documents in the best order, built greedily"
    source = (
        "Clarke, Kolla and Vechtomova 2009, "
        "An effectiveness measure for ambiguous and underspecified queries"
    )
    monotone = False
    examples = ("nNRBP", "nNRBP(alpha=0.9,beta=0.8)")


class SubtopicRecall(DiversityMeasure):
    """The share of the subtopics that a ranking serves."""

    name = "strec"
    summary = "Subtopic recall: the share of the subtopics that the top k documents cover."
    formula = "strec@k = |subtopics served in the top k| / |subtopics|"
    source = (
        "Zhai, Cohen and Lafferty 2003, Beyond independent relevance: "
        "methods and evaluation metrics for subtopic retrieval"
    )
    monotone = True
    examples = ("strec@20", "strec", "strec(rel=2)@10")
    deeper = "same"

    @property
    def _remaining_share(self) -> float:
        return 0.0

    def _weights(self, count: int) -> Floats:
        return np.ones(count)

    def _perfect_sum(self) -> float:
        return 1.0


def served_subtopics(lists: Rankings, intents: Intents, rel: int) -> tuple[Ints, Ints]:
    """Pairs of a row and a subtopic, numbered from 0 in each query, that its document serves.

    A document without a judgment that is labeled relevant, as for bounds, serves all.
    """
    aspects = lists.judged.aspects
    if aspects is None:
        relevant = np.flatnonzero(lists.relevant(rel))
        return relevant, np.zeros_like(relevant)
    if lists.rows is None:
        raise MeasureError(
            "lists of labels have no subtopics; this measure needs a run and judgments"
        )
    query = lists.each_row(lists.query)
    known = np.flatnonzero(lists.rows >= 0)
    entry, length = _entries(aspects, lists.rows[known])
    serves = aspects.grades[entry] >= rel
    row = np.repeat(known, length)[serves]
    intent = intents.number[aspects.numbers[entry[serves]]] - intents.bounds[query[row]]
    assumed = np.flatnonzero((lists.rows < 0) & lists.relevant(rel))
    count = intents.counts[query[assumed]]
    everything = _ranges(np.zeros_like(count), count)
    return np.append(row, np.repeat(assumed, count)), np.append(intent, everything)


def sort_served_subtopics(lists: Rankings, intents: Intents, rel: int) -> tuple[Ints, Ints, Ints]:
    """The pairs of `served_subtopics`, subtopic by subtopic in each list, from the top down.

    The third array says for each pair how many documents above serve the subtopic.
    """
    row, intent = served_subtopics(lists, intents, rel)
    first_of_list = offsets_of(intents.counts[lists.query])
    slot = lists.each_row(first_of_list[:-1])[row] + intent
    order = np.lexsort((row, slot))
    slot = slot[order]
    return row[order], intent[order], np.arange(len(slot)) - np.searchsorted(slot, slot)


def _entries(aspects: Subtopics, rows: Ints) -> tuple[Ints, Ints]:
    """The places of the subtopics of these judgments, and how many each judgment has.

    The places are one judgment after the other.
    """
    starts, lengths = aspects.offsets[rows], aspects.offsets[rows + 1] - aspects.offsets[rows]
    return _ranges(starts, lengths), lengths


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """start, start + 1, … for each start, so many as its length, in one array."""
    offsets = offsets_of(lengths)
    return np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)


alpha_DCG = register(AlphaDCG())
alpha_nDCG = register(AlphaNDCG())
ERR_IA = register(IntentAwareERR())
nERR_IA = register(NormalizedIntentAwareERR())
NRBP = register(NoveltyRankBiasedPrecision())
nNRBP = register(NormalizedNRBP())
strec = register(SubtopicRecall())
