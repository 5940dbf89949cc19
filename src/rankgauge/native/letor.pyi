from numpy import float32, int32, int64, uint8
from numpy.typing import NDArray

LARGEST_FEATURE: int

def newlines(text: NDArray[uint8]) -> int: ...
def tokenize(
    text: NDArray[uint8], lenient: bool, queries: bool
) -> tuple[
    NDArray[int64],
    NDArray[int64],
    NDArray[int32],
    NDArray[int64],
    NDArray[int32],
    NDArray[float32],
    dict[int, tuple[int, int]],
]: ...
def fill(
    matrix: NDArray[float32],
    rows: NDArray[int64],
    offsets: NDArray[int64],
    columns: NDArray[int32],
    values: NDArray[float32],
) -> None: ...
