from typing import Any

from numpy import float64, floating
from numpy.typing import NDArray

def layer_sums(
    values: NDArray[floating[Any]],
    means: NDArray[float64],
    weights: NDArray[float64],
    constants: NDArray[float64],
) -> NDArray[float64]: ...
def layer_gradient(
    values: NDArray[floating[Any]], means: NDArray[float64], slopes: NDArray[float64]
) -> NDArray[float64]: ...
