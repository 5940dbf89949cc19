"""How rankers are evaluated: as everything here is, or as the programs of LETOR and MSLR do it."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from rankgauge.core.policies import DEFAULT_TIES, Ties
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.evaluator import Evaluator
from rankgauge.measures.around import Aggregate, Wrapper
from rankgauge.measures.base import Binary, Measure
from rankgauge.measures.cumulative_gain import LetorNDCG, NormalizedDCG

EvaluationName: TypeAlias = Literal["rankgauge", "letor", "mslr"]
"""rankgauge: measures as they are written, ties in a drawn order. letor: as LETOR's program, so that
published values can be compared: nDCG is nDCG_LETOR, and ties are in file order. mslr: as the program of
MSLR: nDCG has gain exp2 and discount log_2, P and AP count labels from 2 on, ties are in file order."""
DEFAULT_EVALUATION: EvaluationName = "rankgauge"
MSLR_RELEVANT = 2


class Evaluation(Record):
    """A way to evaluate rankers: which measures stand for those that are asked for, and how ties are
    ordered.

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
                f"{measure}: the evaluation of {self.name} has no such measure, expected nDCG@10, AP, "
                "P@10 or another one without a wrapper"
            )
        if self.name == "mslr" and isinstance(measure, Binary) and measure.rel == 1:
            return replace(measure, rel=MSLR_RELEVANT)
        if type(measure) is NormalizedDCG:
            if self.name == "mslr":
                return replace(measure, gain="exp2", discount="log_2")
            if measure.cutoff is None:
                raise RankgaugeError("LETOR's nDCG needs a cut-off, such as nDCG@10")
            return LetorNDCG(cutoff=measure.cutoff)
        return measure

    def evaluator(
        self, features: Features, measures: Measure | Aggregate | list[Measure | Aggregate]
    ) -> Evaluator:
        """An evaluator of the documents of features, for measures that `measure` gave."""
        return Evaluator(features.judgments, measures, ties=self.ties)


PLAIN = Evaluation()
"""Measures as they are written, ties in a drawn order."""
