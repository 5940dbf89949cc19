from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

LARGEST_FEATURE: int

def tokenize(
    text: NDArray[uint8], lenient: bool
) -> tuple[
    NDArray[int64],
    NDArray[int32],
    NDArray[int64],
    NDArray[int32],
    NDArray[float64],
    dict[int, tuple[int, int]],
]: ...
def dense(
    offsets: NDArray[int64],
    columns: NDArray[int32],
    values: NDArray[float64],
    order: NDArray[int64],
    width: int,
) -> NDArray[float64]: ...
