"""Measures that compare judged documents with each other: bpref, infAP, correct pairs."""

from __future__ import annotations

import numpy as np

from rankgauge.data.model import POOLED, Floats, Ints
from rankgauge.data.rankings import JudgedLabels, Rankings
from rankgauge.measures.base import Binary, Measure, ratio
from rankgauge.measures.registry import register
from rankgauge.measures.ties import TiedRankings

EPSILON = 1e-5
"""What infAP adds to the judged relevant and to the judged other documents, as trec_eval does."""


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

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """Each group's relevant documents times the mean of their terms.

        In a whole group with s judged non-relevant documents any number of them, 0 to s, is above a
        relevant one with equal chance; in one that the cut-off cuts, see `_terms_in_cut_groups`.
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
        return ratio(tied.over_groups(total), found)


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
    """Average precision as estimated from a sample of judgements."""

    name = "infAP"
    aliases = ("InfAP",)
    summary = "Inferred average precision: estimated where only a sample of the pool is judged."
    formula = (
        "infAP = (1/R) · Σ_{relevant at rank i} [1/i + (pooled/i) · (r + ε)/(r + n + 2ε)], with r "
        "judged relevant, n judged other, pooled = r + n + pooled unjudged documents above, ε = 10⁻⁵"
    )
    source = (
        "Yilmaz and Aslam 2006, Estimating average precision with incomplete and imperfect "
        "judgments, as trec_eval computes it"
    )
    expectation = "exact"
    examples = ("infAP", "infAP(rel=2)", "infAP@100")

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


class CorrectlyOrderedPairs(Measure):
    """How many pairs of a better and a worse document are in the right order."""

    name = "CorrectPairs"
    summary = "Correct pairs: the share of pairs, one judged better, that are in the right order."
    formula = (
        "CorrectPairs@k = |pairs of judged documents with the higher label first| / |pairs of different "
        "label|; the top k is above all else, a pair outside it counts half; undefined without a pair"
    )
    source = (
        "Yao 1995, Measuring retrieval effectiveness based on user preference of documents: "
        "one minus his normalised distance"
    )
    expectation = "exact"
    examples = ("CorrectPairs", "CorrectPairs@20")

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

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """½, and for each pair not in one group half the chance that the document of the upper group
        is in the top k: added where that is the better one, else taken away."""
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
            ahead += tied.over_groups(chance * (better * worse_below - here * better_below))
            all_pairs += same * higher
        return np.where(all_pairs > 0, 0.5 + 0.5 * ratio(ahead, all_pairs), np.nan)


bpref = register(BinaryPreference())
infAP = register(InferredAveragePrecision())
CorrectPairs = register(CorrectlyOrderedPairs())
