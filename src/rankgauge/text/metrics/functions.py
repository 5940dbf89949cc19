"""A metric made of a function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import check_value, one_of
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.measures.scored import Direction
from rankgauge.text.base import Metric
from rankgauge.text.data.texts import Candidates
from rankgauge.text.registry import register

ScoreFunction: TypeAlias = Callable[[str, tuple[str, ...], str], float]
"""Returns the score of a candidate from its text, its references and its source."""


TOLERANCE = 1e-9
"""How far a score may lie outside the range because of rounding."""


class FunctionMetric(Metric):
    """A metric whose score is a function of a candidate, its references and its source."""

    function: ClassVar[ScoreFunction]

    def _score(self, candidates: Candidates) -> Floats:
        scores = np.empty(len(candidates))
        texts = candidates.texts
        for place, (words, of) in enumerate(
            zip(candidates.outputs, candidates.of.tolist(), strict=True)
        ):
            try:
                value = type(self).function(words, texts.references[of], texts.sources[of])
            except Exception as error:
                raise RankgaugeError(
                    f"{self.name}: its function raised {type(error).__name__}: {error}, for "
                    f"{candidates.describe(place)}"
                ) from error
            scores[place] = self._number(value, candidates, place)
        return scores

    def _number(self, value: Any, candidates: Candidates, place: int) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        low, high = self.range
        if not math.isfinite(number):
            expected = "a number"
        elif not low - TOLERANCE <= number <= high + TOLERANCE:
            expected = f"{low:g} to {high:g}, its range"
        else:
            return number
        raise RankgaugeError(
            f"{self.name}: its function returned {value!r}, expected {expected}, for "
            f"{candidates.describe(place)}"
        )


def metric(
    function: ScoreFunction,
    *,
    name: str,
    ideal: float = 1.0,
    range: tuple[float, float] = (0.0, 1.0),
    direction: Direction = "higher",
    source_needed: bool = False,
    summary: str = "",
) -> Metric:
    """Make a metric from a function, and register it under its name.

    The expected score of a random text is estimated from random texts.

    Parameters
    ----------
    function : callable
        A function `function(candidate, references, source)` that returns the score. The references
        are a tuple of strings. The source is "" if there is none.
    name : str
        The name of the metric, such as "overlap".
    ideal : float, default 1.0
        The best score: the score of a text that equals all its references.
    range : tuple of float, default (0.0, 1.0)
        The lowest and the highest score. A metric without a lowest score starts at −inf; it has no v1
        and v2, but linear and z work.
    direction : {"higher", "lower", "none"}, default "higher"
        Which scores are better; "none" if there is no such direction.
    source_needed : bool, default False
        Whether a text without a source is an error.
    summary : str, optional
        One sentence for lists of metrics.

    Returns
    -------
    Metric
        The metric.

    Raises
    ------
    MeasureError
        If `function` cannot be called, the range is not ascending, `ideal` is outside the range, or
        another metric has the name.

    Examples
    --------
    >>> from rankgauge.text import metric
    >>> def brevity(candidate, references, source):
    ...     return 1 / (1 + len(candidate.split()))
    >>> metric(brevity, name="brevity")
    brevity
    """
    if not callable(function):
        raise MeasureError(f"metric {name!r}: {function!r} is not a function")
    low, high = map(float, range)
    if not low < high:
        raise MeasureError(f"metric {name!r}: range={range!r}, expected the lowest score first")
    if not low <= ideal <= high:
        raise MeasureError(f"metric {name!r}: ideal={ideal!r}, expected {low:g} to {high:g}")
    check_value("direction", direction, one_of(Direction))
    kind = type(
        str(name),
        (FunctionMetric,),
        {
            "__module__": getattr(function, "__module__", None) or __name__,
            "__doc__": function.__doc__,
            "name": str(name),
            "summary": summary
            or (f"Defined by the function {getattr(function, '__name__', name)}."),
            "examples": (str(name),),
            "function": staticmethod(function),
            "ideal": float(ideal),
            "range": (low, high),
            "direction": direction,
            "source_needed": bool(source_needed),
        },
    )
    made: Metric = register(kind())
    return made
