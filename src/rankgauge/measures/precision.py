"""Counting relevant documents: precision, recall, R-precision, success, reciprocal rank, judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.core.checks import Number
from rankgauge.core.parameters import parameter
from rankgauge.measures.base import Binary, Measure, ratio
from rankgauge.measures.formulas import (
    mean_reciprocal_rank,
    miss_chance,
    variance_of_reciprocal_rank,
)
from rankgauge.measures.registry import register
from rankgauge.measures.weighted import BinaryWeighted
from rankgauge.rankings.flips import Places
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings


class RelevantOnlyMeasure(Binary):
    """A measure to which only relevant documents add, the more the higher they are ranked."""

    _of_some_scores = True
    tail_matters = False
    expectation = "exact"
    swap_monotone = True
    ideal_is_best = True

    def _merged_labels(self, labels: Labels, max_grade: int) -> Labels:
        return np.where(labels >= self.rel, np.int32(self.rel), np.int32(0))

    def _noncontributing_labels(self, labels: Labels, max_grade: int) -> Bools:
        return np.asarray(labels < self.rel)

    def _first_relevant(self, places: Places) -> Bools:
        """Which documents are the first relevant one of their list."""
        first: Bools = (places.label >= self.rel) & (self._relevant_above(places) == 0)
        return first


class _RelevantCountMeasure(BinaryWeighted):
    """The relevant documents of the top k, all of the same weight, divided by a number."""

    source = (
        "Cleverdon, Mills and Keen 1966, Factors determining the performance of indexing systems"
    )
    range = (0.0, 1.0)

    def _weights(self, count: int) -> Floats:
        return np.ones(count)


class Precision(_RelevantCountMeasure):
    """The share of the first k places that hold a relevant document."""

    name = "P"
    summary = "Precision: the share of the top k ranks that hold a relevant document."
    formula = "P@k = |relevant in the top k| / k, even if fewer than k documents are retrieved"
    cutoffs = "required"
    monotone = True
    examples = ("P@10", "P(rel=2)@5")
    deeper = "divides"

    def _divisor(self, judged: JudgedLabels) -> Floats:
        return np.full(len(judged), float(self.cutoff or 1))


class RecallAt(_RelevantCountMeasure):
    """The share of all relevant documents that is retrieved."""

    name = "Recall"
    summary = "Recall: the share of all relevant documents that are in the top k."
    formula = "Recall@k = |relevant in the top k| / R"
    off_list = "divides"
    examples = ("Recall@100", "Recall", "Recall(rel=2)@20")
    deeper = "same"
    _distance = "recall"

    def _divisor(self, judged: JudgedLabels) -> Floats:
        return judged.relevant(self.rel).astype(np.float64)


MULTIPLES_OF_R = 1e-6, 1e6
"""The least and the greatest multiple of R."""


class RPrecision(RelevantOnlyMeasure):
    """Precision at R, the number of relevant documents, or at a multiple of it."""

    name = "Rprec"
    summary = "R-precision: precision at R, where R is the number of relevant documents."
    formula = (
        "Rprec = |relevant in the top R| / R; with `times`, |relevant in the top c| / c, "
        "c = ⌊times·R + 0.9⌋"
    )
    source = "Buckley and Voorhees 2000, Evaluating evaluation measure stability"
    range = (0.0, 1.0)
    cutoffs = "none"
    examples = ("Rprec", "Rprec(rel=2)", "Rprec(times=0.5)")
    looks_above = False
    _distance = "r_precision"

    times: float = parameter(
        Number(*MULTIPLES_OF_R),
        "the number of documents that count, as a multiple of R",
        default=1.0,
    )

    def _depths(self, judged: JudgedLabels) -> Ints:
        """How many documents count for each query."""
        depths: Ints = (self.times * judged.relevant(self.rel) + 0.9).astype(np.int64)
        return depths

    def _score(self, lists: Rankings) -> Floats:
        depth = self._depths(lists.judged)[lists.query]
        counted = lists.relevant(self.rel) & (lists.ranks <= lists.each_row(depth))
        return ratio(lists.count(counted), depth)

    def _contribution(self, places: Places) -> Floats:
        depth = self._depths(places.judged)[places.query]
        return ratio((places.label >= self.rel) & (places.rank <= depth), depth)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The share of relevant documents in each group times its places in the top c, over c."""
        depth = self._depths(tied.rankings.judged)[tied.rankings.query]
        share = ratio(tied.count(tied.rankings.relevant(self.rel)), tied.sizes)
        return ratio(tied.sum_over_groups(share * tied.within(tied.each_group(depth))), depth)

    def _variance(self, tied: TiedRankings) -> Floats:
        """That of the number of hits in the top c, over c²."""
        depth = self._depths(tied.rankings.judged)[tied.rankings.query]
        found = tied.count(tied.rankings.relevant(self.rel))
        return ratio(
            variance_of_hits(tied.sizes, found, tied.within(depth)), depth.astype(float) ** 2
        )


