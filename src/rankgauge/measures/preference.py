"""Measures that compare judged documents with each other: bpref, infAP, correct pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.data.model import POOLED
from rankgauge.measures.average_precision import RankSums, covariance_of_pairs
from rankgauge.measures.base import Binary, Measure, ratio
from rankgauge.measures.labeling import MOST_CELLS
from rankgauge.measures.one_list import make_ranking
from rankgauge.measures.registry import register
from rankgauge.rankings.flips import Places
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

if TYPE_CHECKING:
    from rankgauge.measures.candidate_pairs import CandidatePairs

EPSILON = 1e-5
"""What infAP adds to the judged relevant and to the judged other documents, as trec_eval does."""


class BinaryPreference(Binary):
    """How rarely judged non-relevant documents stand above relevant ones."""

    name = "bpref"
    summary = (
        "Binary preference: how rarely judged non-relevant documents are ranked above relevant "
        "ones."
    )
    formula = (
        "bpref = (1/R) · Σ_{retrieved relevant} [1 − min(n_above, R)/min(N, R)], 1 if n_above = 0"
    )
    source = (
        "Buckley and Voorhees 2004, Retrieval evaluation with incomplete information, "
        "as trec_eval computes it"
    )
    range = (0.0, 1.0)
    tail_matters = False
    expectation = "exact"
    swap_monotone = True
    ideal_is_best = True
    examples = ("bpref", "bpref(rel=2)", "bpref@100")
    deeper = "same"

    def _score(self, lists: Rankings) -> Floats:
        relevant = lists.relevant(self.rel)
        found = lists.judged.relevant(self.rel)
        others = lists.judged.sizes - found
        above = lists.running_count((lists.labels >= 0) & ~relevant)
        most = lists.each_row(found[lists.query])
        least = lists.each_row(np.minimum(found, others)[lists.query])
        preferred = 1 - ratio(np.minimum(above, most), least)
        return ratio(lists.sum(np.where(relevant, preferred, 0.0)), found[lists.query])

    def _merged_labels(self, labels: Labels, max_grade: int) -> Labels:
        return np.where(labels >= self.rel, np.int32(self.rel), np.minimum(labels, np.int32(0)))

    def _removable_labels(self, labels: Labels, max_grade: int) -> Bools:
        return np.asarray(labels < 0)

    def _noncontributing_labels(self, labels: Labels, max_grade: int) -> Bools:
        if self.depth is not None:  # then unjudged documents have to be followed, which are most
            return super()._noncontributing_labels(labels, max_grade)
        return np.asarray((labels >= 0) & (labels < self.rel))

    def _contribution(self, places: Places) -> Floats:
        found = places.judged.relevant(self.rel)
        others = places.judged.sizes - found
        # All that is above, but what is relevant or not judged: so the others need not be counted.
        no_others = (places.kinds >= self.rel) | (places.kinds < 0)
        above = places.rank - 1 - places.count_above(no_others)
        least = np.minimum(found, others)[places.query]
        preferred = 1 - ratio(np.minimum(above, found[places.query]), least)
        return ratio(np.where(places.label >= self.rel, preferred, 0.0), found[places.query])

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """Each group's relevant documents times the mean of their terms.

        In a whole group with s judged non-relevant documents any number of them, 0 to s, is above a
        relevant one with equal chance; in one that the cutoff cuts, see `_terms_in_cut_groups`.
        """
        lists = tied.rankings
        relevant = tied.count(lists.relevant(self.rel))
        others = tied.count(lists.labels >= 0) - relevant
        found = lists.judged.relevant(self.rel)[lists.query]
        known = lists.judged.sizes[lists.query] - found
        most, least = tied.each_group(found), tied.each_group(np.minimum(found, known))
        before, places = tied.before(others), tied.within(self.depth)
        below = np.clip(most - before, 0, others + 1)
        capped = below * before + below * (below - 1) / 2 + (others + 1 - below) * most
        total = relevant * (1 - ratio(capped / (others + 1), least))
        cut = np.flatnonzero((places < tied.sizes) & (relevant > 0))
        share = relevant[cut] / tied.sizes[cut]
        total[cut] = share * _terms_in_cut_groups(
            tied.sizes[cut], others[cut], before[cut], places[cut], most[cut], least[cut]
        )
        return ratio(tied.sum_over_groups(total), found)

    def _variance(self, tied: TiedRankings) -> Floats:
        """r(r+s+1)/(s+2) times the variance of a term, over R².

        r relevant documents and s judged others are in the list. A term has 0 to s of the others above
        with equal chance, and two terms have any two such numbers, the smaller first, with equal
        chance. In lists that the cutoff cuts, see `_variance_in_cut_lists`.
        """
        lists = tied.rankings
        relevant = tied.count(lists.relevant(self.rel))
        others = tied.count(lists.labels >= 0) - relevant
        found = lists.judged.relevant(self.rel)[lists.query]
        least = np.minimum(found, lists.judged.sizes[lists.query] - found)
        below = np.minimum(found, others + 1.0)  # how many numbers of others above are not capped
        share = below / (others + 1)
        mean = share * (below - 1) / 2 + (1 - share) * found
        spread = share * (below**2 - 1) / 12
        spread += share * ((below - 1) / 2 - mean) ** 2 + (1 - share) * (found - mean) ** 2
        term = ratio(spread, least.astype(np.float64) ** 2)
        variance = relevant * (relevant + others + 1) / (others + 2) * term
        cut = np.flatnonzero((tied.within(self.depth) < tied.sizes) & (relevant > 0))
        width = int(np.minimum(tied.sizes - tied.unlisted, self.depth or 0)[cut].max(initial=0)) + 1
        for part in np.array_split(cut, len(cut) * width // MOST_CELLS + 1):
            variance[part] = _variance_in_cut_lists(
                tied.sizes[part],
                relevant[part],
                others[part],
                tied.within(self.depth)[part],
                found[part],
                least[part],
            )
        return ratio(variance, found.astype(np.float64) ** 2)


def _variance_in_cut_lists(
    size: Ints, relevant: Ints, others: Ints, places: Ints, most: Ints, least: Ints
) -> Floats:
    """The variance of the terms of relevant documents at the first places of each list, added up.

    Only judged documents matter, of which the first places hold any number. From one to the next of
    them these are carried, by the number of others so far: its chance, and with it the mean of the
    sum of terms so far and that of its square.
    """
    above = np.arange(int(np.minimum(others, places).max(initial=0)) + 1)[None, :]
    term = 1 - ratio(np.minimum(above, most[:, None]), least[:, None])
    chance = np.zeros((len(size), above.shape[1]))
    chance[:, 0] = 1.0
    first, second = np.zeros_like(chance), np.zeros_like(chance)
    known = relevant + others
    inside = _chances_inside(size, known, places)
    mean, square = np.zeros(len(size)), np.zeros(len(size))
    for passed in range(inside.shape[1]):
        mean += inside[:, passed] * first.sum(axis=1)
        square += inside[:, passed] * second.sum(axis=1)
        left = np.maximum(known - passed, 1)[:, None]
        miss = np.clip(others[:, None] - above, 0, left) / left
        hit = 1 - miss
        moved = [table * miss for table in (chance, first, second)]
        second = hit * (second + term * (2 * first + term * chance))
        first = hit * (first + term * chance)
        chance = hit * chance
        for table, gone in zip((chance, first, second), moved, strict=True):
            table[:, 1:] += gone[:, :-1]
    return np.maximum(square - mean**2, 0.0)


def _chances_inside(size: Ints, known: Ints, places: Ints) -> Floats:
    """The chances that 0, 1, … of `known` documents are in the first places of a random order."""
    count = np.arange(int(np.minimum(known, places).max(initial=0)) + 1)[None, :]
    chance = np.zeros((len(size), count.shape[1]))
    chance[:, 0] = 1.0
    for passed in range(int(places.max(initial=0))):
        left = np.maximum(size - passed, 1)[:, None]
        moved = chance * np.clip(known[:, None] - count, 0, left) / left
        moved[passed >= places] = 0.0
        chance -= moved
        chance[:, 1:] += moved[:, :-1]
    return chance


def _terms_in_cut_groups(
    size: Ints, others: Ints, before: Ints, places: Ints, most: Ints, least: Ints
) -> Floats:
    """The mean terms of relevant documents at the first places of each group, added up.

    The number of judged non-relevant documents, `others` in the group, above a place is
    hypergeometric; its distribution is carried from place to place.
    """
    above = np.arange(int(np.minimum(others, places).max(initial=0)) + 1)[None, :]
    chance = np.zeros((len(size), above.shape[1]))
    chance[:, 0] = 1.0
    term = 1 - ratio(np.minimum(before[:, None] + above, most[:, None]), least[:, None])
    total = np.zeros(len(size))
    for passed in range(int(places.max(initial=0))):
        total += np.where(passed < places, (chance * term).sum(axis=1), 0.0)
        left = np.maximum(size - 1 - passed, 1)[:, None]
        hit = np.clip(others[:, None] - above, 0, left) / left
        moved = chance * hit
        chance = chance - moved
        chance[:, 1:] += moved[:, :-1]
    return total


class InferredAveragePrecision(Binary):
    """Average precision as estimated from a sample of judgments."""

    name = "infAP"
    summary = (
        "Inferred average precision: an estimate of AP for pools that are judged only in part."
    )
    formula = (
        "infAP = (1/R) · Σ_{relevant at rank i} [1/i + (pooled/i) · (r + ε)/(r + n + 2ε)]. Above "
        "rank i are r relevant, n judged non-relevant, and u pooled but unjudged documents; "
        "pooled = r + n + u, ε = 10⁻⁵"
    )
    source = (
        "Yilmaz and Aslam 2006, Estimating average precision with incomplete and imperfect "
        "judgments, as trec_eval computes it"
    )
    range = (0.0, 1.0)
    off_list = "divides"
    tail_matters = False
    expectation = "exact"
    swap_monotone = True
    ideal_is_best = True
    examples = ("infAP", "infAP(rel=2)", "infAP@100")
    deeper = "same"

    def _score(self, lists: Rankings) -> Floats:
        relevant, judged = lists.relevant(self.rel), lists.labels >= 0
        found = lists.running_count(relevant) - 1
        known = lists.running_count(judged) - 1
        pooled = known + lists.running_count(lists.labels == POOLED)
        above = np.maximum(lists.ranks - 1, 1)
        inferred = (
            ((lists.ranks - 1) / lists.ranks)
            * (pooled / above)
            * ((found + EPSILON) / (known + 2 * EPSILON))
        )
        total = lists.sum(np.where(relevant, 1 / lists.ranks + inferred, 0.0))
        return ratio(total, lists.judged.relevant(self.rel)[lists.query])

    def _contribution(self, places: Places) -> Floats:
        found = self._relevant_above(places)
        known = places.count_above(places.kinds >= 0)
        pooled = known + places.count_above(places.kinds == POOLED)
        inferred = pooled / places.rank * (found + EPSILON) / (known + 2 * EPSILON)
        inferred = np.where(places.rank > 1, inferred, 0.0)
        total = np.where(places.label >= self.rel, 1 / places.rank + inferred, 0.0)
        return ratio(total, places.judged.relevant(self.rel)[places.query])

    def _extreme(self, tied: TiedRankings, *, best: bool) -> Floats:
        """Sort, except for the worst order with pooled documents.

        Pooled documents count as half relevant where no judged document is above them, so all orders
        are tried.
        """
        if best or not (tied.rankings.labels == POOLED).any():
            return super()._extreme(tied, best=best)
        return self._extreme_by_enumeration(tied, best=best)

    def expected_each(self, judged: JudgedLabels) -> Floats:
        """(1/n)·Σ_{i≤m} (1/i)·[1 + j·(j·(R−1)/(n−1) + ε)/(j + 2ε)], j = i − 1 documents above."""
        relevant, size = judged.relevant(self.rel), judged.sizes
        filled = size if self.cutoff is None else np.minimum(size, self.cutoff)
        above = np.arange(int(filled.max(initial=0)), dtype=np.float64)
        smoothed = above / (above + 2 * EPSILON) / (above + 1)
        alone = np.append(0.0, np.cumsum(1 / (above + 1) + EPSILON * smoothed))[filled]
        joint = np.append(0.0, np.cumsum(above * smoothed))[filled]
        expected = ratio(alone + ratio(relevant - 1, size - 1) * joint, size)
        return np.where(relevant > 0, expected, 0.0)

    def _variance(self, tied: TiedRankings) -> Floats:
        """By `covariance_of_pairs` where all documents are judged, else from orders.

        A relevant document at rank i gets (1/i)·[1 + ε·q_i], and (1/i)·q_i more for each relevant
        document above it, where q_i is (i−1)/(i−1+2ε).
        """
        lists, variance = tied.rankings, np.zeros(len(tied))
        open_lists = tied.count(lists.labels >= 0) < tied.sizes
        if open_lists.any():
            variance[open_lists] = self._variance_of_orders(tied.pick(open_lists))
        places = np.where(open_lists, 0, tied.within(self.depth))
        found = tied.count(lists.relevant(self.rel))
        spread = covariance_of_pairs(_smoothed_sums(places), tied.sizes, found, found)
        relevant = lists.judged.relevant(self.rel)[lists.query].astype(np.float64)
        return np.where(open_lists, variance, ratio(np.maximum(spread, 0.0), relevant**2))


def _smoothed_sums(places: Ints) -> RankSums:
    """Those of infAP: b_ij = q_j/j for i < j and a_i = (1 + ε·q_i)/i, q_i = (i−1)/(i−1+2ε)."""
    above = np.arange(int(places.max(initial=0)), dtype=np.float64)
    b = above / (above + 2 * EPSILON) / (above + 1)
    a = 1 / (above + 1) + EPSILON * b

    def total(values: Floats) -> Floats:
        """Those of the first ranks added up."""
        return np.append(0.0, np.cumsum(values))[places]

    def before(values: Floats) -> Floats:
        """For each rank those above it added up."""
        return np.cumsum(values) - values

    passed = above * b  # ρ_i is this and the b of all ranks below
    return RankSums(
        a=total(a),
        rows=2 * total(passed),
        a_squares=total(a**2),
        a_times_rows=total(a * passed + b * before(a)),
        row_squares=total(passed**2 + b * passed + 4 * b * before(passed)),
        b_squares=total(b * passed),
    )


class CorrectlyOrderedPairs(Measure):
    """How many pairs of a better and a worse document are in the right order."""

    name = "CorrectPairs"
    summary = (
        "Correct pairs: among all pairs with different labels, the share with the better document "
        "first."
    )
    formula = (
        "CorrectPairs@k = |pairs of judged documents with the higher label first| / |pairs with "
        "different labels|. Documents outside the top k count as ranked below it, and a pair of "
        "two such documents counts as half. Undefined if there are no pairs. In Python, "
        "CorrectPairs.pairs(labels) lists the pairs"
    )
    source = (
        "Yao 1995, Measuring retrieval effectiveness based on user preference of documents: "
        "one minus his normalized distance"
    )
    range = (0.0, 1.0)
    expectation = "exact"
    swap_monotone = True
    ideal_is_best = True
    examples = ("CorrectPairs", "CorrectPairs@20")

    def pairs(self, ranking: Sequence[int], judged: Sequence[int] | None = None) -> CandidatePairs:
        """The candidate pairs of one list of labels in rank order, and which are in the right order.

        `judged` has all judged labels of the query, by default those in `ranking`, as for `score`. The
        share of pairs in the right order is the score.

        >>> CorrectPairs.pairs([0, 2, -1, 1])
        CandidatePairs: 3 pairs, 0.3333 of them in the right order
        better label  its rank  worse label  rank  order
        ────────────────────────────────────────────────
                   2         2            1     4  right
                   2         2            0     1  wrong
                   1         4            0     1  wrong
        """
        from rankgauge.measures.candidate_pairs import candidate_pairs

        return candidate_pairs(make_ranking(ranking, judged, None).top(self.depth))

    def _removable_labels(self, labels: Labels, max_grade: int) -> Bools:
        return np.asarray(labels < 0)

    def _score(self, lists: Rankings) -> Floats:
        """Label by label: the documents with a higher one above each document that has it."""
        judged, query = lists.judged, lists.query
        right, all_pairs = np.zeros(len(lists)), np.zeros(len(lists))
        for label in np.unique(judged.labels):
            better, here = lists.labels > label, lists.labels == label
            retrieved = lists.count(better)
            among = lists.sum(np.where(here, lists.running_count(better), 0).astype(np.float64))
            higher = judged.relevant(int(label) + 1)[query]
            same = judged.relevant(int(label))[query] - higher
            left = same - lists.count(here)
            right += among + left * (retrieved + 0.5 * (higher - retrieved))
            all_pairs += same * higher
        return np.where(all_pairs > 0, ratio(right, all_pairs), np.nan)

    def _extreme(self, tied: TiedRankings, *, best: bool) -> Floats:
        """Sort where the lists hold all judged documents and no others; else try all orders.

        A document that is not retrieved counts, too, and an unjudged one may help by pushing others
        down.
        """
        lists = tied.rankings
        judged = lists.count(lists.labels >= 0)
        complete = (judged == lists.judged.sizes[lists.query]) & (judged == tied.lengths)
        if complete.all():
            return super()._extreme(tied, best=best)
        return self._extreme_by_enumeration(tied, best=best)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """Start from ½, and add or subtract a chance for each pair of documents in different groups.

        The number is half the chance that the document of the upper group is in the top k. It is added
        if this document is the better one, and subtracted otherwise.
        """
        judged, query = tied.rankings.judged, tied.rankings.query
        chance = ratio(tied.within(self.depth), tied.sizes)
        ahead, all_pairs = np.zeros(len(tied)), np.zeros(len(tied))
        for label in np.unique(judged.labels):
            better = tied.count(tied.rankings.labels > label)
            here = tied.count(tied.rankings.labels == label)
            higher = judged.relevant(int(label) + 1)[query]
            same = judged.relevant(int(label))[query] - higher
            better_below = tied.each_group(higher) - tied.before(better) - better
            worse_below = tied.each_group(same) - tied.before(here) - here
            ahead += tied.sum_over_groups(chance * (better * worse_below - here * better_below))
            all_pairs += same * higher
        return np.where(all_pairs > 0, 0.5 + 0.5 * ratio(ahead, all_pairs), np.nan)

    def _variance(self, tied: TiedRankings) -> Floats:
        """That of Σ_{i<j} a_ij·sign(label_i − label_j), a_ij = 1 if i ≤ k, else 0, over (2·pairs)².

        Let σ_i be the sums of the rows of a, and n·x_u those of the signs of the n documents. Then
        Σ_i σ_i·x_i, the x at the ranks, has the variance Σσ²·Σx²/(n−1). What a and the signs have beyond
        σ_i/n − σ_j/n and x_u − x_v adds, without correlation, the squares of the one times those of the
        other over (n−1)(n−2)/2. A document in the top k has signs to those that the list lacks, too.
        """
        lists, judged, query = tied.rankings, tied.rankings.judged, tied.rankings.query
        n, m = tied.sizes.astype(np.float64), tied.within(self.depth).astype(np.float64)
        ahead, missing = np.zeros(len(lists.labels)), np.zeros(len(lists.labels))
        pairs, all_pairs = np.zeros(len(tied)), np.zeros(len(tied))
        for label in np.unique(judged.labels):
            better, here = lists.labels > label, lists.labels == label
            count, same = tied.count(better), tied.count(here)
            lower = tied.count((lists.labels >= 0) & (lists.labels < label))
            higher = judged.relevant(int(label) + 1)[query]
            all_same = judged.relevant(int(label))[query] - higher
            all_lower = judged.sizes[query] - higher - all_same
            ahead += np.where(here, lists.each_row(lower - count), 0)
            lacking = (all_lower - lower) - (higher - count)
            missing += np.where(here, lists.each_row(lacking), 0)
            pairs += count * same
            all_pairs += higher * all_same
        rows = m * (n + 1) ** 2 - 2 * (n + 1) * m * (m + 1) + 2 * m * (m + 1) * (2 * m + 1) / 3
        rows += (n - m) * m**2
        inside = ratio(m * (n - m), n)
        lack = ratio(tied.sum(missing), n)
        away = tied.sum((missing - lists.each_row(lack)) ** 2) + tied.unlisted * lack**2
        signs = ratio(tied.sum(ahead**2), n)  # n·Σx²
        linear = ratio(rows * signs, n) + 2 * inside * tied.sum(ahead * missing) + inside * away
        rests = np.maximum(m * (2 * n - m - 1) / 2 - ratio(rows, n), 0.0)
        rests *= np.maximum(pairs - signs, 0.0)
        variance = ratio(linear, n - 1) + ratio(2 * rests, (n - 1) * (n - 2))
        return np.where(all_pairs > 0, ratio(variance, 4 * all_pairs**2), np.nan)


bpref = register(BinaryPreference())
infAP = register(InferredAveragePrecision())
CorrectPairs = register(CorrectlyOrderedPairs())
