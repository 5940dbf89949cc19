from numpy import float64, int64
from numpy.typing import NDArray

def logistic_loss(
    scores: NDArray[float64], targets: NDArray[float64], bounds: NDArray[int64], mean: bool
) -> tuple[float, NDArray[float64]]: ...
