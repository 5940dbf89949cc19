"""Cumulative gain, discounted or not, normalized or not."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints, Labels
from rankgauge.core.parameters import parameter
from rankgauge.measures.answers import QueryReferenceScores
from rankgauge.measures.base import Answer, Deeper, Measure, OffList, ratio
from rankgauge.measures.formulas import highest_ratio
from rankgauge.measures.gains import (
    Discount,
    Gain,
    GainMap,
    divisors,
    gains,
    most_gainful,
    sum_of_discounts,
)
from rankgauge.measures.labeling import bounds_by_list
from rankgauge.measures.registry import register
from rankgauge.measures.weighted import GainMeasure, Weighted
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

CERTAINTY = 1e-12
"""How near to 1 an expected nDCG means that every order is the best one."""


def gain_parameter() -> Any:
    """What a label is worth, as a parameter."""
    return parameter(
        Gain(),
        "linear: the label; exp2: 2^label − 1; scaled: (2^label − 1)/2^max_grade; "
        "fraction: label/max_grade; or a map",
        default="linear",
    )


def discount_parameter() -> Any:
    """How much ranks count, as a parameter."""
    return parameter(
        Discount(),
        "log2: 1/log2(i+1); zipf: 1/i; log_b: 1 while i < b, then 1/log_b(i), as first published",
        default="log2",
    )


class CumulativeGain(Weighted):
    """The gains of the first k documents, added up."""

    name = "CG"
    summary = "Cumulative gain: the sum of the gains of the top k documents."
    formula = "CG@k = Σ_{i≤k} gain(label_i)"
    source = "Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques"
    range = (0.0, np.inf)
    monotone = True
    examples: ClassVar[tuple[str, ...]] = ("CG@10", "CG(gain=exp2)@5")
    deeper: ClassVar[Deeper] = "same"

    gain: str | GainMap = gain_parameter()

    def _weights(self, count: int) -> Floats:
        return np.ones(count)

    def _gains(self, labels: Labels, max_grade: int) -> Floats:
        return gains(self.gain, labels, max_grade)

    def _most_gainful(self, max_grade: int) -> int:
        return most_gainful(self.gain, max_grade)


class DiscountedCumulativeGain(CumulativeGain):
    """The gains of the first k documents, discounted by rank."""

    name = "DCG"
    summary = (
        "Discounted cumulative gain: the sum of the gains, each discounted according to its rank."
    )
    formula = "DCG@k = Σ_{i≤k} gain(label_i) · discount(i)"
    examples: ClassVar[tuple[str, ...]] = (
        "DCG@10",
        "DCG(gain=exp2,discount=zipf)@10",
        "DCG(gain={1:1,2:3},discount=log_2)",
    )

    discount: str = discount_parameter()

    def _weights(self, count: int) -> Floats:
        return 1 / divisors(self.discount, count)

    def _apply_weights(self, gains: Floats, ranks: Ints) -> Floats:
        """Divided, not multiplied by the reciprocal: so trec_eval rounds."""
        return gains / divisors(self.discount, int(ranks.max(initial=0)))[ranks - 1]


class ScaledDCG(DiscountedCumulativeGain):
    """DCG over the sum of its discounts, free of what the query holds."""

    name = "SDCG"
    summary = (
        "Scaled DCG: DCG divided by the sum of the discounts, which is the same for every query."
    )
    formula = "SDCG@k = DCG@k / Σ_{i≤k} discount(i)"
    source = "Moffat 2013, Seven numeric properties of effectiveness metrics"
    cutoffs = "required"
    examples = ("SDCG@10", "SDCG(gain=scaled)@20")
    deeper = "counts"

    def _divisor(self, judged: JudgedLabels) -> Floats:
        return np.full(len(judged), sum_of_discounts(self.discount, self.cutoff or 1))


class NormalizedDCG(DiscountedCumulativeGain):
    """DCG over the best DCG that the query's judged documents allow."""

    name = "nDCG"
    summary = "Normalized DCG: DCG divided by the DCG of the best possible ranking."
    formula = "nDCG@k = DCG@k / DCG@k of the judged documents in the best order"
    source = (
        "Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques; "
        "gain=exp2: Burges et al. 2005, Learning to rank using gradient descent"
    )
    range = (0.0, 1.0)
    monotone = False
    off_list: ClassVar[OffList] = "divides"
    bounding: ClassVar[Answer] = "exact"
    examples: ClassVar[tuple[str, ...]] = (
        "nDCG@10",
        "nDCG",
        "nDCG(gain=exp2)@10",
        "nDCG(gain={1:1,2:3})@5",
    )
    synonyms = {"dcg": {"log2": {"gain": "linear"}, "exp-log2": {"gain": "exp2"}}}  # noqa: RUF012
    _distance = "ideal_weights"

    @property
    def _plain(self) -> DiscountedCumulativeGain:
        return DiscountedCumulativeGain(gain=self.gain, discount=self.discount, cutoff=self.cutoff)

    def _divisor(self, judged: JudgedLabels) -> Floats:
        return QueryReferenceScores(judged).ideal(self._plain)

    @property
    def numerator(self) -> Measure | None:
        """DCG@k. Without a cutoff, the ideal DCG grows with every relevant document."""
        return None if self.cutoff is None else self._plain

    def greatest_divisor(self, judged: JudgedLabels, grades: Labels) -> float:
        """DCG of the judged documents that gain more than all grades, then k of the best grade."""
        if self.cutoff is None:
            return np.inf
        best = float(self._gains(grades, judged.max_grade).max())
        above = self._gains(judged.labels, judged.max_grade) - best
        above = -np.sort(-above[above > 0])[: self.cutoff]
        filled = best * sum_of_discounts(self.discount, self.cutoff)
        return float(above @ self._weights(len(above))) + filled

    def _best_score(self, judged: JudgedLabels) -> Floats:
        """1 by definition, 0 where nothing has a gain."""
        return (self._divisor(judged) > 0).astype(np.float64)

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        return bounds_by_list(rankings, self._bounds_of_one)

    def _bounds_of_one(self, one: Rankings) -> tuple[float, float]:
        """Exact, over layers of gain cut at the values that the judged documents have.

        In a layer, s free documents add their discounts to DCG and, above c judged ones, the
        discounts of ranks c+1 to c+s to the ideal.
        """
        grade = one.judged.max_grade
        known = self._gains(one.judged.labels, grade)
        top = self._gains(np.array([self._most_gainful(grade)], dtype=np.int32), grade)
        levels = np.unique(np.concatenate(([0.0], known, top)))
        free = np.flatnonzero(one.labels < 0)
        weights = self._weights(len(one.labels) + len(known))
        if self.cutoff is not None:
            weights[self.cutoff :] = 0.0
        above = [np.count_nonzero(known >= level) for level in levels[1:]]
        judged_above = np.array(above, dtype=np.int64)
        ideal = np.concatenate(([0.0], np.cumsum(weights)))
        return _extreme_ratios(
            base=float(self._gains(one.labels, grade) @ weights[: len(one.labels)]),
            discounts=weights[free],
            thickness=np.diff(levels),
            ideals=ideal[judged_above[:, None] + np.arange(len(free) + 1)[None, :]],
        )


