"""Wrappers, which make a measure of another measure, and aggregates of scores over queries."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self, get_args, overload

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Labels
from rankgauge.core.policies import Ties
from rankgauge.errors import MeasureError
from rankgauge.measures.base import Answer, Measure
from rankgauge.measures.orders import Mean
from rankgauge.measures.scored import Composite, Direction, Scored
from rankgauge.rankings.lists import JudgedLabels, Rankings


class CompositeMeasure(Composite):
    """Something made of a measure, written `name(measure, key=value)`; it takes no cutoff."""

    contains: ClassVar[type[Scored]] = Measure
    usual = "AP"

    elsewhere = {  # noqa: RUF012
        "judged_only": "it goes to the measure inside, such as condensed(nDCG@10)"
    }

    measure: Measure = dataclasses.field(kw_only=False)

    def __matmul__(self, cutoff: Any) -> Self:
        if self.measure.cutoff is not None:
            raise MeasureError(f"{self} takes no cutoff; the measure inside has one")
        inside = f"{self.name}({self.measure}@{cutoff})"
        raise MeasureError(f"the cutoff goes to the measure inside; write {inside}")

    def at_cutoffs(self, cutoffs: Sequence[float]) -> str:
        """The text form with the measure inside at several cutoffs, such as v2(nDCG@5,10)."""
        return self._format_nested(
            self.measure.at_cutoffs(cutoffs), self._format_parameters(python=False), ","
        )

    @property
    def family(self) -> Hashable:
        """A value that is equal for measures that differ only in the cutoff of the measure inside."""
        return type(self), self._values_except("measure"), self.measure.family


class Wrapper(CompositeMeasure, Measure):
    """A base class for measures that are made of another measure.

    A subclass defines `score_each`, which asks `self.measure` for its scores. The direction, the
    range and the treatment of ties are those of the measure inside, unless the subclass declares
    others.

    Parameters
    ----------
    measure : Measure
        The measure inside.
    cutoff : None
        Not used: the cutoff goes to the measure inside, as in `lower(nDCG@10)`.

    Examples
    --------
    >>> from rankgauge import P
    >>> class Half(Wrapper):
    ...     name = "half"
    ...     def score_each(self, rankings):
    ...         return self.measure.score_each(rankings) / 2
    >>> Half(P @ 2).score([1, 0])
    0.25
    """

    cutoffs = "none"

    def nothing_relevant_each(self, judged: JudgedLabels) -> NDArray[np.bool_]:
        return self.measure.nothing_relevant_each(judged)

    @property
    def relevant_from(self) -> int:
        return self.measure.relevant_from

    def _different_grades(self, grades: Labels) -> Labels:
        return self.measure._different_grades(grades)

    @property
    def open_ended(self) -> bool:  # type: ignore[override]
        return self.measure.open_ended

    @property
    def direction(self) -> Direction:  # type: ignore[override]
        return self.measure.direction

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        return self.measure.range

    @property
    def own_ties(self) -> Ties | None:  # type: ignore[override]
        return self.measure.own_ties

    @property
    def by_subtopic(self) -> bool:  # type: ignore[override]
        return self.measure.by_subtopic

    def complete(self) -> Self:
        self.measure.complete()
        return self

    def _hardest_answer(self, *questions: str) -> Answer:
        """How the measure inside answers these questions: as it answers the hardest of them."""
        inside = self.measure.answers()
        return max((inside[question] for question in questions), key=get_args(Answer).index)


class DelegatingWrapper(Wrapper):
    """A wrapper that takes over what the measure inside declares."""

    @property
    def swap_monotone(self) -> bool:  # type: ignore[override]
        return self.measure.swap_monotone

    @property
    def ideal_is_best(self) -> bool:  # type: ignore[override]
        return self.measure.ideal_is_best

    @property
    def expectation(self) -> Answer:  # type: ignore[override]
        return self.measure.expectation

    @property
    def range_is_declared(self) -> bool:
        return super().range_is_declared or self.measure.range_is_declared


class JudgedInvariantWrapper(DelegatingWrapper):
    """A wrapper that changes nothing once every document is judged.

    So the measure inside answers questions about the judged documents, and about all labels that the
    unjudged documents can get.
    """

    _of_some_scores = True

    @property
    def bounding(self) -> Answer:
        return self.measure.bounding

    def ideal_each(self, judged: JudgedLabels) -> Floats:
        return self.measure.ideal_each(judged)

    def worst_each(self, judged: JudgedLabels) -> Floats:
        return self.measure.worst_each(judged)

    def random_each(self, judged: JudgedLabels) -> Mean:
        return self.measure.random_each(judged)

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        return self.measure.bounds_each(rankings)


class Aggregate(CompositeMeasure):
    """A base class for aggregates: one number from a measure's scores over queries.

    An example is the geometric mean, `gm`. A mean on another scale defines `forward`, which gives
    the numbers that are averaged, and `back`, which turns their mean into a score; such a mean has
    confidence intervals too. Any other aggregate defines `combine`.

    Parameters
    ----------
    measure : Measure
        The measure whose scores are aggregated.

    Examples
    --------
    >>> from rankgauge import AP
    >>> class Highest(Aggregate):
    ...     name = "highest"
    ...     def combine(self, scores):
    ...         return float(scores.max())
    >>> Highest(AP).combine(np.array([0.2, 0.9]))
    0.9
    """

    def combine(self, scores: Floats) -> float:
        """The number for these queries, all of them defined and at least one."""
        return float(self.back(np.mean(self.forward(scores))))

    def forward(self, scores: Floats) -> Floats:
        """The numbers that are averaged."""
        return scores

    def back(self, mean: Any) -> Any:
        """The score that a mean of them, or an array of means, stands for. The function only grows."""
        return mean

    @property
    def own_ties(self) -> Ties | None:
        """How equal scores are treated by the definition of the measure inside, if it says so."""
        return self.measure.own_ties

    @property
    def is_mean(self) -> bool:
        """Whether this is a mean of what `forward` gives, taken `back`."""
        return type(self).combine is Aggregate.combine


def ranking_measure(measure: Scored | Aggregate) -> Measure:
    """The measure itself, or the one that an aggregate combines; MeasureError for a metric of texts."""
    found = inner(measure)
    if not isinstance(found, Measure):
        raise MeasureError(
            f"{measure} scores texts, expected a measure of rankings such as nDCG@10"
        )
    return found


@overload
def inner(measure: Measure | Aggregate) -> Measure: ...


@overload
def inner(measure: Scored | Aggregate) -> Scored: ...


def inner(measure: Scored | Aggregate) -> Scored:
    """The measure itself, or the one that an aggregate combines."""
    return measure.measure if isinstance(measure, Aggregate) else measure


@overload
def innermost(measure: Measure | Aggregate) -> Measure: ...


@overload
def innermost(measure: Scored | Aggregate) -> Scored: ...


def innermost(measure: Scored | Aggregate) -> Scored:
    """The measure that wrappers and aggregates are made of, or the measure itself."""
    while isinstance(measure, Composite):
        measure = measure.measure
    return measure
