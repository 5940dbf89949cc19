"""Theorem 2 with three parameters: all cells of small instances, found exactly.

A document (c, u, v, t) scores c + x·u + y·v + z·t, so its flip boundaries are planes of a space. A cell
is known by its sides of all planes. Every cell has a corner, an edge that leaves the corner, and a facet
beside the edge; going over all corners, edges and facets gives all cells, in whole numbers.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, cached_property
from typing import TypeAlias

import numpy as np

from rankgauge import Measure, parse
from rankgauge.extending import Cell, Record, Table
from rankgauge.measures import Aggregate
from rankgauge.measures.around import inner
from rankgauge.space.curves import NEAR
from rankgauge_studies.optimization.theorems import OTHER_FLIPS, SAME_FLIPS, draw_binary_labels

Vector: TypeAlias = tuple[int, int, int]
Sides: TypeAlias = tuple[int, ...]
"""1 or −1 for each plane: on which side of it a cell is."""

GENERIC = ((1, 4, 30), (1, 5, 30), (2, 3, 60), (2, 4, 10), (3, 3, 15))
"""Number of queries, documents per query, and number of instances."""
SEED, POINT_SEED = 11, 12
SIZE = 60
"""The largest coordinate."""
POINT_DRAWS = 600


class Boundary(Record):
    """The plane normal · point + offset = 0 on which two documents change places.

    Where normal · point + offset is above 0, `first` is above `second`.
    """

    normal: Vector
    offset: int
    query: int
    first: int
    second: int


class Space(Record):
    """The cells of some flip boundaries. `labels` are those of the documents of each query."""

    boundaries: tuple[Boundary, ...]
    labels: tuple[tuple[int, ...], ...]

    @cached_property
    def corners(self) -> dict[tuple[Fraction, ...], list[int]]:
        """The points where three planes or more meet, with the planes through each."""
        points: dict[tuple[Fraction, ...], set[int]] = {}
        for three in itertools.combinations(range(len(self.boundaries)), 3):
            point = _meeting_point(*(self.boundaries[number] for number in three))
            if point is not None:
                points.setdefault(point, set()).update(three)
        return {point: sorted(own) for point, own in points.items()}

    @cached_property
    def around(self) -> list[set[Sides]]:
        """For each corner the cells that meet there."""
        return [set(self._cells_at(point, through)) for point, through in self.corners.items()]

    @cached_property
    def cells(self) -> list[Sides]:
        """All cells."""
        return sorted(set().union(*self.around))

    def _cells_at(self, point: tuple[Fraction, ...], through: list[int]) -> Iterator[Sides]:
        normals = [boundary.normal for boundary in self.boundaries]
        at = [
            _sign(sum(n * p for n, p in zip(each.normal, point, strict=True)) + each.offset)
            for each in self.boundaries
        ]
        for one, other in itertools.combinations(through, 2):
            edge = _cross(normals[one], normals[other])
            if not any(edge):
                continue
            for facet in (number for number in through if not _dot(normals[number], edge)):
                beside = _cross(edge, normals[facet])
                local = [
                    [_sign(_dot(normals[number], way)) for way in (edge, beside, normals[facet])]
                    for number in through
                ]
                for turns in itertools.product((1, -1), repeat=3):
                    sides = list(at)
                    for number, signs in zip(through, local, strict=True):
                        turned = (turn * sign for turn, sign in zip(turns, signs, strict=True))
                        sides[number] = next(side for side in turned if side)
                    yield tuple(sides)

    @cached_property
    def rankings(self) -> list[list[tuple[int, ...]]]:
        """For each cell the labels of each query in rank order."""
        return [self._rank_labels(cell) for cell in self.cells]

    def _rank_labels(self, cell: Sides) -> list[tuple[int, ...]]:
        """By how many documents each is above; pairs without a boundary are in the order given."""
        above = [
            dict.fromkeys(itertools.combinations(range(len(own)), 2), 1) for own in self.labels
        ]
        for side, each in zip(cell, self.boundaries, strict=True):
            above[each.query][each.first, each.second] = side
        ranked = []
        for own, pairs in zip(self.labels, above, strict=True):
            wins = [0] * len(own)
            for (first, second), side in pairs.items():
                wins[first if side > 0 else second] += 1
            order = sorted(range(len(own)), key=lambda document: -wins[document])
            ranked.append(tuple(own[document] for document in order))
        return ranked

    def values(self, measure: str) -> list[float]:
        """The mean of a measure over the queries in each cell."""
        parsed = parse(measure)
        scores = (np.array([_score(inner(parsed), each) for each in own]) for own in self.rankings)
        combine = parsed.combine if isinstance(parsed, Aggregate) else np.mean
        return [float(combine(own)) for own in scores]

    def optima(self, measure: str) -> tuple[set[frozenset[int]], set[frozenset[int]]]:
        """The local optima as sets of cells: across facets, and along every path."""
        number = {cell: place for place, cell in enumerate(self.cells)}
        values = self.values(measure)
        beside: list[list[int]] = []
        for cell in self.cells:
            turned = ((*cell[:n], -cell[n], *cell[n + 1 :]) for n in range(len(cell)))
            beside.append([number[other] for other in turned if other in number])
        touching: list[set[int]] = [set() for _ in self.cells]
        for group in self.around:
            own = {number[cell] for cell in group}
            for place in own:
                touching[place] |= own
        across, along, seen = set(), set(), set()
        for start in range(len(values)):
            if start in seen:
                continue
            region, front = {start}, [start]
            while front:
                for other in beside[front.pop()]:
                    if other not in region and abs(values[other] - values[start]) <= NEAR:
                        region.add(other)
                        front.append(other)
            seen |= region
            best = values[start] + NEAR
            if all(values[other] <= best for place in region for other in beside[place]):
                across.add(frozenset(region))
                if all(values[other] <= best for place in region for other in touching[place]):
                    along.add(frozenset(region))
        return across, along

    @cached_property
    def generic(self) -> bool:
        """Whether the assumptions of Theorem 2 hold.

        Every flip must have a plane of its own, and planes must meet in a line or a point only
        where they have to, because they share documents.
        """
        pairs = itertools.combinations(self.boundaries, 2)
        if not all(any(_cross(one.normal, other.normal)) for one, other in pairs):
            return False  # two planes are parallel, or the same
        lines = (
            [number for number in through if not _dot(self.boundaries[number].normal, edge)]
            for through in self.corners.values()
            for one, other in itertools.combinations(through, 2)
            for edge in [_cross(self.boundaries[one].normal, self.boundaries[other].normal)]
        )
        return all(self._count_independent(own) == 2 for own in lines) and all(
            self._count_independent(own) == 3 for own in self.corners.values()
        )

    def _count_independent(self, planes: Sequence[int]) -> int:
        """Count how many flips must happen for all of these to happen.

        With d1/d2 and d2/d3, d1/d3 is not one more.
        """
        group: dict[tuple[int, int], int] = {}
        count = 0
        for number in planes:
            each = self.boundaries[number]
            ends = [(each.query, document) for document in (each.first, each.second)]
            one, other = (group.setdefault(end, len(group)) for end in ends)
            if one != other:
                count += 1
                group = {end: one if own == other else own for end, own in group.items()}
        return count


@cache
def _score(measure: Measure, labels: tuple[int, ...]) -> float:
    return measure.score(labels)


def space_of(documents: Sequence[Sequence[tuple[int, ...]]], labels: Sequence[list[int]]) -> Space:
    """The cells of documents (c, u, v, t) of some queries, by all their flips."""
    boundaries = []
    for query, own in enumerate(documents):
        for first, second in itertools.combinations(range(len(own)), 2):
            c, u, v, t = (p - q for p, q in zip(own[first], own[second], strict=True))
            boundaries.append(Boundary((u, v, t), c, query, first, second))
    return Space(tuple(boundaries), tuple(map(tuple, labels)))


def draw_space(
    random: np.random.Generator, queries: int, documents: int, size: int = SIZE
) -> Space:
    """A random instance with whole coordinates up to a size, and labels 0 and 1."""
    rows = random.integers(-size, size + 1, (queries, documents, 4)).tolist()
    return space_of(
        [[tuple(row) for row in own] for own in rows],
        [draw_binary_labels(random, documents) for _ in range(queries)],
    )


def generic_instances() -> Iterator[Space]:
    """Random instances that meet the assumptions of Theorem 2."""
    random = np.random.default_rng(SEED)
    for queries, documents, count in GENERIC:
        for _ in range(count):
            made = draw_space(random, queries, documents)
            if made.generic:
                yield made


def draw_one_flip_space(random: np.random.Generator) -> Space | None:
    """Draw four queries with one flip each, all four planes through the origin.

    The result is None where three of the planes share a line, or two are the same. Other documents
    stay above and below the two that flip.
    """
    normals = [tuple(row) for row in random.integers(-3, 4, (4, 3)).tolist()]
    labels, boundaries = [], []
    for query, (u, v, t) in enumerate(normals):
        above, below = int(random.integers(0, 5)), int(random.integers(0, 3))
        flipping = random.permutation([1, 0]).tolist()
        others = random.integers(0, 2, above + below).tolist()
        labels.append((*others[:above], *flipping, *others[above:]))
        boundaries.append(Boundary((u, v, t), 0, query, above, above + 1))
    if any(not _determinant(*three) for three in itertools.combinations(normals, 3)):
        return None
    return Space(tuple(boundaries), tuple(labels))


def three_parameters_table() -> Table:
    """How many instances with three parameters have the same local optima for two measures."""
    rows: list[tuple[Cell, ...]] = []
    spaces = list(generic_instances())
    for pair in (*SAME_FLIPS, *OTHER_FLIPS):
        shared = Counter(name for made in spaces for name in _shared_definitions(made, pair))
        same = "yes" if pair in SAME_FLIPS else "no"
        rows.append(("generic", *pair, same, len(spaces), shared["facets"], shared["paths"]))
    random = np.random.default_rng(POINT_SEED)
    central = [draw_one_flip_space(random) for _ in range(POINT_DRAWS)]
    met = [made for made in central if made is not None]
    pair = SAME_FLIPS[0]
    shared = Counter(name for made in met for name in _shared_definitions(made, pair))
    name = "four planes meet in a point"
    rows.append((name, *pair, "yes", len(met), shared["facets"], shared["paths"]))
    return Table(
        ("instances", "measure", "other", "same flips", "count", "facets", "paths"),
        tuple(rows),
        (
            "facets, paths: the number of instances on which both measures have the same "
            "local optima, across facets and along every path",
            "generic: no two flips share a plane, and planes meet in a line or a point only where they "
            "must; labels are 0 and 1",
            "four planes meet in a point: those of four queries with one flip each",
        ),
    )


def _shared_definitions(made: Space, pair: Sequence[str]) -> Iterator[str]:
    """The definitions of a local optimum by which two measures have the same ones."""
    first, second = (made.optima(measure) for measure in pair)
    for name, one, other in zip(("facets", "paths"), first, second, strict=True):
        if one == other:
            yield name


def _meeting_point(*three: Boundary) -> tuple[Fraction, ...] | None:
    """The point where three planes meet; None if there is none, or more than one."""
    one, two, last = (each.normal for each in three)
    across = _determinant(one, two, last)
    if not across:
        return None
    crossed = (_cross(two, last), _cross(last, one), _cross(one, two))
    return tuple(
        Fraction(
            -sum(each.offset * way[axis] for each, way in zip(three, crossed, strict=True)), across
        )
        for axis in range(3)
    )


def _sign(number: Fraction | int) -> int:
    return (number > 0) - (number < 0)


def _dot(one: Vector, other: Vector) -> int:
    return sum(p * q for p, q in zip(one, other, strict=True))


def _cross(one: Vector, other: Vector) -> Vector:
    (a, b, c), (d, e, f) = one, other
    return b * f - c * e, c * d - a * f, a * e - b * d


def _determinant(one: Vector, two: Vector, last: Vector) -> int:
    return _dot(one, _cross(two, last))
