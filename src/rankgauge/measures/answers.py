"""A cache of what measures say about queries and rankings: each number is computed once.

What is cached for each query, in `JudgedLabels.memo`: the best and the worst score, and the mean and the
variance over all orders of its documents. `Answers` looks these up. What is cached for each ranking, in
`Rankings.memo`: its score, which `scores` looks up, and the same numbers over the orders of its own
documents, which `Orders` looks up. The key is the function that computes a number, with the measure and
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


class _Asking:
    """The questions about orders of documents, whichever these are."""

    def _ask(self, question: Question, measure: Measure) -> Floats:
        raise NotImplementedError

    def ideal(self, measure: Measure, reach: str = ACHIEVABLE) -> Floats:
        """The best score of any order, or the score of k relevant documents."""
        return self._ask(_full if reach == FULL else _ideal, measure)

    def worst(self, measure: Measure) -> Floats:
        """The worst score that an order gets."""
        return self._ask(_worst, measure)

    def mean(self, measure: Measure, chance: str = EXACT) -> Mean:
        """The mean score over all orders, or the mean if ranks were independent."""
        if chance != EXACT:
            return Mean.exact(
                self._ask(_independent if chance == INDEPENDENT else _capped, measure)
            )
        values, errors, samples = self._ask(_mean, measure).T
        return Mean(values, errors, samples.astype(np.int64))

    def expected(self, measure: Measure) -> Floats:
        """The mean score over all orders, without its error."""
        return self.mean(measure).values

    def variance(self, measure: Measure) -> Floats:
        """The variance of the score over all orders."""
        return self._ask(_variance, measure)


class Answers(_Asking, Record):
    """For each query, the scores that orders of its documents get. `null` says which documents.

    judged: the documents judged for the query. pool: also those that were pooled but not judged.
    collection: all documents of a collection, which has `documents` of them.

    >>> from rankgauge import P
    >>> about = Answers(JudgedLabels.of([1, 0, 0, 0], [1, 1]))
    >>> about.ideal(P @ 2).tolist(), about.expected(P @ 2).tolist()
    ([0.5, 1.0], [0.25, 1.0])
    """

    judged: JudgedLabels
    null: str = JUDGED
    documents: int | None = None

    def _ask(self, question: Question, measure: Measure) -> Floats:
        if self.null == JUDGED:
            return self.judged.once(question, measure)
        return self.judged.once(_of_more, question, measure, self.documents)

    def sizes(self) -> Ints:
        """How many documents there are."""
        if self.documents is not None:
            return np.full(len(self.judged), self.documents)
        return self.judged.sizes + (self.judged.pooled if self.null == POOL else 0)

    def relevant(self, rel: int) -> Ints:
        """How many of the documents have this label or a higher one."""
        return self.judged.relevant(rel)


class Orders(_Asking, Record):
    """For each ranking, the scores that orders of some documents get. With null=run these are the
    documents of the ranking itself, else the documents of its query, as in `Answers`."""

    rankings: Rankings
    null: str = JUDGED
    documents: int | None = None

    @property
    def _of_queries(self) -> Answers:
        return Answers(self.rankings.judged, self.null, self.documents)

    def _ask(self, question: Question, measure: Measure) -> Floats:
        if self.null == RUN:
            return self.rankings.once(_of_own, question, measure)
        return self._of_queries._ask(question, measure)[self.rankings.query]

    def sizes(self) -> Ints:
        """How many documents there are."""
        if self.null == RUN:
            return self.rankings.lengths
        return self._of_queries.sizes()[self.rankings.query]

    def relevant(self, rel: int) -> Ints:
        """How many of the documents have this label or a higher one."""
        if self.null == RUN:
            return self.rankings.count(self.rankings.relevant(rel))
        return self._of_queries.relevant(rel)[self.rankings.query]


def scores(rankings: Rankings, measure: Measure) -> Floats:
    """The score of each list, computed once for all measures that are made of this one."""
    key = (scores, measure)
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


def _mean(of: JudgedLabels | TiedRankings, measure: Measure) -> Floats:
    mean = measure.tied_each(of) if isinstance(of, TiedRankings) else measure.random_each(of)
    return np.column_stack(mean)


def _variance(of: JudgedLabels | TiedRankings, measure: Measure) -> Floats:
    if isinstance(of, TiedRankings):
        return measure.tied_variance_each(of)
    return measure.variance_each(of)


def _independent(of: JudgedLabels | TiedRankings, measure: Measure) -> Floats:
    return measure.independent_each(_tied(of))


def _capped(of: JudgedLabels | TiedRankings, measure: Measure) -> Floats:
    return measure.independent_each(_tied(of), capped=True)


def _full(of: JudgedLabels | TiedRankings, measure: Measure) -> Floats:
    return measure.full_each(_tied(of))


def _tied(of: JudgedLabels | TiedRankings) -> TiedRankings:
    return of if isinstance(of, TiedRankings) else TiedRankings.all_tied(of)


def _of_own(rankings: Rankings, question: Question, measure: Measure) -> Floats:
    """The answer for the documents of each ranking."""
    return question(TiedRankings.one_tie(rankings), measure)


def _of_more(
    judged: JudgedLabels, question: Question, measure: Measure, documents: int | None
) -> Floats:
    """The answer for the judged and the pooled documents, and the rest of the collection."""
    tied = _pooled(judged, documents)
    nothing_more = (tied.sizes == judged.sizes).all()
    return question(judged if nothing_more else tied, measure)


def _pooled(judged: JudgedLabels, documents: int | None) -> TiedRankings:
    """For each query one tie of what is judged or pooled, and the rest of the collection."""
    sizes = judged.sizes + judged.pooled
    labels = np.insert(
        judged.labels, np.repeat(judged.offsets[1:], judged.pooled), np.int32(POOLED)
    )
    rows = judged.rows
    if rows is not None:
        rows = np.insert(rows, np.repeat(judged.offsets[1:], judged.pooled), -1)
    whole = replace(judged.best_first, labels=labels, offsets=offsets_of(sizes), rows=rows)
    return TiedRankings.one_tie(whole, _unlisted(sizes, documents))


def _unlisted(sizes: Ints, documents: int | None) -> Ints | None:
    if documents is None:
        return None
    if sizes.max(initial=0) > documents:
        raise MeasureError(
            f"documents={documents} is too small: one topic has {sizes.max()} judged or pooled "
            "documents; give the size of the collection"
        )
    return documents - sizes