class ChanceNormalizedDCG(GainMeasure):
    """How far nDCG gets from what a random ranking has to what the best one has."""

    name = "RNDCG"
    summary = (
        "nDCG relative to the nDCG of a random ranking: 0 is no better than random, 1 is the best."
    )
    formula = (
        "RNDCG@k = (nDCG@k − E) / (1 − E), E the mean of nDCG@k over all orders of the judged "
        "documents; 0 where E = 1"
    )
    source = (
        "Gienapp, Stein, Hagen and Potthast 2020, "
        "Estimating topic difficulty using normalized discounted cumulated gain"
    )
    range = (-np.inf, 1.0)
    swap_monotone = True
    ideal_is_best = True
    tail_matters = False
    expectation = "exact"
    examples = ("RNDCG@10", "RNDCG(gain=exp2)@20")
    synonyms = NormalizedDCG.synonyms
    deeper = "same"

    gain: str | GainMap = gain_parameter()
    discount: str = discount_parameter()

    @property
    def _ndcg(self) -> NormalizedDCG:
        return NormalizedDCG(gain=self.gain, discount=self.discount, cutoff=self.cutoff)

    def _gains(self, labels: Labels, max_grade: int) -> Floats:
        return gains(self.gain, labels, max_grade)

    def _most_gainful(self, max_grade: int) -> int:
        return most_gainful(self.gain, max_grade)

    def _score(self, lists: Rankings) -> Floats:
        return self._normalize_by_chance(self._ndcg._score(lists), lists)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        mean = self._ndcg._tied(tied)
        return None if mean is None else self._normalize_by_chance(mean, tied.rankings)

    def _normalize_by_chance(self, scores: Floats, lists: Rankings) -> Floats:
        chance = QueryReferenceScores(lists.judged).expected(self._ndcg)
        room = np.where(chance < 1 - CERTAINTY, 1 - chance, 0.0)
        return ratio(scores - chance[lists.query], room[lists.query])

    def expected_each(self, judged: JudgedLabels) -> Floats:
        """0, by definition."""
        self.complete()
        return np.zeros(len(judged))


