from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

def start_order(
    start: NDArray[float64], end: NDArray[float64], offsets: NDArray[int64]
) -> NDArray[int64]: ...
def sweep_top(
    start: NDArray[float64],
    end: NDArray[float64],
    kind: NDArray[int32],
    offsets: NDArray[int64],
    kinds: int,
    depth: int,
    counted: bool,
) -> tuple[NDArray[float64], NDArray[int32], NDArray[int32] | None]: ...
def sweep_all(
    start: NDArray[float64],
    end: NDArray[float64],
    kind: NDArray[int32],
    offsets: NDArray[int64],
    kinds: int,
    depth: int,
    counted: bool,
) -> tuple[NDArray[float64], NDArray[int32], NDArray[int32] | None]: ...
def count_sweep(
    start: NDArray[float64],
    end: NDArray[float64],
    kind: NDArray[int32],
    offsets: NDArray[int64],
    kinds: int,
    silent: NDArray[uint8],
    counted: bool,
) -> tuple[NDArray[float64], NDArray[int32], NDArray[int32] | None]: ...
