"""Arrangements: lines cut the plane into cells, and every cell, edge and vertex is found exactly.

All arithmetic is on integers of any size, so there is no tolerance: lines that meet in one point, that
are parallel or almost so, are told apart for certain. The cells are found by going around each vertex:
between two neighboring rays lies one cell, so the two sides of edges that face each other there belong
to the same cell. Rays that never end are closed in the same way, by going around infinitely far out.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import gcd, inf, lcm
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.policies import Progress
from rankgauge.core.records import Record
from rankgauge.rankings.lists import offsets_of

Line: TypeAlias = tuple[int, int, int]
"""The line a·x + b·y + c = 0, as (a, b, c): whole numbers without a common factor, the first of a and b
that is not 0 above 0."""
Point: TypeAlias = tuple[int, int, int]
"""The point (X / W, Y / W), as (X, Y, W): whole numbers without a common factor, W above 0."""

VertexRows: TypeAlias = NDArray[Any]
"""Points (X, Y, W), one per row: 64-bit integers, or Python integers where 64 bits are too few."""

SMALL_COEFFICIENT = 2**30
"""Lines with coefficients below this meet in points that fit in 64-bit integers."""
PAIRS_AT_A_TIME = 2_000_000
"""Number of pairs of lines intersected at a time."""
NO_VERTEX = -1
"""The vertex number used as the end of an unbounded edge."""


class Arrangement(Record):
    """The cells, edges and vertices into which distinct lines divide the plane.

    Edges are numbered line by line. On the line a·x + b·y + c = 0 they point in the direction (b, −a).

    Parameters
    ----------
    lines : tuple of (int, int, int)
        The coefficients (a, b, c) of each line.
    vertices : array of shape (vertices, 3)
        The points (X / W, Y / W) where lines meet, as rows (X, Y, W).
    multiplicity : array of int
        How many lines go through each vertex.
    cells : int
        The number of cells.
    line : array of int
        The number of the line of each edge.
    start : array of int
        The vertex at which each edge starts; −1 if the edge has no start.
    end : array of int
        The vertex at which each edge ends; −1 if the edge has no end.
    left : array of int
        The cell to the left of each edge, where a·x + b·y + c is above 0.
    right : array of int
        The cell to the right of each edge.
    corners : array of shape (corners, 2)
        For each vertex, one row (vertex, cell) for each cell around it.

    Notes
    -----
    All arithmetic is on integers of any size, so there is no rounding and no tolerance.

    Examples
    --------
    >>> three = Arrangement.of([(1, 0, 0), (0, 1, 0), (1, 1, -1)])
    >>> three.cells, len(three.vertices), three.multiplicity.tolist()
    (7, 3, [2, 2, 2])
    """

    _renamed: ClassVar[dict[str, str]] = {"neighbours": "neighbors"}

    lines: tuple[Line, ...]
    vertices: VertexRows
    multiplicity: Ints
    cells: int
    line: Ints
    start: Ints
    end: Ints
    left: Ints
    right: Ints
    corners: Ints

    @classmethod
    def of(cls, lines: Sequence[Line], progress: Progress = lambda step: None) -> Arrangement:
        """Compute the arrangement of lines, which must all differ.

        Parameters
        ----------
        lines : sequence of (int, int, int)
            The coefficients (a, b, c) of each line, without a common factor; the first of a and b that
            is not 0 is above 0.
        progress : callable, optional
            Called with a message after each step.

        Returns
        -------
        Arrangement
            The cells, edges and vertices.
        """
        lines = tuple(lines)
        vertices, on_line, at_vertex = _vertices(lines, progress)
        progress("vertices computed")
        order = _order_along_lines(lines, vertices, on_line, at_vertex)
        progress("vertices sorted along the lines")
        on_line, at_vertex = on_line[order], at_vertex[order]
        counts = np.bincount(on_line, minlength=len(lines))
        first = offsets_of(counts + 1)  # the edges of each line
        place = np.arange(len(on_line)) - np.repeat(offsets_of(counts)[:-1], counts)
        backward, forward = first[on_line] + place, first[on_line] + place + 1
        edges = int(first[-1])
        start, end = np.full(edges, NO_VERTEX), np.full(edges, NO_VERTEX)
        end[backward], start[forward] = at_vertex, at_vertex
        turn = _angle_ranks(lines)
        around = np.lexsort((turn[on_line], at_vertex))
        near = _facing_sides(forward[around], backward[around], at_vertex[around])
        ahead, behind = _orders_at_infinity(lines, turn)
        far = _facing_sides(
            first[1:][ahead] - 1, first[:-1][behind], np.zeros(len(lines), dtype=np.int64)
        )
        number, cells = connected_groups(2 * edges, *np.concatenate((near, far)).T)
        if not edges:
            cells = 1
        multiplicity = np.bincount(at_vertex, minlength=len(vertices))
        expected = 1 + len(lines) + int((multiplicity - 1).sum())
        if cells != expected:
            raise AssertionError(f"{cells} cells, expected {expected}")
        corner = near[:, 0]
        where = np.concatenate((start, end))
        at = np.where(corner % 2 == 1, where[corner // 2], where[edges + corner // 2])
        return cls(
            lines,
            vertices,
            multiplicity,
            cells,
            np.repeat(np.arange(len(lines)), counts + 1),
            start,
            end,
            number[1::2],
            number[::2],
            np.stack((at, number[corner]), axis=1),
        )

    @cached_property
    def neighbors(self) -> tuple[Ints, Ints, Ints]:
        """For each cell its edges: offsets, the edges, and the cells behind them."""
        own, other = np.append(self.left, self.right), np.append(self.right, self.left)
        order = np.argsort(own, kind="stable")
        edge = np.tile(np.arange(len(self.line)), 2)
        return offsets_of(np.bincount(own, minlength=self.cells)), edge[order], other[order]

    @cached_property
    def meeting(self) -> list[list[int]]:
        """For each vertex the lines that meet there."""
        at, line = np.append(self.start, self.end), np.tile(self.line, 2)
        pairs = np.unique(np.stack((at, line), axis=1)[at != NO_VERTEX], axis=0)
        ends = np.cumsum(np.bincount(pairs[:, 0], minlength=len(self.vertices)))
        return [part.tolist() for part in np.split(pairs[:, 1], ends[:-1])] if len(ends) else []

    def edges_of(self, cell: int) -> Ints:
        """The edges of a cell."""
        offsets, edges, _ = self.neighbors
        return edges[offsets[cell] : offsets[cell + 1]]

    def point(self, cell: int) -> Point:
        """A point (X / W, Y / W) inside a cell, as (X, Y, W) with W above 0."""
        edges = self.edges_of(cell)
        corners = sorted({*self.start[edges].tolist(), *self.end[edges].tolist()} - {NO_VERTEX})
        if not corners:
            return self._point_between_parallels(cell, edges.tolist())
        points = self.vertices[corners].tolist()
        common = lcm(*(w for _, _, w in points))
        whole = len(points) * common
        x = sum(px * (common // pw) for px, _, pw in points)
        y = sum(py * (common // pw) for _, py, pw in points)
        for edge in edges.tolist():  # a cell that never ends: on along its two endless edges
            on = int(self.end[edge] == NO_VERTEX) - int(self.start[edge] == NO_VERTEX)
            if on:
                a, b, _ = self.lines[self.line[edge]]
                x, y = x + on * b * whole, y - on * a * whole
        return x, y, whole

    def cells_at(self, x: Fraction, y: Fraction) -> tuple[int, ...]:
        """The cells that meet at a point: one inside a cell, two on an edge, more at a vertex."""
        sides = [a * x + b * y + c for a, b, c in self.lines]
        through = [number for number, side in enumerate(sides) if not side]
        if not sides:
            return (0,)
        if not through:
            return (self._cell_of_point(x, y, sides),)
        edge = self._edge_of_point(through[0], x, y, ahead=True)
        if len(through) == 1:
            return tuple(sorted((int(self.left[edge]), int(self.right[edge]))))
        vertex, cell = self.corners.T
        return tuple(sorted(set(cell[vertex == self.start[edge]].tolist())))

    def _cell_of_point(self, x: Fraction, y: Fraction, sides: list[Fraction]) -> int:
        """The cell of a point that is on no line: beside the first line above it, or below.

        One looks up from a point just right of it, which is in the same cell, so no vertex is in the
        way: of lines that meet above it, the one that rises least is the first.
        """
        upward = [
            (Fraction(-(a * x + c), b), Fraction(-a, b), number)
            for number, (a, b, c) in enumerate(self.lines)
            if b
        ]
        if upward:
            above = [each for each in upward if each[0] > y]
            line = (min(above) if above else max(upward))[2]
        else:  # all lines are vertical: the next one to either side
            line = min(range(len(sides)), key=lambda each: abs(sides[each] / self.lines[each][0]))
        edge = self._edge_of_point(line, x, y, ahead=self.lines[line][1] > 0)
        return int((self.left if sides[line] > 0 else self.right)[edge])

    def _edge_of_point(self, line: int, x: Fraction, y: Fraction, *, ahead: bool) -> int:
        """The edge of a line at the place of (x, y) along it.

        At a vertex it is the edge ahead of it, or the edge behind it.
        """
        low, high = np.searchsorted(self.line, [line, line + 1]).tolist()
        axis, sign = _increasing_axis(self.lines[line])
        vertices = self.vertices[self.end[low : high - 1]].tolist()
        place = (bisect_right if ahead else bisect_left)(
            vertices, sign * (x, y)[axis], key=lambda each: Fraction(sign * each[axis], each[2])
        )
        return int(low + place)

    def _point_between_parallels(self, cell: int, edges: list[int]) -> Point:
        """A point inside a cell without a vertex: all its edges are whole lines."""
        x = y = Fraction(0)
        for edge in edges:
            a, b, c = self.lines[self.line[edge]]
            foot = Fraction(-c, a * a + b * b)  # times (a, b): the point of the line nearest to 0
            if len(edges) == 1:
                foot += 1 if self.left[edge] == cell else -1
            x, y = x + foot * a / len(edges), y + foot * b / len(edges)
        w = lcm(x.denominator, y.denominator)
        return int(x * w), int(y * w), w


def canonical_line(a: int, b: int, c: int) -> tuple[Line, int]:
    """The line a·x + b·y + c = 0 in its one form, and −1 if its sides change places by that, else 1.

    >>> canonical_line(-2, 4, 6)
    ((1, -2, -3), -1)
    """
    sign = 1 if (a, b) > (0, 0) else -1
    factor = sign * gcd(a, b, c)
    return (a // factor, b // factor, c // factor), sign


def _vertices(lines: Sequence[Line], progress: Progress) -> tuple[VertexRows, Ints, Ints]:
    """The points where lines meet; and which line goes through which, each once, as two arrays."""
    largest = max((abs(part) for line in lines for part in line), default=0)
    parts = np.array(lines, dtype=np.int64 if largest < SMALL_COEFFICIENT else object).reshape(
        -1, 3
    )
    none = np.zeros(0, dtype=np.int64)
    found = [(parts[:0], none, none)]
    pairs, start = len(lines) * (len(lines) - 1) // 2, 1
    while start < len(lines):
        end = min(len(lines), start + max(1, PAIRS_AT_A_TIME // len(lines)))
        sizes = np.arange(start, end)
        one = np.repeat(sizes, sizes)
        other = np.arange(len(one)) - np.repeat(offsets_of(sizes)[:-1], sizes)
        found.append(_crossings(parts, one, other))
        start = end
        progress(f"{end * (end - 1) / 2 / pairs:.0%} of the pairs of lines are intersected")
    points, one, other = (np.concatenate(each) for each in zip(*found, strict=True))
    vertices, number = _unique_points(points)
    keys = np.sort(np.concatenate((one, other)) * len(vertices) + np.tile(number, 2))
    keys = keys[np.append(True, np.diff(keys) > 0)[: len(keys)]]
    return (vertices, *np.divmod(keys, max(len(vertices), 1)))


def _crossings(parts: VertexRows, one: Ints, other: Ints) -> tuple[VertexRows, Ints, Ints]:
    """The points where pairs of lines meet, and the pairs, without those that are parallel."""
    (a, b, c), (d, e, f) = parts[one].T, parts[other].T
    w = a * e - d * b
    meet = np.flatnonzero(w)
    a, b, c, d, e, f, w = (part[meet] for part in (a, b, c, d, e, f, w))
    points = np.stack((b * f - e * c, c * d - f * a, w), axis=1)
    if points.dtype == object:
        factor = np.array([gcd(*point) for point in points], dtype=object)
    else:
        factor = np.gcd.reduce(points, axis=1)
    return points // np.where(w < 0, -factor, factor)[:, None], one[meet], other[meet]


def _unique_points(points: VertexRows) -> tuple[VertexRows, Ints]:
    """The different points, and for each point its number among them."""
    if points.dtype == object:
        known: dict[tuple[int, ...], int] = {}
        each = [known.setdefault(tuple(point), len(known)) for point in points.tolist()]
        rows = np.array(list(known), dtype=object).reshape(-1, 3)
        return rows, np.array(each, dtype=np.int64)
    order = np.lexsort(points.T)
    new = np.append(True, (np.diff(points[order], axis=0) != 0).any(axis=1))[: len(order)]
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return points[order[new]], number


def _increasing_axis(line: Line) -> tuple[int, int]:
    """The coordinate, 0 for x and 1 for y, that only grows along a line, times 1 or −1."""
    return (0, 1 if line[1] > 0 else -1) if line[1] else (1, -1)


def approximate(vertices: VertexRows) -> tuple[Floats, Floats]:
    """The coordinates of points in floating point.

    They are off by at most 2⁻⁵¹ of themselves, unless they are infinite, or below 1e-300.
    """
    x, y, w = vertices.T
    if vertices.dtype != object:
        divisor = w.astype(np.float64)
        return x.astype(np.float64) / divisor, y.astype(np.float64) / divisor
    return tuple(  # type: ignore[return-value]
        np.array([quotient(p, q) for p, q in zip(part, w, strict=True)], dtype=np.float64)
        for part in (x, y)
    )


def quotient(numerator: int, denominator: int) -> float:
    """The nearest double, infinite where there is none; the denominator is above 0."""
    try:
        return numerator / denominator
    except OverflowError:
        return inf if numerator > 0 else -inf


def scale_to_largest(triple: tuple[int, int, int]) -> tuple[float, float, float]:
    """Three whole numbers divided by the largest of them, each rounded once.

    >>> scale_to_largest((10**400, 0, -(10**400) // 2))
    (1.0, 0.0, -0.5)
    """
    largest = max(map(abs, triple)) or 1
    a, b, c = (quotient(part, largest) for part in triple)
    return a, b, c


def _order_along_lines(
    lines: Sequence[Line], vertices: VertexRows, on_line: Ints, at_vertex: Ints
) -> Ints:
    """The order of the pairs of line and vertex: line by line, in the direction (b, −a) of the line.

    Floating-point coordinates order vertices that are clearly apart; the others are compared as
    fractions.
    """
    axis, sign = (
        np.array([_increasing_axis(line) for line in lines], dtype=np.int64)
        .reshape(-1, 2)[on_line]
        .T
    )
    x, y = approximate(vertices)
    key = sign * np.where(axis == 0, x[at_vertex], y[at_vertex])
    order = np.lexsort((key, on_line))
    key = key[order]
    with np.errstate(invalid="ignore"):
        apart = np.diff(key) > 2.0**-49 * np.maximum(np.abs(key[1:]), np.abs(key[:-1])) + 1e-290
    close = ~apart & (np.diff(on_line[order]) == 0)
    if close.any():
        places = np.flatnonzero(np.append(close, False) | np.append(False, close))
        group = np.append(0, np.cumsum(~close))[places].tolist()
        rows = order[places].tolist()

        def exact(place: int) -> tuple[int, Fraction]:
            row = rows[place]
            point = vertices[at_vertex[row]].tolist()
            return group[place], Fraction(int(sign[row]) * point[axis[row]], point[2])

        order[places] = [rows[place] for place in sorted(range(len(rows)), key=exact)]
    return order


def _angle_ranks(lines: Sequence[Line]) -> Ints:
    """The rank of each line by the angle of its direction (b, −a), from above −180° to 0°.

    Parallel lines share a rank.
    """
    keys = [(0, Fraction(b, a)) if a else (1, Fraction(0)) for a, b, _ in lines]
    rank = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], dtype=np.int64)


def _orders_at_infinity(lines: Sequence[Line], turn: Ints) -> tuple[Ints, Ints]:
    """The lines in the order in which one meets their forward rays, and their backward rays.

    One meets the rays far out, counter-clockwise. Only the order of parallel lines differs.
    """
    offset = [Fraction(-c, gcd(a, b)) for a, b, c in lines]
    ahead = sorted(range(len(lines)), key=lambda each: (turn[each], offset[each]))
    behind = sorted(range(len(lines)), key=lambda each: (turn[each], -offset[each]))
    return np.array(ahead, dtype=np.int64), np.array(behind, dtype=np.int64)


def _facing_sides(forward: Ints, backward: Ints, center: Ints) -> Ints:
    """The pairs of sides of edges that face each other around each center.

    `forward` and `backward` have the edges that leave a center along the direction of their line and
    against it, in the order of the angle. Side 2e + 1 is left of edge e, side 2e is right of it.
    """
    if not len(forward):
        return np.zeros((0, 2), dtype=np.int64)
    last = np.append(np.flatnonzero(np.diff(center)), len(center) - 1)
    first = np.append(0, last[:-1] + 1)
    after = np.arange(len(center)) + 1
    after[last] = first  # around: the ray that follows the last is of the other kind
    is_last = np.zeros(len(center), dtype=np.bool_)
    is_last[last] = True
    # Counter-clockwise of a forward ray is the left of its edge, of a backward ray the right of it.
    beside_forward = np.where(is_last, 2 * backward[after] + 1, 2 * forward[after])
    beside_backward = np.where(is_last, 2 * forward[after], 2 * backward[after] + 1)
    return np.concatenate(
        (
            np.stack((2 * forward + 1, beside_forward), axis=1),
            np.stack((2 * backward, beside_backward), axis=1),
        )
    )


def connected_groups(things: int, one: Ints, other: Ints) -> tuple[Ints, int]:
    """The number of the group of each thing, and how many groups there are.

    Some pairs of things, `one` and `other`, belong together.

    >>> connected_groups(4, np.array([0, 2]), np.array([3, 2]))
    (array([0, 1, 2, 0]), 3)
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if not things:
        return np.zeros(0, dtype=np.int64), 0
    graph = csr_array((np.ones(len(one), dtype=np.int8), (one, other)), shape=(things, things))
    count, number = connected_components(graph, directed=False)
    return number.astype(np.int64), int(count)
