from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

def weighted(
    documents: NDArray[int32],
    offsets: NDArray[int64],
    first: NDArray[int64],
    second: NDArray[int64],
    weights: NDArray[float64],
    is_free: NDArray[uint8],
    gains: NDArray[float64],
    most: float,
) -> NDArray[float64]: ...
def normalized(
    documents: NDArray[int32],
    offsets: NDArray[int64],
    first: NDArray[int64],
    second: NDArray[int64],
    weights: NDArray[float64],
    is_free: NDArray[uint8],
    gains: NDArray[float64],
    thickness: NDArray[float64],
    costs: NDArray[float64],
    fixed: float,
) -> tuple[NDArray[float64], NDArray[int64]]: ...
def staircase(
    rank_y: NDArray[int64],
    rank_z: NDArray[int64],
    free_y: NDArray[uint8],
    free_z: NDArray[uint8],
    known_y: NDArray[uint8],
    known_z: NDArray[uint8],
    reward_y: NDArray[float64],
    reward_z: NDArray[float64],
    trace: bool,
) -> tuple[NDArray[float64], NDArray[uint8], int]: ...
