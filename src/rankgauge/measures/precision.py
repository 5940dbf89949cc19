"""Counting relevant documents: precision, recall, R-precision, success, reciprocal rank, judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.data.model import Floats, Ints
from rankgauge.data.rankings import JudgedLabels, Rankings
from rankgauge.measures.base import Binary, Measure, ratio
from rankgauge.measures.parameters import Number, parameter
from rankgauge.measures.registry import register
from rankgauge.measures.ties import TiedRankings, mean_reciprocal_rank, miss_chance
from rankgauge.measures.weighted import BinaryWeighted


class Precision(BinaryWeighted):
    """The share of the first k places that hold a relevant document."""

    name = "P"
    summary = "Precision: the share of the first k places that hold a relevant document."
    formula = "P@k = |relevant in the top k| / k, also where fewer than k documents are retrieved"
    source = (
        "Cleverdon, Mills and Keen 1966, Factors determining the performance of indexing systems"
    )
    cutoffs = "required"
    monotone = True
    examples = ("P@10", "P(rel=2)@5")

    def _weights(self, count: int) -> Floats:
        return np.ones(count)

    def _divisor(self, judged: JudgedLabels) -> Floats:
        return np.full(len(judged), float(self.cutoff or 1))


class RecallAt(BinaryWeighted):
    """The share of all relevant documents that is retrieved."""

    name = "Recall"
    aliases = ("R", "SetR")
    summary = "Recall: the share of all relevant documents that the top k holds."
    formula = "Recall@k = |relevant in the top k| / R"
    source = (
        "Cleverdon, Mills and Keen 1966, Factors determining the performance of indexing systems"
    )
    examples = ("Recall@100", "Recall", "Recall(rel=2)@20")

    def _weights(self, count: int) -> Floats:
        return np.ones(count)

    def _divisor(self, judged: JudgedLabels) -> Floats:
        return judged.relevant(self.rel).astype(np.float64)


class RPrecision(Binary):
    """Precision at R, the number of relevant documents, or at a multiple of it."""

    name = "Rprec"
    summary = "R-precision: precision after as many documents as there are relevant ones."
    formula = (
        "Rprec = |relevant in the top R| / R; with `times`, the top c = ⌊times·R + 0.9⌋, over c"
    )
    source = "Buckley and Voorhees 2000, Evaluating evaluation measure stability"
    cutoffs = "none"
    expectation = "exact"
    examples = ("Rprec", "Rprec(rel=2)", "Rprec(times=0.5)")

    times: float = parameter(
        Number(0, closed=False),
        "what R is multiplied by to say how many documents count",
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

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The share of relevant documents in each group times its places in the top c, over c."""
        depth = self._depths(tied.rankings.judged)[tied.rankings.query]
        share = ratio(tied.count(tied.rankings.relevant(self.rel)), tied.sizes)
        return ratio(tied.over_groups(share * tied.within(tied.each_group(depth))), depth)


class ReciprocalRank(Binary):
    """One over the rank of the first relevant document."""

    name = "RR"
    aliases = ("MRR",)
    summary = "Reciprocal rank: one over the rank of the first relevant document."
    formula = "RR@k = 1 / (rank of the first relevant document), 0 if none is in the top k"
    source = "Voorhees 1999, The TREC-8 question answering track report"
    monotone = True
    expectation = "exact"
    examples = ("RR", "RR@10")

    def _score(self, lists: Rankings) -> Floats:
        first = first_relevant(lists, self.rel)
        return ratio(np.ones(len(lists)), first)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The mean of 1/rank over the places of the first relevant document in its group."""
        first, found = first_relevant_group(tied, self.rel)
        score = np.zeros(len(tied))
        score[tied.owner[first]] = mean_reciprocal_rank(
            tied.sizes[first], found, tied.above[first], self.depth
        )
        return score


class SuccessAt(Binary):
    """Whether anything relevant is retrieved."""

    name = "Success"
    aliases = ("HitRate",)
    summary = "Success: 1 when the top k holds a relevant document, else 0."
    formula = "Success@k = [|relevant in the top k| > 0]"
    source = "used by the TREC Web and Robust tracks; trec_eval calls it success"
    monotone = True
    expectation = "exact"
    examples = ("Success@5", "Success")

    def _score(self, lists: Rankings) -> Floats:
        return (lists.count(lists.relevant(self.rel)) > 0).astype(np.float64)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The chance that the places of the first group with relevant documents that are in the top
        k hold one of them."""
        first, found = first_relevant_group(tied, self.rel)
        score = np.zeros(len(tied))
        score[tied.owner[first]] = 1 - miss_chance(
            tied.sizes[first], found, tied.within(self.depth)[first]
        )
        return score


class JudgedAt(Measure):
    """How much of a ranking has been judged."""

    name = "Judged"
    summary = "The share of the top k documents that are judged: what the other numbers rest on."
    formula = "Judged@k = |judged in the top k| / min(k, retrieved)"
    source = "MacAvaney, Macdonald and Ounis 2022, Streamlining evaluation with ir-measures"
    direction = "none"
    bounding = "no"
    examples = ("Judged@10", "Judged")

    def _score(self, lists: Rankings) -> Floats:
        return ratio(lists.count(lists.labels >= 0), lists.lengths)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The share of judged documents in each group times its places in the top k."""
        places = tied.within(self.depth)
        share = ratio(tied.count(tied.rankings.labels >= 0), tied.sizes)
        return ratio(tied.over_groups(share * places), tied.over_groups(places))


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


P = register(Precision())
Recall = R = register(RecallAt())
Rprec = register(RPrecision())
RR = register(ReciprocalRank())
Success = register(SuccessAt())
Judged = register(JudgedAt())
