"""Measures that compare judged documents with each other: bpref."""

from __future__ import annotations

import numpy as np

from rankgauge.data.model import Floats
from rankgauge.data.rankings import JudgedLabels, Rankings
from rankgauge.measures.base import Binary, ratio
from rankgauge.measures.registry import register


class BinaryPreference(Binary):
    """How rarely judged non-relevant documents stand above relevant ones."""

    name = "bpref"
    aliases = ("Bpref",)
    summary = (
        "Binary preference: how rarely a judged non-relevant document is above a relevant one."
    )
    formula = (
        "bpref = (1/R) · Σ_{retrieved relevant} [1 − min(n_above, R)/min(N, R)], 1 if n_above = 0"
    )
    source = (
        "Buckley and Voorhees 2004, Retrieval evaluation with incomplete information, "
        "as trec_eval computes it"
    )
    expectation = "exact"
    examples = ("bpref", "bpref(rel=2)", "bpref@100")

    def _score(self, lists: Rankings) -> Floats:
        relevant = lists.relevant(self.rel)
        found = lists.judged.relevant(self.rel)
        others = lists.judged.sizes - found
        above = lists.running_count((lists.labels >= 0) & ~relevant)
        most = lists.each_row(found[lists.query])
        least = lists.each_row(np.minimum(found, others)[lists.query])
        preferred = 1 - ratio(np.minimum(above, most), least)
        return ratio(lists.sum(np.where(relevant, preferred, 0.0)), found[lists.query])

    def expected_each(self, judged: JudgedLabels) -> Floats:
        """½·min(1, (R+1)/(N+1)) for whole lists; for shorter ones see `_expected_cut`."""
        found = judged.relevant(self.rel)
        others = judged.sizes - found
        whole = np.where(others > 0, 0.5 * np.minimum(1, ratio(found + 1, others + 1)), 1.0)
        whole = np.where(found > 0, whole, 0.0)
        if self.cutoff is None:
            return whole
        for query in np.flatnonzero((found > 0) & (judged.sizes > self.cutoff)):
            whole[query] = self._expected_cut(int(found[query]), int(others[query]))
        return whole

    def _expected_cut(self, found: int, others: int) -> float:
        """Over the ranks i ≤ k: the chance R/n of a relevant document there, times the mean of its
        term, the number of non-relevant documents above being hypergeometric."""
        depth = self.cutoff or 0
        if others == 0:
            return depth / found
        from scipy.stats import hypergeom

        above = np.arange(others + 1)
        term = 1 - np.minimum(above, found) / min(found, others)
        before = np.arange(depth)[:, None]
        chance = hypergeom.pmf(above[None, :], found + others - 1, others, before)
        return float((chance @ term).sum() / (found + others))


bpref = register(BinaryPreference())
