"""The measure that a ranker watches, on the validation set or in training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.renamed import RenamedMembers
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.evaluator import Evaluator
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.native import ids, segments
from rankgauge.scores.model import combine_scores


class Monitor(RenamedMembers):
    """One measure on some queries, prepared once for many scores.

    Called with a score for each document, it gives the mean over the queries, as `Evaluator` computes
    it.
    """

    _renamed: ClassVar[dict[str, str]] = {"kept": "round_to_keep", "stops": "should_stop"}

    def __init__(self, features: Features, measure: Measure | Aggregate) -> None:
        self.features = features
        self.measure = measure
        self.name = str(measure)
        self.higher_is_better = inner(measure).direction == "higher"
        judgments = features.judgments
        self._evaluator = Evaluator(judgments, measure)
        self._queries = np.arange(len(features.queries))
        # Rows in the order in which an evaluator ranks documents with equal scores. A sort that keeps
        # such rows as they stand is all that is left to do each time.
        names = judgments.documents
        self._rows = ids.descending(names.data, names.offsets, features.bounds)
        self._labels = judgments.labels[self._rows]

    def __call__(self, scores: Floats) -> float:
        return self.mean(self.each(scores))

    def each(self, scores: Floats) -> Floats:
        """The value of each query; NaN where the measure is undefined."""
        if np.isnan(scores).any():
            raise RankgaugeError("a score is not a number, expected one number per document")
        bounds = self.features.bounds
        order = segments.segment_order(np.asarray(scores, np.float64)[self._rows], bounds)
        values: Floats = self._evaluator.score_labels(self._labels[order], bounds, self._queries)
        return np.ascontiguousarray(values[:, 0])

    def mean(self, values: Floats) -> float:
        """The mean of the values of the queries, or what the aggregate makes of them."""
        return combine_scores(self.measure, values)

    def best(self, values: Sequence[float]) -> int:
        """The place of the best of some values; the first of equal ones. NaN is worse than any other."""
        order = np.asarray(values) if self.higher_is_better else -np.asarray(values)
        return int(np.argmax(np.where(np.isnan(order), -np.inf, order)))

    def round_to_keep(self, values: Sequence[float]) -> int:
        """The round to keep, from the value after each round.

        It is the best round, or the last one if the values decide nothing.
        """
        return len(values) - 1 if is_undecided(values) else self.best(values)

    def should_stop(self, values: Sequence[float], patience: int) -> bool:
        """Whether training stops after these rounds: the best one is `patience` rounds ago.

        As long as all values are equal, the measure says nothing about when to stop.
        """
        return not is_undecided(values) and len(values) - 1 - self.best(values) >= patience


def is_undecided(values: Sequence[float]) -> bool:
    """Whether values are all equal, or all NaN, so that none is the best.

    >>> is_undecided([0.5, 0.5]), is_undecided([0.5, 0.4])
    (True, False)
    """
    array = np.asarray(values, dtype=np.float64)
    return bool((array == array[:1]).all() or np.isnan(array).all())
