"""Ranking by the one feature that is best on the training data: what a method has to beat."""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure
from rankgauge.rankers.evaluations import PLAIN, Evaluation


class FeatureScore(Record):
    """Scores documents by one feature, as it is or negated."""

    column: int
    sign: float

    def __str__(self) -> str:
        return f"{self.column + 1}" if self.sign > 0 else f"{self.column + 1}, lowest first"

    def __call__(self, features: Features) -> Floats:
        return self.sign * np.nan_to_num(features.values[:, self.column].astype(np.float64))


def best_feature(
    features: Features, measure: Measure | Aggregate, by: Evaluation = PLAIN
) -> FeatureScore:
    """The single feature, up or down, that ranks these documents best by a measure."""
    evaluator = by.evaluator(features, measure)
    best, found = -np.inf, FeatureScore(0, 1.0)
    lower = measure.direction == "lower" if isinstance(measure, Measure) else False
    for column in range(features.values.shape[1]):
        if np.ptp(np.nan_to_num(features.values[:, column])) == 0:
            continue
        for sign in (1.0, -1.0):
            scorer = FeatureScore(column, sign)
            (means,) = evaluator.score_features(features, scorer(features)).mean().values()
            value = -means[str(measure)] if lower else means[str(measure)]
            if value > best:
                best, found = value, scorer
    return found
