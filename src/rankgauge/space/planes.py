"""Planes: all regions of a two-parameter space in which every query has one ranking, found exactly.

A document (c, u, v) scores c + x·u + y·v. Two documents of a query change places on a line, their flip
boundary; the lines of all queries cut the plane of (x, y) into cells (Robertson and Zaragoza 2007, On
rank-based effectiveness measures and optimization, appendix A). All geometry is in whole numbers; only
the values of measures, and what is drawn, are floating-point numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm
from numbers import Rational
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.arrays import Bools, Floats, Ints, Labels
from rankgauge.checks import Whole, checked, one_of
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.features import Features
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.notes import counted
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of
from rankgauge.records import Record
from rankgauge.space.arrangements import Arrangement, Line, canonical, joined
from rankgauge.space.curves import NEAR

MOST_LINES = 600
"""So many lines at the most; they make up to 180,301 cells."""

Across: TypeAlias = Literal["edges", "trajectories"]
"""When a region is a local optimum. edges: no edge leads to a better cell; trajectories: no path does,
also through a point where several lines meet."""


class FlipBoundary(Record):
    """Where two documents of a query change places: a line of the plane.

    `line` is its number; `first` and `second` are rows of the documents, `first` the earlier one. On the
    side of the line where a·x + b·y + c is above 0, `sign` = 1 has `first` above `second`.
    """

    line: int
    query: int
    first: int
    second: int
    sign: int


class Region(Record):
    """Cells of one value that hang together by edges. `best` says that no cell is better."""

    cells: Ints
    value: float
    best: bool


class PlaneCell(Record):
    """One cell: a point inside it, and for each query its documents in rank order, as their places among
    all documents that were given, from 0."""

    number: int
    point: tuple[Fraction, Fraction]
    rankings: tuple[tuple[int, ...], ...]


class Plane(Record):
    """The cells that the flip boundaries of all queries make, with what measures make of each.

    `documents` has the whole-number triple of each document, `labels` the labels, `offsets` where each
    query begins. `boundaries` are the flips; several can share a line.

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
    """The place of each document among those that were given, in which queries can be mixed."""
    judged: JudgedLabels | None = None
    """The judged labels of each query; by default the labels of its documents."""

    def __repr__(self) -> str:
        numbers = (
            (len(self.queries), "query", "queries"),
            (len(self.documents), "document", None),
            (len(self.arrangement.lines), "line", None),
            (len(self.arrangement.vertices), "vertex", "vertices"),
            (len(self), "cell", None),
        )
        return "Plane: " + ", ".join(counted(*each) for each in numbers)

    def __len__(self) -> int:
        """How many cells there are."""
        return self.arrangement.cells

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines a·x + b·y + c = 0, as (a, b, c)."""
        return self.arrangement.lines

    @property
    def vertices(self) -> list[tuple[Fraction, Fraction, int]]:
        """The points where lines meet, each with the number of lines through it."""
        return [
            (Fraction(x, w), Fraction(y, w), int(lines))
            for (x, y, w), lines in zip(
                self.arrangement.vertices, self.arrangement.multiplicity, strict=True
            )
        ]

    @property
    def cells(self) -> Sequence[PlaneCell]:
        """Every cell with a point inside it and its rankings, made when it is asked for."""
        return _Cells(self)

    def cell_at(self, x: Rational | int, y: Rational | int) -> int:
        """The number of the cell that a point lies in; RankgaugeError for a point on a line."""
        signs = np.zeros(len(self.lines), dtype=np.bool_)
        for number, (a, b, c) in enumerate(self.lines):
            side = a * _exact(x) + b * _exact(y) + c
            if not side:
                raise RankgaugeError(f"({x}, {y}) is on a line, expected a point inside a cell")
            signs[number] = side > 0
        return self._numbers[np.packbits(signs).tobytes()]

    @cached_property
    def _packed(self) -> np.typing.NDArray[np.uint8]:
        return np.packbits(self.arrangement.signs, axis=1)

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return {row.tobytes(): number for number, row in enumerate(self._packed)}

    def ranking_at(self, x: int, y: int, w: int, query: int) -> tuple[int, ...]:
        """The documents of a query, as rows of `documents`, in rank order at the point (x / w, y / w), w
        above 0; equal scores stay in the order in which the documents were given."""
        if w <= 0:
            raise RankgaugeError(f"w={w}, expected a number above 0")
        rows = range(int(self.offsets[query]), int(self.offsets[query + 1]))
        scores = {
            row: c * w + u * x + v * y
            for row, (c, u, v) in zip(rows, self.documents[rows.start : rows.stop], strict=True)
        }
        return tuple(sorted(rows, key=lambda row: -scores[row]))

    @cached_property
    def _states(self) -> list[tuple[Ints, Ints]]:
        """For each query: the state of each cell, which is one where its own boundaries alone separate
        cells, and a cell of each state."""
        own: list[set[int]] = [set() for _ in self.queries]
        for boundary in self.boundaries:
            own[boundary.query].add(boundary.line)
        return [self._parts(sorted(lines)) for lines in own]

    def _parts(self, lines: list[int]) -> tuple[Ints, Ints]:
        if not lines:
            return np.zeros(len(self), dtype=np.int64), np.zeros(1, dtype=np.int64)
        bits = np.packbits(self.arrangement.signs[:, lines], axis=1)
        rows = np.ascontiguousarray(bits).view(f"V{bits.shape[1]}").ravel()
        _, first, state = np.unique(rows, return_index=True, return_inverse=True)
        return state.astype(np.int64), first.astype(np.int64)

    @cached_property
    def _lists(self) -> tuple[Rankings, Ints]:
        """The ranked labels of every state of every query, and where the states of each query begin."""
        labels, lengths, query = [], [], []
        for number, (_, examples) in enumerate(self._states):
            for cell in examples.tolist():
                order = self.ranking_at(*self.arrangement.point(cell), number)
                labels.append(self.labels[list(order)])
                lengths.append(len(order))
                query.append(number)
        own = np.split(self.labels, self.offsets[1:-1])
        judged = self.judged
        if judged is None:
            judged = JudgedLabels.of(*(each[each >= 0] for each in own))
        flat = np.concatenate(labels) if labels else np.zeros(0, dtype=np.int32)
        lists = Rankings(flat, offsets_of(np.array(lengths)), np.array(query), judged)
        return lists, offsets_of(np.array([len(first) for _, first in self._states]))

    def query_values(self, measure: AnyMeasure) -> Floats:
        """Queries × cells: the value of a measure."""
        lists, offsets = self._lists
        scores = inner(parse(measure)).complete().score_each(lists)
        return np.stack(
            [
                scores[offsets[number] : offsets[number + 1]][state]
                for number, (state, _) in enumerate(self._states)
            ]
        )

    def values(self, measure: AnyMeasure) -> Floats:
        """The mean of a measure over the queries, in each cell."""
        parsed = parse(measure)
        return _means(self.query_values(parsed), parsed)

    def regions(self, measure: AnyMeasure) -> list[Region]:
        """The regions of equal value, the best first. Values closer than 1e-12 are equal."""
        parts = self._parts_of(parse(measure))
        return parts.regions(np.ones(len(parts.by_edge), dtype=np.bool_))

    def optima(self, measure: AnyMeasure, across: Across = "edges") -> list[Region]:
        """The regions that are local optima, the best first.

        `across` is "edges": no edge leads to a better cell; or "trajectories": nor does any path that
        leads through a point where several lines meet.
        """
        checked("across", across, one_of(Across))
        parts = self._parts_of(parse(measure))
        better = parts.by_edge if across == "edges" else parts.by_edge | parts.by_vertex
        return parts.regions(~better)

    @cached_property
    def _known(self) -> dict[str, _Parts]:
        return {}

    def _parts_of(self, measure: Measure | Aggregate) -> _Parts:
        """The regions of a measure, made once."""
        text = str(measure)
        if text not in self._known:
            self._known[text] = self._made_parts(measure)
        return self._known[text]

    def _made_parts(self, measure: Measure | Aggregate) -> _Parts:
        direction = inner(measure).direction
        if direction == "none":
            raise RankgaugeError(f"{measure}: neither high nor low is better, so nothing is best")
        value = self.values(measure)
        good = np.nan_to_num(value if direction == "higher" else -value, nan=-np.inf)
        one, other = self.arrangement.left, self.arrangement.right
        with np.errstate(invalid="ignore"):
            same = (np.abs(good[one] - good[other]) <= NEAR) | (good[one] == good[other])
        number, count = joined(len(self), one[same], other[same])
        by_edge, by_vertex = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
        by_edge[number[one[good[other] > good[one] + NEAR]]] = True
        by_edge[number[other[good[one] > good[other] + NEAR]]] = True
        at, cell = self.arrangement.corners.T
        most = np.full(len(self.arrangement.vertices), -np.inf)
        np.maximum.at(most, at, good[cell])
        by_vertex[number[cell[most[at] > good[cell] + NEAR]]] = True
        order = np.argsort(number, kind="stable")
        return _Parts(value, good, order, offsets_of(np.bincount(number)), by_edge, by_vertex)

    def polygon(self, cell: int, box: tuple[float, float, float, float]) -> Floats:
        """The corners of a cell inside a box (low x, low y, high x, high y), for drawing."""
        x0, y0, x1, y1 = box
        corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
        for edge in self.arrangement.edges_of(cell).tolist():
            a, b, c = (float(part) for part in self.lines[self.arrangement.line[edge]])
            side = 1.0 if self.arrangement.left[edge] == cell else -1.0
            corners = _clipped(corners, side * a, side * b, side * c)
        return np.array(corners).reshape(-1, 2)


class _Parts(Record):
    """The regions of a measure: their cells, one region after the other, and whether something better is
    behind an edge of a region, or next to a vertex of it."""

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


class _Cells(Sequence[PlaneCell]):
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
    documents: Sequence[Sequence[Rational | int]] | Features,
    labels: ArrayLike | None = None,
    queries: Sequence[Hashable] | None = None,
    *,
    columns: tuple[int, int, int] = (1, 2, 3),
    decimals: int = 6,
    neutral: bool = True,
) -> Plane:
    """All regions of the plane of two parameters x and y, for documents that score c + x·u + y·v.

    Parameters
    ----------
    documents
        A triple (c, u, v) for each document, of whole numbers or fractions; equal scores are ordered as
        the documents stand here. Or features, of which three columns are taken.
    labels
        The label of each document.
    queries
        The query of each document; by default all documents are of one query.
    columns, decimals
        Of features: the numbers of the features c, u and v, from 1, and to how many decimals their
        values are rounded.
    neutral
        Whether lines count on which two documents of the same label change places. Without them no value
        of a measure changes, there are fewer cells, and a cell has one ranking of labels, but can have
        several of documents.

    >>> plane([(0, 1, 0), (0, 0, 1), (0, 0, 0)], [1, 0, 0], neutral=False)
    Plane: 1 query, 3 documents, 2 lines, 1 vertex, 4 cells
    """
    if isinstance(documents, Features):
        if labels is not None or queries is not None:
            raise RankgaugeError("features have labels and queries of their own; leave them out")
        checked("decimals", decimals, Whole(0, 15))
        triples, labels, queries = _from_features(documents, columns, decimals)
    elif labels is None:
        raise RankgaugeError("labels are lacking, expected a label for each document")
    else:
        triples = [_triple(row, document) for row, document in enumerate(documents)]
    if not triples:
        raise RankgaugeError("there is no document, expected at least one")
    kinds = np.asarray(labels)
    if kinds.shape != (len(triples),):
        raise RankgaugeError(
            f"labels: {kinds.size} for {counted(len(triples), 'document')}, expected one a document"
        )
    if not np.issubdtype(kinds.dtype, np.integer):
        raise RankgaugeError(f"labels of type {kinds.dtype}, expected whole numbers")
    order, names, offsets = _grouped(len(triples), queries)
    whole = _whole([triples[row] for row in order], offsets)
    kinds = kinds[order].astype(np.int32)
    lines: dict[Line, int] = {}
    boundaries = []
    for query in range(len(names)):
        for first in range(int(offsets[query]), int(offsets[query + 1])):
            for second in range(first + 1, int(offsets[query + 1])):
                if not neutral and kinds[first] == kinds[second]:
                    continue
                c, u, v = (p - q for p, q in zip(whole[first], whole[second], strict=True))
                if u or v:
                    line, sign = canonical(u, v, c)
                    number = lines.setdefault(line, len(lines))
                    boundaries.append(FlipBoundary(number, query, first, second, sign))
        if len(lines) > MOST_LINES:
            remedy = "give fewer queries, or fewer documents of each"
            raise RankgaugeError(
                f"more than {MOST_LINES} lines after {counted(query + 1, 'query', 'queries')} of "
                f"{len(names):,}; {'take neutral=False, or ' * neutral}{remedy}"
            )
    return Plane(
        tuple(whole),
        kinds,
        offsets,
        names,
        tuple(boundaries),
        Arrangement.of(tuple(lines)),
        tuple(order),
    )


def _triple(row: int, document: Sequence[Rational | int]) -> tuple[Fraction, ...]:
    """A document as three fractions."""
    numbers = tuple(document)
    if len(numbers) != 3:
        raise RankgaugeError(f"document {row}: {numbers}, expected three numbers (c, u, v)")
    return tuple(_exact(number) for number in numbers)


def _exact(number: Rational | int) -> Fraction:
    """A number as a fraction; floating-point numbers are refused unless they are whole."""
    if isinstance(number, Rational):
        return Fraction(number)
    if isinstance(number, np.integer | float) and float(number).is_integer():
        return Fraction(int(number))
    raise RankgaugeError(
        f"{number!r} is not exact, expected a whole number or a fraction, such as Fraction('0.1')"
    )


def _from_features(
    features: Features, columns: tuple[int, int, int], decimals: int
) -> tuple[list[tuple[Fraction, ...]], Labels, list[str]]:
    """Three columns of features, rounded to decimals, as whole numbers; labels and queries."""
    width = features.values.shape[1]
    if len(columns) != 3 or not all(1 <= column <= width for column in columns):
        raise RankgaugeError(f"columns={columns}, expected three numbers from 1 to {width}")
    chosen = [column - 1 for column in columns]
    scaled = np.rint(features.values[:, chosen].astype(np.float64) * 10.0**decimals)
    if not (np.abs(scaled) < 2.0**62).all():
        raise RankgaugeError(
            f"a value with {decimals} decimals has more than 62 bits, or is not finite; give fewer "
            "decimals, or scale the features"
        )
    triples = [tuple(map(Fraction, row)) for row in scaled.astype(np.int64).tolist()]
    sizes = np.diff(features.bounds).tolist()
    ids = features.queries.texts()
    return (
        triples,
        features.labels,
        [query for query, size in zip(ids, sizes, strict=True) for _ in range(size)],
    )


def _grouped(
    count: int, queries: Sequence[Hashable] | None
) -> tuple[list[int], tuple[Hashable, ...], Ints]:
    """The rows query by query, the queries in the order of their first document, and the offsets."""
    given = [None] * count if queries is None else list(queries)
    if len(given) != count:
        raise RankgaugeError(
            f"queries: {len(given)} for {counted(count, 'document')}, expected one a document"
        )
    rows: dict[Hashable, list[int]] = {}
    for row, query in enumerate(given):
        rows.setdefault(query, []).append(row)
    order = [row for own in rows.values() for row in own]
    return order, tuple(rows), offsets_of(np.array([len(own) for own in rows.values()]))


def _whole(triples: list[tuple[Fraction, ...]], offsets: Ints) -> list[tuple[int, int, int]]:
    """The documents in whole numbers: those of a query times one factor, which moves no line."""
    whole: list[tuple[int, int, int]] = []
    for low, high in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        own = triples[low:high]
        factor = lcm(*(number.denominator for triple in own for number in triple))
        for triple in own:
            c, u, v = (int(number * factor) for number in triple)
            whole.append((c, u, v))
    return whole


def _means(values: Floats, measure: Measure | Aggregate) -> Floats:
    """The mean over queries in each cell; undefined values are left out or undo it, as the measure has
    it."""
    if isinstance(measure, Aggregate):
        values = measure.forward(values)
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(defined, values, 0.0).sum(axis=0) / count
    if not inner(measure).averages_defined:
        means[count < len(values)] = np.nan
    return np.asarray(measure.back(means) if isinstance(measure, Aggregate) else means)


def _clipped(
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
