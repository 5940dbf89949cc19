"""Average precision for graded labels: the Q-measure and graded average precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.core.checks import Choice, Number
from rankgauge.core.parameters import parameter
from rankgauge.measures.average_precision import (
    NormalizedSumMeasure,
    SumOfPrecisions,
    covariance_of_pairs,
    harmonic_sums,
    sums_by_count,
)
from rankgauge.measures.base import Measure, ratio
from rankgauge.measures.formulas import harmonic_between, highest_ratio
from rankgauge.measures.gains import Gain, GainMap, gains
from rankgauge.measures.labeling import MOST_CELLS, bounds_by_list
from rankgauge.measures.registry import register
from rankgauge.measures.weighted import sort_by_gain
from rankgauge.native import segments as native
from rankgauge.rankings.flips import Places
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of, segment_count
from rankgauge.rankings.tied_lists import TiedRankings


class QMeasure(NormalizedSumMeasure):
    """Average precision in which the cumulated gains of the list and of the best list count too."""

    name = "Q"
    summary = (
        "Q-measure: average precision for graded labels. At each rank, precision is blended with "
        "the share of the highest possible gain that the ranking has accumulated so far."
    )
    formula = (
        "Q(beta)@k = (1/norm) · Σ_{i≤k} [gain_i > 0] · (c_i + β·cg_i) / (i + β·cg*_i), c_i documents "
        "with a gain and cg_i their gains down to rank i, cg*_i the highest cg_i; norm R, min(k, R) or k"
    )
    source = (
        "Sakai 2004, New performance metrics based on multigrade relevance: their application to "
        "question answering"
    )
    range = (0.0, 1.0)
    tail_matters = False
    expectation = "exact"
    swap_monotone = True
    ideal_is_best = True
    examples = ("Q", "Q@10", "Q(beta=10,norm=min)@10", "Q(gain=exp2)@20")
    _distance = "q_measure"

    beta: float = parameter(
        Number(0, 1e9), "the weight of the gains; 0 gives average precision", default=1.0
    )
    norm: str = parameter(
        Choice(("R", "min", "k")),
        "the divisor of the sum. R: the number of documents with a gain; min: min(k, R), so that "
        "a score of 1 is possible; k: the cutoff",
        default="R",
    )
    gain: str | GainMap = parameter(
        Gain(),
        "linear: the label; exp2: 2^label − 1; scaled: (2^label − 1)/2^max_grade; or a map",
        default="linear",
    )

    def _gains(self, labels: Labels, max_grade: int) -> Floats:
        return gains(self.gain, labels, max_grade)

    def _ideal_gains(self, judged: JudgedLabels) -> Floats:
        """The gains of each query's judged documents, the highest first."""
        own = self._gains(judged.labels, judged.max_grade)
        return self._gains(sort_by_gain(judged, own).labels, judged.max_grade)

    def _count_with_gain(self, judged: JudgedLabels) -> Floats:
        """R, the number of judged documents of each query that have a gain."""
        gainful = self._gains(judged.labels, judged.max_grade) > 0
        return segment_count(gainful, judged.offsets).astype(np.float64)

    def nothing_relevant_each(self, judged: JudgedLabels) -> NDArray[np.bool_]:
        nothing: NDArray[np.bool_] = self._count_with_gain(judged) == 0
        return nothing

    def _score(self, lists: Rankings) -> Floats:
        judged, gain = lists.judged, self._gains(lists.labels, lists.judged.max_grade)
        gained = native.segment_cumsum(gain, lists.offsets)
        best = self._blended_divisor(judged, lists.each_row(lists.query), lists.ranks)
        blended = (lists.running_count(gain > 0) + self.beta * gained) / best
        total = lists.sum(np.where(gain > 0, blended, 0.0))
        return ratio(total, self._norm(self._count_with_gain(judged))[lists.query])

    def _blended_divisor(self, judged: JudgedLabels, query: Ints, ranks: Ints) -> Floats:
        """I + β·cg*_i at these ranks of these queries."""
        best = np.append(0.0, native.segment_cumsum(self._ideal_gains(judged), judged.offsets))
        size, start = judged.sizes[query], judged.offsets[:-1][query]
        place = np.where(size > 0, start + np.minimum(ranks, size), 0)
        blended: Floats = ranks + self.beta * best[place]
        return blended

    def _noncontributing_labels(self, labels: Labels, max_grade: int) -> Bools:
        return np.asarray(self._gains(labels, max_grade) == 0)

    def _contribution(self, places: Places) -> Floats:
        judged, grade = places.judged, places.judged.max_grade
        gain, each = self._gains(places.label, grade), self._gains(places.kinds, grade)
        counted = places.count_above(each > 0) + 1
        gained = places.sum_above(each) + gain
        best = self._blended_divisor(judged, places.query, places.rank)
        blended = (counted + self.beta * gained) / best
        norm = self._norm(self._count_with_gain(judged))[places.query]
        return ratio(np.where(gain > 0, blended, 0.0), norm)

    def _merit(self, labels: Labels, max_grade: int) -> Floats:
        return self._gains(labels, max_grade)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """Add up the mean blended ratio at each place of each group.

        Take place j of a group of g documents, r of them with a gain and G the sum of their gains.
        With c documents with a gain and the sum cg of gains above the group, the mean at rank i is
        (1/g)·[r·(c + β·cg) + (r + β·G)·(1 + (j−1)(r−1)/(g−1))] / (i + β·cg*_i).
        """
        lists = tied.rankings
        gain = self._gains(lists.labels, lists.judged.max_grade)
        found, gained = tied.count(gain > 0), tied.sum(gain)
        gained_above = native.segment_cumsum(gained, tied.offsets) - gained
        even, later = self._place_sums(tied)
        inherited = found * (tied.before(found) + self.beta * gained_above) * even
        own = (found + self.beta * gained) * (even + ratio(found - 1, tied.sizes - 1) * later)
        total = tied.sum_over_groups(ratio(inherited + own, tied.sizes))
        return ratio(total, self._norm(self._count_with_gain(lists.judged))[lists.query])

    def _variance(self, tied: TiedRankings) -> Floats:
        lists, total = tied.rankings, np.zeros(len(tied))
        block = np.cumsum(tied.within(self.depth)) // MOST_CELLS
        for number in np.unique(block):
            total[block == number] = self._variance_of_sum(tied.pick(block == number))
        return ratio(total, self._norm(self._count_with_gain(lists.judged))[lists.query] ** 2)

    def _variance_of_sum(self, tied: TiedRankings) -> Floats:
        """That of Σ_{j≤i} w_i·r_i·h_j, w_i = 1/(i + β·cg*_i), r whether there is a gain, h = r + β·gain.

        With the means taken off r and h it is linear but for Σ_{j<i} w_i·r_i·h_j. There both w_i and
        r_i·h_j split into a part that stays when i and j are exchanged and one that changes sign. The
        rows of the one that stays add up to something linear, too. What is left of the two has
        no correlation with the rest, and a variance of Σ_{i<j} w² · Σ_{i<j} (r·h)² over n(n−3)/2 and
        over (n−1)(n−2)/2.
        """
        lists, n = tied.rankings, tied.sizes.astype(np.float64)
        gain = self._gains(lists.labels, lists.judged.max_grade)
        found, worth = (gain > 0).astype(np.float64), (gain > 0) + self.beta * gain
        r0, h0 = ratio(tied.sum(found), n), ratio(tied.sum(worth), n)
        r, h = found - lists.each_row(r0), worth - lists.each_row(h0)
        rr, hh = tied.sum(r * r) + tied.unlisted * r0**2, tied.sum(h * h) + tied.unlisted * h0**2
        rh = tied.sum(r * h) + tied.unlisted * r0 * h0
        c, c0 = r * h - lists.each_row(ratio(rh, n)), r0 * h0 - ratio(rh, n)
        rc = tied.sum(r * c) - tied.unlisted * r0 * c0
        hc = tied.sum(h * c) - tied.unlisted * h0 * c0
        cc = tied.sum(c * c) + tied.unlisted * c0**2
        odd = (rr * hh - rh**2) / 4
        even = odd + (rh**2 - ratio(rh**2, n) - cc) / 2
        even = even - ratio(rh**2, 2 * n * (n - 1)) - ratio(cc, n - 2)

        places = tied.within(self.depth)
        offsets = offsets_of(places)
        above = np.arange(offsets[-1]) - np.repeat(offsets[:-1], places)
        weight = 1 / self._blended_divisor(lists.judged, np.repeat(lists.query, places), above + 1)
        passed = above * weight
        later = np.repeat(native.segment_sum(weight, offsets), places)
        later = later - native.segment_cumsum(weight, offsets)

        def spread(a: Floats, b: Floats) -> Floats:
            """Σ (a − ā)(b − b̄) over all n ranks, those beyond the places that count being 0."""
            a0, b0 = (ratio(native.segment_sum(each, offsets), n) for each in (a, b))
            near = (a - np.repeat(a0, places)) * (b - np.repeat(b0, places))
            return native.segment_sum(near, offsets) + (n - places) * a0 * b0

        with_h, with_r = weight + np.repeat(r0, places) * later, np.repeat(h0, places) * passed
        rows = passed + later
        with_c = -rows * np.repeat(ratio(np.ones(len(n)), n - 2), places)
        linear = hh * spread(with_h, with_h) + rr * spread(with_r, with_r)
        linear += cc * spread(with_c, with_c) + 2 * rh * spread(with_h, with_r)
        linear += 2 * (hc * spread(with_h, with_c) + rc * spread(with_r, with_c))
        squares, mean = (native.segment_sum(each, offsets) for each in (weight * passed, passed))
        odd_ranks = squares - ratio(native.segment_sum((passed - later) ** 2, offsets), n)
        even_ranks = squares - ratio(2 * mean**2, n * (n - 1)) - ratio(spread(rows, rows), n - 2)
        variance = ratio(linear, n - 1)
        for ranks, documents, ways in (
            (even_ranks, even, n * (n - 3)),
            (odd_ranks, odd, (n - 1) * (n - 2)),
        ):
            product = np.maximum(ranks, 0.0) * np.maximum(documents, 0.0)
            variance += ratio(2 * product, np.maximum(ways, 0.0))
        return np.maximum(variance, 0.0)

    def _place_sums(self, tied: TiedRankings) -> tuple[Floats, Floats]:
        """1 and j − 1, each over i + β·cg*_i, added up over the places j of each group that count.

        Beyond rank n, where all n judged documents are in cg*, by harmonic numbers.
        """
        judged, query = tied.rankings.judged, tied.each_group(tied.rankings.query)
        best = self.beta * native.segment_cumsum(self._ideal_gains(judged), judged.offsets)
        places = tied.within(self.depth)
        near = np.minimum(places, tied.within(judged.sizes[query]))
        offsets = offsets_of(near)
        earlier = np.arange(offsets[-1]) - np.repeat(offsets[:-1], near)
        above = np.repeat(tied.above, near) + earlier
        divisor = above + 1 + best[np.repeat(judged.offsets[query], near) + above]
        even = native.segment_sum(1 / divisor, offsets)
        later = native.segment_sum(earlier / divisor, offsets)
        far = np.flatnonzero(places > near)
        most = np.append(0.0, best)[np.where(judged.sizes > 0, judged.offsets[1:], 0)][query[far]]
        begin, end = (tied.above[far] + most + count[far] for count in (near, places))
        harmonic = harmonic_between(begin, end)
        even[far] += harmonic
        later[far] += (places - near)[far] - (tied.above[far] + 1 + most) * harmonic
        return even, later


