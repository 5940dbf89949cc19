"""The ranking in each of many cells of a plane, for certain, in floating point where that decides.

A point of floating-point numbers is a point like any other. It is inside a cell if it is on the right
side of each of the cell's edges, by more than rounding can be; then the ranking at the point is that of
the cell, if no two scores are closer than rounding can be. Cells that this does not decide are ranked in
whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.core.records import Record
from rankgauge.space.arrangements import NO_VERTEX, Arrangement, approximate, quotient

ROUNDING = 2.0**-50
"""A bound on the rounding error of a sum of three products, relative to the sum of their magnitudes."""
LEAST_PRECISE, LOST_IN_PRODUCTS = 1e-300, 1e-290
"""Numbers above the first have full precision; the second bounds what smaller products lose."""
SCORES_AT_A_TIME = 2_000_000
"""Number of scores computed at a time."""


class CellPoints(Record):
    """A point for each cell, and whether it is inside the cell for certain."""

    x: Floats
    y: Floats
    inside: Bools


def cell_points(arrangement: Arrangement) -> CellPoints:
    """A point of floating-point numbers for each cell."""
    cells = arrangement.cells
    vertex, cell = arrangement.corners.T
    corners = np.bincount(cell, minlength=cells)
    near = approximate(arrangement.vertices)
    lines = [_divide_to_floats(line, max(map(abs, line))) for line in arrangement.lines]
    a, b, c = np.array(lines).reshape(-1, 3).T
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        x, y = (np.bincount(cell, each[vertex], minlength=cells) / corners for each in near)
        reach = 1 + np.hypot(x, y)
        for ends, way in ((arrangement.end, 1), (arrangement.start, -1)):
            edge = np.flatnonzero(ends == NO_VERTEX)  # on along it, as far again as the cell is out
            line = arrangement.line[edge]
            size = np.hypot(a[line], b[line])
            for side in (arrangement.left[edge], arrangement.right[edge]):
                np.add.at(x, side, way * reach[side] * b[line] / size)
                np.add.at(y, side, -way * reach[side] * a[line] / size)
        unsure = np.zeros(cells, dtype=np.bool_)
        line = arrangement.line
        for side, sign in ((arrangement.left, 1), (arrangement.right, -1)):
            products = a[line] * x[side], b[line] * y[side], c[line]
            value = products[0] + products[1] + products[2]
            size = np.abs(products[0]) + np.abs(products[1]) + np.abs(products[2])
            unsure[side[~(sign * value > ROUNDING * size + LOST_IN_PRODUCTS)]] = True
    return CellPoints(x, y, np.isfinite(x) & np.isfinite(y) & ~unsure)


def _divide_to_floats(triple: tuple[int, int, int], divisor: int) -> list[float]:
    """Whole numbers, divided. A number too small for full precision is NaN: nothing about it is sure."""
    return [
        value if not part or abs(value) > LEAST_PRECISE else nan
        for part in triple
        for value in [quotient(part, divisor)]
    ]


def ranked_labels(
    documents: Sequence[tuple[int, int, int]],
    labels: Labels,
    points: CellPoints,
    cells: Ints,
    exact: Callable[[int], Sequence[int]],
) -> tuple[Labels, Ints]:
    """The labels in rank order in each cell: the different lists, a row each, and each cell's row.

    Parameters
    ----------
    documents, labels
        The documents (c, u, v) of a query, and their labels.
    points
        A point of each cell of the plane.
    cells
        The cells that are asked for.
    exact
        The documents in rank order in a cell, in whole numbers; asked where floating point is not sure.
    """
    largest = max((abs(part) for triple in documents for part in triple), default=0) or 1
    c, u, v = (
        np.array([_divide_to_floats(triple, largest) for triple in documents]).reshape(-1, 3).T
    )
    kinds = labels.astype(np.int32)
    blocks = []
    step = max(1, SCORES_AT_A_TIME // max(1, len(documents)))
    for start in range(0, len(cells), step):
        part = cells[start : start + step]
        order, sure = _orders(c, u, v, points.x[part], points.y[part], kinds)
        for row in np.flatnonzero(~(points.inside[part] & sure)).tolist():
            order[row] = exact(int(part[row]))
        blocks.append(_distinct_rows(kinds[order]))
    rows, number = _distinct_rows(np.concatenate([rows for rows, _ in blocks]))
    ends = np.cumsum([0, *(len(rows) for rows, _ in blocks)])
    each = [own + low for (_, own), low in zip(blocks, ends.tolist(), strict=False)]
    return rows, number[np.concatenate(each)]


def _orders(
    c: Floats, u: Floats, v: Floats, x: Floats, y: Floats, kinds: Labels
) -> tuple[NDArray[np.intp], Bools]:
    """The documents in rank order at each point, points × documents; and which orders are certain.

    For each point, the second array says whether the labels are in this order for certain.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        along, across = x[:, None] * u, y[:, None] * v
        scores = c + along + across
        sizes = np.abs(c) + np.abs(along) + np.abs(across)
        error = ROUNDING * sizes.max(axis=1, initial=0.0) + LOST_IN_PRODUCTS
        order = np.argsort(-scores, axis=1, kind="stable")
        ranked = np.take_along_axis(scores, order, axis=1)
        apart = ranked[:, :-1] - ranked[:, 1:] > 2 * error[:, None]
    alike = np.diff(kinds[order], axis=1) == 0
    return order, (apart | alike).all(axis=1)


def _distinct_rows(rows: Labels) -> tuple[Labels, Ints]:
    """The different rows, and the number of each row among them."""
    if not rows.shape[1]:
        return rows[:1], np.zeros(len(rows), dtype=np.int64)
    whole = np.ascontiguousarray(rows)
    keys = whole.view(f"V{whole.itemsize * whole.shape[1]}").ravel()
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return whole[first], number.astype(np.int64)
