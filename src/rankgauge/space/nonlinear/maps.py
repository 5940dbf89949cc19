"""Maps: a measure over two parameters that are not straight lines, from exact curves over one of them.

Each row of a map is the curve over one parameter at a value of the other. A row is as certain as its
curve: for BM25 no flip on it can be missing. Between two rows nothing is certain: documents can change
places there and back again.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Integer, check_value
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import Progress
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Row, Table
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.rankings.lists import Rankings
from rankgauge.space.curves import NEAR, Interval, sign_of, simplest_number
from rankgauge.space.inputs import Documents, lists_of
from rankgauge.space.nonlinear.roots import SAMPLES, ParameterCurve, Sweep, limits
from rankgauge.space.nonlinear.scorers import FunctionScorer, ParameterScorer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = 21
"""Default number of rows in a map."""
MOST_ROUNDS = 50
"""Maximum number of changes of direction in the search for the best point."""


class PairScorer(ABC):
    """Base class of scorers that depend on two parameters.

    A subclass sets `parameters` and defines `along`. A plain function of two numbers needs no subclass,
    because `parameter_map` takes the function itself.

    Attributes
    ----------
    parameters : tuple of two str
        The names of the parameters.

    Examples
    --------
    >>> from rankgauge.space.nonlinear.scorers import FunctionScorer
    >>> class Mixture(PairScorer):
    ...     parameters = ("a", "b")
    ...     def along(self, parameter, other):
    ...         return FunctionScorer(lambda own: [own, other], 2, parameter=self.parameters[parameter])
    >>> parameter_map(Mixture(), [(0, 1), (0, 1)], [1, 0], "RR", at=[0.5]).rows[0].breaks.tolist()
    [0.5]
    """

    parameters: tuple[str, str]

    @abstractmethod
    def along(self, parameter: int, other: float) -> ParameterScorer:
        """Fix one parameter and return the scorer over the other.

        Parameters
        ----------
        parameter : int
            The parameter that varies: 0 or 1.
        other : float
            The value of the other parameter.

        Returns
        -------
        ParameterScorer
            The scores as a function of the parameter that varies.
        """


class PairFunctionScorer(PairScorer):
    """A function of two parameters that gives the scores of all documents."""

    def __init__(
        self, function: Callable[[float, float], Any], rows: int, parameters: tuple[str, str]
    ) -> None:
        if not callable(function):
            raise RankgaugeError(f"score={function!r}, expected a function of two parameters")
        self._function, self._rows, self.parameters = function, rows, parameters

    def along(self, parameter: int, other: float) -> ParameterScorer:
        function = self._function

        def score(value: float) -> Any:
            return function(value, other) if parameter == 0 else function(other, value)

        return FunctionScorer(score, self._rows, parameter=self.parameters[parameter])


class Surface(Record):
    """Lists whose documents are scored by a function of two parameters, each in an interval."""

    documents: Rankings
    scorer: PairScorer
    intervals: tuple[Interval, Interval]
    samples: int = SAMPLES

    def curve(self, measure: AnyMeasure, parameter: int, other: float) -> ParameterCurve:
        """The curve of a measure over one parameter, 0 or 1, at a value of the other."""
        scorer = self.scorer.along(parameter, other)
        low, high = self.intervals[parameter]
        return Sweep(self.documents, scorer, low, high, self.samples).curve(measure)


class BestPoint(NamedTuple):
    """The best point of a map that the search reaches.

    `value` is the mean there. `intervals` are how far one can go from the point along each parameter
    before the mean changes.
    """

    value: float
    point: tuple[float, float]
    intervals: tuple[Interval, Interval]


class ParameterMap(Result, Record):
    """The mean of a measure over two parameters: the result of `parameter_map`.

    Each row is the curve over the first parameter at one value of the second.

    Attributes
    ----------
    measure : Measure
        The measure.
    surface : Surface
        The documents, their scorer and the intervals of the parameters.
    at : array of float
        The value of the second parameter in each row.
    rows : tuple of ParameterCurve
        The curve over the first parameter in each row.

    Notes
    -----
    A row is as certain as its curve. Between two rows nothing is certain: documents may swap
    places and back again.

    Examples
    --------
    >>> bowl = parameter_map(lambda x, y: [x * x, y], [(-1, 1), (0, 1)], [1, 0], "RR", at=[0.25])
    >>> bowl.best.value, bowl.best.point
    (1.0, (-0.8, 0.25))
    """

    measure: Measure | Aggregate
    surface: Surface
    at: Floats
    rows: tuple[ParameterCurve, ...]

    @property
    def parameters(self) -> tuple[str, str]:
        """The names of the parameter along the rows, and of the other one."""
        return self.surface.scorer.parameters

    @property
    def certified(self) -> bool:
        """Whether no flip on a row can be missing."""
        return all(row.certified for row in self.rows)

    @property
    def best_row(self) -> int:
        """The number of the row with the best mean, from 0; of several, the widest interval decides."""
        values = [sign_of(self.measure) * row.value for row in self.rows]
        if np.isnan(values).all():
            raise RankgaugeError(f"{self.measure}: no list has a score, so there is no best row")
        top = np.nanmax(values) - NEAR
        good = [number for number, value in enumerate(values) if value >= top]
        return max(good, key=lambda number: self.rows[number].best[0].width)

    @cached_property
    def best(self) -> BestPoint:
        """The best point that the search reaches from the best row.

        The search follows exact curves over the two parameters in turn, until neither has anything
        better. The point is a local optimum along both, but not certainly the global optimum.
        """
        number = self.best_row
        row, sign = self.rows[number], sign_of(self.measure)
        points = [row.point, float(self.at[number])]
        spans, value, direction = [row.best[0], row.best[0]], row.value, 0
        for _ in range(MOST_ROUNDS):
            direction = 1 - direction
            curve = self.surface.curve(self.measure, direction, points[1 - direction])
            here = _interval_around(curve, points[direction], value)
            better = sign * curve.value > sign * value + NEAR
            spans[direction] = curve.best[0] if better else here
            if not better:
                break
            value, points[direction] = curve.value, simplest_number(*curve.best[0])
        other = self.surface.curve(self.measure, 1 - direction, points[direction])
        spans[1 - direction] = _interval_around(other, points[1 - direction], value)
        return BestPoint(value, (points[0], points[1]), (spans[0], spans[1]))

    def at_point(self, first: float, second: float) -> float:
        """The mean at a point, evaluated there."""
        low, high = self.surface.intervals[0]
        scorer = self.surface.scorer.along(0, second)
        return Sweep(self.surface.documents, scorer, low, high).mean_at(first, self.measure)

    def gaps(self) -> Floats:
        """The greatest difference of each row from the next one.

        It is taken over all values of the parameter along the rows.
        """
        return np.array([_greatest_difference(*rows) for rows in itertools.pairwise(self.rows)])

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """How certain the map is, and where it is best."""
        along, across = self.parameters
        flips = count_phrase(sum(len(row.flips) for row in self.rows), "flip")
        rows = count_phrase(len(self.rows), "row")
        certain = "certified: no flip on any row is missing"
        texts = [
            f"{flips} on {rows}, {certain if self.certified else 'from samples, not certified'}"
        ]
        if len(self.rows) > 1:
            gaps = self.gaps()
            texts.append(
                "nothing is certified between rows; neighboring rows differ by at most "
                f"{np.nanmax(gaps):.4f}, with a median of {np.nanmedian(gaps):.4f}"
            )
        if self._has_best:
            best = self.best
            first, second = best.intervals
            texts.append(
                f"best point found: {best.value:.4f} at {along} = {best.point[0]:.6g}, "
                f"{across} = {best.point[1]:.6g}; the mean is constant for {along} from "
                f"{first.low:.6g} to {first.high:.6g}, and for {across} from {second.low:.6g} "
                f"to {second.high:.6g}"
            )
        return tuple(map(Note, texts))

    @property
    def _has_best(self) -> bool:
        directed = inner(self.measure).direction != "none"
        return directed and not all(np.isnan(row.values).all() for row in self.rows)

    def table(self) -> Table:
        """Return one row per value of the second parameter.

        Each row has its flips and breaks, and the best interval of the first parameter.
        """
        along, across = self.parameters
        columns = (across, "flips", "breaks", "lowest", "best", f"{along} from", "to")
        rows: list[Row] = []
        for value, row in zip(self.at.tolist(), self.rows, strict=True):
            widest = row.widest_best
            best = (None, None, None) if widest is None else (row.value, *widest)
            least = float(row.values.min())
            rows.append((value, len(row.flips), len(row.breaks), least, *best))
        return Table(columns, tuple(rows), note_texts(self.notes))

    def figure(self) -> Figure:
        """Plot the mean over both parameters: one stripe per row, and a cross at the best point."""
        from rankgauge.figures.parameters import parameter_map

        best = self.best if self._has_best else None
        low, high = self.surface.intervals[0]
        ticks = low + (np.arange(STRIPES) + 0.5) / STRIPES * (high - low)
        values = [row.values[np.searchsorted(row.breaks, ticks, side="right")] for row in self.rows]
        return parameter_map(
            ticks,
            self.at,
            np.array(values),
            None if best is None else (best.point, best.intervals),
            parameters=self.parameters,
            measure=str(self.measure),
            certified=self.certified,
        )

    def _title(self) -> str:
        along, across = self.parameters
        return f"ParameterMap of {self.measure} over {along} and {across}"


STRIPES = 600
"""Number of points per row at which a figure shows the mean."""


def _interval_around(curve: ParameterCurve, point: float, mean: float) -> Interval:
    """The interval between two breaks around a point with this mean.

    It is the point alone if documents are tied there, so that the mean is another one beside it.
    """
    edges = curve.edges
    place = int(np.clip(np.searchsorted(edges, point, side="right") - 1, 0, len(edges) - 2))
    if abs(curve.values[place] - mean) > NEAR:
        return Interval(point, point)
    return Interval(float(edges[place]), float(edges[place + 1]))


def _greatest_difference(one: ParameterCurve, other: ParameterCurve) -> float:
    """The greatest difference of two curves, between all breaks of both."""
    edges = np.unique(np.concatenate((one.edges, other.edges)))
    middle = (edges[:-1] + edges[1:])[np.diff(edges) > NEAR] / 2
    values = [
        each.values[np.searchsorted(each.breaks, middle, side="right")] for each in (one, other)
    ]
    return float(np.abs(values[0] - values[1]).max(initial=0.0))


def parameter_map(
    score: PairScorer | Callable[[float, float], Any],
    intervals: Sequence[Sequence[float]],
    documents: Documents,
    measure: AnyMeasure,
    *,
    at: int | Sequence[float] = ROWS,
    samples: int = SAMPLES,
    parameters: tuple[str, str] = ("x", "y"),
    progress: Progress | None = None,
) -> ParameterMap:
    """Compute a measure over two parameters: a curve over the first at each value of the second.

    Parameters
    ----------
    score : callable or PairScorer
        A function of two numbers that returns a score for each document, or a `PairScorer`, such as
        that of BM25.
    intervals : sequence of two (float, float)
        The lowest and the highest value of each parameter.
    documents : Rankings, Features or lists of labels
        The labels of one list, or of several. Documents with equal scores are ranked in the order in
        which they stand here.
    measure : Measure or str
        The measure.
    at : int or sequence of float, default 21
        The values of the second parameter, or how many values at equal distances.
    samples : int, default 1001
        For a scorer that cannot certify its flips: at how many values of the first parameter the
        documents are ranked in each row.
    parameters : tuple of two str, default ("x", "y")
        The names of the parameters in tables and figures. A `PairScorer` has names of its own.
    progress : callable, optional
        Called after each row.

    Returns
    -------
    ParameterMap
        The curves, and the best point found.

    Raises
    ------
    RankgaugeError
        If there are not exactly two intervals, or if a value in `at` lies outside the second one.

    Examples
    --------
    >>> bowl = parameter_map(lambda x, y: [x * x, y], [(-1, 1), (0, 1)], [1, 0], "RR", at=[0.25])
    >>> bowl.rows[0].breaks.tolist(), bowl.rows[0].values.tolist()
    ([-0.5, 0.5], [1.0, 0.5, 1.0])
    """
    if len(intervals) != 2:
        raise RankgaugeError(f"{len(intervals)} intervals, expected one for each of two parameters")
    first, second = (Interval(*limits(interval)) for interval in intervals)
    lists, parsed = lists_of(documents), parse(measure)
    inner(parsed).complete()
    if not isinstance(score, PairScorer):
        score = PairFunctionScorer(score, len(lists.labels), parameters)
    count = check_value("samples", samples, Integer(2, 10_000_000))
    surface = Surface(lists, score, (first, second), count)
    values = _values(at, second)
    rows = []
    for value in values.tolist():
        rows.append(surface.curve(parsed, 0, value))
        if progress is not None:
            progress(str(value))
    return ParameterMap(parsed, surface, values, tuple(rows))


def _values(at: int | Sequence[float], interval: Interval) -> Floats:
    """The values of the second parameter, in order."""
    if isinstance(at, int):
        return np.linspace(*interval, check_value("at", at, Integer(2, 10_000)))
    try:
        values = np.unique(np.asarray(at, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.zeros(0)
    if not values.size or not ((values >= interval.low) & (values <= interval.high)).all():
        raise RankgaugeError(
            f"at={at!r}, expected numbers from {interval.low:g} to {interval.high:g}, or the "
            "number of them"
        )
    return values
