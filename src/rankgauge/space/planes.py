"""Planes: all regions of a two-parameter space in which every query has one ranking, found exactly.

A document (c, u, v) scores c + x·u + y·v. Two documents of a query change places on a line, their flip
boundary; the lines of all queries cut the plane of (x, y) into cells (Robertson and Zaragoza 2007, On
rank-based effectiveness measures and optimization, appendix A). All geometry is in whole numbers; only
the values of measures, and what is drawn, are floating-point numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.core.checks import check_value, one_of
from rankgauge.core.notes import count_phrase
from rankgauge.core.policies import SEED, Progress
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of
from rankgauge.space.arrangements import (
    Arrangement,
    Line,
    canonical_line,
    connected_groups,
    scale_to_largest,
)
from rankgauge.space.cell_rankings import cell_points, ranked_labels
from rankgauge.space.curves import NEAR, sign_of
from rankgauge.space.plane_inputs import PlaneDocuments, Real, exact_fraction, plane_documents

MOST_LINES = 2_000
"""Maximum number of lines, about as many as 63 documents of one query produce. They form up to
2,001,001 cells, which take several gigabytes of memory."""

Across: TypeAlias = Literal["edges", "trajectories"]
"""The condition for a region to be a local optimum. edges: no edge leads to a better cell; trajectories:
no path does, not even through a point where several lines meet."""


class FlipBoundary(Record):
    """The line of a plane on which two documents of a query swap places.

    Parameters
    ----------
    line : int
        The number of the line a·x + b·y + c = 0.
    query : int
        The number of the query.
    first : int
        The row of one document, the earlier one.
    second : int
        The row of the other document.
    sign : int
        1 if `first` ranks above `second` where a·x + b·y + c is above 0, and −1 if it ranks below.

    Examples
    --------
    >>> plane([(0, 1, 0), (0, 0, 1)], [1, 0]).boundaries
    (FlipBoundary(line=0, query=0, first=0, second=1, sign=1),)
    """

    line: int
    query: int
    first: int
    second: int
    sign: int


class Region(Record):
    """Cells of a plane with the same value, connected by edges.

    Attributes
    ----------
    cells : array of int
        The numbers of the cells.
    value : float
        The mean of the measure in these cells.
    best : bool
        Whether no cell of the plane is better.

    Examples
    --------
    >>> three = plane([(0, 1, 0), (0, 0, 1), (0, 0, 0)], [1, 0, 0])
    >>> [(len(region.cells), region.best) for region in three.optima("RR")]
    [(2, True)]
    """

    cells: Ints
    value: float
    best: bool


class PlaneCell(Record):
    """A cell of a plane, with the ranking of each query in it.

    Attributes
    ----------
    number : int
        The number of the cell.
    point : tuple of two Fraction
        A point inside the cell.
    rankings : tuple of tuple of int
        For each query, its documents in rank order, as places among all documents, from 0.

    Examples
    --------
    >>> plane([(0, 1, 0), (0, 0, 1), (0, 0, 0)], [1, 0, 0]).cells[0].rankings
    ((1, 0, 2),)
    """

    number: int
    point: tuple[Fraction, Fraction]
    rankings: tuple[tuple[int, ...], ...]


class Plane(Record):
    """The cells between the flip boundaries of all queries: the result of `plane`.

    Attributes
    ----------
    documents : tuple of (int, int, int)
        For each document (c, u, v), as whole numbers: its score is c + x·u + y·v.
    labels : array of int
        The label of each document.
    offsets : array of int
        The row where each query begins, and the number of documents at the end.
    queries : tuple
        The queries.
    boundaries : tuple of FlipBoundary
        The flips. Several flips can share a line.
    arrangement : Arrangement
        The cells, edges and vertices.
    given : tuple of int or None
        The place of each document in the input, where queries can be mixed.
    judged : JudgedLabels or None
        The judged labels of each query; by default, the labels of its documents.

    Notes
    -----
    All geometry uses whole numbers. Only the values of measures, and what is drawn, are
    floating-point numbers (Robertson and Zaragoza 2007, appendix A).

    Examples
    --------
    >>> four = plane([(8, 9, -7), (-3, 5, 6), (-1, 9, 0), (6, 1, -1)], [1, 1, 0, 0])
    >>> four
    Plane: 1 query, 4 documents, 6 lines, 7 vertices, 18 cells
    >>> [(region.value, len(region.cells)) for region in four.optima("AP")]
    [(1.0, 4)]
    """

    documents: tuple[tuple[int, int, int], ...]
    labels: Labels
    offsets: Ints
    queries: tuple[Hashable, ...]
    boundaries: tuple[FlipBoundary, ...]
    arrangement: Arrangement
    given: tuple[int, ...] | None = None
    judged: JudgedLabels | None = None

    def __repr__(self) -> str:
        return (
            f"Plane: {count_phrase(len(self.queries), 'query')}, "
            f"{count_phrase(len(self.documents), 'document')}, {count_phrase(len(self.lines), 'line')}, "
            f"{count_phrase(len(self.arrangement.vertices), 'vertex', 'vertices')}, "
            f"{count_phrase(len(self), 'cell')}"
        )

    def __len__(self) -> int:
        """The number of cells."""
        return self.arrangement.cells

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines a·x + b·y + c = 0, as (a, b, c)."""
        return self.arrangement.lines

    @cached_property
    def drawn_lines(self) -> Floats:
        """The lines (a, b, c) in floating point, each divided by the largest of the three."""
        return np.array([scale_to_largest(line) for line in self.lines]).reshape(-1, 3)

    @property
    def vertices(self) -> list[tuple[Fraction, Fraction, int]]:
        """The points where lines meet, each with the number of lines through it."""
        return [
            (Fraction(x, w), Fraction(y, w), int(lines))
            for (x, y, w), lines in zip(
                self.arrangement.vertices.tolist(), self.arrangement.multiplicity, strict=True
            )
        ]

    @property
    def cells(self) -> Sequence[PlaneCell]:
        """Every cell with a point inside it and its rankings, made when it is asked for."""
        return _CellSequence(self)

    def cells_at(self, x: Real, y: Real) -> tuple[int, ...]:
        """The numbers of the cells that meet at a point.

        Inside a cell there is one, on a line there are two, and where m lines meet there are 2·m.
        """
        return self.arrangement.cells_at(exact_fraction(x), exact_fraction(y))

    def cell_at(self, x: Real, y: Real) -> int:
        """The number of the cell that a point lies in.

        RankgaugeError for a point on a line; the error names the cells that meet there.
        """
        cells = self.cells_at(x, y)
        if len(cells) > 1:
            names = f"{', '.join(map(str, cells[:-1]))} and {cells[-1]}"
            raise RankgaugeError(
                f"({x}, {y}) is on a line, where cells {names} meet; choose a point inside a "
                "cell, or use cells_at"
            )
        return cells[0]

    def ranking_at(self, x: int, y: int, w: int, query: int) -> tuple[int, ...]:
        """The documents of a query in rank order at the point (x / w, y / w), w above 0.

        The documents are rows of `documents`. Documents with equal scores stay in the order in
        which they were given.
        """
        if w <= 0:
            raise RankgaugeError(f"w={w}, expected a number above 0")
        rows = range(int(self.offsets[query]), int(self.offsets[query + 1]))
        triples = {row: self.documents[row] for row in rows}
        scores = {row: c * w + u * x + v * y for row, (c, u, v) in triples.items()}
        return tuple(sorted(rows, key=lambda row: -scores[row]))

    @cached_property
    def _lists(self) -> tuple[Rankings, list[Ints]]:
        """The different lists of ranked labels of every query, and for each query the list of each cell.

        Where only boundaries of other queries are crossed, a query keeps its ranking.
        """
        own = np.zeros((len(self.queries), len(self.lines)), dtype=np.bool_)
        for boundary in self.boundaries:
            own[boundary.query, boundary.line] = True
        edges, points = self.arrangement, cell_points(self.arrangement)
        labels, lengths, query, each, count = [], [], [], [], 0
        for number, lines in enumerate(own):
            other = ~lines[edges.line]
            state, states = connected_groups(len(self), edges.left[other], edges.right[other])
            example = np.zeros(states, dtype=np.int64)
            example[state[::-1]] = np.arange(len(self))[::-1]
            low, high = self.offsets[number : number + 2].tolist()
            rows, ranked = ranked_labels(
                self.documents[low:high],
                self.labels[low:high],
                points,
                example,
                partial(self._places, number),
            )
            each.append(count + ranked[state])
            labels.append(rows.ravel())
            lengths += [high - low] * len(rows)
            query += [number] * len(rows)
            count += len(rows)
        judged = self.judged
        if judged is None:
            parts = np.split(self.labels, self.offsets[1:-1])
            judged = JudgedLabels.of(*(part[part >= 0] for part in parts))
        flat = np.concatenate(labels)
        return Rankings(flat, offsets_of(np.array(lengths)), np.array(query), judged), each

    def _places(self, query: int, cell: int) -> list[int]:
        """The documents of a query in rank order in a cell, counted from its first, in whole numbers."""
        first = int(self.offsets[query])
        return [row - first for row in self.ranking_at(*self.arrangement.point(cell), query)]

    def _values_by_query(self, measure: AnyMeasure) -> Iterator[Floats]:
        lists, each = self._lists
        scores = inner(parse(measure)).complete().score_each(lists)
        return (scores[own] for own in each)

    def query_values(self, measure: AnyMeasure) -> Floats:
        """Queries × cells: the value of a measure."""
        return np.stack(list(self._values_by_query(measure)))

    def values(self, measure: AnyMeasure) -> Floats:
        """The mean of a measure over the queries, in each cell.

        Undefined values are skipped or make the mean undefined, as the measure defines.
        """
        parsed = parse(measure)
        total, count = np.zeros(len(self)), np.zeros(len(self), dtype=np.int64)
        for values in self._values_by_query(parsed):
            each = parsed.forward(values) if isinstance(parsed, Aggregate) else values
            defined = ~np.isnan(each)
            total += np.where(defined, each, 0.0)
            count += defined
        with np.errstate(invalid="ignore", divide="ignore"):
            means = total / count
        if not inner(parsed).averages_defined:
            means[count < len(self.queries)] = np.nan
        return np.asarray(parsed.back(means) if isinstance(parsed, Aggregate) else means)

    def regions(self, measure: AnyMeasure) -> list[Region]:
        """The regions of equal value, the best first. Values closer than 1e-12 are equal."""
        parts = self._partition(parse(measure))
        return parts.regions(np.ones(len(parts.by_edge), dtype=np.bool_))

    def optima(self, measure: AnyMeasure, across: Across = "edges") -> list[Region]:
        """The regions that are local optima, the best first.

        `across` is "edges": no edge leads to a better cell; or "trajectories": nor does any path that
        leads through a point where several lines meet.
        """
        check_value("across", across, one_of(Across))
        parts = self._partition(parse(measure))
        better = parts.by_edge if across == "edges" else parts.by_edge | parts.by_vertex
        return parts.regions(~better)

    @cached_property
    def _partitions(self) -> dict[str, _Partition]:
        """The partitions of the measures that were asked for."""
        return {}

    def _partition(self, measure: Measure | Aggregate) -> _Partition:
        """The regions of a measure, made once."""
        known = self._partitions.get(str(measure))
        if known is not None:
            return known
        sign, value = sign_of(measure), self.values(measure)
        good = np.nan_to_num(sign * value, nan=-np.inf)
        one, other = self.arrangement.left, self.arrangement.right
        with np.errstate(invalid="ignore"):
            same = (np.abs(good[one] - good[other]) <= NEAR) | (good[one] == good[other])
        number, count = connected_groups(len(self), one[same], other[same])
        by_edge, by_vertex = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
        by_edge[number[one[good[other] > good[one] + NEAR]]] = True
        by_edge[number[other[good[one] > good[other] + NEAR]]] = True
        at, cell = self.arrangement.corners.T
        most = np.full(len(self.arrangement.vertices), -np.inf)
        np.maximum.at(most, at, good[cell])
        by_vertex[number[cell[most[at] > good[cell] + NEAR]]] = True
        order = np.argsort(number, kind="stable")
        made = _Partition(value, good, order, offsets_of(np.bincount(number)), by_edge, by_vertex)
        self._partitions[str(measure)] = made
        return made

    def polygon(self, cell: int, box: tuple[float, float, float, float]) -> Floats:
        """The corners of a cell inside a box (low x, low y, high x, high y), for drawing."""
        x0, y0, x1, y1 = box
        corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
        for edge in self.arrangement.edges_of(cell).tolist():
            a, b, c = self.drawn_lines[self.arrangement.line[edge]].tolist()
            side = 1.0 if self.arrangement.left[edge] == cell else -1.0
            corners = clip_polygon(corners, side * a, side * b, side * c)
        return np.array(corners).reshape(-1, 2)


