"""Average precision and the sum of precisions it is made of."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankgauge.data.errors import MeasureError
from rankgauge.data.model import Floats
from rankgauge.data.rankings import Rankings
from rankgauge.measures.base import Binary, ratio
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
        norm = self._norm(lists.judged.relevant(self.rel).astype(np.float64))
        return ratio(self._sum(lists), norm[lists.query])

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


SP = register(SumOfPrecisions())
SSP = register(ScaledSumOfPrecisions())
AP = register(AveragePrecision())
