"""Work on many items: by threads, processes, a Dask cluster, or any executor."""

from __future__ import annotations

import contextlib
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast

from rankgauge.core.checks import Integer, Number, check_value
from rankgauge.core.policies import Progress
from rankgauge.errors import RankgaugeError
from rankgauge.workers.sharing import DIED, PAUSE, LostTask, Shared, Task, TaskResult, processors

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from distributed import Client

    from rankgauge.workers.dask import Cluster
    from rankgauge.workers.processes import Processes

T = TypeVar("T")
R = TypeVar("R")

AnyExecutor: TypeAlias = "Executor | Client | Workers"
"""Who may do the work of functions that have the parameter `executor`."""

RETRIES = 1


class Workers:
    """Worker processes, or a Dask cluster, for the parameter `executor` of any function.

    Use it in a `with` statement: the processes, or the connection, end with the block. If it is used
    again, they are restarted.

    Parameters
    ----------
    where : int, str or dask.distributed.Client
        The number of processes on this machine, or a Dask cluster: the address of its scheduler, such
        as "tcp://10.0.0.1:8786", or a client.
    retries : int, default 1
        How often to retry a task whose worker died. Each retry runs alone. Before that, a Dask scheduler
        tries the task on several workers (its setting `allowed-failures`).
    timeout : float, optional
        The time limit in seconds for a task, such as scoring one run. A task that takes longer fails. By
        default, there is no limit.

    Raises
    ------
    RankgaugeError
        If `where` is neither a positive number, nor an address, nor a client.

    Examples
    --------
    >>> workers = Workers(4, timeout=60.0)
    >>> workers.where, workers.retries
    (4, 1)
    >>> with workers:  # doctest: +SKIP
    ...     scores = evaluate(qrels, runs, ["nDCG@10"], executor=workers)
    """

    def __init__(
        self, where: int | str | Client, *, retries: int = RETRIES, timeout: float | None = None
    ) -> None:
        self.retries = check_value("retries", retries, Integer(0))
        self.timeout = check_value("timeout", timeout, Number(closed=False), optional=True)
        if isinstance(where, str):
            if "://" not in where:
                raise RankgaugeError(
                    f"workers={where!r}, expected a whole number, or the address of a Dask scheduler "
                    "such as tcp://10.0.0.1:8786"
                )
        elif not _is_client(where):
            where = check_value("workers", where, Integer(1))
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
                from rankgauge.workers.dask import Cluster

                self._there = Cluster(self.where, timed=self.timeout is not None)
        return self._there

    def pool(self, tasks: int) -> WorkerPool:
        """The workers, for the tasks of one call, so many."""
        return self.start().pool(tasks)

    crew = pool  # its name until the next release

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
    """Return the `Workers` for an executor, or None if `concurrent.futures` runs the work.

    Parameters
    ----------
    executor : Executor, Client, Workers or None
        The executor. A Dask client becomes `Workers`.

    Returns
    -------
    Workers or None
        The workers; None for an executor of `concurrent.futures`, and for None.

    Raises
    ------
    RankgaugeError
        If it is no executor.

    Examples
    --------
    >>> workers = Workers(2)
    >>> as_workers(workers) is workers, as_workers(None)
    (True, None)
    """
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
    """Wrap a value that all tasks need, so that it is sent as rarely as possible.

    Tasks read the value from `.value`. Threads get the value itself. Each local process reads it once,
    and each worker of a Dask cluster receives it once. Any other executor sends it with every task.

    Parameters
    ----------
    value : object
        The value. It must be picklable, unless threads run the tasks.
    executor : Executor, Client or Workers, optional
        The executor of the tasks. By default, threads.

    Returns
    -------
    Shared
        The wrapped value.

    Examples
    --------
    >>> share([1, 2, 3]).value
    [1, 2, 3]
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
) -> Generator[tuple[T, R | RankgaugeError], None, None]:
    """Apply a function to items in parallel, and yield each item with its result or failure.

    An `InputError` or a lack of memory is the result of its item. If a worker dies or takes too long,
    only the item that it worked on fails, after some retries. Any other error ends all work.

    Parameters
    ----------
    work : callable
        The function. It is called with each item, and shared by all tasks (see `share`).
    items : sequence
        The items.
    executor : Executor, Client or Workers, optional
        Where to run the work: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads.
    name : callable, default str
        Returns the name of an item, for error messages.
    in_order : bool, default True
        Whether results come in the order of the items. Otherwise they come as soon as they are ready.

    Yields
    ------
    tuple of (item, result)
        The item, with the result of `work` or a `RankgaugeError`.

    Examples
    --------
    >>> list(outcomes(abs, [-1, 2]))
    [(-1, 1), (2, 2)]
    """
    workers = as_workers(executor)
    if workers is not None:
        return _run_by_workers(work, items, workers, name, in_order)
    return _run_by_futures(work, items, cast("Executor | None", executor), name, in_order)


def results_of(
    work: Callable[[T], R],
    items: Sequence[T],
    executor: AnyExecutor | None = None,
    name: Callable[[T], str] = str,
    *,
    in_order: bool = True,
    progress: Progress | None = None,
) -> Generator[tuple[T, R], None, None]:
    """Apply a function to items in parallel, and yield each item with its result.

    This is `outcomes`, but the first failure is raised.

    Parameters
    ----------
    work : callable
        The function. It is called with each item, and shared by all tasks (see `share`).
    items : sequence
        The items.
    executor : Executor, Client or Workers, optional
        Where to run the work: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads.
    name : callable, default str
        Returns the name of an item, for error messages and for `progress`.
    in_order : bool, default True
        Whether results come in the order of the items. Otherwise they come as soon as they are ready.
    progress : callable, optional
        Called with the name of each item, after the caller has used its result.

    Yields
    ------
    tuple of (item, result)
        The item and the result of `work`.

    Raises
    ------
    RankgaugeError
        The first failure of an item.

    Examples
    --------
    >>> dict(results_of(len, ["a", "bcd"]))
    {'a': 1, 'bcd': 3}
    """
    with contextlib.closing(outcomes(work, items, executor, name, in_order=in_order)) as ends:
        for item, result in ends:
            if isinstance(result, RankgaugeError):
                raise result
            yield item, result
            if progress is not None:
                progress(name(item))


def _run_by_workers(
    work: Callable[[T], R],
    items: Sequence[T],
    workers: Workers,
    name: Callable[[T], str],
    in_order: bool,
) -> Generator[tuple[T, R | RankgaugeError], None, None]:
    """Each item with its result, by processes or a cluster."""
    if not items:
        return
    pool = workers.pool(len(items))
    shared = workers.start().share(work)
    tasks = [Task(shared, item, name) for item in items]
    early: dict[int, TaskResult[R]] = {}
    turn = 0
    with contextlib.closing(run_tasks(pool, tasks, workers.retries, workers.timeout)) as found:
        for number, end in found:
            if not in_order:
                yield items[number], end.outcome()
                continue
            early[number] = end
            while turn in early:
                yield items[turn], early.pop(turn).outcome()
                turn += 1


def _run_by_futures(
    work: Callable[[T], R],
    items: Sequence[T],
    executor: Executor | None,
    name: Callable[[T], str],
    in_order: bool,
) -> Generator[tuple[T, R | RankgaugeError], None, None]:
    """Each item with its result, by threads or an executor of `concurrent.futures`.

    If the executor fails, for example because a process died, the item is done again in a process of
    its own.
    """
    if executor is None and len(items) < 2:
        for item in items:
            task = Task(Shared(work, anywhere=False), item, name)
            yield item, task(beside_others=False).outcome()
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(min(processors(), len(items))) if executor is None else executor
    shared, wait = share(work, executor), True
    tasks = [Task(shared, item, name) for item in items]
    futures: dict[int, Future[TaskResult[R]]] = {}
    try:
        for number, task in enumerate(tasks):
            with contextlib.suppress(Exception):  # it is broken, or cannot reach its machines
                futures[number] = pool.submit(task)
        for number in range(len(tasks)) if in_order else _as_completed(futures, len(tasks)):
            task, future = tasks[number], futures.pop(number, None)
            if future is None and executor is None:  # no thread could be started
                ended = task(beside_others=False)
            else:
                ended = _future_result(future) or _run_in_own_process(task)
            yield task.item, ended.outcome()
    except KeyboardInterrupt:
        wait = False
        raise
    finally:
        for future in futures.values():
            future.cancel()
        if executor is None:
            pool.shutdown(wait)


def _as_completed(futures: Mapping[int, Future[TaskResult[R]]], count: int) -> Iterator[int]:
    """The numbers of these tasks as they end, and then the others of so many."""
    from concurrent.futures import as_completed

    numbers = {future: number for number, future in futures.items()}
    refused = [number for number in range(count) if number not in futures]
    for future in as_completed(list(numbers)):
        yield numbers.pop(future)
    yield from refused


def _future_result(future: Future[TaskResult[R]] | None) -> TaskResult[R] | None:
    """How a task ended; None if the executor refused the task, or failed."""
    if future is None:
        return None
    try:
        return future.result()
    except Exception:
        return None


def _run_in_own_process(task: Task[T, R]) -> TaskResult[R]:
    """Do a task in a process of its own."""
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    with ProcessPoolExecutor(1) as pool:
        try:
            return pool.submit(task).result()
        except BrokenExecutor:
            return task.failure(DIED)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            return task.failure(f"its worker process could not be started or failed: {why}")


# Workers that may die

MOST_RESENT = 3
"""How often a task that may be blameless is sent again beside others, before it is tried alone."""
BLOCKED = (
    "was not started, because all workers are busy with tasks that take too long; restart "
    "the workers, or allow more time"
)


class WorkerPool(Protocol):
    """Workers that are given tasks by number, and say how each ended."""

    def room(self) -> int:
        """How many tasks they can have at a time."""

    def begin(self, number: int, task: Task[Any, Any]) -> None:
        """Give them a task."""

    def wait(self, seconds: float) -> Iterable[tuple[int, TaskResult[Any] | LostTask]]:
        """The tasks that ended; waits for this time until there is one."""

    def running_seconds(self, number: int) -> float:
        """For how many seconds a worker has been at a task."""

    def is_blocked(self) -> bool:
        """Whether all workers are at tasks that were dropped, and that they cannot be stopped at."""

    def drop(self, numbers: Iterable[int]) -> None:
        """Forget these tasks, and stop them where that is possible."""

    def close(self) -> None:
        """The call is over."""


def run_tasks(
    pool: WorkerPool, tasks: Sequence[Task[T, R]], retries: int, timeout: float | None
) -> Generator[tuple[int, TaskResult[R]], None, None]:
    """The number of each task, and how it ended.

    A task whose worker died is tried again when nothing else is under way. So it cannot be blamed for
    what another task did, and it cannot hurt another task.
    """
    waiting, suspects = deque(range(len(tasks))), deque[int]()
    under_way: set[int] = set()
    tried: Counter[int] = Counter()
    resent: Counter[int] = Counter()
    alone = False
    blocked_at: float | None = None
    try:
        while waiting or suspects or under_way:
            alone = alone and bool(under_way)
            while waiting and not alone and len(under_way) < pool.room():
                under_way.add(number := waiting.popleft())
                pool.begin(number, tasks[number])
            if suspects and not under_way:
                alone = True
                under_way.add(number := suspects.popleft())
                pool.begin(number, tasks[number])
            ended = [(n, how) for n, how in pool.wait(PAUSE) if n in under_way]
            under_way.difference_update(number for number, _ in ended)
            # Nobody may wait between the news and this: who ended in time must not look late.
            late = [
                n for n in under_way if timeout is not None and pool.running_seconds(n) > timeout
            ]
            pool.drop(late)
            under_way.difference_update(late)
            for number, how in ended:
                if isinstance(how, TaskResult):
                    yield number, how
                elif how.blameless and not alone and resent[number] < MOST_RESENT:
                    resent[number] += 1
                    waiting.append(number)
                elif tried[number] < retries:
                    tried[number] += 1
                    suspects.append(number)
                else:
                    yield number, tasks[number].failure(how.fault)
            for number in late:
                yield number, tasks[number].failure(f"took longer than {timeout:g} seconds")
            stopped = pool.is_blocked() and not any(
                pool.running_seconds(number) for number in under_way
            )
            blocked_at = (blocked_at or time.monotonic()) if stopped else None
            if blocked_at is not None and time.monotonic() - blocked_at > (timeout or 0.0):
                left = [*under_way, *waiting, *suspects]
                pool.drop(left)
                under_way.clear()
                for number in sorted(left):
                    yield number, tasks[number].failure(BLOCKED)
                return
    finally:
        pool.drop(under_way)
        pool.close()
