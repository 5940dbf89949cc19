"""Weighted sums of features, added from the first feature to the last."""

from __future__ import annotations

import numpy as np

from rankgauge.arrays import Floats, Values

PIECE = 4096
"""How many rows are added at a time, within the cache."""


def filled(values: Values, means: Floats) -> Floats:
    """The values in double precision, with the mean of its feature for each value that is NaN."""
    doubles = np.array(values, dtype=np.float64, order="C")
    rows, columns = np.nonzero(np.isnan(doubles))
    doubles[rows, columns] = means[columns]
    return doubles


def weighted_sums(values: Values, means: Floats, weights: Floats, constant: float) -> Floats:
    """The weighted sum of each row. Rows do not change each other's sums, not even the last bit."""
    sums = np.full(len(values), constant)
    for start in range(0, len(values), PIECE):
        columns = np.ascontiguousarray(filled(values[start : start + PIECE], means).T)
        part = sums[start : start + PIECE]
        for column, weight in zip(columns, weights.tolist(), strict=True):
            part += column * weight
    return sums
