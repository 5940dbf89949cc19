"""Numbers as JSON has them: what is not a finite number becomes null."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

DIGITS = 6
"""How many significant digits the scores of single topics have in a page."""


def exact(values: NDArray[Any]) -> Any:
    """An array as nested lists with all digits; None in place of NaN and infinity.

    >>> import numpy as np
    >>> exact(np.array([0.1234567, np.nan]))
    [0.1234567, None]
    """
    return _each(values.tolist(), _finite)


def short(values: NDArray[Any]) -> Any:
    """The same, with six significant digits.

    >>> import numpy as np
    >>> short(np.array([[0.1234567, 1.0], [np.nan, -2.5]]))
    [[0.123457, 1], [None, -2.5]]
    """
    return _each(values.tolist(), _shortened)


def _each(value: Any, change: Any) -> Any:
    if isinstance(value, list):
        return [_each(item, change) for item in value]
    return change(value)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _shortened(value: float) -> float | None:
    if not math.isfinite(value):
        return None
    number = float(f"{value:.{DIGITS}g}")
    return int(number) if number.is_integer() else number
