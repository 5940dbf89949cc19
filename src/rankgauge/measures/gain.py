"""Cumulative gain, discounted or not, normalised or not."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankgauge.data.model import Floats, Labels
from rankgauge.data.rankings import JudgedLabels, Rankings
from rankgauge.measures.base import by_count, each_list, extremes
from rankgauge.measures.parameters import (
    Discount,
    Gain,
    GainMap,
    discounts,
    gains,
    most_gainful,
    parameter,
)
from rankgauge.measures.registry import register
from rankgauge.measures.weighted import Weighted

TOLERANCE = 1e-15


class CumulativeGain(Weighted):
    """The gains of the first k documents, added up."""

    name = "CG"
    summary = "Cumulative gain: the gains of the top k documents, added up."
    formula = "CG@k = Σ_{i≤k} gain(label_i)"
    source = "Järvelin and Kekäläinen 2002"
    range = (0.0, np.inf)
    monotone = True
    examples: ClassVar[tuple[str, ...]] = ("CG@10", "CG(gain=exp2)@5")

    gain: str | GainMap = parameter(
        Gain(),
        "linear: the label; exp2: 2^label − 1; scaled: (2^label − 1)/2^max_grade; or a map",
        default="linear",
    )

    def _weights(self, count: int) -> Floats:
        return np.ones(count)

    def _gains(self, labels: Labels, max_grade: int) -> Floats:
        return gains(self.gain, labels, max_grade)

    def _most_gainful(self, max_grade: int) -> int:
        return most_gainful(self.gain, max_grade)


class DiscountedCumulativeGain(CumulativeGain):
    """The gains of the first k documents, discounted by rank."""

    name = "DCG"
    summary = "Discounted cumulative gain: gains that count less the lower they are ranked."
    formula = "DCG@k = Σ_{i≤k} gain(label_i) · discount(i)"
    examples: ClassVar[tuple[str, ...]] = (
        "DCG@10",
        "DCG(gain=exp2,discount=zipf)@10",
        "DCG(gain={1:1,2:3},discount=log_2)",
    )

    discount: str = parameter(
        Discount(),
        "log2: 1/log2(i+1); zipf: 1/i; log_b: 1 while i < b, then 1/log_b(i), as first published",
        default="log2",
    )

    def _weights(self, count: int) -> Floats:
        return discounts(self.discount, count)


class ScaledDCG(DiscountedCumulativeGain):
    """DCG over the sum of its discounts, free of what the query holds."""

    name = "SDCG"
    summary = "Scaled DCG: DCG over the sum of the discounts, so it does not depend on the query."
    formula = "SDCG@k = DCG@k / Σ_{i≤k} discount(i)"
    source = "Moffat, Bailey, Scholer and Thomas 2017"
    cutoffs = "required"
    examples = ("SDCG@10", "SDCG(gain=scaled)@20")

    def _divisor(self, judged: JudgedLabels) -> Floats:
        return np.full(len(judged), self._weights(self.cutoff or 1).sum())


class NormalizedDCG(DiscountedCumulativeGain):
    """DCG over the best DCG that the query's judged documents allow."""

    name = "nDCG"
    aliases = ("NDCG", "ndcg")
    summary = "Normalised DCG: DCG over that of the best possible ranking."
    formula = "nDCG@k = DCG@k / DCG@k of the judged documents in the best order"
    source = "Järvelin and Kekäläinen 2002; gain=exp2: Burges et al. 2005"
    range = (0.0, 1.0)
    monotone = False
    examples = ("nDCG@10", "nDCG", "nDCG(gain=exp2)@10", "nDCG(gain={1:1,2:3})@5")
    synonyms = {"dcg": {"log2": {"gain": "linear"}, "exp-log2": {"gain": "exp2"}}}  # noqa: RUF012

    def _divisor(self, judged: JudgedLabels) -> Floats:
        ordered = DCG(gain=self.gain, discount=self.discount)
        return (ordered if self.cutoff is None else ordered @ self.cutoff).ideal_each(judged)

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        return each_list(rankings, self._bounds_of_one)

    def _bounds_of_one(self, one: Rankings) -> tuple[float, float]:
        """Exact. DCG is linear and the ideal DCG convex in the gains, so their ratio is quasi-concave:
        it is lowest with every free gain at 0 or at the top, and for each number at the top with the
        lowest ranked ones there. For the highest see `_highest`."""
        top = self._most_gainful(one.judged.max_grade)
        _, lowest = by_count(one, top)
        return extremes(self.score_each(lowest))[0], self._highest(one, top)

    def _highest(self, one: Rankings, top: int) -> float:
        """The highest ratio, by Dinkelbach's method on layers of gain.

        Gains are cut into layers at the values the judged documents have. In a layer in which c judged
        documents lie, making the s highest ranked free documents lie too adds their discounts to
        DCG and the discounts of ranks c+1..c+s to the ideal; for a ratio t the best s maximises the
        first minus t times the second. Fewer judged documents in a higher layer make the ideal's
        part dearer, so the best s never grows from a layer to the next and the layers fit together.
        """
        grade = one.judged.max_grade
        known = np.sort(self._gains(one.judged.labels, grade))[::-1]
        highest = self._gains(np.array([top], dtype=np.int32), grade)
        levels = np.unique(np.concatenate(([0.0], known, highest)))
        free = np.flatnonzero(one.labels < 0)
        places = len(one.labels) + len(known)
        weights = self._weights(places)
        if self.cutoff is not None:
            weights[self.cutoff :] = 0.0
        ideal = np.concatenate(([0.0], np.cumsum(weights)))
        gained = np.concatenate(([0.0], np.cumsum(weights[free])))
        thickness = np.diff(levels)
        within = np.array(
            [np.count_nonzero(known >= level) for level in levels[1:]], dtype=np.int64
        )
        base = float(self._gains(one.labels, grade) @ weights[: len(one.labels)])
        rises = ideal[within[:, None] + np.arange(len(free) + 1)[None, :]]
        ratio = -1.0
        while True:
            best = np.argmax(gained[None, :] - max(ratio, 0.0) * rises, axis=1)
            total = base + float(thickness @ gained[best])
            possible = float(thickness @ rises[np.arange(len(best)), best])
            reached = total / possible if possible > 0 else 0.0
            if reached <= ratio + TOLERANCE:
                return min(max(ratio, reached), 1.0)
            ratio = reached


CG = register(CumulativeGain())
DCG = register(DiscountedCumulativeGain())
SDCG = register(ScaledDCG())
nDCG = register(NormalizedDCG())
