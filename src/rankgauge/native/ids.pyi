from numpy import int32, int64, uint8
from numpy.typing import NDArray

def number(
    data: NDArray[uint8], offsets: NDArray[int64]
) -> tuple[NDArray[int64], NDArray[int64]]: ...
def match(
    data: NDArray[uint8],
    offsets: NDArray[int64],
    bounds: NDArray[int64],
    other_data: NDArray[uint8],
    other_offsets: NDArray[int64],
    other_bounds: NDArray[int64],
    partner: NDArray[int64],
) -> NDArray[int64]: ...
def repeats(
    data: NDArray[uint8], offsets: NDArray[int64], bounds: NDArray[int64]
) -> NDArray[int64]: ...
def descending(
    data: NDArray[uint8], offsets: NDArray[int64], bounds: NDArray[int64]
) -> NDArray[int64]: ...
def gather(
    data: NDArray[uint8],
    starts: NDArray[int32] | NDArray[int64],
    lengths: NDArray[int32] | NDArray[int64],
) -> tuple[NDArray[uint8], NDArray[int64]]: ...
