"""Counting relevant documents: precision, recall, R-precision, success, reciprocal rank, judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.core.checks import Number
from rankgauge.core.parameters import parameter
from rankgauge.measures.base import Binary, Measure, ratio
from rankgauge.measures.formulas import (
    NEGLIGIBLE,
    SHORT,
    harmonic_between,
    mean_reciprocal_rank,
    miss_chance,
)
from rankgauge.measures.labelling import MOST_CELLS
from rankgauge.measures.registry import register
from rankgauge.measures.weighted import BinaryWeighted
from rankgauge.native import segments as native
from rankgauge.rankings.flips import Places
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of
from rankgauge.rankings.tied_lists import TiedRankings

if TYPE_CHECKING:
    from rankgauge.distance.algorithms.lists import Greatest, Lists, Pair
    from rankgauge.distance.algorithms.single import Chosen


class Precision(BinaryWeighted):
    """The share of the first k places that hold a relevant document."""

    name = "P"
    summary = "Precision: the share of the first k places that hold a relevant document."
    formula = "P@k = |relevant in the top k| / k, also where fewer than k documents are retrieved"
    source = (
        "Cleverdon, Mills and Keen 1966, Factors determining the performance of indexing systems"
    )
    range = (0.0, 1.0)
    cutoffs = "required"
    monotone = True
    examples = ("P@10", "P(rel=2)@5")
    deeper = "divides"

    def _weights(self, count: int) -> Floats:
        return np.ones(count)

    def _divisor(self, judged: JudgedLabels) -> Floats:
        return np.full(len(judged), float(self.cutoff or 1))


class RecallAt(BinaryWeighted):
    """The share of all relevant documents that is retrieved."""

    name = "Recall"
    summary = "Recall: the share of all relevant documents that the top k holds."
    formula = "Recall@k = |relevant in the top k| / R"
    source = (
        "Cleverdon, Mills and Keen 1966, Factors determining the performance of indexing systems"
    )
    range = (0.0, 1.0)
    off_list = "divides"
    examples = ("Recall@100", "Recall", "Recall(rel=2)@20")
    deeper = "same"

    def _weights(self, count: int) -> Floats:
        return np.ones(count)

    def _divisor(self, judged: JudgedLabels) -> Floats:
        return judged.relevant(self.rel).astype(np.float64)

    def _distance(self, lists: Lists, first: Ints, second: Ints) -> Greatest | None:
        from rankgauge.distance.algorithms.single import pair_by_pair, recall

        judged = int(lists.judged.relevant(self.rel)[0])
        return pair_by_pair(lists, first, second, self.rel, lambda pair: recall(pair, judged))


MULTIPLES_OF_R = 1e-6, 1e6
"""The least and the greatest multiple of R."""


class RPrecision(Binary):
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
    tail_matters = False
    expectation = "exact"
    swap_monotone = True
    ideal_is_best = True
    examples = ("Rprec", "Rprec(rel=2)", "Rprec(times=0.5)")

    times: float = parameter(
        Number(*MULTIPLES_OF_R),
        "how many documents count, as a multiple of R",
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

    looks_above = False

    def _merged_labels(self, labels: Labels, max_grade: int) -> Labels:
        return relevant_or_not(labels, self.rel)

    def _noncontributing_labels(self, labels: Labels, max_grade: int) -> Bools:
        return np.asarray(labels < self.rel)

    def _contribution(self, places: Places) -> Floats:
        depth = self._depths(places.judged)[places.query]
        return ratio((places.label >= self.rel) & (places.rank <= depth), depth)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The share of relevant documents in each group times its places in the top c, over c."""
        depth = self._depths(tied.rankings.judged)[tied.rankings.query]
        share = ratio(tied.count(tied.rankings.relevant(self.rel)), tied.sizes)
        return ratio(tied.over_groups(share * tied.within(tied.each_group(depth))), depth)

    def _variance(self, tied: TiedRankings) -> Floats:
        """That of the number of hits in the top c, over c²."""
        depth = self._depths(tied.rankings.judged)[tied.rankings.query]
        found = tied.count(tied.rankings.relevant(self.rel))
        return ratio(
            variance_of_hits(tied.sizes, found, tied.within(depth)), depth.astype(float) ** 2
        )

    def _distance(self, lists: Lists, first: Ints, second: Ints) -> Greatest | None:
        from rankgauge.distance.algorithms.single import pair_by_pair, r_precision

        judged = int(lists.judged.relevant(self.rel)[0])

        def best_of(pair: Pair) -> Chosen:
            offlist = lists.offlist and int(lists.grades[-1]) >= self.rel
            return r_precision(pair, judged, offlist, lambda r: int(self.times * r + 0.9))

        return pair_by_pair(lists, first, second, self.rel, best_of)


