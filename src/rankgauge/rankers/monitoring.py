"""The measure that a ranker watches on the validation set."""

from __future__ import annotations

import numpy as np

from rankgauge.arrays import Floats
from rankgauge.data.features import Features
from rankgauge.evaluation.evaluator import Evaluator
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure


class Monitor:
    """One measure on some queries, prepared once: called with a score for each document, it gives the
    mean over the queries, as `Evaluator` computes it."""

    def __init__(self, features: Features, measure: Measure | Aggregate) -> None:
        self.features = features
        self.name = str(measure)
        self.higher_is_better = inner(measure).direction == "higher"
        self._evaluator = Evaluator(features.judgments, measure)

    def __call__(self, scores: Floats) -> float:
        means = self._evaluator.score_features(self.features, scores).mean()["run"]
        return float(next(iter(means.values())))

    def best(self, values: list[float]) -> int:
        """The place of the best of some values; the first of equal ones."""
        order = np.asarray(values) if self.higher_is_better else -np.asarray(values)
        return int(np.argmax(order))