class _Partition(Record):
    """The regions of a measure, and whether something better is next to them.

    `cells` has the cells of the regions, one region after the other. `by_edge` says whether something
    better is behind an edge of a region, and `by_vertex` whether it is next to a vertex of it.
    """

    value: Floats
    good: Floats
    cells: Ints
    offsets: Ints
    by_edge: Bools
    by_vertex: Bools

    def regions(self, chosen: Bools) -> list[Region]:
        """Some of the regions, the best first."""
        first = self.cells[self.offsets[:-1]]
        best = self.good.max() - NEAR
        numbers = np.flatnonzero(chosen)
        ranked = numbers[np.argsort(-self.good[first[numbers]], kind="stable")].tolist()
        return [
            Region(
                self.cells[self.offsets[number] : self.offsets[number + 1]],
                float(self.value[first[number]]),
                bool(self.good[first[number]] >= best),
            )
            for number in ranked
        ]


class _CellSequence(Sequence[PlaneCell]):
    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    def __len__(self) -> int:
        return len(self._plane)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        number = range(len(self))[number]
        x, y, w = self._plane.arrangement.point(number)
        queries = range(len(self._plane.queries))
        orders = (self._plane.ranking_at(x, y, w, query) for query in queries)
        given = self._plane.given or range(len(self._plane.documents))
        rankings = tuple(tuple(given[row] for row in order) for order in orders)
        return PlaneCell(number, (Fraction(x, w), Fraction(y, w)), rankings)


