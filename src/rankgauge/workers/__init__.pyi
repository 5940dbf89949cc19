from rankgauge.workers.executors import (
    AnyExecutor as AnyExecutor,
    Workers as Workers,
    as_workers as as_workers,
    outcomes as outcomes,
    results_of as results_of,
    share as share,
)
from rankgauge.workers.sharing import (
    Shared as Shared,
    WorkerDied as WorkerDied,
    prepare as prepare,
    processors as processors,
)
