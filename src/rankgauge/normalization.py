"""Scores normalised by what a random ranking gets, and by the best: v1, v2, linear and z; minmax.

A is the score; best and worst are what any order of the judged documents gets, and chance is what a
random one gets on average. Where nothing is relevant, and wherever the best is no better than chance
(for minmax: than the worst), there is nothing to normalise by, and the score is 0.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.data.model import Floats
from rankgauge.data.rankings import JudgedLabels, Rankings
from rankgauge.measures.base import Answer, Direction, Measure, Wrapper, ratio
from rankgauge.measures.registry import register

TOLERANCE = 1e-12
"""What is no difference: how far below chance a score still counts as chance, and how far apart chance
and the best are where there is something to normalise by."""


def share(part: Floats, whole: Floats) -> Floats:
    """part / whole, and 0 where the whole is nothing but rounding."""
    return ratio(part, np.where(np.abs(whole) <= TOLERANCE, 0.0, whole))


class Normalized(Wrapper):
    """A measure seen from what chance gives. Higher is better, whatever it was before."""

    source = "Feng and Karmaker 2022, Joint upper and expected value normalization"

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        return measure.direction != "none"

    @property
    def direction(self) -> Direction:  # type: ignore[override]
        return "higher"

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return -np.inf, np.inf

    @property
    def depth(self) -> int | None:
        return self.measure.depth

    def nothing_relevant_each(self, judged: JudgedLabels) -> NDArray[np.bool_]:
        return self.measure.nothing_relevant_each(judged)

    def _normalize(self, scores: Floats, judged: JudgedLabels, query: Any) -> Floats:
        """The normalised form of scores on these queries."""
        raise NotImplementedError

    def score_each(self, rankings: Rankings) -> Floats:
        scores = self.complete().measure.score_each(rankings)
        with np.errstate(invalid="ignore"):
            return self._normalize(scores, rankings.judged, rankings.query)

    def _extreme(self, judged: JudgedLabels, *, best: bool) -> Floats:
        """That of the measure inside: none of the forms changes the order of scores."""
        measure = self.complete().measure
        scores = measure.ideal_each(judged) if best else measure.worst_each(judged)
        with np.errstate(invalid="ignore"):
            return self._normalize(scores, judged, np.arange(len(judged)))

    def _better(self, a: Floats, b: Floats) -> Floats:
        """By how much a is better than b."""
        return a - b if self.measure.direction == "higher" else b - a


class V1(Normalized):
    """The score as a share of the best, times its share of score and chance together."""

    name = "v1"
    summary = "UE normalisation, first version: the share of the best, discounted by chance."
    formula = "v1(m) = (A/best) · A/(A + chance)"
    examples: ClassVar[tuple[str, ...]] = ("v1(nDCG@10)", "v1(AP@30)")

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        return measure.direction == "higher" and measure.range[0] >= 0 and measure.ideal_is_best

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return 0.0, 1.0

    @property
    def expectation(self) -> Answer:  # type: ignore[override]
        return "enumerated"

    def _normalize(self, scores: Floats, judged: JudgedLabels, query: Any) -> Floats:
        best = self.measure.ideal_each(judged)[query]
        chance = self.measure.expected_each(judged)[query]
        return share(scores, best) * share(scores, scores + chance)


class V2(Normalized):
    """The way from chance to the best that the score has gone, or back to the lowest score."""

    name = "v2"
    summary = "UE normalisation, second version: 0 for chance, 1 for the best, −1 for the lowest."
    formula = "v2(m) = (A − chance)/(best − chance), or (A − chance)/(chance − lowest) below chance"
    examples: ClassVar[tuple[str, ...]] = ("v2(nDCG@10)", "v2(AP@30)")

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        return measure.direction == "lower" or (
            measure.direction == "higher" and bool(np.isfinite(measure.range[0]))
        )

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return -1.0, 1.0

    @property
    def expectation(self) -> Answer:  # type: ignore[override]
        return "enumerated"

    def _normalize(self, scores: Floats, judged: JudgedLabels, query: Any) -> Floats:
        best, chance = self.measure.ideal_each(judged), self.measure.expected_each(judged)
        if self.measure.direction == "higher":
            lowest = np.full(len(judged), self.measure.range[0])
        else:
            lowest = self.measure.worst_each(judged)
        gained = self._better(scores, chance[query])
        above = share(gained, self._better(best, chance)[query])
        below = share(gained, self._better(chance, lowest)[query])
        return np.clip(np.where(gained >= -TOLERANCE, above, below), -1.0, 1.0)


class Linear(Normalized):
    """The share of the way from chance to the best; a random ranking gets 0 on average."""

    name = "linear"
    summary = "0 for chance and 1 for the best, on one line: random rankings average to 0."
    formula = "linear(m) = (A − chance)/(best − chance)"
    examples: ClassVar[tuple[str, ...]] = ("linear(ERR@20)", "linear(nDCG@10)")

    def _normalize(self, scores: Floats, judged: JudgedLabels, query: Any) -> Floats:
        best, chance = self.measure.ideal_each(judged), self.measure.expected_each(judged)
        return share(self._better(scores, chance[query]), self._better(best, chance)[query])


class Z(Normalized):
    """The distance from chance in standard deviations of a random ranking's score."""

    name = "z"
    summary = "How many standard deviations of a random ranking's score lie between it and chance."
    formula = "z(m) = (A − chance)/sd, sd that of the score of a random order"
    examples: ClassVar[tuple[str, ...]] = ("z(P@5)", "z(nDCG@10)")

    def _normalize(self, scores: Floats, judged: JudgedLabels, query: Any) -> Floats:
        chance, spread = self.measure.expected_each(judged), self.measure.variance_each(judged)
        return share(self._better(scores, chance[query]), np.sqrt(spread)[query])


class MinMax(Normalized):
    """The share of the way from the worst order to the best."""

    name = "minmax"
    summary = "0 for the worst order of the judged documents and 1 for the best."
    formula = "minmax(m) = (A − worst)/(best − worst)"
    source = "Gienapp et al. 2020, The impact of negative relevance judgments on NDCG"
    examples: ClassVar[tuple[str, ...]] = ("minmax(nDCG@10)", "minmax(AP)")

    def _normalize(self, scores: Floats, judged: JudgedLabels, query: Any) -> Floats:
        best, worst = self.measure.ideal_each(judged), self.measure.worst_each(judged)
        return share(self._better(scores, worst[query]), self._better(best, worst)[query])


v1 = register(V1)
v2 = register(V2)
linear = register(Linear)
z = register(Z)
minmax = register(MinMax)
