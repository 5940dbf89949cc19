from rankgauge.workers.executors import (
    AnyExecutor as AnyExecutor,
)
from rankgauge.workers.executors import (
    Workers as Workers,
)
from rankgauge.workers.executors import (
    as_workers as as_workers,
)
from rankgauge.workers.executors import (
    outcomes as outcomes,
)
from rankgauge.workers.executors import (
    results_of as results_of,
)
from rankgauge.workers.executors import (
    share as share,
)
from rankgauge.workers.sharing import (
    Shared as Shared,
)
from rankgauge.workers.sharing import (
    WorkerDied as WorkerDied,
)
from rankgauge.workers.sharing import (
    prepare as prepare,
)
from rankgauge.workers.sharing import (
    processors as processors,
)
