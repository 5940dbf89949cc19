"""What measures make of a plane of two weights: cells, regions, local optima and the best weights."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import LazyRows, Row, Table
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.space.arrangements import approximate
from rankgauge.space.cell_rankings import SCORES_AT_A_TIME, cell_points
from rankgauge.space.planes import Across, Plane, Region, clip_polygon

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_DECIMALS = 15
MOST_SETS = 5
"""Maximum number of measures whose best regions are shaded in one figure."""
PIXELS = 360
"""Number of points sampled on each axis for a figure."""

ExactPoint = tuple[Fraction, Fraction]


class BestInside(NamedTuple):
    """The best value in a square of weights, and a point of it that has this value."""

    value: float
    cell: int
    point: ExactPoint


class PlaneRegions(Result, Record):
    """Measures over a plane of two weights x and y: the result of `WeightSpace.plane`.

    The plane is unbounded. A square of it is drawn and searched for the best weights.

    Attributes
    ----------
    plane : Plane
        The cells of the plane.
    measures : tuple of Measure
        The measures.
    names : tuple of str
        The names of x and y. For a mixture, the name of the third weight, 1 − x − y, comes first; this
        weight is 0 or more wherever best weights are searched.
    documents : tuple of str
        A short name for each document.
    neutral : bool
        Whether flips of documents with equal labels also produce lines. Then a cell has a single
        ranking.
    low : float
        The lowest weight in the square.
    high : float
        The highest weight in the square.
    across : {"edges", "trajectories"}
        The definition of a local optimum, as in `Plane.optima`.
    about : tuple of Note
        Notes on the weights.

    Examples
    --------
    >>> from rankgauge.space import WeightSpace
    >>> from rankgauge.space.inputs import features_of
    >>> documents = features_of(([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 2, 1], [0, 3]))
    >>> WeightSpace.of_features(documents).plane("RR").best_inside("RR").value
    1.0
    """

    plane: Plane
    measures: tuple[Measure | Aggregate, ...]
    names: tuple[str, ...]
    documents: tuple[str, ...]
    neutral: bool = False
    low: float = 0.0
    high: float = 1.0
    across: Across = "edges"
    about: tuple[Note, ...] = ()

    @property
    def mixture(self) -> bool:
        """Whether the weights sum to 1."""
        return len(self.names) == 3

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """Notes on the size of the plane, and the meaning of the columns."""
        size = repr(self.plane).removeprefix("Plane: ")
        names, first, way = ", ".join(self.names), self.measures[0], _WAYS[self.across]
        span = f"from {self.low:g} to {self.high:g}"
        square = f"with {names} {span}"
        if self.mixture:
            square = f"with x and y {span}, and no negative weight"
        x, y = approximate(self.plane.arrangement.vertices)
        within = (np.minimum(x, y) >= self.low) & (np.maximum(x, y) <= self.high)
        if len(x) and not within.all():
            size += (
                f"; {int(within.sum()):,} of the vertices lie in the square {span}; change it "
                "with --low and --high"
            )
        return (
            Note(size),
            *([Note(f"1 − x − y, x and y: {names}", column="weights")] if self.mixture else ()),
            Note("connected regions of equal mean", column="regions"),
            Note(f"regions from which no {way} leads to a better mean", column="optima"),
            Note(f"optima that are also optima of {first}, cell by cell", column="shared"),
            Note("anywhere in the plane, including negative weights", column="best"),
            Note(f"the best mean {square}, and weights that reach it", column="inside, at"),
            *self.about,
        )

    def table(self) -> Table:
        """Return one row per measure: regions, local optima, best value, best weights."""
        columns = (
            "measure", "regions", "optima", "shared", "best", "in regions", "in cells", "inside", "at",
        )  # fmt: skip
        rows: list[Row] = []
        first = {own.cells.tobytes() for own in self.plane.optima(self.measures[0], self.across)}
        for measure in self.measures:
            optima = self.plane.optima(measure, self.across)
            shared = sum(own.cells.tobytes() in first for own in optima)
            best = [region for region in optima if region.best]
            inside = self.best_inside(measure)
            at: Row = (
                (None, None) if inside is None else (inside.value, self._weights(inside.point))
            )
            cells = sum(len(region.cells) for region in best)
            counts = (len(self.plane.regions(measure)), len(optima), shared)
            value = best[0].value if best else None
            rows.append((str(measure), *counts, value, len(best), cells, *at))
        return Table(columns, tuple(rows), note_texts(self.notes))

    def optima_table(self) -> Table:
        """Return one row per local optimum, the best first: mean, cells, weights inside."""
        rows: list[Row] = []
        for measure in self.measures:
            for region in self.plane.optima(measure, self.across):
                at = self._weights(self.point(region))
                best = "best" if region.best else "local"
                rows.append((str(measure), region.value, best, len(region.cells), at))
        notes = note_texts(note for note in self.notes if note.column in (None, "weights"))
        return Table(("measure", "mean", "optimum", "cells", "at"), tuple(rows), notes)

    def cell_table(self) -> Table:
        """Return one row per cell: weights inside it, and the mean of each measure."""
        values = [self.plane.values(measure) for measure in self.measures]

        def rows(start: int, end: int) -> Iterator[Row]:
            for cell in range(start, end):
                at = self._weights(self.cell_point(cell))
                yield (cell, at, *(float(own[cell]) for own in values))

        notes = note_texts(note for note in self.notes if note.column in (None, "weights"))
        columns = ("cell", "at", *map(str, self.measures))
        return Table(columns, LazyRows(len(self.plane), rows), notes)

    def vertex_table(self) -> Table:
        """Return one row per vertex, with the number of lines through it."""
        vertices = self.plane.vertices

        def rows(start: int, end: int) -> Iterator[Row]:
            for x, y, lines in vertices[start:end]:
                yield (float(x), float(y), lines)

        notes = note_texts(note for note in self.notes if note.column is None)
        return Table(("x", "y", "lines"), LazyRows(len(vertices), rows), notes)

    def point(self, region: Region) -> ExactPoint:
        """A point inside a region, with few decimals, exactly."""

        def digits(point: ExactPoint) -> int:
            return sum(len(str(own.denominator)) + len(str(own.numerator)) for own in point)

        return min(map(self.cell_point, region.cells[:20].tolist()), key=digits)

    def cell_point(self, cell: int) -> ExactPoint:
        """A point inside a cell, exactly: with few decimals, and not far out, if there is one."""
        size = max(abs(self.low), abs(self.high))
        for far in (size * 10.0**power for power in range(7)):
            corners = self.plane.polygon(cell, (-far, -far, far, far))
            if (
                len(corners) > 2
                and (near := self._simplest_point(cell, *_center(corners))) is not None
            ):
                return near
        x, y, w = self.plane.arrangement.point(cell)
        return Fraction(x, w), Fraction(y, w)

    def _simplest_point(self, cell: int, x: Fraction, y: Fraction) -> ExactPoint | None:
        """A point of the cell near this one with few decimals; None if there is none."""
        arrangement = self.plane.arrangement
        sides = [
            (arrangement.lines[arrangement.line[edge]], 1 if arrangement.left[edge] == cell else -1)
            for edge in arrangement.edges_of(cell).tolist()
        ]
        for decimals in range(1, MOST_DECIMALS + 1):
            near = round(x, decimals), round(y, decimals)
            if all(side * (a * near[0] + b * near[1] + c) > 0 for (a, b, c), side in sides):
                return near
        return None

    def best_inside(self, measure: AnyMeasure) -> BestInside | None:
        """The best value in the square, at a point with few decimals; None if undefined.

        A point is checked exactly. Parts of the square that are too narrow for a double are
        skipped.
        """
        parsed = parse(measure)
        values = self.plane.values(parsed)
        merit = values if inner(parsed).direction == "higher" else -values
        box = (self.low, self.low, self.high, self.high)
        for cell in np.argsort(-merit, kind="stable").tolist():
            if np.isnan(values[cell]):
                continue
            corners = self.plane.polygon(cell, box)
            if self.mixture:  # where the third weight is 0 or more
                corners = np.array(clip_polygon(list(map(tuple, corners)), -1.0, -1.0, 1.0))
            if len(corners) < 3:
                continue
            point = self._simplest_point(cell, *_center(corners))
            if point is None or (self.mixture and sum(point) > 1):
                continue
            if all(self.low <= own <= self.high for own in point):
                return BestInside(float(values[cell]), cell, point)
        return None

    def _weights(self, point: ExactPoint) -> str:
        weights = (1 - sum(point), *point) if self.mixture else point
        return ", ".join(f"{float(weight):.15g}" for weight in weights)

    def figure(self, measure: AnyMeasure | None = None) -> Figure:
        """Plot one measure's mean over the square, by default the first's, with local optima.

        A small plane of one query with its neutral lines is drawn as in the paper: the flip boundaries,
        the ranking in each cell, and the best regions of up to five measures.
        """
        from rankgauge.figures.planes import MOST_LABELS, regions_figure
        from rankgauge.figures.space import plane_map

        small = len(self.plane.queries) == 1 and len(self.plane) <= MOST_LABELS
        if small and self.neutral and measure is None:
            best = {
                f"best {each}": [own for own in self.plane.optima(each, self.across) if own.best]
                for each in self.measures[:MOST_SETS]
            }
            box = (self.low, self.low, self.high, self.high)
            drawn = regions_figure(self.plane, self.documents, best, box)
            drawn.axes[0].set_xlabel(self.names[-2], parse_math=False)
            drawn.axes[0].set_ylabel(self.names[-1], parse_math=False)
            return drawn
        parsed = self.measures[0] if measure is None else parse(measure)
        ticks = self.low + (np.arange(PIXELS) + 0.5) / PIXELS * (self.high - self.low)
        cell = self._cells_at(ticks)
        values = np.where(cell < 0, np.nan, self.plane.values(parsed)[cell])
        optimal = np.zeros(len(self.plane), dtype=np.bool_)
        for region in self.plane.optima(parsed, self.across):
            optimal[region.cells] = True
        inside = self.best_inside(parsed)
        return plane_map(
            values,
            optimal[cell] & (cell >= 0),
            self.plane.lines,
            (self.low, self.high),
            None if inside is None else (float(inside.point[0]), float(inside.point[1])),
            names=self.names[-2:],
            first=self.names[0] if self.mixture else None,
            measure=str(parsed),
        )

    def _cells_at(self, ticks: Floats) -> Ints:
        """The cell of each point (y × x) of a grid; −1 where rounding leaves it open.

        Points of one cell are on the same sides of all lines. The sides of a point are added up to one
        number: each line has a random one, which counts on its positive side.
        """
        lines = np.array([[float(part) for part in line] for line in self.plane.lines])
        a, b, c = lines.reshape(-1, 3).T
        random = np.random.default_rng(0).integers(0, 2**64, len(a), dtype=np.uint64)

        def sides(x: Floats, y: Floats) -> NDArray[np.uint64]:
            values = x[:, None] * a + (y[:, None] * b + c)
            counted_in = np.where(values > 0, random, np.uint64(0))
            return np.asarray(np.bitwise_xor.reduce(counted_in, axis=1), dtype=np.uint64)

        points = cell_points(self.plane.arrangement)
        sure = np.flatnonzero(points.inside)
        step = max(1, SCORES_AT_A_TIME // max(1, len(a)))
        known: dict[int, int] = {}
        for start in range(0, len(sure), step):
            cell = sure[start : start + step]
            own = sides(points.x[cell], points.y[cell])
            known.update(zip(own.tolist(), cell.tolist(), strict=True))
        rows = (sides(ticks, np.full(len(ticks), y)).tolist() for y in ticks.tolist())
        return np.array([[known.get(one, -1) for one in row] for row in rows], dtype=np.int64)

    def _title(self) -> str:
        return f"PlaneRegions of {count_phrase(len(self.measures), 'measure')}"


_WAYS: dict[Across, str] = {"edges": "edge", "trajectories": "path, not even through a vertex,"}


def _center(corners: Floats) -> ExactPoint:
    x, y = corners.mean(axis=0).tolist()
    return Fraction(x), Fraction(y)
