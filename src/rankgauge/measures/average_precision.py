"""Average precision and the sum of precisions it is made of."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from rankgauge.core.arrays import Floats, Ints, Labels
from rankgauge.core.checks import Choice
from rankgauge.core.parameters import parameter
from rankgauge.core.records import Record
from rankgauge.errors import MeasureError
from rankgauge.measures.base import Binary, Deeper, Measure, OffList, ratio
from rankgauge.measures.formulas import harmonic_between, inverse_square_sums
from rankgauge.measures.labeling import bounds_by_list
from rankgauge.measures.precision import RelevantOnlyMeasure
from rankgauge.measures.registry import register
from rankgauge.rankings.flips import Places
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings


class PrecisionSumMeasure(Binary):
    """A measure that is computed from R and the sum of precisions at the relevant documents.

    The measure rises with the sum.
    """

    tail_matters = False
    swap_monotone = True
    ideal_is_best = True
    deeper: ClassVar[Deeper] = "same"

    def _sum(self, lists: Rankings) -> Floats:
        relevant = lists.relevant(self.rel)
        precision = np.where(relevant, lists.running_count(relevant) / lists.ranks, 0.0)
        return lists.sum(precision)

    def _score_from_sum(self, total: Floats, relevant: Floats) -> Floats:
        """The score, given the sum of precisions and R."""
        raise NotImplementedError

    def _score(self, lists: Rankings) -> Floats:
        relevant = lists.judged.relevant(self.rel)[lists.query].astype(np.float64)
        return self._score_from_sum(self._sum(lists), relevant)

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        return bounds_by_list(rankings, self._bounds_of_one)

    def _bounds_of_one(self, one: Rankings) -> tuple[float, float]:
        grade = one.judged.max_grade if one.judged.max_grade >= self.rel else 0
        if grade == 0:
            score = float(self._score(one.top(self.cutoff))[0])
            return score, score
        most, least = sums_by_count(one, self.rel, self.cutoff)
        relevant = one.judged.relevant(self.rel) + np.arange(float(len(most)))
        low, high = self._score_from_sum(least, relevant), self._score_from_sum(most, relevant)
        return float(low.min()), float(high.max())


class SumOfPrecisions(RelevantOnlyMeasure, PrecisionSumMeasure):
    """The precisions at the relevant documents, added up."""

    name = "SP"
    summary = "Sum of precisions: the sum of the precision at each relevant document in the top k."
    formula = "SP@k = Σ_{i≤k} rel_i · P@i"
    source = "Webber, Moffat and Zobel 2008, Score standardization for inter-collection comparison"
    range = (0.0, np.inf)
    monotone = True
    examples: ClassVar[tuple[str, ...]] = ("SP@10", "SP")
    _distance = "sum_of_precisions"

    def _norm(self, relevant: Floats) -> Floats:
        """What the sum is divided by, given R."""
        return np.ones(len(relevant))

    def _contribution(self, places: Places) -> Floats:
        precision = (self._relevant_above(places) + 1) / places.rank
        norm = self._norm(places.judged.relevant(self.rel).astype(np.float64))[places.query]
        return ratio(np.where(places.label >= self.rel, precision, 0.0), norm)

    def _score_from_sum(self, total: Floats, relevant: Floats) -> Floats:
        return ratio(total, self._norm(relevant))

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """Add up the mean precisions at the places of each group by harmonic numbers.

        Take place j of a group of g documents, r of them relevant, with c relevant documents above the
        group. The mean precision there is (r/g)·[(c+1) + (j−1)(r−1)/(g−1)]/rank (McSherry and Najork
        2008).
        """
        relevant = tied.count(tied.rankings.relevant(self.rel))
        places = tied.within(self.depth)
        harmonic = harmonic_between(tied.above, tied.above + places)
        others = ratio(relevant - 1, tied.sizes - 1) * (places - (tied.above + 1) * harmonic)
        share = ratio(relevant, tied.sizes)
        total = tied.sum_over_groups(share * ((tied.before(relevant) + 1) * harmonic + others))
        return ratio(total, self._norms(tied.rankings))

    def _best_score(self, judged: JudgedLabels) -> Floats:
        """A precision of 1 at each of min(k, R) documents."""
        relevant = judged.relevant(self.rel).astype(np.float64)
        found = relevant if self.cutoff is None else np.minimum(relevant, self.cutoff)
        return self._score_from_sum(found, relevant)

    def divisor_each(self, judged: JudgedLabels) -> Floats:
        return self.complete()._norm(judged.relevant(self.rel).astype(np.float64))

    def _norms(self, lists: Rankings) -> Floats:
        """What the sum of each list is divided by."""
        return self.divisor_each(lists.judged)[lists.query]

    def _variance(self, tied: TiedRankings) -> Floats:
        """That of the sum of precisions over the norm squared, see `covariance_of_pairs`."""
        relevant = tied.count(tied.rankings.relevant(self.rel))
        sums = harmonic_sums(tied.within(self.depth))
        spread = covariance_of_pairs(sums, tied.sizes, relevant, relevant)
        return ratio(np.maximum(spread, 0.0), self._norms(tied.rankings) ** 2)

    def _independent(self, tied: TiedRankings, places: Ints) -> Floats:
        """Return k·p², as if precision at a rank did not depend on whether its document is relevant.

        The formula is the one of Feng and Karmaker.
        """
        share = ratio(tied.count(tied.rankings.relevant(self.rel)), tied.sizes)
        return ratio(places * share**2, self._norms(tied.rankings))

    def _full(self, tied: TiedRankings) -> Floats:
        """k, each of as many relevant documents having a precision of 1 (Feng and Karmaker's Eq. 3)."""
        any_relevant = tied.count(tied.rankings.relevant(self.rel)) > 0
        places = tied.sizes if self.cutoff is None else np.full(len(tied), self.cutoff)
        return np.where(any_relevant, ratio(places, self._norms(tied.rankings)), 0.0)


class ScaledSumOfPrecisions(SumOfPrecisions):
    """The sum of precisions divided by the cutoff: average precision with norm=k."""

    name = "SSP"
    summary = (
        "Scaled sum of precisions: the sum of precisions divided by k. It does not depend on R."
    )
    formula = "SSP@k = SP@k / k"
    source = "Webber, Moffat and Zobel 2008, Score standardization for inter-collection comparison"
    range = (0.0, 1.0)
    cutoffs = "required"
    examples = ("SSP@10",)
    deeper = "divides"

    def _norm(self, relevant: Floats) -> Floats:
        return np.full(len(relevant), float(self.cutoff or 1))


class NormalizedSumMeasure(Measure):
    """A sum divided by R, by min(k, R) or by k."""

    _of_some_scores = True

    @property
    def norm(self) -> str:
        """What the sum is divided by: "R", "min" or "k"; a parameter of each such measure."""
        raise NotImplementedError

    @property
    def deeper(self) -> Deeper:  # type: ignore[override]
        return "divides" if self.norm == "k" else "same"

    def complete(self) -> Self:
        if self.norm == "k" and self.cutoff is None:
            raise MeasureError(f"{self} needs a cutoff; write, for example, {self}@10")
        return self

    def _norm(self, relevant: Floats) -> Floats:
        """What the sum is divided by, given R."""
        if self.norm == "R" or self.cutoff is None:
            return relevant
        limit = float(self.cutoff)
        return np.minimum(relevant, limit) if self.norm == "min" else np.full_like(relevant, limit)


class AveragePrecision(NormalizedSumMeasure, SumOfPrecisions):  # type: ignore[override]
    """The mean of the precisions at the relevant documents."""

    name = "AP"
    summary = (
        "Average precision: the sum of the precision at each relevant document, divided by R or "
        "another norm."
    )
    formula = "AP@k = (1/norm) · Σ_{i≤k} rel_i · P@i; norm R, min(k, R) or k"
    source = "Buckley and Voorhees 2000, Evaluating evaluation measure stability; norm=min: Sakai"
    range = (0.0, 1.0)
    monotone = False
    examples = ("AP", "AP@100", "AP(norm=min)@10", "AP(norm=k)@10", "AP(rel=2)")

    norm: str = parameter(
        Choice(("R", "min", "k")),
        "the divisor of the sum. R: the number of relevant documents; min: min(k, R), so that a "
        "score of 1 is possible; k: the cutoff",
        default="R",
    )

    @property
    def off_list(self) -> OffList:  # type: ignore[override]
        return "ignored" if self.norm == "k" else "divides"

    @property
    def numerator(self) -> Measure | None:
        """The sum of precisions, if it is divided by min(k, R): that is at most k."""
        if self.norm != "min" or self.cutoff is None:
            return None
        return SumOfPrecisions(rel=self.rel, cutoff=self.cutoff)

    def greatest_divisor(self, judged: JudgedLabels, grades: Labels) -> float:
        """The norm with as many relevant documents as there can be."""
        relevant = np.inf if grades[-1] >= self.rel else judged.relevant(self.rel)[0]
        return float(self._norm(np.array([relevant], dtype=np.float64))[0])


class RankSums(Record):
    """Sums of weights over the ranks that count, with one number of each kind for each list.

    a_i is the weight of a relevant document at rank i, and b_ij the weight of two relevant documents
    at ranks i and j. ρ_i is Σ_j b_ij.
    """

    a: Floats
    rows: Floats
    a_squares: Floats
    a_times_rows: Floats
    row_squares: Floats
    b_squares: Floats


def harmonic_sums(places: Ints) -> RankSums:
    """Those of a sum of precisions: a_i = 1/i and, for i < j, b_ij = 1/j.

    With D_i = H_m − H_i, ρ_i is 1 − 1/i + D_i; and Σ D_i = m − H_m, Σ D_i² = 2m − H_m − H_m².
    """
    m = places.astype(np.float64)
    harmonic = harmonic_between(np.zeros_like(places), places)
    squares = inverse_square_sums(places)
    return RankSums(
        a=harmonic,
        rows=2 * (m - harmonic),
        a_squares=squares,
        a_times_rows=harmonic + (harmonic**2 - 3 * squares) / 2,
        row_squares=5 * m - 5 * harmonic + 2 * squares - 2 * harmonic**2,
        b_squares=harmonic - squares,
    )


def covariance_of_pairs(sums: RankSums, size: Ints, more: Ints, fewer: Ints) -> Floats:
    """The covariance of two sums Σ_i a_i·Y_i + Σ_{i<j} b_ij·Y_i·Y_j over random orders of documents.

    Y_i says whether rank i has a relevant document; of n documents `more`, r, are relevant for the one
    sum and `fewer`, s, of these for the other. Splitting b_ij into μ + α_i + α_j + β_ij, the rows of β
    adding up to 0, leaves two parts without correlation: Σ_i γ_i·Y_i, γ_i = a_i + ρ_i·(r−1)/(n−2), of
    covariance s(n−r)/(n(n−1)) · Σ_i (γ_i − γ̄)(γ'_i − γ̄'), and Σ β_ij·Y_i·Y_j, of covariance
    s(s−1)(n−r)(n−r−1)/(n(n−1)(n−2)(n−3)) · Σ_{i<j} β²_ij.
    """
    n, r, s = size.astype(np.float64), more.astype(np.float64), fewer.astype(np.float64)
    share_r, share_s = ratio(r - 1, n - 2), ratio(s - 1, n - 2)
    products = sums.a_squares + (share_r + share_s) * sums.a_times_rows
    products = products + share_r * share_s * sums.row_squares
    totals = (sums.a + share_r * sums.rows) * (sums.a + share_s * sums.rows)
    linear = ratio((products - ratio(totals, n)) * s * (n - r), n * (n - 1))
    rest = sums.b_squares - ratio(sums.rows**2, 2 * n * (n - 1))
    rest = rest - ratio(sums.row_squares - ratio(sums.rows**2, n), n - 2)
    pairs = s * (s - 1) * (n - r) * (n - r - 1)
    return linear + ratio(pairs * np.maximum(rest, 0.0), n * (n - 1) * (n - 2) * (n - 3))


def sums_by_count(one: Rankings, rel: int, cutoff: int | None) -> tuple[Floats, Floats]:
    """The highest and the lowest sums of precisions, by the number of relevant unjudged documents.

    Each array has the sums of the list with 0, 1, … of its unjudged documents relevant. The sum is
    highest if those ranked highest are the relevant ones, and lowest if those ranked lowest are.
    """
    relevant, free = one.labels >= rel, np.flatnonzero(one.labels < 0)
    weight = 1.0 / one.ranks
    if cutoff is not None:
        weight[cutoff:] = 0.0
    count = np.cumsum(relevant)
    own = float(np.sum(weight * count * relevant))
    below = np.cumsum((weight * relevant)[::-1])[::-1][free]
    alone = (count[free] + 1) * weight[free] + below
    above = np.arange(len(free)) * weight[free]
    free_below = np.append(np.cumsum(weight[free][::-1])[::-1][1:], 0.0)[: len(free)]
    return (
        own + np.append(0.0, np.cumsum(alone + above)),
        own + np.append(0.0, np.cumsum((alone + free_below)[::-1])),
    )


SP = register(SumOfPrecisions())
SSP = register(ScaledSumOfPrecisions())
AP = register(AveragePrecision())
