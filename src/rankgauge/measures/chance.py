"""What the orders of some documents get by a measure: the best, the worst, the mean, the variance.

The documents are those that a random ranking is made of, the null: by default the judged ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rankgauge.checks import Choice, Whole
from rankgauge.data.errors import MeasureError
from rankgauge.data.model import POOLED, Floats, Ints
from rankgauge.measures.base import Measure, Wrapper
from rankgauge.measures.orders import Mean, TiedRankings
from rankgauge.notes import Note
from rankgauge.parameters import parameter
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of

JUDGED, RUN, POOL, COLLECTION = NULLS = ("judged", "run", "pool", "collection")
EXACT, INDEPENDENT = CHANCES = ("exact", "independent")
ACHIEVABLE, FULL = BESTS = ("achievable", "k")


@dataclass(frozen=True, eq=False)
class Orders:
    """For each of the rankings, what the orders of its documents get; which ones, `null` says.

    judged: those judged for the query. pool: and those pooled for it but not judged. collection: all
    of so many `documents`. run: those of the ranking itself.
    """

    rankings: Rankings
    null: str = JUDGED
    documents: int | None = None

    def best(self, measure: Measure, reach: str = ACHIEVABLE) -> Floats:
        """The best score that an order gets, or what it would be with k relevant documents."""
        if reach == FULL:
            return self._each(
                ("full", measure),
                lambda judged: measure.full_each(TiedRankings.all_tied(judged)),
                measure.full_each,
            )
        return self._each(
            ("best", measure),
            measure.ideal_each,
            lambda tied: measure.extreme_each(tied, best=True),
        )

    def worst(self, measure: Measure) -> Floats:
        """The worst score that an order gets."""
        return self._each(
            ("worst", measure),
            measure.worst_each,
            lambda tied: measure.extreme_each(tied, best=False),
        )

    def variance(self, measure: Measure) -> Floats:
        """The variance of the score over all orders."""
        return self._each(("variance", measure), measure.variance_each, measure.tied_variance_each)

    def mean(self, measure: Measure, chance: str = EXACT) -> Mean:
        """The mean score over all orders, or what would be it if ranks were independent."""
        if chance == INDEPENDENT:
            values = self._each(
                ("independent", measure),
                lambda judged: measure.independent_each(TiedRankings.all_tied(judged)),
                measure.independent_each,
            )
            return Mean.exact(values)
        table = self._each(
            ("mean", measure),
            lambda judged: np.column_stack(measure.random_each(judged)),
            lambda tied: np.column_stack(measure.tied_each(tied)),
        )
        return Mean(table[:, 0], table[:, 1], table[:, 2].astype(np.int64))

    def sizes(self) -> Ints:
        """How many documents there are."""
        judged, query = self.rankings.judged, self.rankings.query
        if self.null == RUN:
            return self.rankings.lengths
        if self.documents is not None:
            return np.full(len(self.rankings), self.documents)
        return (judged.sizes + (judged.pooled if self.null == POOL else 0))[query]

    def relevant(self, rel: int) -> Ints:
        """How many of the documents have this label or a higher one."""
        if self.null == RUN:
            return self.rankings.count(self.rankings.relevant(rel))
        return self.rankings.judged.relevant(rel)[self.rankings.query]

    def _each(
        self,
        question: tuple[str, Measure],
        of_judged: Callable[[JudgedLabels], Floats],
        of_tied: Callable[[TiedRankings], Floats],
    ) -> Floats:
        """An answer for each ranking; what only depends on the query is asked once for all runs."""
        lists = self.rankings
        if self.null == RUN:
            return lists.remember(question, lambda: of_tied(TiedRankings.one_tie(lists)))
        if self.null == JUDGED:
            return lists.judged.remember(question, of_judged)[lists.query]

        def of_pooled(judged: JudgedLabels) -> Floats:
            tied = self._pooled(judged)
            alone = (tied.sizes == judged.sizes).all()
            return of_judged(judged) if alone else of_tied(tied)

        more = (*question, self.null, self.documents)
        return lists.judged.remember(more, of_pooled)[lists.query]

    def _pooled(self, judged: JudgedLabels) -> TiedRankings:
        """For each query one tie of what is judged or pooled, and the rest of the collection."""
        sizes = judged.sizes + judged.pooled
        labels = np.insert(
            judged.labels, np.repeat(judged.offsets[1:], judged.pooled), np.int32(POOLED)
        )
        rows = judged.rows
        if rows is not None:
            rows = np.insert(rows, np.repeat(judged.offsets[1:], judged.pooled), -1)
        whole = replace(judged.best_first, labels=labels, offsets=offsets_of(sizes), rows=rows)
        return TiedRankings.one_tie(whole, self._unlisted(sizes))

    def _unlisted(self, sizes: Ints) -> Ints | None:
        if self.documents is None:
            return None
        if sizes.max(initial=0) > self.documents:
            raise MeasureError(
                f"documents={self.documents}, but a topic alone has {sizes.max()} judged or pooled; "
                "give the size of the collection"
            )
        return self.documents - sizes


def chance_parameter() -> str:
    """How the mean over orders is had, as a parameter."""
    meaning = (
        "what chance gives: exact; independent: as in the UE paper, k·p² for sums of precisions and "
        "the mean gain times k discounts for DCG"
    )
    chosen: str = parameter(Choice(CHANCES), meaning, default=EXACT)
    return chosen


def best_parameter() -> str:
    """What the best is, as a parameter."""
    meaning = (
        "the best: achievable by an order of the documents; k: as in the UE paper, that of k relevant "
        "documents, for sums of precisions"
    )
    chosen: str = parameter(Choice(BESTS), meaning, default=ACHIEVABLE)
    return chosen


def check_chance(measure: Measure, chance: str) -> None:
    """MeasureError where a measure has no such form of chance."""
    if chance == INDEPENDENT and not measure.knows("_independent"):
        raise MeasureError(
            f"{measure} has no reb=independent, expected a measure that weighs ranks and adds gains, "
            "such as nDCG@10 or P@5, or a sum of precisions, such as AP@30; or use reb=exact"
        )


def check_best(measure: Measure, reach: str) -> None:
    """MeasureError where a measure has no such form of the best."""
    if reach == FULL and not measure.knows("_full"):
        raise MeasureError(
            f"{measure} has no iub=k, expected a sum of precisions, such as AP@30 or SP@10; "
            "or use iub=achievable"
        )


class OverOrders(Wrapper):
    """A measure made of another one and of what the orders of some documents get by it."""

    null: str = parameter(
        Choice(NULLS),
        "what is put in any order: the judged documents; the ranking's own (run); also those that "
        "were pooled and not judged; or a collection of so many documents",
        default=JUDGED,
    )
    documents: int | None = parameter(
        Whole(1), "how many documents the collection has, for null=collection", default=None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.null == COLLECTION and self.documents is None:
            example = f"{self.name}({self.measure},null=collection,documents=1000000)"
            raise MeasureError(f"{self.name}: null=collection needs its size, as in {example}")
        if self.null != COLLECTION and self.documents is not None:
            example = f"{self.name}({self.measure},null=collection,documents={self.documents})"
            raise MeasureError(
                f"{self.name}: documents={self.documents} is for null=collection alone; write {example}"
            )

    def _orders(self, rankings: Rankings) -> Orders:
        return Orders(rankings, self.null, self.documents)

    def tied_each(self, tied: TiedRankings) -> Mean:
        self._check_own(tied)
        return super().tied_each(tied)

    def tied_variance_each(self, tied: TiedRankings) -> Floats:
        self._check_own(tied)
        return super().tied_variance_each(tied)

    def extreme_each(self, tied: TiedRankings, *, best: bool) -> Floats:
        self._check_own(tied)
        return super().extreme_each(tied, best=best)

    def _check_own(self, tied: TiedRankings) -> None:
        """Unsupported where a ranking's own documents are asked for, and some of them have no row."""
        if self.null == RUN and tied.unlisted.any():
            raise self._unsupported(
                "what orders get here",
                "null=run takes a ranking's own documents, and here a collection's are among them",
            )

    def _remarks(self, rankings: Rankings) -> list[Note]:
        """What to know of what the orders of documents get."""
        return []

    def query_remarks(self, judged: JudgedLabels) -> list[Note]:
        return [] if self.null == RUN else self._remarks(judged.best_first)

    def list_remarks(self, rankings: Rankings) -> list[Note]:
        return self._remarks(rankings) if self.null == RUN else []
