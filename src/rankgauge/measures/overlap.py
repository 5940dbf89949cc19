"""Measures of likeness to an ideal ranking: compatibility."""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Choice, Number
from rankgauge.core.parameters import parameter
from rankgauge.measures.base import Measure, ratio
from rankgauge.measures.formulas import sum_over_ranks
from rankgauge.measures.registry import register
from rankgauge.rankings.lists import JudgedLabels, Rankings


class Compatibility(Measure):
    """Rank-biased overlap with the most similar ideal ranking.

    The ideal ranking holds the documents of grade 1 and above, the highest grade first. Within a grade
    the retrieved documents come first, in the order of the ranking. Overlap is counted at the depths
    1 to k, also beyond the end of either ranking; without a cutoff, at all depths.
    """

    name = "compat"
    summary = (
        "Compatibility: the rank-biased overlap of the ranking with the most similar ideal ranking."
    )
    formula = (
        "compat(p)@k = RBO(ranking, ideal) / RBO(ideal, ideal), "
        "RBO = (Σ_{d≤k} p^(d−1) · |common in the top d| / d) / Σ_{d≤k} p^(d−1)"
    )
    source = (
        "Clarke, Smucker and Vtyurina 2020, Offline evaluation by maximum similarity to an ideal "
        "ranking; Clarke, Vtyurina and Smucker 2021, Assessing top-k preferences"
    )
    range = (0.0, 1.0)
    expectation = "exact"
    swap_monotone = True
    ideal_is_best = True
    examples = ("compat", "compat(p=0.98)", "compat(normalize=no)@1000")
    synonyms = {  # noqa: RUF012
        "normalize": {
            "yes": {"normalize": "yes"},
            "no": {"normalize": "no"},
            "True": {"normalize": "yes"},
            "False": {"normalize": "no"},
        }
    }

    p: float = parameter(
        Number(0, 1, closed=False),
        "persistence: higher values give more weight to lower ranks",
        default=0.95,
    )
    normalize: str = parameter(
        Choice(("yes", "no")),
        "yes: divide by the overlap of the ideal ranking with itself, so that a score of 1 is "
        "possible",
        default="yes",
    )

    def _score(self, lists: Rankings) -> Floats:
        relevant = lists.labels >= 1
        met = np.maximum(lists.ranks, ideal_places(lists))[relevant]
        worth = np.zeros(len(lists.labels))
        worth[relevant] = self._weights_from_depth(int(met.max(initial=0)))[met - 1]
        return ratio(lists.sum(worth), self._divisor(lists.judged)[lists.query])

    def _weights_from_depth(self, count: int) -> Floats:
        """What a document adds that is common from depth d on, for d from 1 to `count`.

        Σ_{d≤i≤k} p^(i−1)/i; without a cutoff the sum over all i is −ln(1 − p)/p.
        """
        depth = np.arange(1.0, count + 1)
        down_to = np.concatenate(([0.0], np.cumsum(self.p ** (depth - 1) / depth)))
        whole = -np.log1p(-self.p) / self.p
        if self.cutoff is not None:  # the same whatever other queries are scored with this one
            whole = sum_over_ranks(np.reciprocal, 1, self.cutoff, self.p)
        worth: Floats = np.maximum(whole - down_to[:count], 0.0)
        return worth

    def _divisor(self, judged: JudgedLabels) -> Floats:
        if self.normalize == "no":
            whole = 1.0 if self.cutoff is None else 1 - self.p**self.cutoff
            return np.full(len(judged), whole / (1 - self.p))
        relevant = judged.relevant(1)
        each = self._weights_from_depth(int(relevant.max(initial=0)))
        return np.concatenate(([0.0], np.cumsum(each)))[relevant]

    def expected_each(self, judged: JudgedLabels) -> Floats:
        """The mean score over all orders, from the chance of each document to be at each rank.

        The j-th of m documents of a grade, out of n documents, is at rank r with probability C(r−1,
        j−1) · C(n−r, m−j) / C(n, m). Queries and grades are computed one after the other, since each
        has a table of probabilities of its own.
        """
        from scipy.special import gammaln

        def choices(n: Ints, m: Ints) -> Floats:
            return np.asarray(gammaln(n + 1.0) - gammaln(m + 1.0) - gammaln(n - m + 1.0))

        each = self._weights_from_depth(int(judged.sizes.max(initial=0)))
        total = np.zeros(len(judged))
        for query, (start, end) in enumerate(
            zip(judged.offsets[:-1].tolist(), judged.offsets[1:].tolist(), strict=True)
        ):
            labels, size = judged.labels[start:end], end - start
            for grade in np.unique(labels[labels >= 1]):
                above, count = (int(np.count_nonzero(f)) for f in (labels > grade, labels == grade))
                nth = np.arange(1, count + 1)[:, None]
                rank = nth + np.arange(size - count + 1)[None, :]
                log_chance = choices(rank - 1, nth - 1) + choices(size - rank, count - nth)
                chance = np.exp(log_chance - choices(np.array(size), np.array(count)))
                total[query] += np.sum(chance * each[np.maximum(rank, above + nth) - 1])
        return ratio(total, self._divisor(judged))


def ideal_places(lists: Rankings) -> Ints:
    """The place of each judged document of a ranking in the ideal ranking most similar to it."""
    judged, labels = lists.judged, lists.labels.astype(np.int64)
    query = lists.each_row(lists.query)
    span = int(max(judged.labels.max(initial=0), labels.max(initial=0))) + 1
    owner = np.repeat(np.arange(len(judged)), judged.sizes)
    known = owner * span + (span - 1 - judged.labels)
    higher = np.searchsorted(known, query * span + (span - 1 - labels)) - judged.offsets[query]
    grouped = np.lexsort((labels, lists.each_row(np.arange(len(lists)))))
    group = lists.each_row(np.arange(len(lists)))[grouped] * (span + 2) + labels[grouped] + 2
    start = np.concatenate(([True], group[1:] != group[:-1]))[: len(group)]
    first = np.flatnonzero(start)[np.cumsum(start) - 1]
    nth = np.empty(len(labels), dtype=np.int64)
    nth[grouped] = np.arange(1, len(labels) + 1) - first
    place: Ints = higher + nth
    return place


compat = register(Compatibility())
