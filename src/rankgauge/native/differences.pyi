from numpy import float64, int64
from numpy.typing import NDArray

def moments(
    values: NDArray[float64], first: NDArray[int64], second: NDArray[int64]
) -> tuple[NDArray[float64], NDArray[float64]]: ...
def agreements(
    one: NDArray[float64],
    other: NDArray[float64],
    first: NDArray[int64],
    second: NDArray[int64],
    least: float,
    fuzziness: float,
    width: float,
    decided: NDArray[int64],
    swapped: NDArray[int64],
) -> tuple[NDArray[int64], int]: ...
