"""How much a user reads in vain: search length."""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Integer
from rankgauge.core.parameters import parameter
from rankgauge.measures.base import Binary
from rankgauge.measures.registry import register
from rankgauge.rankings.lists import Rankings
from rankgauge.rankings.tied_lists import TiedRankings


class SearchLengthMeasure(Binary):
    """The non-relevant documents seen before the j-th relevant one."""

    name = "SearchLength"
    summary = (
        "Search length: the number of non-relevant documents seen before the j-th relevant one."
    )
    formula = (
        "SearchLength = |non-relevant documents above the j-th relevant one|. If fewer than j relevant "
        "documents are retrieved, all judged non-relevant and all retrieved unjudged documents count. "
        "Undefined if R < j"
    )
    source = "Cooper 1968, Expected search length"
    range = (0.0, np.inf)
    direction = "lower"
    cutoffs = "none"
    expectation = "exact"
    swap_monotone = True
    ideal_is_best = True
    examples = ("SearchLength", "SearchLength(j=2)", "SearchLength(rel=2,j=3)")

    j: int = parameter(
        Integer(1), "the number of relevant documents that the user wants", default=1
    )

    def _score(self, lists: Rankings) -> Floats:
        relevant = lists.relevant(self.rel)
        seen = lists.running_count(relevant)
        goal = relevant & (seen == self.j)
        above = lists.sum(np.where(goal, lists.ranks - self.j, 0).astype(np.float64))
        found = lists.judged.relevant(self.rel)
        never = (lists.judged.sizes - found)[lists.query] + lists.count(lists.labels < 0)
        length = np.where(lists.count(goal) > 0, above, never)
        return np.where(found[lists.query] < self.j, np.nan, length)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """Cooper's expected search length: the mean over all orders of tied documents.

        All non-relevant documents above the group that holds the j-th relevant document count. Of the
        n non-relevant documents in this group, i·n/(r+1) count: i of its r relevant documents are
        still needed.
        """
        found = tied.count(tied.rankings.relevant(self.rel))
        before = tied.before(found)
        wanted = self.j - before
        goal = (wanted > 0) & (wanted <= found)
        within = wanted * (tied.sizes - found) / (found + 1)
        above = tied.sum_over_groups(np.where(goal, tied.above - before + within, 0.0))
        query, judged = tied.rankings.query, tied.rankings.judged
        relevant = judged.relevant(self.rel)[query]
        unjudged = tied.sum_over_groups(tied.count(tied.rankings.labels < 0) + tied.unlisted)
        never = judged.sizes[query] - relevant + unjudged
        length = np.where(tied.sum_over_groups(goal) > 0, above, never)
        return np.where(relevant < self.j, np.nan, length)

    def _variance(self, tied: TiedRankings) -> Floats:
        """The variance of the search length, which is negative hypergeometric.

        With r relevant documents and n others it is j·n·(r+n+1)·(r+1−j)/((r+1)²·(r+2)). It is 0 where
        the list lacks the j-th relevant document.
        """
        found = tied.count(tied.rankings.relevant(self.rel)).astype(np.float64)
        others = self.j * (tied.sizes - found) * (tied.sizes + 1)
        spread = others * np.maximum(found + 1 - self.j, 0) / ((found + 1) ** 2 * (found + 2))
        relevant = tied.rankings.judged.relevant(self.rel)[tied.rankings.query]
        return np.where(relevant < self.j, np.nan, spread)


class ExpectedSearchLength(SearchLengthMeasure):
    """The search length averaged over all orders of tied documents, as Cooper defines it."""

    name = "ESL"
    summary = "Expected search length: the mean search length over all orders of tied documents."
    formula = (
        "ESL = the mean of SearchLength over all orders of documents with equal scores, "
        "regardless of --ties. In the tie that holds the j-th relevant document, i of its r "
        "relevant documents are still needed, so on average i·n/(r+1) of its n non-relevant "
        "documents come first"
    )
    examples = ("ESL", "ESL(j=2)", "ESL(rel=2,j=3)")
    own_ties = "expected"


SearchLength = register(SearchLengthMeasure())
ESL = register(ExpectedSearchLength())
