"""Exact curves along a path of straight pieces: where each measure is best, and how the curve looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Row, Table
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure
from rankgauge.space.curves import Curve, Interval, sign_of, simplest_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POSITION = "position"
TOLERANCE = 1e-12
"""A mean counts as better only if it is higher by more than rounding error."""


class Axis(NamedTuple):
    """What a piece of a path is measured in: a weight, or the position from 0 to 1."""

    name: str
    low: float
    high: float

    def to_units(self, interval: Interval) -> Interval:
        """An interval of positions in the unit of the axis."""
        return interval.between(self.low, self.high)


class PathCurves(Result, Record):
    """The exact curves of measures along a path of weights: the result of `WeightSpace.curves`.

    Attributes
    ----------
    measures : tuple of Measure
        The measures.
    curves : tuple of tuple of Curve
        For each piece of the path, the curve of each measure.
    points : array of shape (points, names)
        The weights at the points that the path goes through.
    names : tuple of str
        The names of the weights.
    margin : float
        How far below the best a mean may be to count as part of a plateau.
    about : tuple of Note
        Notes on the weights.

    Examples
    --------
    >>> from rankgauge.space import WeightSpace
    >>> from rankgauge.space.inputs import features_of
    >>> documents = features_of(([[1, 0], [0, 1]], [0, 1], [0, 2]))
    >>> curves = WeightSpace.of_features(documents).curves("RR")
    >>> curves.curves[0][0].best, curves.axis(1).name
    ([Interval(low=0.5, high=1.0)], 'weight 2')
    """

    measures: tuple[Measure | Aggregate, ...]
    curves: tuple[tuple[Curve, ...], ...]
    points: Floats
    names: tuple[str, ...]
    margin: float
    about: tuple[Note, ...] = ()

    def axis(self, piece: int) -> Axis:
        """The unit of a piece, from 1: the weight that rises, if only one does; else the position."""
        start, end = self.points[piece - 1], self.points[piece]
        (rising,) = np.nonzero(start < end)
        if len(rising) == 1:
            own = int(rising[0])
            return Axis(self.names[own], float(start[own]), float(end[own]))
        return Axis(POSITION, 0.0, 1.0)

    def weights(self, piece: int, position: float) -> Floats:
        """The weights at a position of a piece."""
        return np.asarray((1 - position) * self.points[piece - 1] + position * self.points[piece])

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """The meaning of the columns."""
        names = ", ".join(self.names)
        notes = [
            Note("the widest interval with the best mean", column="low, high"),
            Note(f"{names} in this interval", column="at"),
        ]
        for piece in self._pieces:
            axis, of = self.axis(piece), f"piece {piece}: " if len(self.curves) > 1 else ""
            start, end = (_format_point(self.points[own]) for own in (piece - 1, piece))
            text = f"{of}{axis.name} goes from {axis.low:g} to {axis.high:g}"
            if len(self.names) > 1:
                text += f", the weights go from {start} to {end}"
            notes.append(Note(text))
        notes += [
            Note(
                f"the total width of all intervals with a mean within {self.margin:g} of the "
                "best, and their number",
                column="within, plateaus",
            ),
            Note("points at which the mean is better than on either side", column="optima"),
            Note("the largest change of the mean at one break", column="cliff"),
        ]
        return (*notes, *self._end_notes(), *self.about)

    def _end_notes(self) -> Iterator[Note]:
        """Notes on ends of the path that beat all weights between them. Documents are tied there."""
        for piece, own in zip(self._pieces, self.curves, strict=True):
            for curve in own:
                sign = sign_of(curve.measure)
                for end, mean in (("start", curve.start), ("end", curve.end)):
                    if sign * mean > sign * curve.value + TOLERANCE:
                        where = _format_point(self.points[piece - (end == "start")])
                        yield Note(
                            f"the {end} itself, {where}, scores {mean:.4f}, better than any "
                            "weight in between. Documents are tied there, and ties "
                            "are broken by id",
                            measure=str(curve.measure),
                        )

    @property
    def _pieces(self) -> range:
        return range(1, len(self.curves) + 1)

    def _rows(self, make: Callable[[Curve, int, Axis], Iterator[Row]]) -> tuple[Row, ...]:
        """The rows of all curves, with the piece if there are several, and the measure."""
        rows: list[Row] = []
        for piece, own in zip(self._pieces, self.curves, strict=True):
            first: Row = (piece,) if len(self.curves) > 1 else ()
            for curve in own:
                made = make(curve, piece, self.axis(piece))
                rows += ((*first, str(curve.measure), *row) for row in made)
        return tuple(rows)

    def _columns(self, *columns: str) -> tuple[str, ...]:
        return (*(("piece",) if len(self.curves) > 1 else ()), "measure", *columns)

    def table(self) -> Table:
        """Return one row per measure: the means at the ends, and the best mean and where it is.

        Each row also shows the width of the plateau and the numbers of local optima and breaks.
        """
        columns = self._columns(
            "start", "end", "best", "low", "high", "at",
            "within", "plateaus", "optima", "breaks", "cliff",
        )  # fmt: skip
        return Table(columns, self._rows(self._summary), note_texts(self.notes))

    def _summary(self, curve: Curve, piece: int, axis: Axis) -> Iterator[Row]:
        cliff = float(np.abs(np.diff(curve.values)).max(initial=0.0))
        breaks = len(curve.breaks)
        if np.isnan(curve.values).all():
            yield (curve.start, curve.end, *[None] * 7, breaks, None)
            return
        near, best = curve.within(self.margin), axis.to_units(curve.best[0])
        width = sum(part.width for part in map(axis.to_units, near))
        where, optima = _format_point(self.weights(piece, curve.point)), len(curve.optima)
        yield (
            curve.start, curve.end, curve.value, *best, where, width, len(near), optima, breaks, cliff,
        )  # fmt: skip

    def step_table(self) -> Table:
        """Return one row per interval of constant mean: the curve itself."""

        def steps(curve: Curve, _: int, axis: Axis) -> Iterator[Row]:
            edges = curve.edges.tolist()
            for low, high, value in zip(edges, edges[1:], curve.values.tolist(), strict=False):
                yield (*axis.to_units(Interval(low, high)), value)

        return Table(self._columns("low", "high", "mean"), self._rows(steps), self._point_texts)

    def optima_table(self) -> Table:
        """Return one row per local optimum, from the start of the path on."""

        def optima(curve: Curve, piece: int, axis: Axis) -> Iterator[Row]:
            for part in curve.optima:
                at = _format_point(self.weights(piece, simplest_number(*part)))
                yield (*axis.to_units(part), at, curve.at(part.middle))

        columns = self._columns("low", "high", "at", "mean")
        return Table(columns, self._rows(optima), self._point_texts)

    @property
    def _point_texts(self) -> tuple[str, ...]:
        return note_texts(note for note in self.notes if note.column is None)

    def figure(self) -> Figure:
        """Plot the means along the path, and the best interval of each measure."""
        from rankgauge.figures.space import PathLine, curves_figure

        axis = self.axis(1) if len(self.curves) == 1 else Axis("piece of the path", 0.0, 1.0)
        lines = []
        for number, measure in enumerate(self.measures):
            edges, values = [], []
            best: tuple[float, Interval] | None = None
            for piece, own in enumerate(self.curves):
                curve = own[number]
                edges.append(curve.edges[(piece > 0) :] + piece)
                values.append(curve.values)
                if np.isnan(curve.values).all():
                    continue
                sign = sign_of(curve.measure)
                if best is None or sign * curve.value > sign * best[0]:
                    low, high = curve.best[0]
                    best = curve.value, Interval(low + piece, high + piece)
            span = axis.low + np.concatenate(edges) * (axis.high - axis.low)
            place = None if best is None else (best[0], *axis.to_units(best[1]))
            lines.append(PathLine(str(measure), span, np.concatenate(values), place))
        return curves_figure(lines, axis.name)

    def _title(self) -> str:
        pieces = count_phrase(len(self.curves), "piece")
        return f"PathCurves of {count_phrase(len(self.measures), 'measure')} along {pieces}"


def _format_point(weights: Floats) -> str:
    return ", ".join(f"{weight:.15g}" for weight in weights.tolist())
