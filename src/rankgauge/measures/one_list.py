"""The questions that people ask a measure about one list or one query.

The `…_each` forms of `measures/base.py` answer the same for all lists at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Integer
from rankgauge.data.model import LARGEST_GRADE
from rankgauge.errors import MeasureError
from rankgauge.rankings.lists import JudgedLabels, Rankings

if TYPE_CHECKING:
    from rankgauge.measures.orders import Mean


class Bounds(NamedTuple):
    """The lowest and the highest score over all labels of the unjudged documents.

    Attributes
    ----------
    low : float
        The lowest score.
    high : float
        The highest score.

    Examples
    --------
    >>> from rankgauge import P
    >>> (P @ 2).bounds([-1, 1])
    Bounds(low=0.5, high=1.0)
    """

    low: float
    high: float


class Estimate(float):
    """A number, its standard error, and how many orders were drawn for it: both 0 where it is exact."""

    error: float
    samples: int

    def __new__(cls, value: float, error: float, samples: int) -> Estimate:
        number = super().__new__(cls, value)
        number.error, number.samples = error, samples
        return number

    def __reduce__(self) -> tuple[type[Estimate], tuple[float, float, int]]:
        return Estimate, (float(self), self.error, self.samples)


class SingleListMixin:
    """The questions about one list of labels, or the judged labels of one query."""

    if TYPE_CHECKING:  # the same questions about all lists at once, which `Measure` answers

        def score_each(self, rankings: Rankings) -> Floats: ...
        def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]: ...
        def ideal_each(self, judged: JudgedLabels) -> Floats: ...
        def worst_each(self, judged: JudgedLabels) -> Floats: ...
        def random_each(self, judged: JudgedLabels) -> Mean: ...
        def variance_each(self, judged: JudgedLabels) -> Floats: ...
        def flip_each(self, rankings: Rankings) -> Floats: ...

    def score(
        self,
        ranking: Sequence[int],
        judged: Sequence[int] | None = None,
        *,
        max_grade: int | None = None,
    ) -> float:
        """The score of one list of labels in rank order.

        `judged` holds all judged labels of the query; by default those in `ranking`, without -1 and -2.
        `max_grade` is the highest grade of the collection; by default the highest label, at least 1.

        >>> from rankgauge import AP
        >>> AP.score([1, 0, 1], judged=[1, 1, 0, 0])
        0.8333333333333333
        """
        return float(self.score_each(make_ranking(ranking, judged, max_grade))[0])

    def bounds(
        self,
        ranking: Sequence[int],
        judged: Sequence[int] | None = None,
        *,
        max_grade: int | None = None,
    ) -> Bounds:
        """The lowest and highest score over all labels of the unjudged documents in `ranking`.

        Documents that `ranking` lacks keep their labels, so a shorter ranking has narrower bounds.

        >>> from rankgauge import P
        >>> (P @ 2).bounds([-1, 1])
        Bounds(low=0.5, high=1.0)
        """
        low, high = self.bounds_each(make_ranking(ranking, judged, max_grade))
        return Bounds(float(low[0]), float(high[0]))

    def flips(
        self,
        ranking: Sequence[int],
        judged: Sequence[int] | None = None,
        *,
        max_grade: int | None = None,
    ) -> list[float]:
        """How much the score changes if neighbors in the ranking change places.

        The first number is for the documents at ranks 1 and 2, the next for ranks 2 and 3, and so on.

        >>> from rankgauge import RR
        >>> RR.flips([0, 1, 0, 1])
        [0.5, -0.16666666666666669, 0.0]
        """
        changes: list[float] = self.flip_each(make_ranking(ranking, judged, max_grade)).tolist()
        return changes

    def ideal(self, judged: Sequence[int], *, max_grade: int | None = None) -> float:
        """The best score any order of the judged documents gets.

        >>> from rankgauge import P
        >>> (P @ 4).ideal([1, 0, 1])
        0.5
        """
        return float(self.ideal_each(make_judged_labels(judged, max_grade))[0])

    def worst(self, judged: Sequence[int], *, max_grade: int | None = None) -> float:
        """The worst score any order of the judged documents gets.

        >>> from rankgauge import RR
        >>> RR.worst([1, 0, 0, 0])
        0.25
        """
        return float(self.worst_each(make_judged_labels(judged, max_grade))[0])

    def expected(self, judged: Sequence[int], *, max_grade: int | None = None) -> Estimate:
        """The mean score over all orders of the judged documents: what a random ranking gets.

        A number with its standard error in `.error`, 0 where it is exact, and the number of orders
        that were drawn for it in `.samples`.

        >>> from rankgauge import P
        >>> (P @ 2).expected([1, 0, 0, 0])
        0.25
        """
        mean = self.random_each(make_judged_labels(judged, max_grade))
        return Estimate(mean.values[0], float(mean.errors[0]), int(mean.samples[0]))

    def variance(self, judged: Sequence[int], *, max_grade: int | None = None) -> float:
        """The variance of the score over all orders of the judged documents.

        >>> from rankgauge import P
        >>> (P @ 1).variance([1, 0])
        0.25
        """
        return float(self.variance_each(make_judged_labels(judged, max_grade))[0])


def make_judged_labels(judged: ArrayLike, max_grade: int | None) -> JudgedLabels:
    """The judged labels of one query, checked."""
    labels = check_labels(judged, 0, "judged labels")
    highest = max(1, int(labels.max(initial=1)))
    if max_grade is not None and Integer(1).check(max_grade) < labels.max(initial=0):
        raise MeasureError(f"max_grade={max_grade}, but there is a label {highest}")
    return JudgedLabels.of(labels, max_grade=highest if max_grade is None else max_grade)


def make_ranking(
    ranking: Sequence[int], judged: Sequence[int] | None, max_grade: int | None
) -> Rankings:
    """One list of labels and what is judged of its query, checked."""
    labels = check_labels(ranking, -2, "labels in a ranking")
    own = labels[labels >= 0]
    known = own if judged is None else check_labels(judged, 0, "judged labels")
    values, counts = np.unique(own, return_counts=True)
    for value, count in zip(values, counts, strict=True):
        if np.count_nonzero(known == value) < count:
            message = f"the ranking has {count} documents of label {value}, but `judged` has fewer"
            raise MeasureError(message)
    return Rankings.of(labels, judged=make_judged_labels(known, max_grade))


def check_labels(values: ArrayLike, least: int, what: str) -> NDArray[np.int32]:
    """Labels as an array; MeasureError for anything but whole numbers in range."""
    try:
        array = np.asarray(values)
    except ValueError:  # lists of several lengths
        array = np.zeros((0, 0))
    whole = array.ndim == 1 and (array.size == 0 or array.dtype.kind in "iu")
    if not whole or (array.size and not least <= array.min() <= array.max() <= LARGEST_GRADE):
        raise MeasureError(f"{what} are whole numbers from {least}, not {values!r}")
    return array.astype(np.int32)
