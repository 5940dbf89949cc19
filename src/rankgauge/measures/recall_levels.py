"""Precision at levels of recall: interpolated precision and the eleven-point average."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Choice, Number
from rankgauge.core.parameters import parameter
from rankgauge.errors import MeasureError
from rankgauge.measures.base import Binary
from rankgauge.measures.registry import register
from rankgauge.rankings.lists import Rankings

ELEVEN_LEVELS = tuple(tenth / 10 for tenth in range(11))


class RecallLevelMeasure(Binary):
    """Measures of the precision once a share of the relevant documents is found."""

    source: ClassVar[str] = (
        "Salton and McGill 1983, Introduction to modern information retrieval; "
        "as in trec_eval 9; with rounding=nearest as in trec_eval 10"
    )

    rounding: str = parameter(
        Choice(("ninetenths", "nearest")),
        "how to round x·R, the number of relevant documents at recall level x. ninetenths: x·R + "
        "0.9, rounded down; nearest: to the nearest integer, with halves rounded up",
        default="ninetenths",
    )

    def _count_needed(self, level: float, relevant: Ints) -> Ints:
        """How many relevant documents reach this level of recall."""
        exact = level * relevant
        whole = np.floor(exact)
        nearest = whole + (exact - whole >= 0.5)
        wanted: Ints = (nearest if self.rounding == "nearest" else exact + 0.9).astype(np.int64)
        return wanted

    def _interpolated_precision(self, lists: Rankings, level: float) -> Floats:
        """The highest precision from the rank on at which each list reaches the level.

        Only relevant documents raise precision, so it is the highest at one of them.
        """
        relevant = lists.relevant(self.rel)
        found = lists.running_count(relevant)
        wanted = self._count_needed(level, lists.judged.relevant(self.rel))[lists.query]
        reached = relevant & (found >= lists.each_row(wanted))
        precision = np.append(np.where(reached, found / lists.ranks, 0.0), 0.0)
        highest: Floats = np.maximum.reduceat(precision, lists.offsets[:-1])
        return np.where(lists.lengths > 0, highest, 0.0)


class InterpolatedPrecision(RecallLevelMeasure):
    """The highest precision at any rank from which a share x of the relevant documents is found."""

    name = "IPrec"
    summary = (
        "Interpolated precision: the highest precision at any rank at which recall is at least x."
    )
    formula = (
        "IPrec@x = max P@i over the ranks i where the top i has at least x·R (rounded) relevant "
        "documents, 0 if there is none"
    )
    range = (0.0, 1.0)
    cutoffs = "required"
    swap_monotone = True
    ideal_is_best = True
    examples = ("IPrec@0.1", "IPrec@0", "IPrec(rounding=nearest)@0.25", "IPrec(rel=2)@1")

    cutoff: float | None = parameter(  # type: ignore[assignment]
        Number(0, 1), "the recall level to reach", default=None
    )

    @property
    def depth(self) -> None:
        return None

    def complete(self) -> Self:
        if self.cutoff is None:
            message = f"{self} needs a level of recall; write, for example, {self}@0.1"
            raise MeasureError(message)
        return self

    def _score(self, lists: Rankings) -> Floats:
        return self._interpolated_precision(lists, self.cutoff or 0.0)


class ElevenPointAverage(RecallLevelMeasure):
    """Interpolated precision averaged over the recall levels 0, 0.1 to 1."""

    name = "ElevenPoint"
    summary = (
        "Eleven-point average: interpolated precision averaged over the recall levels 0, 0.1, …, 1."
    )
    formula = "ElevenPoint = (1/11) · Σ_{x = 0, 0.1, …, 1} IPrec@x"
    range = (0.0, 1.0)
    cutoffs = "none"
    swap_monotone = True
    ideal_is_best = True
    examples = ("ElevenPoint", "ElevenPoint(rounding=nearest)")

    def _score(self, lists: Rankings) -> Floats:
        total = np.zeros(len(lists))
        for level in ELEVEN_LEVELS:
            total += self._interpolated_precision(lists, level)
        return total / len(ELEVEN_LEVELS)


IPrec = register(InterpolatedPrecision())
ElevenPoint = register(ElevenPointAverage())
