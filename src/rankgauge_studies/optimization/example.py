"""The paper's example (A.7), its cases of shared documents (A.5), and a contact without crossing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from rankgauge.extending import Bools, Cell, Table
from rankgauge.space import Plane, Region, parameter_map, plane

NAMES = "abcd"
DOCUMENTS = ((8, 9, -7), (-3, 5, 6), (-1, 9, 0), (6, 1, -1))
"""Four documents with the topology of Figure 1: the score is 8 + 9x − 7y for a."""
FIRST, SECOND, GRADED = (1, 1, 0, 0), (0, 0, 1, 1), (0, 0, 2, 1)
"""The labels of a, b, c and d: in Figure 1; in note 3; in note 6."""
MEASURES = ("AP", "nDCG", "P@1", "P@2", "RR", "Success@2")


def example_plane(labels: Sequence[int]) -> Plane:
    """The plane of the four documents."""
    return plane(DOCUMENTS, labels)


def ranking(made: Plane, cell: int) -> str:
    """The ranking of a cell, such as "badc"."""
    return "".join(NAMES[document] for document in made.cells[cell].rankings[0])


def rankings(made: Plane, regions: Sequence[Region]) -> list[str]:
    """The rankings of all cells of some regions."""
    return sorted(ranking(made, int(cell)) for region in regions for cell in region.cells)


def ranks_of(order: str, of: str) -> tuple[int, ...]:
    """The ranks of some documents in a ranking."""
    return tuple(sorted(order.index(name) + 1 for name in of))


def count_sides(made: Plane, region: Region) -> int:
    """How many edges separate a region from the other cells."""
    inside = np.isin(made.arrangement.left, region.cells)
    return int(np.count_nonzero(inside != np.isin(made.arrangement.right, region.cells)))


def region_position(made: Plane, region: Region) -> str:
    """Where a region lies, seen from the middle of all vertices, such as "bottom left"."""
    corners = np.array([(float(x), float(y)) for x, y, _ in made.vertices])
    low, high = corners.min(axis=0), corners.max(axis=0)
    box = (*(low - (high - low)).tolist(), *(high + (high - low)).tolist())
    inside = [made.polygon(cell, box).mean(axis=0) for cell in region.cells.tolist()]
    right, up = np.mean(inside, axis=0) > (low + high) / 2
    return f"{'top' if up else 'bottom'} {'right' if right else 'left'}"


def global_optima(made: Plane, measure: str) -> list[Region]:
    """The global optima of a measure."""
    return [region for region in made.optima(measure) if region.best]


def notes_table() -> Table:
    """The six notes of A.7, each computed on the example."""
    rows = (
        (number, paper, computed, "yes" if holds else "NO")
        for number, (paper, computed, holds) in enumerate(_notes(), 1)
    )
    return Table(
        ("note", "the paper (A.7)", "computed", "holds"),
        tuple(rows),
        (
            f"documents (c, u, v): {', '.join(map(str, DOCUMENTS))}; a document scores c + x·u + y·v",
            "the paper prints no numbers: these documents are ours, with lines that cross as "
            "in Figure 1. Rotated by 90 degrees to the left, the optima of note 5 are where "
            "the paper shows them",
            "note 4: MRR has no preference; the result is the same with the second relevant "
            "document third or fourth",
            "note 6: the former is d at rank 1 and c at rank 3, the latter c at rank 1 and d at rank 4",
        ),
    )


def _notes() -> Iterator[tuple[str, str, bool]]:
    one, other = example_plane(FIRST), example_plane(SECOND)
    (perfect,) = global_optima(one, "AP")
    orders = rankings(one, [perfect])
    yield (
        'the perfect ranking is "the central quadrilateral"',
        f"AP {perfect.value:g} in a region of {count_sides(one, perfect)} sides: {' '.join(orders)}",
        perfect.value == 1 and count_sides(one, perfect) == 4,
    )
    extended = {name: global_optima(one, name) for name in MEASURES}
    inside = [
        any(set(perfect.cells) <= set(region.cells) for region in regions)
        for regions in extended.values()
    ]
    sizes = {name: sum(len(own.cells) for own in regions) for name, regions in extended.items()}
    yield (
        '"all measures will agree that this region is optimal"',
        "cells: " + ", ".join(f"{name} {size}" for name, size in sizes.items()),
        all(inside) and max(sizes.values()) > len(perfect.cells),
    )
    optimal = {name: set(rankings(other, global_optima(other, name))) for name in MEASURES}
    first_and_third = {
        order for order in rankings(other, other.regions("AP")) if ranks_of(order, "cd") == (1, 3)
    }
    reached = max(float(other.values(name).max()) for name in ("AP", "nDCG"))
    yield (
        '"first and third will be optimal by all measures"',
        f"best AP or nDCG {reached:.3f}; optimal for all: {' '.join(sorted(first_and_third))}",
        reached < 1 and all(first_and_third <= orders for orders in optimal.values()),
    )
    second = sorted(order for order in optimal["P@2"] if ranks_of(order, "cd")[0] == 2)
    dropped = sorted(order for order in optimal["RR"] if ranks_of(order, "cd") == (1, 4))
    yield (
        'P@2 "as happy with the first relevant in second position"; "MRR would prefer to drop the '
        'second relevant"',
        f"P@2 also {' '.join(second)}; MRR also {' '.join(dropped)}, no better and no worse",
        bool(second) and bool(dropped),
    )
    local = other.optima("AP")
    where = [{ranks_of(order, "cd") for order in rankings(other, [region])} for region in local]
    yield (
        '"two disconnected regions (bottom left and bottom right)", a local optimum "at the top"',
        ", ".join(
            f"{region.value:.3f} {' '.join(rankings(other, [region]))} "
            f"({region_position(other, region)})"
            for region in local
        ),
        sorted(map(sorted, where)) == [[(1, 3)], [(1, 3)], [(1, 4)]],
    )
    graded = example_plane(GRADED)
    choices = {
        name: {(order.index("c") + 1, order.index("d") + 1) for order in rankings(graded, own)}
        for name in ("nDCG(gain={1:1,2:1.1})", "nDCG(gain={1:1,2:3})")
        for own in [global_optima(graded, name)]
    }
    yield (
        '"Some NDCGs will prefer the former, some the latter"',
        ", ".join(
            f"{name}: c at {c}, d at {d}" for name, own in choices.items() for c, d in sorted(own)
        ),
        list(choices.values()) == [{(3, 1)}, {(1, 4)}],
    )


CASES = {
    "the shared document is the less relevant": (1, 0, 1),
    "the shared document is the more relevant": (0, 1, 0),
    "the shared document is between the others": (0, 1, 2),
}
"""A.5: the labels of d1, d2 (shared) and d3."""


def cases_table(draws: int = 100) -> Table:
    """The three cases of A.5 on random triples of documents: what the flip of d1 and d3 does."""
    random = np.random.default_rng(0)
    rows = []
    for case, labels in CASES.items():
        bounded = crossed = neutral = bad = 0
        for _ in range(draws):
            triples = [tuple(row) for row in random.integers(-99, 100, (3, 3)).tolist()]
            made = plane(triples, labels)
            for region in global_optima(made, "nDCG"):
                sides = made.arrangement.left, made.arrangement.right
                left, right = (np.isin(side, region.cells) for side in sides)
                edges = _flips(made, left != right)
                if not {(0, 1), (1, 2)} <= edges:
                    continue
                bounded += 1
                inside = _flips(made, left & right)
                crossed += (0, 2) in inside
                neutral += (0, 2) in inside and (0, 2) not in edges
                bad += (0, 2) not in inside and _is_best_at_corners(made, region)
        rows.append((case, bounded, crossed, neutral, bad))
    columns = ("case", "optima", "d1/d3 inside", "neutral there", "bad through the point")
    return Table(
        columns,
        tuple(rows),
        (
            (
                f"{draws} random triples per case; optima of nDCG bounded by the flips d1/d2 and "
                "d2/d3"
            ),
            "the paper: in the first two cases, the flip d1/d3 passes inside the optimum and "
            "is neutral; in the third it does not, and crossing all three at their point is "
            "bad",
        ),
    )


def _flips(made: Plane, edges: Bools) -> set[tuple[int, int]]:
    """The pairs of documents that change places on some of the edges."""
    lines = set(made.arrangement.line[edges].tolist())
    return {(flip.first, flip.second) for flip in made.boundaries if flip.line in lines}


def _is_best_at_corners(made: Plane, region: Region) -> bool:
    """Whether every other cell at the point where the three flips meet is worse."""
    values = made.values("nDCG")
    at, cell = made.arrangement.corners.T
    points = set(at[np.isin(cell, region.cells)].tolist())
    around = set(cell[np.isin(at, list(points))].tolist()) - set(region.cells.tolist())
    return bool(points) and all(values[other] < region.value for other in around)


TOUCHING_LABELS = ((1, 1, 0), (0, 1, 1, 1, 1))
"""The labels of the documents of the two queries that `touching_scores` scores."""
PATH_POSITIONS = (0.0, 0.5)
"""The values of x: a path up through the point of contact, and one next to it."""


def touching_scores(x: float, y: float) -> list[float]:
    """Return the scores of two queries whose flip boundaries touch in the origin.

    The boundary of the first query is y = 0, where a relevant document falls. The boundary of the
    second query is y = x², where a relevant document rises.
    """
    return [9, -y, y, x * x - y, y - x * x, -7, -8, -9]


def contact_table(score: Callable[[float, float], Sequence[float]] = touching_scores) -> Table:
    """Return a table of measures near two flip boundaries that touch without crossing (A.6).

    The measures are computed along two paths up, one through the point of contact and one beside
    it.
    """
    lists = [list(labels) for labels in TOUCHING_LABELS]
    maps = [
        parameter_map(
            lambda y, x: score(x, y),
            [(-1, 1)] * 2,
            lists,
            name,
            at=PATH_POSITIONS,
            parameters=("y", "x"),
        )
        for name in ("AP", "nDCG")
    ]
    through, beside = (
        [made.rows[number] for made in maps] for number in range(len(PATH_POSITIONS))
    )
    edges = beside[0].edges
    rows: list[tuple[Cell, ...]] = []
    for number, where in enumerate(("below both", "between", "above both")):
        middle = (edges[number] + edges[number + 1]) / 2
        labels = _ranked_labels(score(PATH_POSITIONS[1], float(middle)))
        rows.append((where, labels, *(float(curve.values[number]) for curve in beside)))
    better = [str(curve.measure) for curve in through if curve.values[-1] > curve.values[0]]
    note = (
        f"beside the contact the flips are at y = {', '.join(f'{at:g}' for at in edges[1:-1])}, through "
        f"it both are at y = {through[0].breaks[0]:g}; across the first flip alone both measures get "
        f"worse; through the contact {' and '.join(better)} gets better, the other worse: so below both "
        "is a local optimum along every path for only one of them"
    )
    columns = ("region", "labels of the two queries in rank order")
    return Table((*columns, *(str(curve.measure) for curve in beside)), tuple(rows), (note,))


def _ranked_labels(scores: Sequence[float]) -> str:
    """The labels of each query in rank order."""
    rest, parts = list(scores), []
    for labels in TOUCHING_LABELS:
        own, rest = rest[: len(labels)], rest[len(labels) :]
        order = sorted(range(len(labels)), key=lambda row: -own[row])
        parts.append("".join(str(labels[row]) for row in order))
    return " ".join(parts)