class ReciprocalRank(RelevantOnlyMeasure):
    """One over the rank of the first relevant document."""

    name = "RR"
    summary = "Reciprocal rank: 1 divided by the rank of the first relevant document."
    formula = "RR@k = 1 / (rank of the first relevant document), 0 if none is in the top k"
    source = "Voorhees 1999, The TREC-8 question answering track report"
    range = (0.0, 1.0)
    monotone = True
    examples = ("RR", "RR@10")
    deeper = "same"
    _distance = "reciprocal_rank"

    def _best_score(self, judged: JudgedLabels) -> Floats:
        """1, a relevant document first."""
        return (judged.relevant(self.rel) > 0).astype(np.float64)

    def _score(self, lists: Rankings) -> Floats:
        return ratio(np.ones(len(lists)), first_relevant(lists, self.rel))

    def _contribution(self, places: Places) -> Floats:
        return np.where(self._first_relevant(places), 1 / places.rank, 0.0)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The mean of 1/rank over the places of the first relevant document in its group."""
        first, found = first_relevant_group(tied, self.rel)
        score = np.zeros(len(tied))
        score[tied.owner[first]] = mean_reciprocal_rank(
            tied.sizes[first], found, tied.above[first], self.depth
        )
        return score

    def _variance(self, tied: TiedRankings) -> Floats:
        first, found = first_relevant_group(tied, self.rel)
        variance = np.zeros(len(tied))
        variance[first] = variance_of_reciprocal_rank(tied.sizes[first], found, self.depth)
        return variance


class SuccessAt(RelevantOnlyMeasure):
    """Whether anything relevant is retrieved."""

    name = "Success"
    summary = "Success: 1 if the top k documents include a relevant one, and 0 otherwise."
    formula = "Success@k = [|relevant in the top k| > 0]"
    source = "used by the TREC Web and Robust tracks; trec_eval calls it success"
    range = (0.0, 1.0)
    monotone = True
    examples = ("Success@5", "Success")
    deeper = "same"
    _distance = "success"

    def _score(self, lists: Rankings) -> Floats:
        return (lists.count(lists.relevant(self.rel)) > 0).astype(np.float64)

    def _contribution(self, places: Places) -> Floats:
        return self._first_relevant(places).astype(np.float64)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The chance that the top k holds a relevant document.

        It is the chance that the first group with relevant documents has one at its places in the top
        k.
        """
        first, found = first_relevant_group(tied, self.rel)
        score = np.zeros(len(tied))
        score[tied.owner[first]] = 1 - miss_chance(
            tied.sizes[first], found, tied.within(self.depth)[first]
        )
        return score

    def _variance(self, tied: TiedRankings) -> Floats:
        """p·(1 − p), p the chance of a hit."""
        found = tied.count(tied.rankings.relevant(self.rel))
        missed = miss_chance(tied.sizes, found, tied.within(self.depth))
        return missed * (1 - missed)


class JudgedAt(Measure):
    """How much of a ranking has been judged."""

    name = "Judged"
    summary = (
        "The share of the top k documents that are judged. If it is low, other scores are less "
        "reliable."
    )
    formula = "Judged@k = |judged in the top k| / min(k, retrieved)"
    source = "MacAvaney, Macdonald and Ounis 2022, Streamlining evaluation with ir-measures"
    range = (0.0, 1.0)
    direction = "none"
    bounding = "no"
    examples = ("Judged@10", "Judged")
    deeper = "same"

    def _score(self, lists: Rankings) -> Floats:
        return ratio(lists.count(lists.labels >= 0), lists.lengths)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The share of judged documents in each group times its places in the top k."""
        places = tied.within(self.depth)
        share = ratio(tied.count(tied.rankings.labels >= 0), tied.sizes)
        return ratio(tied.sum_over_groups(share * places), tied.sum_over_groups(places))


def first_relevant(lists: Rankings, rel: int) -> Floats:
    """The rank of the first relevant document of each list, 0 where there is none."""
    relevant = lists.relevant(rel)
    first = relevant & (lists.running_count(relevant) == 1)
    return lists.sum(np.where(first, lists.ranks, 0).astype(np.float64))


def first_relevant_group(tied: TiedRankings, rel: int) -> tuple[NDArray[np.intp], Ints]:
    """The first group of each list, where it has one, that holds relevant documents, and how many."""
    found = tied.count(tied.rankings.relevant(rel))
    first = np.flatnonzero((found > 0) & (tied.before(found) == 0))
    return first, found[first]


def variance_of_hits(size: Ints, found: Ints, places: Ints) -> Floats:
    """The variance of how many of `found` documents are in the first places of a random order.

    The order has `size` documents, so the number is hypergeometric: with n documents, r of them found,
    and m places, the variance is m·(r/n)·(1 − r/n)·(n − m)/(n − 1).
    """
    n, r, m = size.astype(np.float64), found.astype(np.float64), places.astype(np.float64)
    return ratio(ratio(m * r, n) * ratio((n - r) * (n - m), n), n - 1)


P = register(Precision())
Recall = R = register(RecallAt())
Rprec = register(RPrecision())
RR = register(ReciprocalRank())
Success = register(SuccessAt())
Judged = register(JudgedAt())
