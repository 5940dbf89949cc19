"""Curves: a measure along a line, from 0 to 1, as the step function that it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Number, check_value
from rankgauge.core.notes import count_phrase
from rankgauge.core.records import Record
from rankgauge.core.tables import Table
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.native import replay

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR = 1e-12
"""Breaks closer than this are merged, and values closer than this are considered equal."""

MARGIN = 0.005
"""Default margin of a plateau below the best value."""

POSITION = Number(0, 1)
"""A point on the line."""


def sign_of(measure: Measure | Aggregate) -> float:
    """1 if higher values of a measure are better, −1 if lower ones are; RankgaugeError if neither is."""
    direction = inner(measure).direction
    if direction == "none":
        raise RankgaugeError(
            f"{measure}: neither higher nor lower values are better, so there is no best point"
        )
    return 1.0 if direction == "higher" else -1.0


class Interval(NamedTuple):
    """An interval of a line, such as the weights with the best mean.

    Parameters
    ----------
    low : float
        The lower end.
    high : float
        The upper end.

    Examples
    --------
    >>> Interval(0.25, 0.75).width
    0.5
    """

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The point in the middle."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        """The length of the interval."""
        return self.high - self.low

    def between(self, low: float, high: float) -> Interval:
        """The same part of a line that goes from `low` to `high`, not from 0 to 1."""
        start, end = (low + place * (high - low) for place in self)
        return Interval(start, high if self.high == 1 else end)


class Steps(Record):
    """The value of each list along the line.

    It is `before` at the start of the line, then `values[i]` from `position[i]` on, where `position[i]`
    is of list `lists[i]`. Lists come one after the other, each from 0 to 1.
    """

    before: Floats
    position: Floats
    lists: Ints
    values: Floats
    known: Floats | None = None
    """The change at each step, if known."""

    def at(self, position: float) -> Floats:
        """The value of each list at a point between the ends."""
        values = self.before.copy()
        passed = np.flatnonzero(self.position < position)
        values[self.lists[passed]] = self.values[passed]  # the last one of a list stays
        return values

    def changes(self) -> Floats:
        """What each step adds to the value of its list."""
        if self.known is not None:
            return self.known
        return self.values - values_before(self.before, self.lists, self.values)


def values_before(before: Floats, lists: Ints, after: Floats) -> Floats:
    """The value that a list had before each step, from those before all steps and those after each one.

    `lists` has the number of the list of each step; lists come one after the other.
    """
    earlier = np.roll(after, 1)
    first = np.diff(lists, prepend=-1) != 0
    earlier[first] = before[lists[first]]
    return earlier


class Curve(Record):
    """The mean of a measure over lists, as a step function along a line from 0 to 1.

    The mean is `values[0]` from 0 to `breaks[0]`, `values[i]` from `breaks[i - 1]` to `breaks[i]`,
    and `values[-1]` from the last break to 1. The ends have means of their own, `start` and `end`,
    because documents may be tied there: for example, documents that only one of two runs
    retrieves.

    Attributes
    ----------
    measure : Measure
        The measure.
    breaks : array of float
        The positions where the mean changes.
    values : array of float
        The mean between two breaks; one more than there are breaks.
    steps : Steps
        The values of the single lists.
    mean_at : callable
        Evaluates the mean at a position.

    Examples
    --------
    >>> from rankgauge import RR
    >>> from rankgauge.rankings.lists import Rankings
    >>> from rankgauge.space import line
    >>> curve = line(Rankings.of([1, 0]), [0.0, 1.0], [1.0, 0.0], RR)
    >>> curve.breaks.tolist(), curve.values.tolist()
    ([0.5], [0.5, 1.0])
    """

    measure: Measure | Aggregate
    breaks: Floats
    values: Floats
    steps: Steps
    mean_at: Callable[[float], float] = field(repr=False)

    @classmethod
    def of(
        cls, steps: Steps, measure: Measure | Aggregate, mean_at: Callable[[float], float]
    ) -> Curve:
        """The curve of the mean over all lists."""
        return cls(measure, *MeanSteps(steps, measure).curve(), steps, mean_at)

    @cached_property
    def start(self) -> float:
        """The mean at 0 itself."""
        return self.mean_at(0.0)

    @cached_property
    def end(self) -> float:
        """The mean at 1 itself."""
        return self.mean_at(1.0)

    def __repr__(self) -> str:
        directed = inner(self.measure).direction != "none"
        best = f", best {self.value:.4f}" if directed else ""
        return f"Curve of {self.measure}: {count_phrase(len(self.breaks), 'break')}{best}"

    @property
    def edges(self) -> Floats:
        """0, the breaks and 1."""
        return np.concatenate(([0.0], self.breaks, [1.0]))

    def at(self, position: float) -> float:
        """The mean at a point from 0 to 1.

        Documents may be tied at a break. Therefore, within 1e-12 of a break, and of 0 and 1, the
        measure is evaluated at the point itself.
        """
        position = check_value("position", position, POSITION)
        if position in (0, 1):
            return self.end if position else self.start
        place = int(np.searchsorted(self.breaks, position, side="right"))
        near = (0.0, 1.0, *self.breaks[max(place - 1, 0) : place + 1].tolist())
        if any(abs(position - edge) <= NEAR for edge in near):
            return self.mean_at(position)
        return float(self.values[place])

    @property
    def higher(self) -> bool:
        """Whether higher values are better; RankgaugeError if there is no direction."""
        return sign_of(self.measure) > 0

    @property
    def value(self) -> float:
        """The best mean between the ends; NaN if no list has a score."""
        best = np.fmax if self.higher else np.fmin  # without NaN
        return float(best.reduce(self.values))

    def within(self, margin: float) -> list[Interval]:
        """The intervals where the mean is within this margin of the best.

        Single points in an interval may be exceptions, because documents are tied at a break.
        """
        good = np.abs(self.values - self.value) <= margin
        change = np.diff(good.astype(np.int8), prepend=0, append=0)
        ends = (self.edges[change == sign].tolist() for sign in (1, -1))
        return [Interval(low, high) for low, high in zip(*ends, strict=True)]

    @property
    def best(self) -> list[Interval]:
        """Return the intervals between two breaks with the best mean, the widest first."""
        good = np.abs(self.values - self.value) <= NEAR
        ends = (edges[good].tolist() for edges in (self.edges[:-1], self.edges[1:]))
        parts = (Interval(low, high) for low, high in zip(*ends, strict=True))
        return sorted(parts, key=lambda part: -part.width)

    @property
    def optima(self) -> list[Interval]:
        """Return the local optima: where the mean is better than just before and after.

        An end of the line counts if the mean gets worse from there. A mean that never changes
        counts as one optimum.
        """
        values = sign_of(self.measure) * self.values
        if np.isnan(values).all():
            return []
        firsts = np.flatnonzero(np.append(True, np.abs(np.diff(values)) > NEAR))
        edges = np.append(self.edges[firsts], 1.0)
        around = np.concatenate(([-np.inf], values[firsts], [-np.inf]))
        best = (around[1:-1] > around[:-2]) & (around[1:-1] > around[2:])
        return [Interval(*edges[place : place + 2].tolist()) for place in np.flatnonzero(best)]

    @property
    def point(self) -> float:
        """A point with the best mean, with few decimals, inside the widest interval.

        Raises RankgaugeError if no list has a score.
        """
        best = self.best
        if not best:
            raise RankgaugeError(f"{self.measure}: no list has a score, so there is no best point")
        return simplest_number(*best[0])

    def table(self) -> Table:
        """Return one row per interval of constant mean: its ends and the mean."""
        ends = self.edges.tolist()
        rows = zip(ends[:-1], ends[1:], self.values.tolist(), strict=True)
        note = f"the mean is {self.start:.4f} at 0 and {self.end:.4f} at 1"
        return Table(("low", "high", str(self.measure)), tuple(rows), (note,))

    def figure(self) -> Figure:
        """The mean along the line, with the best interval."""
        from rankgauge.figures.parameters import parameter_curve

        best = None if np.isnan(self.values).all() else self.best[0]
        return parameter_curve(
            self.edges,
            self.values,
            best,
            parameter="position on the line",
            measure=str(self.measure),
            certified=True,
        )

    def list_steps(self, number: int) -> tuple[Floats, Floats]:
        """The breaks and the values of one list alone."""
        own = self.steps.lists == number
        values = np.append(self.steps.before[number], self.steps.values[own])
        return drop_narrow_steps(self.steps.position[own], values)


def drop_narrow_steps(positions: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Steps without the steps that are too close to the next one to tell apart.

    `values` has the value before the first step, too.
    """
    edges = np.concatenate(([0.0], positions, [1.0]))
    wide = np.diff(edges) > NEAR
    if not wide.any():
        return np.zeros(0), values[-1:]
    return edges[:-1][wide][1:], values[wide]


