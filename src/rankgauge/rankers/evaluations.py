"""How rankers are evaluated: as everything here is, or as the programs of LETOR and MSLR do it.

`best_feature` is what a method has to beat: the one feature that is best on the training data.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.policies import DEFAULT_TIES, Ties
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.evaluator import Evaluator
from rankgauge.measures.around import Aggregate, Wrapper
from rankgauge.measures.base import Binary, Measure
from rankgauge.measures.cumulative_gain import LetorNDCG, NormalizedDCG

EvaluationName: TypeAlias = Literal["rankgauge", "letor", "mslr"]
"""rankgauge: measures as they are written, ties in random order. letor: as LETOR's program, so that
published values can be compared: nDCG is nDCG_LETOR, and ties are in file order. mslr: as the program of
MSLR: nDCG has gain exp2 and discount log_2, P and AP count labels from 2 on, ties are in file order."""
DEFAULT_EVALUATION: EvaluationName = "rankgauge"
MSLR_RELEVANT = 2


class Evaluation(Record):
    """A way to evaluate rankers: the measures to use for those asked for, and how ties are ordered.

    >>> from rankgauge import parse
    >>> Evaluation("letor").measure(parse("nDCG@10")), Evaluation("mslr").measure(parse("AP"))
    (nDCG_LETOR @ 10, AP(rel=2))
    """

    name: EvaluationName = DEFAULT_EVALUATION

    @property
    def ties(self) -> Ties:
        """How documents with equal scores are ordered."""
        return DEFAULT_TIES if self.name == DEFAULT_EVALUATION else "input"

    def measure(self, measure: Measure | Aggregate) -> Measure | Aggregate:
        """The measure that stands for the one that is asked for."""
        if self.name == DEFAULT_EVALUATION:
            return measure
        if isinstance(measure, Wrapper | Aggregate):
            raise RankgaugeError(
                f"{measure}: the {self.name} evaluation has no such measure, expected nDCG@10, "
                "AP, P@10 or another one without a wrapper"
            )
        if self.name == "mslr" and isinstance(measure, Binary) and measure.rel == 1:
            return replace(measure, rel=MSLR_RELEVANT)
        if type(measure) is NormalizedDCG:
            if self.name == "mslr":
                return replace(measure, gain="exp2", discount="log_2")
            if measure.cutoff is None:
                raise RankgaugeError("LETOR's nDCG needs a cutoff, such as nDCG@10")
            return LetorNDCG(cutoff=measure.cutoff)
        return measure

    def evaluator(
        self, features: Features, measures: Measure | Aggregate | list[Measure | Aggregate]
    ) -> Evaluator:
        """An evaluator of the documents of features, for measures that `measure` gave."""
        return Evaluator(features.judgments, measures, ties=self.ties)


PLAIN = Evaluation()
"""Measures as written, ties in random order."""


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
    highest, best = -np.inf, FeatureScore(0, 1.0)
    lower = isinstance(measure, Measure) and measure.direction == "lower"
    for column in range(features.values.shape[1]):
        if np.ptp(np.nan_to_num(features.values[:, column])) == 0:
            continue
        for sign in (1.0, -1.0):
            scorer = FeatureScore(column, sign)
            (means,) = evaluator.score_features(features, scorer(features)).mean().values()
            value = -means[str(measure)] if lower else means[str(measure)]
            if value > highest:
                highest, best = value, scorer
    return best
