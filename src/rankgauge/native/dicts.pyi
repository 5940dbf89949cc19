from typing import Any

from numpy import float64, int64, uint8
from numpy.typing import NDArray

def columns(
    queries: list[Any], rows: list[Any], graded: bool
) -> (
    tuple[
        tuple[NDArray[uint8], NDArray[int64]],
        NDArray[int64],
        tuple[NDArray[uint8], NDArray[int64]],
        NDArray[float64],
        bool,
    ]
    | None
): ...
