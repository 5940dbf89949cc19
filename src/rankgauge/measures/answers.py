"""A cache of what measures say about queries and rankings: each number is computed once.

What is cached for each query, in `JudgedLabels.memo`: the best and the worst score, and the mean and the
variance over all orders of its documents. `QueryReferenceScores` looks these up. What is cached for
each ranking, in
`Rankings.memo`: its score, which `cached_scores` looks up, and the same numbers over the orders of
its own
documents, which `RankingReferenceScores` looks up. The key is the function that computes a number,
with the measure and
the other arguments. So runs, parts of a run, and measures made of the same measure share the numbers; it
does not matter who asks first. The cache ends with the judged labels, or with the rankings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.records import Record
from rankgauge.data.model import POOLED
from rankgauge.errors import MeasureError
from rankgauge.measures.orders import Mean
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of
from rankgauge.rankings.tied_lists import TiedRankings

if TYPE_CHECKING:
    from rankgauge.measures.base import Measure

    Question: TypeAlias = Callable[[JudgedLabels | TiedRankings, Measure], Floats]

JUDGED, RUN, POOL, COLLECTION = NULLS = ("judged", "run", "pool", "collection")
EXACT, INDEPENDENT, CAPPED = CHANCES = ("exact", "independent", "capped")
ACHIEVABLE, FULL = BESTS = ("achievable", "k")


class _ReferenceScores:
    """The questions about orders of documents, whichever these are."""

    def _compute(self, question: Question, measure: Measure) -> Floats:
        raise NotImplementedError

    def ideal(self, measure: Measure, reach: str = ACHIEVABLE) -> Floats:
        """The best score of any order, or the score of k relevant documents."""
        return self._compute(_score_if_full if reach == FULL else _ideal, measure)

    def worst(self, measure: Measure) -> Floats:
        """The worst score that an order gets."""
        return self._compute(_worst, measure)

    def mean(self, measure: Measure, chance: str = EXACT) -> Mean:
        """The mean score over all orders, or the mean if ranks were independent."""
        if chance != EXACT:
            return Mean.exact(
                self._compute(_independent_mean if chance == INDEPENDENT else _capped_mean, measure)
            )
        values, errors, samples = self._compute(_mean_columns, measure).T
        return Mean(values, errors, samples.astype(np.int64))

    def expected(self, measure: Measure) -> Floats:
        """The mean score over all orders, without its error."""
        return self.mean(measure).values

    def variance(self, measure: Measure) -> Floats:
        """The variance of the score over all orders."""
        return self._compute(_variance, measure)


class QueryReferenceScores(_ReferenceScores, Record):
    """For each query, the scores that orders of its documents get. `null` says which documents.

    judged: the documents judged for the query. pool: also those that were pooled but not judged.
    collection: all documents of a collection, which has `documents` of them.

    >>> from rankgauge import P
    >>> about = QueryReferenceScores(JudgedLabels.of([1, 0, 0, 0], [1, 1]))
    >>> about.ideal(P @ 2).tolist(), about.expected(P @ 2).tolist()
    ([0.5, 1.0], [0.25, 1.0])
    """

    judged: JudgedLabels
    null: str = JUDGED
    documents: int | None = None

    def _compute(self, question: Question, measure: Measure) -> Floats:
        if self.null == JUDGED:
            return self.judged.once(question, measure)
        return self.judged.once(_compute_for_collection, question, measure, self.documents)

    def sizes(self) -> Ints:
        """How many documents there are."""
        if self.documents is not None:
            return np.full(len(self.judged), self.documents)
        return self.judged.sizes + (self.judged.pooled if self.null == POOL else 0)

    def relevant(self, rel: int) -> Ints:
        """How many of the documents have this label or a higher one."""
        return self.judged.relevant(rel)


class RankingReferenceScores(_ReferenceScores, Record):
    """For each ranking, the scores that orders of some documents get.

    With null=run the documents are those of the ranking itself. Otherwise they are the documents of
    its query, as in `QueryReferenceScores`.
    """

    rankings: Rankings
    null: str = JUDGED
    documents: int | None = None

    @property
    def _query_scores(self) -> QueryReferenceScores:
        return QueryReferenceScores(self.rankings.judged, self.null, self.documents)

    def _compute(self, question: Question, measure: Measure) -> Floats:
        if self.null == RUN:
            return self.rankings.once(_compute_for_rankings, question, measure)
        return self._query_scores._compute(question, measure)[self.rankings.query]

    def sizes(self) -> Ints:
        """How many documents there are."""
        if self.null == RUN:
            return self.rankings.lengths
        return self._query_scores.sizes()[self.rankings.query]

    def relevant(self, rel: int) -> Ints:
        """How many of the documents have this label or a higher one."""
        if self.null == RUN:
            return self.rankings.count(self.rankings.relevant(rel))
        return self._query_scores.relevant(rel)[self.rankings.query]


def cached_scores(rankings: Rankings, measure: Measure) -> Floats:
    """The score of each list, computed once for all measures that are made of this one."""
    key = (cached_scores, measure)
    known: Floats | None = rankings.memo.get(key)
    return rankings.memo.keep(key, measure.score_each(rankings)) if known is None else known


# What is computed: a number for each query or list; for the mean also its error and the number of
# orders drawn.


def _ideal(of: JudgedLabels | TiedRankings, measure: Measure) -> Floats:
    if isinstance(of, TiedRankings):
        return measure.extreme_each(of, best=True)
    return measure.ideal_each(of)


def _worst(of: JudgedLabels | TiedRankings, measure: Measure) -> Floats:
    if isinstance(of, TiedRankings):
        return measure.extreme_each(of, best=False)
    return measure.worst_each(of)


def _mean_columns(of: JudgedLabels | TiedRankings, measure: Measure) -> Floats:
    mean = measure.tied_each(of) if isinstance(of, TiedRankings) else measure.random_each(of)
    return np.column_stack(mean)


def _variance(of: JudgedLabels | TiedRankings, measure: Measure) -> Floats:
    if isinstance(of, TiedRankings):
        return measure.tied_variance_each(of)
    return measure.variance_each(of)


def _independent_mean(of: JudgedLabels | TiedRankings, measure: Measure) -> Floats:
    return measure.independent_each(_as_one_tie(of))


def _capped_mean(of: JudgedLabels | TiedRankings, measure: Measure) -> Floats:
    return measure.independent_each(_as_one_tie(of), capped=True)


def _score_if_full(of: JudgedLabels | TiedRankings, measure: Measure) -> Floats:
    return measure.full_each(_as_one_tie(of))


def _as_one_tie(of: JudgedLabels | TiedRankings) -> TiedRankings:
    return of if isinstance(of, TiedRankings) else TiedRankings.all_tied(of)


def _compute_for_rankings(rankings: Rankings, question: Question, measure: Measure) -> Floats:
    """The answer for the documents of each ranking."""
    return question(TiedRankings.one_tie(rankings), measure)


def _compute_for_collection(
    judged: JudgedLabels, question: Question, measure: Measure, documents: int | None
) -> Floats:
    """The answer for the judged and the pooled documents, and the rest of the collection."""
    tied = _add_pooled(judged, documents)
    nothing_more = (tied.sizes == judged.sizes).all()
    return question(judged if nothing_more else tied, measure)


def _add_pooled(judged: JudgedLabels, documents: int | None) -> TiedRankings:
    """For each query one tie of what is judged or pooled, and the rest of the collection."""
    sizes = judged.sizes + judged.pooled
    labels = np.insert(
        judged.labels, np.repeat(judged.offsets[1:], judged.pooled), np.int32(POOLED)
    )
    rows = judged.rows
    if rows is not None:
        rows = np.insert(rows, np.repeat(judged.offsets[1:], judged.pooled), -1)
    whole = replace(judged.best_first, labels=labels, offsets=offsets_of(sizes), rows=rows)
    return TiedRankings.one_tie(whole, _count_unlisted(sizes, documents))


def _count_unlisted(sizes: Ints, documents: int | None) -> Ints | None:
    if documents is None:
        return None
    if sizes.max(initial=0) > documents:
        raise MeasureError(
            f"documents={documents} is too small: one query has {sizes.max()} judged or pooled "
            "documents; give the size of the collection"
        )
    return documents - sizes
