"""The types of arrays that all of this is made of."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]
Values: TypeAlias = NDArray[np.floating[Any]]
"""Feature values: single precision as files are read, double where a caller gave doubles."""
Bools: TypeAlias = NDArray[np.bool_]

T = TypeVar("T", bound=np.generic)
