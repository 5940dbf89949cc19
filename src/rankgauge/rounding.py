"""Numbers that differ only by rounding, made equal."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

ROUNDING: Final = 1e-12
"""What two sums may differ by, as a share of the greatest of their terms, and count as equal."""


def rounded(values: ArrayLike, greatest: ArrayLike) -> NDArray[np.float64]:
    """The values as multiples of a power of two that is about `ROUNDING` of `greatest`.

    `greatest` is the greatest magnitude of the terms the values come from: one number, or an
    array that broadcasts against the values. Where it is 0 the values stay as they are.
    """
    values = np.asarray(values, dtype=np.float64)
    greatest = np.asarray(greatest, dtype=np.float64)
    known = greatest > 0
    power = np.ceil(np.log2(np.where(known, greatest, 1.0)) - 40)
    unit = 2.0 ** np.maximum(power, -1074)  # the least number there is
    return np.where(known, np.rint(values / unit) * unit, values)