class ReciprocalRank(Binary):
    """One over the rank of the first relevant document."""

    name = "RR"
    summary = "Reciprocal rank: 1 divided by the rank of the first relevant document."
    formula = "RR@k = 1 / (rank of the first relevant document), 0 if none is in the top k"
    source = "Voorhees 1999, The TREC-8 question answering track report"
    range = (0.0, 1.0)
    monotone = True
    tail_matters = False
    expectation = "exact"
    swap_monotone = True
    ideal_is_best = True
    examples = ("RR", "RR@10")
    deeper = "same"

    def _best_score(self, judged: JudgedLabels) -> Floats:
        """1, a relevant document first."""
        return (judged.relevant(self.rel) > 0).astype(np.float64)

    def _score(self, lists: Rankings) -> Floats:
        first = first_relevant(lists, self.rel)
        return ratio(np.ones(len(lists)), first)

    def _merged_labels(self, labels: Labels, max_grade: int) -> Labels:
        return relevant_or_not(labels, self.rel)

    def _noncontributing_labels(self, labels: Labels, max_grade: int) -> Bools:
        return np.asarray(labels < self.rel)

    def _contribution(self, places: Places) -> Floats:
        first = (places.label >= self.rel) & (self._relevant_above(places) == 0)
        return np.where(first, 1 / places.rank, 0.0)

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

    def _distance(self, lists: Lists, first: Ints, second: Ints) -> Greatest | None:
        from rankgauge.distance.algorithms.single import pair_by_pair, reciprocal_rank

        return pair_by_pair(lists, first, second, self.rel, reciprocal_rank)


class SuccessAt(Binary):
    """Whether anything relevant is retrieved."""

    name = "Success"
    summary = "Success: 1 when the top k holds a relevant document, else 0."
    formula = "Success@k = [|relevant in the top k| > 0]"
    source = "used by the TREC Web and Robust tracks; trec_eval calls it success"
    range = (0.0, 1.0)
    monotone = True
    tail_matters = False
    expectation = "exact"
    swap_monotone = True
    ideal_is_best = True
    examples = ("Success@5", "Success")
    deeper = "same"

    def _score(self, lists: Rankings) -> Floats:
        return (lists.count(lists.relevant(self.rel)) > 0).astype(np.float64)

    def _merged_labels(self, labels: Labels, max_grade: int) -> Labels:
        return relevant_or_not(labels, self.rel)

    def _noncontributing_labels(self, labels: Labels, max_grade: int) -> Bools:
        return np.asarray(labels < self.rel)

    def _contribution(self, places: Places) -> Floats:
        first = (places.label >= self.rel) & (self._relevant_above(places) == 0)
        return np.asarray(first, dtype=np.float64)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """The chance that the places of the first group with relevant documents that are in the top
        k hold one of them."""
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

    def _distance(self, lists: Lists, first: Ints, second: Ints) -> Greatest | None:
        from rankgauge.distance.algorithms.single import pair_by_pair, success

        return pair_by_pair(lists, first, second, self.rel, success)


