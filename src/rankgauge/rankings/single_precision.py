"""Scores that stay apart in single precision, in which trec_eval up to 9.0.7 compares them."""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats, Ints


def separate_scores(scores: Floats, bounds: Ints) -> Floats:
    """Scores that fall within each segment, changed so that single precision ties no more than double.

    A score stays as it is if single precision takes it for less than the one before. Else it becomes
    the next lower number of single precision. Equal scores stay equal.

    >>> separate_scores(np.array([1.0, 1.0 - 1e-12, 1.0 - 1e-12, 0.5]), np.array([0, 4])).tolist()
    [1.0, 0.9999999403953552, 0.9999999403953552, 0.5]
    """
    if not len(scores):
        return scores
    first = np.zeros(len(scores), dtype=np.bool_)
    first[bounds[:-1][np.diff(bounds) > 0]] = True
    level = np.cumsum(first | np.append(True, scores[1:] != scores[:-1]))
    segment = np.cumsum(first)
    # With p(i) the place of level i among all numbers of single precision, the place it gets is
    # min(p(i), its predecessor's − 1), so that place + i is a running minimum.
    place = _float_positions(scores.astype(np.float32))
    below = (2**33 + len(scores)) * segment  # each segment below the one before: they do not mix
    lowest = np.minimum.accumulate(place + level - below) + below - level
    return np.where(lowest == place, scores, _floats_at(lowest).astype(np.float64))


def _float_positions(singles: np.typing.NDArray[np.float32]) -> Ints:
    """The place of each number among all of single precision: the next number has the next place."""
    bits = singles.view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def _floats_at(places: Ints) -> np.typing.NDArray[np.float32]:
    """The numbers at these places, the inverse of `_float_positions`."""
    bits = np.where(places < 0, -places | 0x80000000, places)
    return bits.astype(np.uint32).view(np.float32)
