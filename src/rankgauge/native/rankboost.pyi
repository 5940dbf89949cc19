from numpy import float64, int64, uint8
from numpy.typing import NDArray

def potentials(
    scores: NDArray[float64],
    groups: NDArray[int64],
    queries: NDArray[int64],
    shifts: NDArray[float64],
) -> tuple[NDArray[float64], float]: ...
def bin_sums(bins: NDArray[uint8], weights: NDArray[float64]) -> NDArray[float64]: ...
