"""Work on many items: by threads, processes, a Dask cluster, or any executor."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from rankgauge.core.checks import Number, Whole, checked
from rankgauge.errors import RankgaugeError
from rankgauge.workers.crews import Crew, Tasks, by_crew
from rankgauge.workers.sharing import Shared
from rankgauge.workers.tasks import DIED, Ended, WorkerDied, ended, perform, processors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor, Future

    from distributed import Client

    from rankgauge.workers.clusters import Cluster
    from rankgauge.workers.processes import Processes

T = TypeVar("T")
R = TypeVar("R")

AnyExecutor: TypeAlias = "Executor | Client | Workers"
"""Who may do the work of functions that have the parameter `executor`."""

RETRIES = 1


class Workers:
    """Who does the work: processes of this machine, or a Dask cluster. Use it in a `with` statement, as
    the `executor` of any function that has one. The processes, or the connection, end with the block; if
    it is used after that, they are started again.

    Parameters
    ----------
    where
        The number of processes, or a Dask cluster: the address of its scheduler, such as
        "tcp://10.0.0.1:8786", or a `dask.distributed.Client`.
    retries
        How often a task is tried again after its worker died. Each time it is tried alone. A Dask
        scheduler has by then tried it on several workers (its setting `allowed-failures`).
    timeout
        How many seconds a task may take, for example the scoring of one run. After that it counts as
        failed.
    """

    def __init__(
        self, where: int | str | Client, *, retries: int = RETRIES, timeout: float | None = None
    ) -> None:
        self.retries = checked("retries", retries, Whole(0))
        self.timeout = checked("timeout", timeout, Number(closed=False), optional=True)
        if isinstance(where, str):
            if "://" not in where:
                raise RankgaugeError(
                    f"workers={where!r}, expected a whole number, or the address of a Dask scheduler "
                    "such as tcp://10.0.0.1:8786"
                )
        elif not _is_client(where):
            where = checked("workers", where, Whole(1))
        self.where = where
        self._there: Cluster | Processes | None = None

    def __enter__(self) -> Workers:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> Cluster | Processes:
        """Connect to the cluster, unless that was done before. Processes start with their first task."""
        if self._there is None:
            if isinstance(self.where, int):
                from rankgauge.workers.processes import Processes

                self._there = Processes(self.where)
            else:
                from rankgauge.workers.clusters import Cluster

                self._there = Cluster(self.where, timed=self.timeout is not None)
        return self._there

    def crew(self, tasks: int) -> Crew:
        """The workers, for the tasks of one call, so many."""
        return self.start().crew(tasks)

    def close(self) -> None:
        """End the processes, or the connection that was made here."""
        if self._there is not None:
            self._there.close()
            self._there = None


def _is_client(value: Any) -> bool:
    """Whether this is a client of Dask, which is not imported for it."""
    return any(
        (kind.__module__, kind.__name__) == ("distributed.client", "Client")
        for kind in type(value).__mro__
    )


def as_workers(executor: AnyExecutor | None) -> Workers | None:
    """The workers that an executor stands for; None for one of `concurrent.futures`, or none at all."""
    if executor is None or isinstance(executor, Workers):
        return executor
    client: Any = getattr(executor, "_client", executor)  # what Client.get_executor() gives has one
    if _is_client(client):
        return Workers(client)
    from concurrent.futures import Executor

    if not isinstance(executor, Executor):
        raise RankgaugeError(
            f"executor={executor!r}, expected a Dask client, Workers, or an executor of "
            "concurrent.futures"
        )
    return None


def share(value: T, executor: AnyExecutor | None = None) -> Shared[T]:
    """A value that all tasks need, sent as seldom as possible. Tasks get it with `.value`.

    Threads get the value itself. Each local process reads it once, and each worker of a Dask cluster is
    sent it once. Any other executor gets it with every task.
    """
    if executor is None:
        return Shared(value, anywhere=False)
    workers = as_workers(executor)
    if workers is not None:
        return workers.start().share(value)
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    local = isinstance(executor, ProcessPoolExecutor | ThreadPoolExecutor)
    return Shared(value, anywhere=not local)


def outcomes(
    work: Callable[[T], R],
    items: Sequence[T],
    executor: AnyExecutor | None = None,
    name: Callable[[T], str] = str,
    *,
    in_order: bool = True,
) -> Iterator[tuple[T, R | RankgaugeError]]:
    """Each item with its result. An InputError or a lack of memory is the result of its item.

    Without an executor, threads do the work. All tasks share the work function (`share`). If a worker
    dies, or takes longer than it may, only the item that it worked on fails, after some more attempts.
    Any other error in the work ends everything.

    Parameters
    ----------
    work
        Is called with each item.
    items
        What is worked on.
    executor
        Who does the work.
    name
        What messages call an item.
    in_order
        Whether results come in the order of the items, or as soon as they are there.
    """
    if executor is None and len(items) < 2:
        yield from ((item, ended(work, item, name).outcome()) for item in items)
        return
    if not items:
        return
    workers = as_workers(executor)
    found: Generator[tuple[int, Ended[R]], None, None]
    if workers is not None:
        crew = workers.crew(len(items))
        tasks = Tasks(workers.start().share(work), items, name)
        found = by_crew(crew, tasks, workers.retries, workers.timeout)
    else:
        found = _by_executor(work, items, cast("Executor | None", executor), name)
    early: dict[int, Ended[R]] = {}
    turn = 0
    with contextlib.closing(found):
        for number, end in found:
            if not in_order:
                yield items[number], end.outcome()
                continue
            early[number] = end
            while turn in early:
                yield items[turn], early.pop(turn).outcome()
                turn += 1


# By threads, or by an executor of `concurrent.futures`


def _by_executor(
    work: Callable[[T], R],
    items: Sequence[T],
    executor: Executor | None,
    name: Callable[[T], str],
) -> Generator[tuple[int, Ended[R]], None, None]:
    """The number of each item, and how it ended. If the executor fails, for example because a process
    died, the item is done again in a process of its own."""
    from concurrent.futures import ThreadPoolExecutor, as_completed

    pool = ThreadPoolExecutor(min(processors(), len(items))) if executor is None else executor
    shared, wait = share(work, executor), True
    futures: dict[Future[Ended[R]], int] = {}
    refused: list[int] = []
    try:
        for number, item in enumerate(items):
            try:
                futures[pool.submit(perform, (shared, item, name))] = number
            except Exception:  # it is broken, or was shut down, or cannot reach its machines
                refused.append(number)
        for future in as_completed(list(futures)):
            number = futures.pop(future)
            yield number, _received(future) or _alone(shared, items[number], name)
        for number in refused:
            here = executor is None  # no thread could be started
            again = ended(work, items[number], name) if here else None
            yield number, again or _alone(shared, items[number], name)
    except KeyboardInterrupt:
        wait = False
        raise
    finally:
        for future in futures:
            future.cancel()
        if executor is None:
            pool.shutdown(wait)


def _received(future: Future[Ended[R]]) -> Ended[R] | None:
    """How a task ended; None if the executor failed."""
    try:
        return future.result()
    except Exception:
        return None


def _alone(shared: Shared[Callable[[T], R]], item: T, name: Callable[[T], str]) -> Ended[R]:
    """Do a task in a process of its own."""
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    with ProcessPoolExecutor(1) as pool:
        try:
            return pool.submit(perform, (shared, item, name)).result()
        except BrokenExecutor:
            fault = DIED
        except Exception as error:
            fault = f"its worker process could not be started or failed: {type(error).__name__}: {error}"
    return Ended(WorkerDied(f"{name(item)}: {fault}"))
