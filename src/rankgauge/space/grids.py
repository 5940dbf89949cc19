"""Grids: measures at the points of a grid of weights, beside the exact best of each line through it.

A grid sees a rank measure at single points. Between two of them documents flip, and the measure changes
where the grid does not look (Robertson and Zaragoza 2007, section 3.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Kind, Number, Whole, checked
from rankgauge.core.notes import Note, counted, worded
from rankgauge.core.policies import SEED, SEEDS
from rankgauge.core.resampling import Progress
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, Table
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.space.curves import NEAR, Curve
from rankgauge.space.documents import FeatureRows
from rankgauge.space.lines import mean_of
from rankgauge.space.scorers import LinearScorer, measures_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_AXES = 3
MOST_POINTS = 100_000
"""How many points a grid may have."""


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
    """The values of measures on a grid of one to three weights, and what the grid misses.

    Parameters
    ----------
    documents
        Features, or a tuple (values, labels, bounds), as `trajectory` takes them.
    measures
        One measure or several.
    axes
        The numbers of the features, from 1, whose weights vary: one to three of them.
    low, high
        The least and the greatest weight: a number, or one for each axis.
    points
        How many points there are on an axis, 2 or more: a number, or one for each axis.
    weights
        The weights of all features; those of the axes are replaced. By default all are 1.
    rest
        The number of a feature, from 1, whose weight is 1 less the weights of the axes: so the weights
        of a mixture sum to 1.
    jitter
        Add a random number from 0 to this size to the score of each document (see `jittered`).
    seed
        The seed of the jitter.
    progress
        Is called after each line through the grid.

    >>> documents = ([[1, 0], [0, 1], [0.7, 0.7]], [0, 1, 2], [0, 3])
    >>> found = grid(documents, "nDCG@1", axes=2, high=4, points=2)
    >>> found.values.tolist(), found.best_on_lines("nDCG@1").value
    ([[0.0, 0.5]], 1.0)
    """
    chosen = measures_of(measures)
    for measure in chosen:
        if inner(measure).direction == "none":
            raise RankgaugeError(f"{measure}: neither high nor low is better, so nothing is best")
    scorer = LinearScorer.of(documents, jitter, checked("seed", seed, SEEDS))
    base = np.ones(scorer.width) if weights is None else scorer.weights("weights", weights)
    varied = _axes(axes, scorer.width)
    if rest is not None and checked("rest", rest, Whole(1, scorer.width)) in varied:
        raise RankgaugeError(f"rest={rest} is one of the axes, expected another feature")
    ends = tuple(
        _each(name, given, len(varied), _ANY) for name, given in (("low", low), ("high", high))
    )
    sizes = _each("points", points, len(varied), Whole(2, MOST_POINTS))
    for first, last in zip(*ends, strict=True):
        if not first < last:
            raise RankgaugeError(f"low {first:g} and high {last:g}, expected low below high")
    if np.prod(sizes, dtype=np.float64) > MOST_POINTS:
        raise RankgaugeError(
            f"a grid of {' × '.join(map(str, sizes))} points, expected at most {MOST_POINTS:,} in all"
        )
    ticks = tuple(np.linspace(a, b, n) for a, b, n in zip(*ends, sizes, strict=True))
    return _filled(scorer, chosen, base, varied, rest, ticks, progress)


class LineBest(NamedTuple):
    """The best value on the lines of a grid, and the weights of all features there."""

    value: float
    weights: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Grid(Result):
    """Measures at the points of a grid, and the exact best of each line through it: what `grid` gives.

    `values` has measure × first axis × second axis, and so on. A line goes along one axis, through the
    points of the others. `line_values[a]` has the best value of each line along axis a, between the ends
    and but for points at which documents are tied, and `line_places[a]` the weight where it is, both
    measure × the points of the other axes. `line_breaks[a]` counts the breaks of each curve.
    """

    measures: tuple[Measure | Aggregate, ...]
    axes: tuple[int, ...]
    """The numbers of the features whose weights vary, from 1."""
    rest: int | None
    """The number of the feature whose weight is 1 less the weights of the axes."""
    ticks: tuple[Floats, ...]
    """The weights on each axis."""
    weights: Floats
    """The weights of all features; those of the axes vary."""
    values: Floats
    line_values: tuple[Floats, ...]
    line_places: tuple[Floats, ...]
    line_breaks: tuple[Ints, ...]
    scorer: LinearScorer
    notes: tuple[Note, ...] = ()

    def number(self, measure: AnyMeasure) -> int:
        """The place of a measure among the measures of the grid."""
        parsed = parse(measure)
        if parsed not in self.measures:
            names = ", ".join(map(str, self.measures))
            raise RankgaugeError(f"{parsed} was not asked for, expected one of {names}")
        return self.measures.index(parsed)

    def gradients(self, measure: AnyMeasure) -> tuple[Floats, ...]:
        """The empirical gradient: for each axis the difference of neighbours on the grid, divided by the
        step between them. It has one point fewer along that axis."""
        values = self.values[self.number(measure)]
        steps = (own[1] - own[0] for own in self.ticks)
        return tuple(np.diff(values, axis=axis) / step for axis, step in enumerate(steps))

    def best_on_grid(self, measure: AnyMeasure) -> LineBest:
        """The best value on the grid and its weights; of several points the first."""
        number = self.number(measure)
        values = self._sign(number) * self.values[number]
        if np.isnan(values).all():
            return LineBest(float("nan"), np.full(len(self.weights), np.nan))
        place = np.unravel_index(np.nanargmax(values), values.shape)
        point = [own[at] for own, at in zip(self.ticks, place, strict=True)]
        return LineBest(float(self.values[number][place]), self._with(point))

    def best_on_lines(self, measure: AnyMeasure) -> LineBest:
        """The best value on the lines through the grid, and the weights there; of several the first."""
        number = self.number(measure)
        best = LineBest(float("nan"), np.full(len(self.weights), np.nan))
        for axis, (values, places) in enumerate(
            zip(self.line_values, self.line_places, strict=True)
        ):
            merit = self._sign(number) * values[number]
            if np.isnan(merit).all():
                continue
            at = np.unravel_index(np.nanargmax(merit), merit.shape)
            value = float(values[number][at])
            if np.isnan(best.value) or self._better(number, value, best.value):
                others = [own for n, own in enumerate(self.ticks) if n != axis]
                point = [own[place] for own, place in zip(others, at, strict=True)]
                point.insert(axis, places[number][at])
                best = LineBest(value, self._with(point))
        return best

    def hidden(self, measure: AnyMeasure) -> tuple[Floats, ...]:
        """For each axis, and each line along it, by how much its best is better than the best of the
        grid points on it; 0 where no point of the line is better."""
        number = self.number(measure)
        sign = self._sign(number)
        return tuple(
            np.maximum(sign * lines[number] - (sign * self.values[number]).max(axis=axis), 0.0)
            for axis, lines in enumerate(self.line_values)
        )

    def table(self) -> Table:
        """A row for each measure: the best on the grid and on its lines, where, how many lines hide
        something better than their grid points, and how often the curve breaks between neighbours."""
        columns = (
            "measure",
            "grid",
            "at",
            "lines",
            "lines at",
            "missed",
            "number",
            "hiding",
            "breaks",
        )
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
            where = (self._point(best.weights) for best in (on_grid, on_lines))
            first, second = where
            rows.append(
                (str(measure), on_grid.value, first, on_lines.value, second, missed, len(gaps),
                 int(np.count_nonzero(gaps > NEAR)), breaks / steps)
            )  # fmt: skip
        notes = (
            "grid, lines: the best mean on the grid, and on the lines through it; at, lines at: "
            f"{', '.join(self._names)} there",
            "missed: by how much the best on the lines is better than the best on the grid",
            "number, hiding: how many lines there are, and how many have something better than their "
            "points on the grid",
            "breaks: how often the mean changes between two neighbours on the grid, on average",
        )
        return Table(columns, tuple(rows), (*notes, *worded(self.notes)))

    def curve(self, measure: AnyMeasure) -> Curve:
        """One axis: the exact curve of a measure along it, from 0 at the least weight to 1."""
        if len(self.axes) > 1:
            raise RankgaugeError(
                f"{counted(len(self.axes), 'axis', 'axes')}: a curve is for one axis"
            )
        (ticks,) = self.ticks
        return self.scorer.segment(self._with(ticks[:1]), self._with(ticks[-1:])).curve(measure)

    def figure(self, measure: AnyMeasure | None = None) -> Figure:
        """One axis: the curve and the points of the grid. Two axes: the values on the grid, and the best
        points of its lines. Of the first measure, unless another one is named."""
        from rankgauge.figures.space import grid_curve, grid_map

        named = self.measures[0] if measure is None else parse(measure)
        number, names = self.number(named), self._names
        if len(self.axes) == 1:
            curve, (ticks,) = self.curve(named), self.ticks
            edges = ticks[0] + curve.edges * (ticks[-1] - ticks[0])
            return grid_curve(edges, curve.values, ticks, self.values[number], names[0], str(named))
        if len(self.axes) > 2:
            raise RankgaugeError(f"{len(self.axes)} axes: a figure is for one or two axes")
        on_grid, on_lines = (
            self._varied(own(named).weights) for own in (self.best_on_grid, self.best_on_lines)
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
        return 1.0 if inner(self.measures[number]).direction == "higher" else -1.0

    def _better(self, number: int, value: float, other: float) -> bool:
        return self._sign(number) * (value - other) > NEAR

    @property
    def _names(self) -> list[str]:
        return [self.scorer.name(axis - 1) for axis in self.axes]

    def _with(self, point: Iterable[float]) -> Floats:
        return placed(self.weights, self.axes, self.rest, point)

    def _varied(self, weights: Floats) -> Floats:
        return np.asarray(weights[np.array(self.axes) - 1])

    def _point(self, weights: Floats) -> str:
        return ", ".join(f"{weight:.6g}" for weight in self._varied(weights))


def placed(
    weights: Floats, axes: Sequence[int], rest: int | None, point: Iterable[float]
) -> Floats:
    """The weights of all features, with those of the axes at a point, and what they leave of 1."""
    result, values = weights.copy(), list(point)
    result[np.array(axes) - 1] = values
    if rest is not None:
        result[rest - 1] = 1 - sum(values)
    return result


def _filled(
    scorer: LinearScorer,
    measures: tuple[Measure | Aggregate, ...],
    base: Floats,
    axes: tuple[int, ...],
    rest: int | None,
    ticks: tuple[Floats, ...],
    progress: Progress | None,
) -> Grid:
    """The grid with the values at its points and the best of its lines."""
    shape = tuple(map(len, ticks))
    values = np.empty((len(measures), *shape))
    for place in np.ndindex(shape):
        point = [own[at] for own, at in zip(ticks, place, strict=True)]
        lists = scorer.lists_at(placed(base, axes, rest, point))
        for number, measure in enumerate(measures):
            values[(number, *place)] = mean_of(inner(measure).score_each(lists), measure)
    bests, places, breaks = [], [], []
    for axis, own in enumerate(ticks):
        others = [each for n, each in enumerate(ticks) if n != axis]
        size = (len(measures), *(len(each) for each in others))
        best, where, count = np.empty(size), np.empty(size), np.zeros(size, dtype=np.int64)
        for at in np.ndindex(size[1:]):
            point = [each[place] for each, place in zip(others, at, strict=True)]
            start, end = (
                placed(base, axes, rest, [*point[:axis], limit, *point[axis:]])
                for limit in own[[0, -1]]
            )
            segment = scorer.segment(start, end)
            for number, measure in enumerate(measures):
                curve = segment.curve(measure)
                defined = not np.isnan(curve.values).all()
                middle = curve.best[0].middle if defined else np.nan
                best[(number, *at)] = curve.value if defined else np.nan
                where[(number, *at)] = own[0] + middle * (own[-1] - own[0])
                count[(number, *at)] = len(curve.breaks)
            if progress is not None:
                progress(str(axis))
        bests.append(best)
        places.append(where)
        breaks.append(count)
    return Grid(
        measures,
        axes,
        rest,
        ticks,
        base,
        values,
        tuple(bests),
        tuple(places),
        tuple(breaks),
        scorer,
    )


_ANY = Number(-np.inf, np.inf)


def _axes(axes: int | Sequence[int], width: int) -> tuple[int, ...]:
    """The numbers of the features that vary, checked."""
    numbers = tuple(axes) if isinstance(axes, Sequence) else (axes,)
    checks = tuple(checked("axes", number, Whole(1, width)) for number in numbers)
    if not 1 <= len(checks) <= MOST_AXES or len(set(checks)) < len(checks):
        raise RankgaugeError(f"axes={axes!r}, expected one to {MOST_AXES} different features")
    return checks


def _each(name: str, given: Any, count: int, kind: Kind) -> tuple[Any, ...]:
    """One value for each axis, checked; a single value is for all of them."""
    several = tuple(given) if isinstance(given, Sequence | np.ndarray) else (given,) * count
    if len(several) != count:
        raise RankgaugeError(
            f"{name}={given!r}, expected a number, or one for each of {counted(count, 'axis', 'axes')}"
        )
    return tuple(checked(name, value, kind) for value in several)
