"""Arrangements: lines cut the plane into cells, and every cell, edge and vertex is found exactly.

All arithmetic is on integers of any size, so there is no tolerance: lines that meet in one point, that
are parallel or almost so, are told apart for certain. The cells are found by going around each vertex:
between two neighbouring rays lies one cell, so the two sides of edges that face each other there belong
to the same cell. Rays that never end are closed in the same way, by going around infinitely far out.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import TypeAlias

import numpy as np

from rankgauge.arrays import Bools, Ints
from rankgauge.rankings.lists import offsets_of
from rankgauge.records import Record

Line: TypeAlias = tuple[int, int, int]
"""The line a·x + b·y + c = 0, as (a, b, c): whole numbers without a common factor, the first of a and b
that is not 0 above 0."""
Point: TypeAlias = tuple[int, int, int]
"""The point (X / W, Y / W), as (X, Y, W): whole numbers without a common factor, W above 0."""

NOWHERE = -1
"""The number of the vertex at which an edge ends that never ends."""


class Arrangement(Record):
    """The cells, edges and vertices that distinct lines make.

    Edges stand line by line, each in the direction (b, −a) of its line. Left of that direction, where
    a·x + b·y + c is above 0, is the cell `left`, on the other side `right`. `start` and `end` are the
    vertices at its ends, `NOWHERE` for none. `corners` has, for each vertex, one row (vertex, cell) for
    each cell around it.

    >>> three = Arrangement.of([(1, 0, 0), (0, 1, 0), (1, 1, -1)])
    >>> three.cells, len(three.vertices), three.multiplicity.tolist()
    (7, 3, [2, 2, 2])
    """

    lines: tuple[Line, ...]
    vertices: tuple[Point, ...]
    multiplicity: Ints
    """How many lines go through each vertex."""
    cells: int
    line: Ints
    start: Ints
    end: Ints
    left: Ints
    right: Ints
    corners: Ints

    @classmethod
    def of(cls, lines: Sequence[Line]) -> Arrangement:
        """The arrangement of these lines, which all differ."""
        lines = tuple(lines)
        vertices, on_line, at_vertex = _vertices(lines)
        order = _along(lines, vertices, on_line, at_vertex)
        on_line, at_vertex = on_line[order], at_vertex[order]
        counts = np.bincount(on_line, minlength=len(lines))
        first = offsets_of(counts + 1)  # the edges of each line
        place = np.arange(len(on_line)) - np.repeat(offsets_of(counts)[:-1], counts)
        backward, forward = first[on_line] + place, first[on_line] + place + 1
        edges = int(first[-1])
        start, end = np.full(edges, NOWHERE), np.full(edges, NOWHERE)
        end[backward], start[forward] = at_vertex, at_vertex
        turn = _by_angle(lines)
        around = np.lexsort((turn[on_line], at_vertex))
        near = _facing(forward[around], backward[around], at_vertex[around])
        ahead, behind = _far_out(lines, turn)
        far = _facing(
            first[1:][ahead] - 1, first[:-1][behind], np.zeros(len(lines), dtype=np.int64)
        )
        number, cells = joined(2 * edges, *np.concatenate((near, far)).T)
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
    def neighbours(self) -> tuple[Ints, Ints, Ints]:
        """For each cell its edges: offsets, the edges, and the cells behind them."""
        own, other = np.append(self.left, self.right), np.append(self.right, self.left)
        order = np.argsort(own, kind="stable")
        edge = np.tile(np.arange(len(self.line)), 2)
        return offsets_of(np.bincount(own, minlength=self.cells)), edge[order], other[order]

    @cached_property
    def signs(self) -> Bools:
        """Cells × lines: whether a·x + b·y + c is above 0 in the cell."""
        signs = np.zeros((self.cells, len(self.lines)), dtype=np.bool_)
        x, y, w = self.point(0)
        signs[0] = [a * x + b * y + c * w > 0 for a, b, c in self.lines]
        offsets, edges, cells = self.neighbours
        known = np.zeros(self.cells, dtype=np.bool_)
        known[0] = True
        front = np.array([0])
        while len(front):
            sizes = np.diff(offsets)[front]
            rows = np.arange(sizes.sum()) + np.repeat(
                offsets[front] - offsets_of(sizes)[:-1], sizes
            )
            parent, cell, line = np.repeat(front, sizes), cells[rows], self.line[edges[rows]]
            _, once = np.unique(cell, return_index=True)
            once = once[~known[cell[once]]]
            front = cell[once]
            signs[front] = signs[parent[once]]
            signs[front, line[once]] ^= True
            known[front] = True
        return signs

    @cached_property
    def meeting(self) -> list[list[int]]:
        """For each vertex the lines that meet there."""
        at, line = np.append(self.start, self.end), np.tile(self.line, 2)
        pairs = np.unique(np.stack((at, line), axis=1)[at != NOWHERE], axis=0)
        ends = np.cumsum(np.bincount(pairs[:, 0], minlength=len(self.vertices)))
        return [part.tolist() for part in np.split(pairs[:, 1], ends[:-1])] if len(ends) else []

    def edges_of(self, cell: int) -> Ints:
        """The edges of a cell."""
        offsets, edges, _ = self.neighbours
        return edges[offsets[cell] : offsets[cell + 1]]

    def point(self, cell: int) -> Point:
        """A point (X / W, Y / W) inside a cell, as (X, Y, W) with W above 0."""
        edges = self.edges_of(cell) if len(self.line) else np.zeros(0, dtype=np.int64)
        corners = sorted({*self.start[edges].tolist(), *self.end[edges].tolist()} - {NOWHERE})
        if not corners:
            return _homogeneous(*self._between_parallels(cell, edges.tolist()))
        points = [self.vertices[corner] for corner in corners]
        common = lcm(*(w for _, _, w in points))
        whole = len(points) * common
        x = sum(px * (common // pw) for px, _, pw in points)
        y = sum(py * (common // pw) for _, py, pw in points)
        for edge in edges.tolist():  # a cell that never ends: on along its two endless edges
            on = int(self.end[edge] == NOWHERE) - int(self.start[edge] == NOWHERE)
            if on:
                a, b, _ = self.lines[self.line[edge]]
                x, y = x + on * b * whole, y - on * a * whole
        return x, y, whole

    def _between_parallels(self, cell: int, edges: list[int]) -> tuple[Fraction, Fraction]:
        """A point inside a cell without a vertex: all its edges are whole lines."""
        feet = []
        for edge in edges:
            a, b, c = self.lines[self.line[edge]]
            size = a * a + b * b
            away = (1 if self.left[edge] == cell else -1) if len(edges) == 1 else 0
            feet.append((Fraction(-c * a, size) + away * a, Fraction(-c * b, size) + away * b))
        count = max(1, len(feet))
        return sum((x for x, _ in feet), Fraction(0)) / count, sum(
            (y for _, y in feet), Fraction(0)
        ) / count


def canonical(a: int, b: int, c: int) -> tuple[Line, int]:
    """The line a·x + b·y + c = 0 in its one form, and −1 if its sides change places by that, else 1.

    >>> canonical(-2, 4, 6)
    ((1, -2, -3), -1)
    """
    sign = 1 if (a, b) > (0, 0) else -1
    factor = sign * gcd(a, b, c)
    return (a // factor, b // factor, c // factor), sign


def _homogeneous(x: Fraction, y: Fraction) -> Point:
    w = lcm(x.denominator, y.denominator)
    return int(x * w), int(y * w), w


def _vertices(lines: Sequence[Line]) -> tuple[tuple[Point, ...], Ints, Ints]:
    """The points where lines meet; and which line goes through which, each once, as two arrays."""
    a, b, c = (np.array([line[part] for line in lines], dtype=object) for part in range(3))
    numbers: dict[Point, int] = {}
    through: set[tuple[int, int]] = set()
    for one in range(1, len(lines)):
        w = a[one] * b[:one] - a[:one] * b[one]
        x = b[one] * c[:one] - b[:one] * c[one]
        y = c[one] * a[:one] - c[:one] * a[one]
        for other, (px, py, pw) in enumerate(zip(x, y, w, strict=True)):
            if pw:
                factor = gcd(px, py, pw) if pw > 0 else -gcd(px, py, pw)
                vertex = numbers.setdefault(
                    (px // factor, py // factor, pw // factor), len(numbers)
                )
                through.add((one, vertex))
                through.add((other, vertex))
    pairs = np.array(sorted(through), dtype=np.int64).reshape(-1, 2)
    return tuple(numbers), pairs[:, 0], pairs[:, 1]


def _along(
    lines: Sequence[Line], vertices: Sequence[Point], on_line: Ints, at_vertex: Ints
) -> Ints:
    """The order of the pairs of line and vertex: line by line, in the direction (b, −a) of the line.

    The quotient of two integers is rounded to the nearest double, so that it keeps their order; only
    where two are equal are the fractions themselves compared.
    """
    ways = []
    for line, vertex in zip(on_line.tolist(), at_vertex.tolist(), strict=True):
        (a, b, _), (x, y, w) = lines[line], vertices[vertex]
        ways.append((b * x - a * y, w))
    try:
        near = np.array([way / w for way, w in ways])
    except OverflowError:
        near = np.zeros(len(ways))
    order = np.lexsort((near, on_line))
    same = (np.diff(near[order]) == 0) & (np.diff(on_line[order]) == 0)
    if same.any():
        group = np.append(0, np.cumsum(~same)).tolist()
        exact = sorted(
            range(len(order)), key=lambda place: (group[place], Fraction(*ways[order[place]]))
        )
        order = order[exact]
    return order


def _by_angle(lines: Sequence[Line]) -> Ints:
    """The rank of each line by the angle of its direction (b, −a), from above −180° to 0°; parallel
    lines share one."""
    keys = [(0, Fraction(b, a)) if a else (1, Fraction(0)) for a, b, _ in lines]
    rank = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], dtype=np.int64)


def _far_out(lines: Sequence[Line], turn: Ints) -> tuple[Ints, Ints]:
    """The lines in the order in which one meets their forward rays far out, counter-clockwise, and their
    backward rays; only the order of parallel lines differs."""
    offset = [Fraction(-c, gcd(a, b)) for a, b, c in lines]
    ahead = sorted(range(len(lines)), key=lambda each: (turn[each], offset[each]))
    behind = sorted(range(len(lines)), key=lambda each: (turn[each], -offset[each]))
    return np.array(ahead, dtype=np.int64), np.array(behind, dtype=np.int64)


def _facing(forward: Ints, backward: Ints, centre: Ints) -> Ints:
    """The pairs of sides of edges that face each other around each centre.

    `forward` and `backward` have the edges that leave a centre along the direction of their line and
    against it, in the order of the angle. Side 2e + 1 is left of edge e, side 2e is right of it.
    """
    if not len(forward):
        return np.zeros((0, 2), dtype=np.int64)
    last = np.append(np.flatnonzero(np.diff(centre)), len(centre) - 1)
    first = np.append(0, last[:-1] + 1)
    after = np.arange(len(centre)) + 1
    after[last] = first  # around: the ray that follows the last is of the other kind
    is_last = np.zeros(len(centre), dtype=np.bool_)
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


def joined(things: int, one: Ints, other: Ints) -> tuple[Ints, int]:
    """Things of which some pairs, `one` and `other`, belong together: the number of the group of each
    thing, and how many groups there are.

    >>> joined(4, np.array([0, 2]), np.array([3, 2]))
    (array([0, 1, 2, 0]), 3)
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    if not things:
        return np.zeros(0, dtype=np.int64), 0
    graph = csr_array((np.ones(len(one), dtype=np.int8), (one, other)), shape=(things, things))
    count, number = connected_components(graph, directed=False)
    return number.astype(np.int64), int(count)
