"""Grids: measures at the points of a grid of weights, beside the exact best of each line through it.

A grid sees a rank measure at single points. Between two of them documents flip, and the measure changes
where the grid does not look (Robertson and Zaragoza 2007, section 3.3).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Integer, Kind, Number, check_value
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import SEED, SEEDS, Progress
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, Table
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.space.curves import NEAR, Curve, sign_of
from rankgauge.space.inputs import FeatureRows
from rankgauge.space.lines import mean_of
from rankgauge.space.scorers import LinearScorer, measures_of, number_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_AXES = 3
MOST_POINTS = 100_000
"""Maximum number of points in a grid."""


def grid(
    documents: FeatureRows | LinearScorer,
    measures: AnyMeasure | Iterable[AnyMeasure],
    *,
    axes: int | Sequence[int],
    low: float | Sequence[float] = 0.0,
    high: float | Sequence[float] = 1.0,
    points: int | Sequence[int] = 11,
    weights: ArrayLike | None = None,
    rest: int | None = None,
    jitter: float | None = None,
    seed: int = SEED,
    progress: Progress | None = None,
) -> Grid:
    """Evaluate measures on a grid of one to three weights, and find what the grid misses.

    Parameters
    ----------
    documents : Features, tuple or LinearScorer
        The documents: `Features`, or a tuple (values, labels, bounds) as in `trajectory`.
    measures : Measure, str or iterable of these
        One measure or several.
    axes : int or sequence of int
        The numbers of one to three features, from 1, whose weights vary.
    low : float or sequence of float, default 0.0
        The lowest weight: one number, or one for each axis.
    high : float or sequence of float, default 1.0
        The highest weight: one number, or one for each axis.
    points : int or sequence of int, default 11
        The number of points on an axis, at least 2: one number, or one for each axis.
    weights : array-like, optional
        The weights of all features; those of the axes are replaced. By default all weights are 1.
    rest : int, optional
        The number of the feature, from 1, whose weight is 1 minus the sum of the weights of the axes.
        Use it for mixtures, whose weights sum to 1.
    jitter : float, optional
        Add a random number from 0 to this size to the score of each document (see `add_jitter`).
    seed : int, default 0
        Seed of the random number generator, for the jitter.
    progress : callable, optional
        Called after each line through the grid.

    Returns
    -------
    Grid
        The means at the points, and the exact best value on each line through the grid.

    Raises
    ------
    RankgaugeError
        If `low` is not below `high`, if `rest` is one of the axes, if the grid has more than 100,000
        points, or if neither higher nor lower values of a measure are better.

    Examples
    --------
    >>> documents = ([[1, 0], [0, 1], [0.7, 0.7]], [0, 1, 2], [0, 3])
    >>> result = grid(documents, "nDCG@1", axes=2, high=4, points=2)
    >>> result.values.tolist(), result.best_on_lines("nDCG@1").value
    ([[0.0, 0.5]], 1.0)
    """
    chosen = measures_of(measures)
    for measure in chosen:
        sign_of(measure)  # refuses measures without a direction
    scorer = LinearScorer.of(documents, jitter, check_value("seed", seed, SEEDS))
    base = np.ones(scorer.width) if weights is None else scorer.weights("weights", weights)
    varied = _check_axes(axes, scorer.width)
    if rest is not None and check_value("rest", rest, Integer(1, scorer.width)) in varied:
        raise RankgaugeError(f"rest={rest} is one of the axes, expected another feature")
    ends = tuple(
        _check_per_axis(name, given, len(varied), _ANY_NUMBER)
        for name, given in (("low", low), ("high", high))
    )
    sizes = _check_per_axis("points", points, len(varied), Integer(2, MOST_POINTS))
    for first, last in zip(*ends, strict=True):
        if not first < last:
            raise RankgaugeError(f"low {first:g} and high {last:g}, expected low below high")
    if np.prod(sizes, dtype=np.float64) > MOST_POINTS:
        raise RankgaugeError(
            f"a grid of {' × '.join(map(str, sizes))} points, expected at most {MOST_POINTS:,} in all"
        )
    ticks = tuple(np.linspace(a, b, n) for a, b, n in zip(*ends, sizes, strict=True))
    weights_at = partial(set_axis_weights, base, varied, rest)
    lists = (scorer.lists_at(weights_at(point)) for point in itertools.product(*ticks))
    means = [[mean_of(inner(own).score_each(each), own) for own in chosen] for each in lists]
    values = np.array(means).T.reshape(len(chosen), *map(len, ticks))
    lines = (
        _line_bests(scorer, chosen, ticks, weights_at, axis, progress) for axis in range(len(ticks))
    )
    best, places, breaks = zip(*lines, strict=True)
    return Grid(chosen, varied, rest, ticks, base, values, best, places, breaks, scorer)


class BestWeights(NamedTuple):
    """The best value on the lines of a grid, and the weights of all features there."""

    value: float
    weights: Floats


class Grid(Result, Record):
    """Measures on a grid of weights, and the exact best of each line: the result of `grid`.

    A line follows one axis through a point of the other axes. Its best value is taken between the ends
    of the axis, without the single points at which documents are tied.

    Attributes
    ----------
    measures : tuple of Measure
        The measures.
    axes : tuple of int
        The numbers of the features whose weights vary, from 1.
    rest : int or None
        The number of the feature whose weight is 1 minus the sum of the weights of the axes.
    ticks : tuple of array
        The weights on each axis.
    weights : array of float
        The weights of all features; those of the axes vary.
    values : array of shape (measures, points of axis 1, points of axis 2, ...)
        The mean of each measure at each point.
    line_values : tuple of array
        For each axis, the best value on each line along it: measure × points of the other axes.
    line_places : tuple of array
        For each axis, the weight at which each line is best, in the same shape.
    line_breaks : tuple of array
        For each axis, the number of breaks on each line, in the same shape.
    scorer : LinearScorer
        The documents and their features.
    notes : tuple of Note
        Notes for the tables.

    Examples
    --------
    >>> documents = ([[1, 0], [0, 1], [0.7, 0.7]], [0, 1, 2], [0, 3])
    >>> result = grid(documents, "nDCG@1", axes=2, high=4, points=2)
    >>> [missed.tolist() for missed in result.hidden("nDCG@1")]
    [0.5]
    """

    measures: tuple[Measure | Aggregate, ...]
    axes: tuple[int, ...]
    rest: int | None
    ticks: tuple[Floats, ...]
    weights: Floats
    values: Floats
    line_values: tuple[Floats, ...]
    line_places: tuple[Floats, ...]
    line_breaks: tuple[Ints, ...]
    scorer: LinearScorer
    notes: tuple[Note, ...] = ()

    def number(self, measure: AnyMeasure) -> int:
        """The place of a measure among the measures of the grid."""
        return number_of(measure, self.measures)

    def gradients(self, measure: AnyMeasure) -> tuple[Floats, ...]:
        """The empirical gradient of a measure, for each axis.

        It is the difference of neighbors on the grid, divided by the step between them. It has one point
        fewer along that axis.
        """
        values = self.values[self.number(measure)]
        steps = (own[1] - own[0] for own in self.ticks)
        return tuple(np.diff(values, axis=axis) / step for axis, step in enumerate(steps))

    def best_on_grid(self, measure: AnyMeasure) -> BestWeights:
        """The best value on the grid and its weights; of several points the first."""
        number = self.number(measure)
        values = self._sign(number) * self.values[number]
        if np.isnan(values).all():
            return BestWeights(float("nan"), np.full(len(self.weights), np.nan))
        place = np.unravel_index(np.nanargmax(values), values.shape)
        point = [own[at] for own, at in zip(self.ticks, place, strict=True)]
        return BestWeights(float(self.values[number][place]), self._weights_at(point))

    def best_on_lines(self, measure: AnyMeasure) -> BestWeights:
        """The best value on the lines through the grid, and the weights there; of several the first."""
        number = self.number(measure)
        best = BestWeights(float("nan"), np.full(len(self.weights), np.nan))
        for axis in range(len(self.axes)):
            values, places = self.line_values[axis][number], self.line_places[axis][number]
            if np.isnan(values).all():
                continue
            merit = self._sign(number) * values
            at = np.unravel_index(np.nanargmax(merit), merit.shape)
            value = float(values[at])
            if np.isnan(best.value) or self._sign(number) * (value - best.value) > NEAR:
                others = [own for n, own in enumerate(self.ticks) if n != axis]
                point = [own[place] for own, place in zip(others, at, strict=True)]
                point.insert(axis, places[at])
                best = BestWeights(value, self._weights_at(point))
        return best

    def hidden(self, measure: AnyMeasure) -> tuple[Floats, ...]:
        """For each axis, how much better the best of each line along it is than its grid points.

        There is one array per axis, with one entry per line along it. The entry is 0 if no point
        of the line is better than its best grid point.
        """
        number = self.number(measure)
        sign = self._sign(number)
        return tuple(
            np.maximum(sign * lines[number] - (sign * self.values[number]).max(axis=axis), 0.0)
            for axis, lines in enumerate(self.line_values)
        )

    def table(self) -> Table:
        """Return one row per measure: the best value on the grid and on its lines, and where it is.

        Each row also shows how many lines hide something better than their grid points, and how
        often the curve breaks between neighbors.
        """
        columns = (
            "measure", "grid", "at", "lines", "lines at", "missed", "number", "hiding", "breaks",
        )  # fmt: skip
        rows: list[tuple[Cell, ...]] = []
        for number, measure in enumerate(self.measures):
            on_grid, on_lines = self.best_on_grid(measure), self.best_on_lines(measure)
            gaps = np.concatenate([own.ravel() for own in self.hidden(measure)])
            missed = max(self._sign(number) * (on_lines.value - on_grid.value), 0.0)
            breaks = sum(int(own[number].sum()) for own in self.line_breaks)
            steps = sum(
                own[number].size * (len(ticks) - 1)
                for own, ticks in zip(self.line_breaks, self.ticks, strict=True)
            )
            first, second = (self._format_point(best.weights) for best in (on_grid, on_lines))
            rows.append(
                (str(measure), on_grid.value, first, on_lines.value, second, missed, len(gaps),
                 int(np.count_nonzero(gaps > NEAR)), breaks / steps)
            )  # fmt: skip
        notes = (
            "grid, lines: the best mean on the grid, and on the lines through it; at, lines "
            f"at: {', '.join(self._names)} there",
            "missed: by how much the best value on the lines exceeds the best on the grid",
            "number, hiding: the number of lines, and how many have a better value than at "
            "their grid points",
            "breaks: how often the mean changes between two neighbors on the grid, on average",
        )
        return Table(columns, tuple(rows), (*notes, *note_texts(self.notes)))

    def curve(self, measure: AnyMeasure) -> Curve:
        """One axis: the exact curve of a measure along it, from 0 at the least weight to 1."""
        if len(self.axes) > 1:
            raise RankgaugeError(
                f"{count_phrase(len(self.axes), 'axis', 'axes')}: a curve needs exactly one axis"
            )
        (ticks,) = self.ticks
        return self.scorer.segment(*map(self._weights_at, (ticks[:1], ticks[-1:]))).curve(measure)

    def figure(self, measure: AnyMeasure | None = None) -> Figure:
        """One axis: the curve and the points of the grid.

        Two axes: the values on the grid, and the best points of its lines. Of the first measure, unless
        another one is named.
        """
        from rankgauge.figures.space import grid_curve, grid_map

        named = self.measures[0] if measure is None else parse(measure)
        number, names = self.number(named), self._names
        if len(self.axes) == 1:
            curve, (ticks,) = self.curve(named), self.ticks
            edges = ticks[0] + curve.edges * (ticks[-1] - ticks[0])
            return grid_curve(edges, curve.values, ticks, self.values[number], names[0], str(named))
        if len(self.axes) > 2:
            raise RankgaugeError(f"{len(self.axes)} axes: a figure needs one or two axes")
        on_grid, on_lines = (
            self._axis_weights(own(named).weights)
            for own in (self.best_on_grid, self.best_on_lines)
        )
        hiding = [own > NEAR for own in self.hidden(named)]
        first, second = self.ticks
        across = np.column_stack((self.line_places[0][number], second))[hiding[0]]
        along = np.column_stack((first, self.line_places[1][number]))[hiding[1]]
        points, values = np.concatenate((across, along)), self.values[number]
        return grid_map(
            first, second, values, points, on_grid, on_lines, names=names, about=str(named)
        )

    def _title(self) -> str:
        sizes = " × ".join(str(len(own)) for own in self.ticks)
        return f"Grid of {sizes} points"

    def _sign(self, number: int) -> float:
        return sign_of(self.measures[number])

    @property
    def _names(self) -> list[str]:
        return [self.scorer.name(axis - 1) for axis in self.axes]

    def _weights_at(self, point: Iterable[float]) -> Floats:
        return set_axis_weights(self.weights, self.axes, self.rest, point)

    def _axis_weights(self, weights: Floats) -> Floats:
        return np.asarray(weights[np.array(self.axes) - 1])

    def _format_point(self, weights: Floats) -> str:
        return ", ".join(f"{weight:.6g}" for weight in self._axis_weights(weights))


def set_axis_weights(
    weights: Floats, axes: Sequence[int], rest: int | None, point: Iterable[float]
) -> Floats:
    """The weights of all features, with those of the axes at a point, and what they leave of 1."""
    result, values = weights.copy(), list(point)
    result[np.array(axes) - 1] = values
    if rest is not None:
        result[rest - 1] = 1 - sum(values)
    return result


def _line_bests(
    scorer: LinearScorer,
    measures: tuple[Measure | Aggregate, ...],
    ticks: tuple[Floats, ...],
    weights_at: Callable[[Iterable[float]], Floats],
    axis: int,
    progress: Progress | None,
) -> tuple[Floats, Floats, Ints]:
    """For each measure and each line along an axis: the best value, where it is, and the breaks.

    The three arrays have the best value, the weight where it is, and how many breaks the curve has.
    """
    own, others = ticks[axis], [each for n, each in enumerate(ticks) if n != axis]
    lines = []
    for point in itertools.product(*others):
        ends = (weights_at([*point[:axis], limit, *point[axis:]]) for limit in own[[0, -1]])
        segment = scorer.segment(*ends)
        found = []
        for curve in map(segment.curve, measures):
            defined = not np.isnan(curve.values).all()
            middle = curve.best[0].middle if defined else np.nan
            found.append((curve.value, own[0] + middle * (own[-1] - own[0]), len(curve.breaks)))
        lines.append(found)
        if progress is not None:
            progress(str(axis))
    shape = (3, len(measures), *map(len, others))
    values, places, breaks = np.array(lines).transpose(2, 1, 0).reshape(shape)
    return values, places, breaks.astype(np.int64)


_ANY_NUMBER = Number(-np.inf, np.inf)


def _check_axes(axes: int | Sequence[int], width: int) -> tuple[int, ...]:
    """The numbers of the features that vary, checked."""
    numbers = tuple(axes) if isinstance(axes, Sequence) else (axes,)
    checks = tuple(check_value("axes", number, Integer(1, width)) for number in numbers)
    if not 1 <= len(checks) <= MOST_AXES or len(set(checks)) < len(checks):
        raise RankgaugeError(f"axes={axes!r}, expected one to {MOST_AXES} different features")
    return checks


def _check_per_axis(name: str, given: Any, count: int, kind: Kind) -> tuple[Any, ...]:
    """One value for each axis, checked; a single value is for all of them."""
    several = tuple(given) if isinstance(given, Sequence | np.ndarray) else (given,) * count
    if len(several) != count:
        raise RankgaugeError(
            f"{name}={given!r}, expected a number, or one for each of "
            f"{count_phrase(count, 'axis', 'axes')}"
        )
    return tuple(check_value(name, value, kind) for value in several)