def plane(
    documents: Sequence[Sequence[Real]] | Features,
    labels: ArrayLike | None = None,
    queries: Sequence[Hashable] | None = None,
    *,
    columns: tuple[int, int, int] = (1, 2, 3),
    decimals: int | None = 6,
    neutral: bool = True,
    jitter: float | None = None,
    seed: int = SEED,
    progress: Progress | None = None,
) -> Plane:
    """Find all cells of the plane (x, y) for documents that score c + x·u + y·v.

    In each cell, every query has one ranking.

    Parameters
    ----------
    documents : sequence of triples or Features
        For each document the numbers (c, u, v), or `Features`, of which three columns are used.
        Documents with equal scores are ranked in the order in which they are given. Every number
        is exact: the float 0.1 is 3602879701896397 / 2**55, and Fraction(1, 10) is a tenth.
    labels : array-like, optional
        The label of each document: whole numbers, or True and False.
    queries : sequence, optional
        The query of each document. By default, all documents belong to one query.
    columns : tuple of three int, default (1, 2, 3)
        For `Features`: the numbers of the features c, u and v, from 1.
    decimals : int or None, default 6
        For `Features`: the number of decimals to which their values are rounded. None keeps the values
        exactly as they are, which is slower.
    neutral : bool, default True
        Whether to include the lines on which two documents with the same label swap places.
        Measures do not change there. Without these lines there are fewer cells, and a cell can
        have several rankings of the documents, but only one of the labels.
    jitter : float, optional
        Add a random number from 0 to this size to the score of each document (see `add_jitter`). Then
        no two flips share a line, and lines meet only where they must, with probability 1.
    seed : int, default 0
        Seed of the random number generator, for the jitter.
    progress : callable, optional
        Called first with the number of lines and the largest possible number of cells, and then
        after each step.

    Returns
    -------
    Plane
        The cells, with methods for the values of measures.

    Examples
    --------
    >>> plane([(0, 1, 0), (0, 0, 1), (0, 0, 0)], [1, 0, 0], neutral=False)
    Plane: 1 query, 3 documents, 2 lines, 1 vertex, 4 cells
    >>> plane([(0.1, 0.5, 0.0), (0.3, 0.0, 0.25)], [True, False]).cell_at(1, -0.5)
    1
    """
    given = plane_documents(documents, labels, queries, columns, decimals, jitter, seed)
    boundaries, lines = _boundaries(given, neutral)
    tell = progress or (lambda step: None)
    tell(
        f"{count_phrase(len(lines), 'line')}, up to {count_phrase(most_cells(len(lines)), 'cell')}"
    )
    arrangement = Arrangement.of(lines, tell)
    return Plane(
        given.triples, given.labels, given.offsets, given.queries, boundaries, arrangement,
        given.rows,
    )  # fmt: skip


