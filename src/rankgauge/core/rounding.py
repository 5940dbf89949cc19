"""Numbers that differ only by rounding, made equal."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROUNDING: Final = 1e-12
"""What two sums may differ by, as a share of the greatest of their terms, and count as equal."""


def round_values(values: ArrayLike, greatest: ArrayLike) -> NDArray[np.float64]:
    """Round values so that numbers which differ only by rounding errors become equal.

    Parameters
    ----------
    values : array_like
        The values.
    greatest : array_like
        The greatest magnitude of the terms that the values were computed from: one number, or an array
        that broadcasts against the values. Where it is 0, the values stay as they are.

    Returns
    -------
    ndarray
        The values as multiples of a power of two that is about 1e-12 of `greatest`.

    Examples
    --------
    >>> from rankgauge.extending import round_values
    >>> 0.1 + 0.2 == 0.3
    False
    >>> bool(round_values(0.1 + 0.2, 1.0) == round_values(0.3, 1.0))
    True
    """
    values = np.asarray(values, dtype=np.float64)
    greatest = np.asarray(greatest, dtype=np.float64)
    known = greatest > 0
    power = np.ceil(np.log2(np.where(known, greatest, 1.0)) - 40)
    unit = 2.0 ** np.maximum(power, -1074)  # the least number there is
    return np.where(known, np.rint(values / unit) * unit, values)


def at_most(values: NDArray[np.float64], limit: float) -> NDArray[np.bool_]:
    """Which values are at most the limit, save rounding."""
    return np.asarray(values <= limit * (1 + ROUNDING))


def greatest_magnitude(values: NDArray[np.float64]) -> float:
    """The greatest magnitude of any value, 0 without values; without an array of magnitudes."""
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def merge_close_values(values: ArrayLike, greatest: ArrayLike) -> NDArray[np.float64]:
    """The values, where those that differ only by rounding are one number, the least of them.

    Neighbors in order of size are the same if they are no further apart than `ROUNDING` of
    `greatest`, and so are all that neighbors connect. So no edge lies between two of them, as it
    may with `round_values`. `greatest` is the greatest magnitude of the terms each value comes from.
    """
    values = np.asarray(values, dtype=np.float64)
    greatest = np.broadcast_to(np.asarray(greatest, dtype=np.float64), values.shape)
    order = np.argsort(values, kind="stable")
    ascending, terms = values[order], greatest[order]
    apart = np.diff(ascending) > ROUNDING * np.maximum(terms[1:], terms[:-1])
    starts = np.concatenate(([True], apart))[: len(values)]
    found = np.empty_like(values)
    found[order] = ascending[starts][np.cumsum(starts) - 1]
    return found
