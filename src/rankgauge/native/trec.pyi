from numpy import float64, int64, intp, uint8
from numpy.typing import NDArray

def tokenize(
    text: NDArray[uint8], columns: int, whole: bool, lenient: bool
) -> tuple[NDArray[int64], NDArray[float64], dict[int, tuple[int, int]]]: ...
def starts_of_topics(
    text: NDArray[uint8], starts: NDArray[int64], lengths: NDArray[int64]
) -> NDArray[intp]: ...
