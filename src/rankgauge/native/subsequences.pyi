from numpy import float64, int32, int64
from numpy.typing import NDArray

def lcs_lengths(
    words: NDArray[int32], offsets: NDArray[int64], reference: NDArray[int32], vocabulary: int
) -> NDArray[int64]: ...
def weighted_lcs(
    words: NDArray[int32],
    offsets: NDArray[int64],
    reference: NDArray[int32],
    vocabulary: int,
    gains: NDArray[float64],
) -> NDArray[float64]: ...