def most_cells(lines: int) -> int:
    """The number of cells formed by lines that all meet, no three in one point; other lines form fewer.

    >>> most_cells(780)
    304591
    """
    return 1 + lines + lines * (lines - 1) // 2


def _boundaries(
    given: PlaneDocuments, neutral: bool
) -> tuple[tuple[FlipBoundary, ...], tuple[Line, ...]]:
    """The flips of all pairs of documents of a query, and their lines."""
    lines: dict[Line, int] = {}
    boundaries = []
    for query, (low, high) in enumerate(itertools.pairwise(given.offsets.tolist())):
        for first, second in itertools.combinations(range(low, high), 2):
            if not neutral and given.labels[first] == given.labels[second]:
                continue
            c, u, v = (
                p - q for p, q in zip(given.triples[first], given.triples[second], strict=True)
            )
            if u or v:
                line, sign = canonical_line(u, v, c)
                number = lines.setdefault(line, len(lines))
                boundaries.append(FlipBoundary(number, query, first, second, sign))
        if len(lines) > MOST_LINES:
            done = f"{count_phrase(query + 1, 'query')} of {len(given.queries):,}"
            raise RankgaugeError(
                f"more than {MOST_LINES:,} lines after {done}, which make up to "
                f"{most_cells(MOST_LINES):,} cells. "
                f"{'Use neutral=False, or ' * neutral}{'use' if neutral else 'Use'} fewer "
                "queries, or fewer documents per query: n documents of a query make up to n·(n "
                "− 1)/2 lines"
            )
    return tuple(boundaries), tuple(lines)


def clip_polygon(
    corners: list[tuple[float, float]], a: float, b: float, c: float
) -> list[tuple[float, float]]:
    """The part of a polygon where a·x + b·y + c is at least 0."""
    kept = []
    for place, (x, y) in enumerate(corners):
        to_x, to_y = corners[(place + 1) % len(corners)]
        here, there = a * x + b * y + c, a * to_x + b * to_y + c
        if here >= 0:
            kept.append((x, y))
        if here * there < 0:
            share = here / (here - there)
            kept.append((x + share * (to_x - x), y + share * (to_y - y)))
    return kept
