"""Average precision and the sum of precisions it is made of."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankgauge.data.errors import MeasureError
from rankgauge.data.model import Floats
from rankgauge.data.rankings import Rankings
from rankgauge.measures.base import Binary, ratio
from rankgauge.measures.labelling import each_list
from rankgauge.measures.parameters import Choice, parameter
from rankgauge.measures.registry import register
from rankgauge.measures.ties import TiedRankings, harmonic_between


class SumOfPrecisions(Binary):
    """The precisions at the relevant documents, added up."""

    name = "SP"
    summary = "Sum of precisions: precision at each relevant document of the top k, added up."
    formula = "SP@k = Σ_{i≤k} rel_i · P@i"
    source = "Webber, Moffat and Zobel 2008, Score standardization for inter-collection comparison"
    range = (0.0, np.inf)
    monotone = True
    expectation = "exact"
    examples: ClassVar[tuple[str, ...]] = ("SP@10", "SP")

    def _sum(self, lists: Rankings) -> Floats:
        relevant = lists.relevant(self.rel)
        precision = np.where(relevant, lists.running_count(relevant) / lists.ranks, 0.0)
        return lists.sum(precision)

    def _norm(self, relevant: Floats) -> Floats:
        """What the sum is divided by, given R."""
        return np.ones(len(relevant))

    def _score(self, lists: Rankings) -> Floats:
        relevant = lists.judged.relevant(self.rel)[lists.query].astype(np.float64)
        return self._from_sum(self._sum(lists), relevant)

    def _from_sum(self, total: Floats, relevant: Floats) -> Floats:
        """The score, given the sum of precisions and R."""
        return ratio(total, self._norm(relevant))

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        return each_list(rankings, self._bounds_of_one)

    def _bounds_of_one(self, one: Rankings) -> tuple[float, float]:
        grade = one.judged.max_grade if one.judged.max_grade >= self.rel else 0
        if grade == 0:
            score = float(self._score(one.top(self.cutoff))[0])
            return score, score
        most, least = sums_by_count(one, self.rel, self.cutoff)
        relevant = one.judged.relevant(self.rel) + np.arange(float(len(most)))
        low, high = self._from_sum(least, relevant), self._from_sum(most, relevant)
        return float(low.min()), float(high.max())

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """At place j of a group of g documents, r of them relevant, with c relevant ones above the
        group: (r/g)·[(c+1) + (j−1)(r−1)/(g−1)]/rank, added up by harmonic numbers (McSherry and
        Najork 2008)."""
        found = tied.count(tied.rankings.relevant(self.rel))
        places = tied.within(self.depth)
        harmonic = harmonic_between(tied.above, tied.above + places)
        others = ratio(found - 1, tied.sizes - 1) * (places - (tied.above + 1) * harmonic)
        share = ratio(found, tied.sizes)
        total = tied.over_groups(share * ((tied.before(found) + 1) * harmonic + others))
        norm = self._norm(tied.rankings.judged.relevant(self.rel).astype(np.float64))
        return ratio(total, norm[tied.rankings.query])


class ScaledSumOfPrecisions(SumOfPrecisions):
    """The sum of precisions over the cut-off: average precision with norm k."""

    name = "SSP"
    summary = "Scaled sum of precisions: the sum of precisions over k, free of R."
    formula = "SSP@k = SP@k / k"
    source = "Webber, Moffat and Zobel 2008, Score standardization for inter-collection comparison"
    range = (0.0, 1.0)
    cutoffs = "required"
    examples = ("SSP@10",)

    def _norm(self, relevant: Floats) -> Floats:
        return np.full(len(relevant), float(self.cutoff or 1))


class AveragePrecision(SumOfPrecisions):
    """The mean of the precisions at the relevant documents."""

    name = "AP"
    aliases = ("MAP",)
    summary = "Average precision: the precisions at the relevant documents over a norm."
    formula = "AP@k = (1/norm) · Σ_{i≤k} rel_i · P@i; norm R, min(k, R) or k"
    source = "Buckley and Voorhees 2000, Evaluating evaluation measure stability; norm=min: Sakai"
    range = (0.0, 1.0)
    monotone = False
    examples = ("AP", "AP@100", "AP(norm=min)@10", "AP(norm=k)@10", "AP(rel=2)")

    norm: str = parameter(
        Choice(("R", "min", "k")),
        "R: all relevant documents; min: min(k, R), so that 1 can be reached; k: the cut-off",
        default="R",
    )

    def complete(self) -> AveragePrecision:
        if self.norm == "k" and self.cutoff is None:
            raise MeasureError(f"{self} needs a cut-off; write, for example, {self}@10")
        return self

    def _norm(self, relevant: Floats) -> Floats:
        if self.norm == "R" or self.cutoff is None:
            return relevant
        limit = float(self.cutoff)
        return np.minimum(relevant, limit) if self.norm == "min" else np.full_like(relevant, limit)


def sums_by_count(one: Rankings, rel: int, cutoff: int | None) -> tuple[Floats, Floats]:
    """The sums of precisions of one list with 0, 1, … of its unjudged documents relevant: the highest
    ranked ones first, which sums up to the most, and the lowest ranked ones first, to the least."""
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