class LetorNDCG(NormalizedDCG):
    """nDCG as the evaluation program of LETOR has it."""

    name = "nDCG_LETOR"
    summary = (
        "nDCG as computed by LETOR's own evaluation program: queries with fewer than k judged "
        "documents score 0."
    )
    formula = "nDCG_LETOR@k = nDCG@k where at least k documents are judged, else 0"
    source = (
        "Qin, Liu, Xu and Li 2010, LETOR: a benchmark collection for research on learning to rank; "
        "its evaluation programs"
    )
    cutoffs = "required"
    off_list = "counts"
    examples = ("nDCG_LETOR@10", "nDCG_LETOR@5")

    gain: str | GainMap = parameter(Gain(), "the gain of a label, as for nDCG", default="exp2")
    discount: str = parameter(
        Discount(),
        "the discount of a rank, as for nDCG; log_2 is 1, 1, then 1/log2(i)",
        default="log_2",
    )

    def _divisor(self, judged: JudgedLabels) -> Floats:
        return np.where(judged.sizes < (self.cutoff or 0), 0.0, super()._divisor(judged))

    def _bounds_of_one(self, one: Rankings) -> tuple[float, float]:
        if len(one.judged.labels) + np.count_nonzero(one.labels < 0) < (self.cutoff or 0):
            return 0.0, 0.0
        return super()._bounds_of_one(one)

    _distance = Measure._distance  # labels of free documents make a query long enough
    numerator = Measure.numerator


def _extreme_ratios(
    base: float, discounts: Floats, thickness: Floats, ideals: Floats
) -> tuple[float, float]:
    """The lowest and highest DCG over ideal DCG, over all gains of the free documents.

    `discounts` are those of the free documents, highest ranked first; ideals[l, s] is the ideal's sum
    of discounts in layer l with s free documents in it.

    DCG is linear and the ideal convex in the gains, so their ratio is quasi-concave: it is lowest with
    every free gain at 0 or at the top, the s lowest ranked ones for some s. The highest is found by
    Dinkelbach's method: for a ratio t, each layer takes the s highest ranked free documents that
    maximize discounts − t · ideal; fewer judged documents in a higher layer make the ideal's part
    dearer, so s never grows from a layer to the next and the layers fit together.
    """
    lowest_ranked = np.concatenate(([0.0], np.cumsum(discounts[::-1])))
    highest_ranked = np.concatenate(([0.0], np.cumsum(discounts)))
    low = float(ratio(base + thickness.sum() * lowest_ranked, thickness @ ideals).min())
    most = np.broadcast_to(highest_ranked, ideals.shape)
    return low, min(highest_ratio(thickness, most, ideals, base), 1.0)


CG = register(CumulativeGain())
DCG = register(DiscountedCumulativeGain())
SDCG = register(ScaledDCG())
nDCG = register(NormalizedDCG())
RNDCG = register(ChanceNormalizedDCG())
nDCG_LETOR = register(LetorNDCG())
