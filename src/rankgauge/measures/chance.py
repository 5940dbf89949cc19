"""Wrappers that need the scores of orders of some documents, and their parameters.

A random ranking is a random order of these documents. The parameter `null` says which documents they
are: by default the judged ones.
"""

from __future__ import annotations

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Choice, Integer
from rankgauge.core.notes import Note
from rankgauge.core.parameters import parameter
from rankgauge.errors import MeasureError
from rankgauge.measures.answers import (
    ACHIEVABLE,
    BESTS,
    CHANCES,
    COLLECTION,
    EXACT,
    FULL,
    JUDGED,
    NULLS,
    RUN,
    RankingReferenceScores,
)
from rankgauge.measures.around import DelegatingWrapper
from rankgauge.measures.base import estimate_notes
from rankgauge.measures.orders import Mean
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings


class OrderBasedWrapper(DelegatingWrapper):
    """A measure made of another one, and of the scores that orders of some documents get by it."""

    over_orders = True

    null: str = parameter(
        Choice(NULLS),
        "the documents that a random ranking orders. judged: the judged documents; run: the "
        "documents of the ranking itself (with this choice, the better of two rankings of a query "
        "can get the lower score); pool: the judged documents and those that were pooled but not "
        "judged; collection: all documents",
        default=JUDGED,
    )
    documents: int | None = parameter(
        Integer(1),
        "the number of documents in the collection; only for null=collection",
        default=None,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.null == COLLECTION and self.documents is None:
            example = f"{self.name}({self.measure},null=collection,documents=1000000)"
            raise MeasureError(f"{self.name}: null=collection needs its size, as in {example}")
        if self.null != COLLECTION and self.documents is not None:
            example = f"{self.name}({self.measure},null=collection,documents={self.documents})"
            raise MeasureError(
                f"{self.name}: documents={self.documents} needs null=collection; write {example}"
            )

    @property
    def ideal_is_best(self) -> bool:  # type: ignore[override]
        # With null=run, a ranking of a few documents can be its own best order, and so beat the ideal.
        return self.null != RUN and self.measure.ideal_is_best

    def _reference_scores(self, rankings: Rankings) -> RankingReferenceScores:
        return RankingReferenceScores(rankings, self.null, self.documents)

    def tied_each(self, tied: TiedRankings) -> Mean:
        self._check_run_null(tied)
        return super().tied_each(tied)

    def tied_variance_each(self, tied: TiedRankings) -> Floats:
        self._check_run_null(tied)
        return super().tied_variance_each(tied)

    def extreme_each(self, tied: TiedRankings, *, best: bool) -> Floats:
        self._check_run_null(tied)
        return super().extreme_each(tied, best=best)

    def _check_run_null(self, tied: TiedRankings) -> None:
        """Unsupported where null=run meets lists that were completed with a whole collection."""
        if self.null == RUN and tied.unlisted.any():
            raise self._unsupported_error(
                "the scores of all orders of this ranking",
                "null=run cannot be used with tail='tied', which adds documents to each ranking",
            )

    def _remarks(self, rankings: Rankings) -> list[Note]:
        """Notes on the scores that the orders get."""
        return []

    def query_remarks(self, judged: JudgedLabels) -> list[Note]:
        return [] if self.null == RUN else self._remarks(judged.best_first)

    def list_remarks(self, rankings: Rankings) -> list[Note]:
        return self._remarks(rankings) if self.null == RUN else []


class ChanceWrapper(OrderBasedWrapper):
    """A measure made of the mean score of random rankings."""

    _of_some_scores = True
    reb: str = parameter(
        Choice(CHANCES),
        "how to compute the mean score of a random ranking. exact: over all orders; independent: "
        "with the simpler formula of Feng and Karmaker 2023, as if ranks were independent; "
        "capped: the same formula over no more ranks than there are documents",
        default=EXACT,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reb != EXACT and not self.measure.knows("_independent"):
            raise MeasureError(
                f"reb={self.reb} does not work for {self.measure} (reb says how the mean score of a "
                "random ranking is computed); use reb=exact, or a measure such as nDCG@10, P@5 or AP@30"
            )

    def _chance(self, orders: RankingReferenceScores) -> Mean:
        return orders.mean(self.measure, self.reb)

    def _remarks(self, rankings: Rankings) -> list[Note]:
        mean = self._chance(self._reference_scores(rankings))
        return super()._remarks(rankings) + estimate_notes(mean, "chance estimated")


class IdealWrapper(OrderBasedWrapper):
    """A measure made of the best score that an order gets."""

    _of_some_scores = True
    iub: str = parameter(
        Choice(BESTS),
        "how to compute the best score. achievable: the score of the best order; k: the score if "
        "k documents were relevant, from Feng and Karmaker 2023, only for sums of precisions such "
        "as AP and SP",
        default=ACHIEVABLE,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.iub == FULL and not self.measure.knows("_full"):
            raise MeasureError(
                f"iub=k does not work for {self.measure} (iub says how the best score is computed); use "
                "iub=achievable, or a sum of precisions such as AP@30 or SP@10"
            )

    def _best(self, orders: RankingReferenceScores) -> Floats:
        return orders.ideal(self.measure, self.iub)
