"""The types of arrays that all of this is made of, and where segments lie in flat arrays."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Values: TypeAlias = NDArray[np.floating[Any]]
"""Feature values: single precision as files are read, double where a caller gave doubles."""
Bools: TypeAlias = NDArray[np.bool_]

T = TypeVar("T", bound=np.generic)


def offsets_of(lengths: ArrayLike) -> Ints:
    """Where each of the consecutive segments of these lengths starts, and where the last ends.

    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def segment_rows(offsets: Ints, segments: Ints) -> tuple[Ints, Ints]:
    """The rows of these segments, one segment after the other, and the offsets that they then have.

    >>> rows, offsets = segment_rows(np.array([0, 2, 2, 5]), np.array([2, 0]))
    >>> rows.tolist(), offsets.tolist()
    ([2, 3, 4, 0, 1], [0, 3, 5])
    """
    sizes = np.diff(offsets)[segments]
    new = offsets_of(sizes)
    return np.arange(new[-1]) + np.repeat(offsets[segments] - new[:-1], sizes), new