class GradedAveragePrecision(Measure):
    """Average precision, averaged over the lowest grade that a user counts as relevant."""

    name = "GAP"
    summary = (
        "Graded average precision: average precision for users who differ in the lowest grade "
        "that they consider relevant."
    )
    formula = (
        "GAP@k = Σ_{i≤k} (1/i) · Σ_{j≤i} min(label_i, label_j) / Σ of all judged labels. Each "
        "grade from 1 up is equally likely to be the lowest that a user considers relevant"
    )
    source = (
        "Robertson, Kanoulas and Yilmaz 2010, Extending average precision to graded relevance "
        "judgments"
    )
    range = (0.0, 1.0)
    off_list = "divides"
    tail_matters = False
    expectation = "exact"
    bounding = "exact"
    swap_monotone = True
    ideal_is_best = True
    examples = ("GAP", "GAP@100")
    deeper = "same"

    def _total(self, judged: JudgedLabels) -> Floats:
        """The judged labels of each query, added up."""
        return native.segment_sum(judged.labels.astype(np.float64), judged.offsets)

    def _precisions_by_grade(self, judged: JudgedLabels) -> list[tuple[int, SumOfPrecisions]]:
        """The sum of precisions at each grade that is given, and how many grades it stands for."""
        grades = np.unique(judged.labels[judged.labels > 0]).tolist()
        return [
            (grade - lower, SumOfPrecisions(rel=grade, cutoff=self.cutoff))
            for lower, grade in zip([0, *grades], grades, strict=False)
        ]

    def _score(self, lists: Rankings) -> Floats:
        # Whole numbers until the division by rank, so that no other query's grades move a rounding.
        shared = np.zeros(len(lists.labels), dtype=np.int64)
        for grades, precisions in self._precisions_by_grade(lists.judged):
            relevant = lists.relevant(precisions.rel)
            shared += grades * np.where(relevant, lists.running_count(relevant), 0)
        total = lists.sum(shared / lists.ranks)
        return ratio(total, self._total(lists.judged)[lists.query])

    def _tied(self, tied: TiedRankings) -> Floats | None:
        total, judged = np.zeros(len(tied)), tied.rankings.judged
        for grades, precisions in self._precisions_by_grade(judged):
            total += grades * precisions.tied_each(tied).values
        return ratio(total, self._total(judged)[tied.rankings.query])

    def _variance(self, tied: TiedRankings) -> Floats:
        """That of the sums of precisions at the grades, and their covariances."""
        lists, sums = tied.rankings, harmonic_sums(tied.within(self.depth))
        layers = [
            (grades, tied.count(lists.relevant(precisions.rel)))
            for grades, precisions in self._precisions_by_grade(lists.judged)
        ]
        total = np.zeros(len(tied))
        for i, (grades, more) in enumerate(layers):
            for j, (others, fewer) in enumerate(layers[i:]):
                joint = covariance_of_pairs(sums, tied.sizes, more, fewer)
                total += (1 if j == 0 else 2) * grades * others * joint
        return ratio(np.maximum(total, 0.0), self._total(lists.judged)[lists.query] ** 2)

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        return bounds_by_list(rankings, self._bounds_of_one)

    def _bounds_of_one(self, one: Rankings) -> tuple[float, float]:
        """Exact, over layers of grades cut at those that the judged documents have.

        With s unjudged documents from a grade on, its sum of precisions is highest when they are the s
        ranked highest, lowest when they are the s ranked lowest, and both nest from grade to grade. One
        more adds no less at a lower grade, where more judged documents count. So for the highest ratio,
        found by Dinkelbach's method, each layer may choose its s alone, and the choices nest; for the
        lowest, one s for all layers is as good as any.
        """
        known = one.judged.labels
        levels = np.unique(np.concatenate(([0, one.judged.max_grade], known)))
        thickness = np.diff(levels).astype(np.float64)
        added = np.arange(np.count_nonzero(one.labels < 0) + 1)
        layers = [sums_by_count(one, int(level), self.cutoff) for level in levels[1:]]
        most, least = (np.array(sums) for sums in zip(*layers, strict=True))
        relevant = np.array([np.count_nonzero(known >= level) for level in levels[1:]])
        norms = relevant[:, None] + added[None, :]
        low = float(ratio(thickness @ least, thickness @ norms).min())
        return low, highest_ratio(thickness, most, norms)


Q = register(QMeasure())
GAP = register(GradedAveragePrecision())
