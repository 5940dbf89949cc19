"""Wrappers made of what the orders of some documents get, and their parameters.

The documents are those that a random ranking is made of, the null: by default the judged ones.
"""

from __future__ import annotations

from rankgauge.arrays import Floats
from rankgauge.checks import Choice, Whole
from rankgauge.data.errors import MeasureError
from rankgauge.measures.answers import (
    ACHIEVABLE,
    BESTS,
    CHANCES,
    COLLECTION,
    EXACT,
    FULL,
    INDEPENDENT,
    JUDGED,
    NULLS,
    RUN,
    Orders,
)
from rankgauge.measures.around import LikeInside
from rankgauge.measures.base import Measure
from rankgauge.measures.orders import Mean
from rankgauge.notes import Note
from rankgauge.parameters import parameter
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings


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


class OverOrders(LikeInside):
    """A measure made of another one and of what the orders of some documents get by it."""

    over_orders = True

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

    @property
    def ideal_is_best(self) -> bool:  # type: ignore[override]
        # Against its own documents a ranking of a few can be the best, and all of them be nothing.
        return self.null != RUN and self.measure.ideal_is_best

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
