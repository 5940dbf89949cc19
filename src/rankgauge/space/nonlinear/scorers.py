"""Scorers of one parameter: they give every document a score for each value of the parameter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.errors import RankgaugeError
from rankgauge.native import segments

if TYPE_CHECKING:
    from rankgauge.space.nonlinear.crossings import ParameterCrossings

MOST_SCORES = 2_000_000
"""Maximum number of scores in memory."""


class ParameterScorer(ABC):
    """Scores of documents as a function of one parameter.

    `rows` is the number of documents, and `parameter` the name of the parameter. A subclass gives
    `each`. It may give `at`, if single documents can be scored, and `crossings`, if it finds all flips
    for certain.
    """

    rows: int
    parameter: str

    @abstractmethod
    def each(self, values: Floats) -> Floats:
        """The score of every document for every value: a row a value, a column a document."""

    def at(self, values: Floats, rows: Ints) -> Floats:
        """The scores of the documents `rows[i]`, one or several, for `values[i]`."""
        scores = np.empty(rows.shape)
        distinct, which = np.unique(values, return_inverse=True)
        order = np.argsort(which, kind="stable")
        for first, last in blocks(len(distinct), self.rows):
            start, end = np.searchsorted(which[order], (first, last))
            own = order[start:end]
            part = self.each(distinct[first:last])
            number = which[own] - first
            scores[own] = part[number.reshape(-1, *([1] * (rows.ndim - 1))), rows[own]]
        return scores

    def ranked(self, values: Floats, offsets: Ints) -> tuple[Ints, Bools]:
        """The documents in rank order, list by list, each list with its own value of the parameter.

        Also return whether the document at each place is tied with the next one of its list.
        """
        scores = self.at(values, np.arange(self.rows))
        order = segments.segment_order(np.ascontiguousarray(scores), offsets)
        tied = np.append(scores[order][1:] == scores[order][:-1], False)[: self.rows]
        tied[offsets[1:][np.diff(offsets) > 0] - 1] = False
        return order, tied

    def crossings(self, offsets: Ints, low: float, high: float) -> ParameterCrossings | None:
        """All flips between two values, if the scorer can find them for certain; else None."""
        return None


def blocks(count: int, width: int) -> Iterator[tuple[int, int]]:
    """The bounds of consecutive blocks of rows of this width, each of bounded size."""
    step = max(1, MOST_SCORES // max(width, 1))
    for first in range(0, count, step):
        yield first, min(first + step, count)


class FunctionScorer(ParameterScorer):
    """A function of the parameter that gives the scores of all documents.

    Parameters
    ----------
    function
        Called with one value, it gives a score for each document. With `vectorized`, it is called with
        an array of values and gives a row for each value.
    rows
        The number of documents.
    vectorized
        Whether the function takes an array of values.
    parameter
        The name of the parameter, for tables and figures.
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        rows: int,
        *,
        vectorized: bool = False,
        parameter: str = "t",
    ) -> None:
        if not callable(function):
            raise RankgaugeError(f"score={function!r}, expected a function of one parameter")
        self.rows, self.parameter = rows, parameter
        self._function, self._vectorized = function, vectorized

    def each(self, values: Floats) -> Floats:
        """The score of every document for every value; RankgaugeError if the function fails."""
        if self._vectorized:
            return self._check_scores(values.copy(), (len(values), self.rows), values)
        scores = np.empty((len(values), self.rows))
        for place, value in enumerate(values.tolist()):
            scores[place] = self._check_scores(value, (self.rows,), values[place : place + 1])
        return scores

    def _check_scores(self, argument: Any, shape: tuple[int, ...], values: Floats) -> Floats:
        span = f"{values[0]:.17g}" if len(values) == 1 else f"{values[0]:g} to {values[-1]:g}"
        where = f"the scorer at {self.parameter} = {span}"
        try:
            scores = np.asarray(self._function(argument), dtype=np.float64)
        except Exception as error:
            raise RankgaugeError(f"{where} fails: {type(error).__name__}: {error}") from error
        if scores.shape != shape:
            one = (
                "one score per document"
                if len(shape) == 1
                else "one row per value, one column per document"
            )
            raise RankgaugeError(
                f"{where} returns an array of shape {scores.shape}, expected {shape}: {one}"
            )
        if not np.isfinite(scores).all():
            wrong = np.argwhere(~np.isfinite(scores))[0]
            raise RankgaugeError(
                f"{where} gives document {wrong[-1]} the score {scores[tuple(wrong)]}, "
                "expected finite scores; take a smaller interval, or fix the scorer"
            )
        return scores