class MeanSteps:
    """The mean over lists along the line, for any weights of the lists.

    Lists on which the measure is undefined are left out, or undo the mean, as the measure has it.
    """

    def __init__(self, steps: Steps, measure: Measure | Aggregate) -> None:
        if isinstance(measure, Aggregate):
            before, values = measure.forward(steps.before), measure.forward(steps.values)
            steps = Steps(before, steps.position, steps.lists, values)
        before, changes = steps.before, steps.changes()
        order = np.argsort(steps.position, kind="stable")
        self._measure, self._before = measure, np.where(np.isnan(before), 0.0, before)
        self._positions, self._lists = steps.position[order], steps.lists[order]
        self._defined = ~np.isnan(before)
        known = self._defined[self._lists]
        self._changes = np.where(known, changes[order], 0.0)
        if not np.isfinite(self._changes).all():
            raise RankgaugeError(f"{measure}: along the line, a list gains or loses its score")

    def curve(self, weights: Floats | None = None) -> tuple[Floats, Floats]:
        """The breaks and the values of the mean, each list as often as its weight says."""
        each = np.ones(len(self._before)) if weights is None else weights
        total = float(each[self._defined].sum())
        undone = not inner(self._measure).averages_defined and not self._defined[each > 0].all()
        if not total or undone:
            return np.zeros(0), np.array([np.nan])
        changes = self._changes * each[self._lists]
        first = float((self._before * each)[self._defined].sum())
        bounds = np.array([0, len(changes)])
        sums = np.append(first, replay.running(changes, bounds, np.array([first])))
        means = sums / total
        if isinstance(self._measure, Aggregate):
            means = self._measure.back(means)
        return drop_narrow_steps(self._positions, means)


def simplest_number(low: float, high: float) -> float:
    """The number with the fewest decimals between two numbers, the nearest to their middle.

    It keeps away from both: they are rounded, and where a number is exact the documents may be tied.

    >>> simplest_number(0.6008, 0.6011), simplest_number(0.2, 0.9)
    (0.601, 0.6)
    """
    middle, margin = (low + high) / 2, (high - low) / 100
    for digits in range(1, 16):
        number = round(middle, digits)
        if low + margin < number < high - margin:
            return number
    return middle
