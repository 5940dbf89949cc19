from numpy import int32, int64
from numpy.typing import NDArray

def shared_counts(
    words: NDArray[int32],
    offsets: NDArray[int64],
    starts: NDArray[int64],
    seconds: NDArray[int32],
    most: NDArray[int32],
    singles: NDArray[int32],
    reach: int,
) -> NDArray[int64]: ...