class JudgedAt(Measure):
    """How much of a ranking has been judged."""

    name = "Judged"
    summary = (
        "The share of the top k documents that are judged. If it is low, the other scores are less "
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
        return ratio(tied.over_groups(share * places), tied.over_groups(places))


def relevant_or_not(labels: Labels, rel: int) -> Labels:
    """`rel` for each relevant document, 0 for all others."""
    return np.where(labels >= rel, np.int32(rel), np.int32(0))


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
    """The variance of how many of `found` documents are in the first places of a random order of
    `size`, which is hypergeometric: m·(r/n)·(1 − r/n)·(n − m)/(n − 1)."""
    n, r, m = size.astype(np.float64), found.astype(np.float64), places.astype(np.float64)
    return ratio(ratio(m * r, n) * ratio((n - r) * (n - m), n), n - 1)


def variance_of_reciprocal_rank(size: Ints, hits: Ints, depth: int | None) -> Floats:
    """The variance of 1/rank of the first of the hits, at least one, in a random order; 0 beyond
    `depth`. Place by place, or for a long way to the first hit by `_by_recursion`."""
    places = size - hits + 1
    likely = np.ceil(size / hits * -np.log(NEGLIGIBLE)).astype(np.int64)
    if depth is not None:
        places = np.minimum(places, depth)
    short = (np.minimum(places, likely) <= SHORT) | (places < size - hits + 1)
    places = np.minimum(places, likely)
    result = np.empty(len(size))
    result[~short] = _by_recursion(size[~short], hits[~short])
    index = np.flatnonzero(short)
    block = np.cumsum(places[index]) // MOST_CELLS
    for part in np.split(index, np.flatnonzero(np.diff(block)) + 1):
        result[part] = _by_places(size[part], hits[part], places[part])
    return result


def _by_places(size: Ints, hits: Ints, places: Ints) -> Floats:
    """The first hit is at place t with probability C(size − t, hits − 1)/C(size, hits)."""
    offsets = offsets_of(places)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], places)
    total, wanted = np.repeat(size, places) - place, np.repeat(hits, places)
    reached = native.segment_cumprod((total - wanted) / total, offsets)
    chance = reached * wanted / total
    mean = native.segment_sum(chance / (place + 1), offsets)
    spread = chance * (1 / (place + 1) - np.repeat(mean, places)) ** 2
    missed = (reached * (total - wanted) / total)[offsets[1:] - 1]
    variance: Floats = native.segment_sum(spread, offsets) + missed * mean**2
    return variance


def inverse_squares_to(count: Ints) -> Floats:
    """1 + 1/2² + … + 1/count².

    >>> inverse_squares_to(np.array([2, 10**6])).round(12).tolist()
    [1.25, 1.644933066849]
    """
    least = len(FIRST_SQUARES) - 1

    def beyond(x: Floats) -> Floats:
        """Σ 1/i² over i > x − ½, the trigamma function ψ₁(x + ½), by its asymptotic series."""
        y: Floats = 1 / (x * x)
        series: Floats = 1 - y * (1 / 12 - y * (7 / 240 - y * (31 / 1344 - y * (127 / 3840))))
        return series / x

    start, end = np.full(len(count), least + 0.5), np.maximum(count, least) + 0.5
    total: Floats = FIRST_SQUARES[np.minimum(count, least)] + beyond(start) - beyond(end)
    return total


FIRST_SQUARES = np.concatenate(([0.0], np.cumsum(1 / np.arange(1.0, 31.0) ** 2)))
"""The sums of the first inverse squares: 0, 1, 1 + 1/4, …"""


def _by_recursion(size: Ints, hits: Ints) -> Floats:
    """From the means of 1/t and 1/t² for one hit to those for r hits, by
    E_r = r/((r−1)(size−r+1)) · [(size − r + 2)·E_{r−1} − 1] and, S for the squares,
    S_r = r/((r−1)(size−r+1)) · [(size − r + 2)·S_{r−1} − E_{r−1}].

    Both follow from C(m, r−1) = C(m, r−2)·(m−r+2)/(r−1).
    """
    mean = harmonic_between(np.zeros_like(size), size) / size
    square = inverse_squares_to(size) / size
    for r in range(2, int(hits.max(initial=0)) + 1):
        step = r / ((r - 1) * (size - r + 1.0))
        more = hits >= r
        square = np.where(more, step * ((size - r + 2) * square - mean), square)
        mean = np.where(more, step * ((size - r + 2) * mean - 1), mean)
    variance: Floats = np.maximum(square - mean**2, 0.0)
    return variance


P = register(Precision())
Recall = R = register(RecallAt())
Rprec = register(RPrecision())
RR = register(ReciprocalRank())
Success = register(SuccessAt())
Judged = register(JudgedAt())
