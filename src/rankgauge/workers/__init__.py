"""Work on many items, here or elsewhere; results come in order, and an item may fail alone.

`outcomes` does the work: by threads, by processes of this machine, by a Dask cluster, or by any executor
of `concurrent.futures`. `share` is for what all tasks need, `prepare` for what each process must
do first.
"""

from rankgauge.workers.executors import (
    AnyExecutor,
    Workers,
    as_workers,
    outcomes,
    results_of,
    share,
)
from rankgauge.workers.sharing import Shared, WorkerDied, prepare, processors

__all__ = [
    "AnyExecutor",
    "Shared",
    "WorkerDied",
    "Workers",
    "as_workers",
    "outcomes",
    "prepare",
    "processors",
    "results_of",
    "share",
]
