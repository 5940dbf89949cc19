import numpy as np
from numpy.typing import NDArray

class Lookup:
    def __init__(
        self,
        query_data: NDArray[np.uint8],
        query_offsets: NDArray[np.int64],
        bounds: NDArray[np.int64],
        document_data: NDArray[np.uint8],
        document_offsets: NDArray[np.int64],
    ) -> None: ...

def scan(
    text: NDArray[np.uint8], columns: int, judged: Lookup | None = None
) -> (
    tuple[
        NDArray[np.int64],
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.float64],
        NDArray[np.int32],
        bytes,
    ]
    | None
): ...
def next_topic(text: NDArray[np.uint8]) -> int: ...
