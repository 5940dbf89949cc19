from numpy import float64, int32, int64
from numpy.typing import NDArray

def snapshots(
    kind: NDArray[int32],
    offsets: NDArray[int64],
    place: NDArray[int32],
    first: int,
    last: int,
    ends: NDArray[int64],
) -> NDArray[int32]: ...
def running(
    changes: NDArray[float64], offsets: NDArray[int64], before: NDArray[float64]
) -> NDArray[float64]: ...
