"""Accuracy: how often a relevant document is ranked before another one."""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.measures.base import Answer, Binary, ratio
from rankgauge.measures.formulas import chances_of_hits
from rankgauge.measures.registry import register
from rankgauge.rankings.lists import Rankings
from rankgauge.rankings.tied_lists import TiedRankings


class PairAccuracy(Binary):
    """The share of pairs of a relevant and a non-relevant document with the relevant one first."""

    name = "Accuracy"
    summary = (
        "Among pairs of a relevant and a non-relevant document in the top k, the share that are "
        "in the right order."
    )
    formula = (
        "Accuracy@k = |pairs of the top k with the relevant document first| / (relevant · "
        "non-relevant); 1 if all documents of the top k are relevant, 0 if none is (ir_measures "
        "omits such queries)"
    )
    source = "MacAvaney, Macdonald and Ounis 2022, Streamlining evaluation with ir-measures"
    range = (0.0, 1.0)
    off_list = "ignored"
    ideal_is_best = True
    expectation = "exact"
    examples = ("Accuracy", "Accuracy@20", "Accuracy(rel=2)")
    deeper = "same"

    @property
    def swap_monotone(self) -> bool:  # type: ignore[override]
        """Only without a cutoff: a relevant document that enters the top k at its end may lower it."""
        return self.cutoff is None

    def answers(self) -> dict[str, Answer]:
        return super().answers() | {"ideal": "exact", "worst": "exact"}

    def _score(self, lists: Rankings) -> Floats:
        relevant = lists.relevant(self.rel)
        hits = lists.count(relevant)
        above = lists.sum(np.where(relevant, 0.0, lists.running_count(relevant)))
        return self._share(
            above, hits.astype(np.float64), (lists.lengths - hits).astype(np.float64)
        )

    def _share(self, right: Floats, hits: Floats, others: Floats) -> Floats:
        return np.where(others > 0, ratio(right, hits * others), (hits > 0).astype(np.float64))

    def _extreme(self, tied: TiedRankings, *, best: bool) -> Floats:
        """Relevant documents first are the best, and last the worst; lists are of one tie each."""
        hits = tied.sum_over_groups(tied.count(tied.rankings.relevant(self.rel)))
        reached = hits > 0 if best else (hits > 0) & (hits == tied.lengths)
        return reached.astype(np.float64)

    def _tied(self, tied: TiedRankings) -> Floats:
        """Count each pair within one group as half.

        Where the cutoff goes through a group, the score is the mean over the number of relevant
        documents of the group above the cutoff.
        """
        places, found = tied.within(self.depth), tied.count(tied.rankings.relevant(self.rel))
        whole = places == tied.sizes
        hits, others = np.where(whole, found, 0), np.where(whole, tied.sizes - found, 0)
        right = tied.sum_over_groups(others * (tied.before(hits) + hits / 2))
        all_hits, all_others = tied.sum_over_groups(hits), tied.sum_over_groups(others)
        score = self._share(right, all_hits, all_others)
        cut = np.flatnonzero((places > 0) & ~whole)
        if not len(cut):
            return score
        above, drawn = tied.owner[cut], places[cut][:, None]
        chance, more = chances_of_hits(tied.sizes[cut], found[cut], places[cut])
        right, all_hits, all_others = (
            values[above][:, None] for values in (right, all_hits, all_others)
        )
        pairs = right + (drawn - more) * (all_hits + more / 2)
        share = self._share(pairs, all_hits + more, all_others + drawn - more)
        score[above] = (chance * share).sum(axis=1)
        return score


Accuracy = register(PairAccuracy())
