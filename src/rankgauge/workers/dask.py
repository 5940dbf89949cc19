"""Dask clusters: tasks on their way to the workers, and what is lost on the way."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import queue
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from rankgauge.core.records import Record
from rankgauge.errors import AbsentFile, InputError, RankgaugeError, missing_package
from rankgauge.version import __version__
from rankgauge.workers.dask_sharing import (
    PATIENCE,
    WAIT,
    BatchInfo,
    BatchResult,
    MissingValues,
    ScatteredValue,
    address_of,
    log_waiting,
    no_worker_error,
    pack_value,
    run_batch,
    scatter,
)
from rankgauge.workers.sharing import (
    PAUSE,
    ClusterError,
    ClusterLost,
    LostTask,
    Shared,
    Task,
    TaskResult,
)

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")

CONNECT_TIMEOUT = 10.0
"""For how many seconds a scheduler is called."""
COUNT_INTERVAL = 2.0
"""After how many seconds the workers are counted again."""
TASKS_PER_THREAD, LEAST_TASKS = 2, 8
"""How many tasks a cluster has for each of its threads, so that none is idle; and at least."""
BATCH_SECONDS, MOST_PER_BATCH = 0.5, 16
"""How many seconds tasks that go together may take, and how many tasks that is at most."""
MOST_REMEMBERED = 256
"""Of how many tasks it is remembered how long they took."""
LARGE = 1 << 20
"""From how many bytes on tasks are scattered, so that the scheduler keeps only their key."""
DIED = "the workers that ran it died: they were killed, crashed, or ran out of memory"
LOCAL_FILE_ONLY = (
    "this machine can access the file, but a worker cannot; put it where all workers can "
    "find it under the same name or, in Python, pass the result of `read_run` or "
    "`read_letor`"
)
REMEDY = "when the cluster is back, run the same command again"


class Cluster:
    """A Dask cluster, by the address of its scheduler or by a client of it."""

    def __init__(self, where: str | Client, *, timed: bool = False) -> None:
        self._own = isinstance(where, str)
        self._timed = timed
        self.client: Any = _connect(where) if isinstance(where, str) else where
        if self.client.status == "closed":
            raise RankgaugeError("the Dask client is closed, expected a client that is connected")
        if self.client.asynchronous:
            raise RankgaugeError("the Dask client is asynchronous, expected a client that waits")

    def pool(self, tasks: int) -> ClusterPool:
        """The cluster, for the tasks of one call, so many."""
        return ClusterPool(self.client, tasks, timed=self._timed)

    def share(self, value: T) -> Shared[T]:
        """A value that each worker is sent once."""
        return ScatteredValue(value, self.client)

    def close(self) -> None:
        """End the connection, if it was made here."""
        if self._own:
            self.client.close(timeout=CONNECT_TIMEOUT)


class ClusterPool:
    """A cluster at the tasks of one call. If it is `timed`, tasks say when they begin.

    If tasks are quick, several go together: each way to a worker and back takes some milliseconds. Tasks
    that were lost together go alone the next time.
    """

    def __init__(self, client: Any, tasks: int, *, timed: bool) -> None:
        self._client, self._timed = client, timed
        self._left = tasks
        """How many tasks are still to come."""
        self._took: deque[float] = deque(maxlen=MOST_REMEMBERED)
        """How many seconds the last tasks took."""
        self._address = address_of(client)
        self._name = f"rankgauge-{uuid.uuid4().hex}"
        self._waiting: list[_PackedTask] = []
        self._packed: dict[int, _PackedTask] = {}
        self._lacked: set[int] = set()
        """Tasks whose worker lacked what they need; it goes along the next time."""
        self._workers: set[str] = set()
        self._futures: dict[int, Any] = {}
        self._together: dict[Any, list[int]] = {}
        """The tasks of each future."""
        self._alone: set[int] = set()
        self._ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._since: dict[int, float] = {}
        self._stuck: set[int] = set()
        """Tasks that were given up, and that a worker is still at."""
        self._fetching_time = COUNT_INTERVAL
        """For how many seconds results are fetched before they are asked for again. After a worker died,
        Dask may wait for a result that is there. Each time the seconds double: results may be large."""
        if timed:
            _listener(client).pools[self._name] = self
        self._looked, self._last_worker, self._threads = -COUNT_INTERVAL, time.monotonic(), 0
        self._told = False
        """Whether it is said that there are no workers."""

    def room(self) -> int:
        """How many tasks are given to the cluster at a time: enough for all threads of its workers."""
        self._count_threads()
        return max(LEAST_TASKS, TASKS_PER_THREAD * self._threads) * self._batch_size()

    def _batch_size(self) -> int:
        """How many tasks go together: as many as are quick, judging by the last tasks.

        Toward the end there are fewer, so that each thread gets its share.
        """
        last = min(TASKS_PER_THREAD * self._threads, MOST_REMEMBERED)
        if self._timed or not last or len(self._took) < last:
            return 1
        slowest = max(itertools.islice(reversed(self._took), last))
        quick = BATCH_SECONDS / max(slowest, 1e-9)
        return max(1, int(min(MOST_PER_BATCH, quick, self._left / self._threads)))

    def _count_threads(self) -> None:
        """Count the threads of the workers, now and then; ClusterLost if there were none for long."""
        self._check_connection()
        now = time.monotonic()
        if now - self._looked < COUNT_INTERVAL:
            return
        self._looked = now
        threads = self._call_scheduler(self._client.nthreads)
        self._workers, self._threads = set(threads), sum(threads.values())
        if self._threads:
            self._last_worker, self._told = now, False
        elif now - self._last_worker > WAIT and not self._told:
            self._told = True
            log_waiting(self._client)
        elif now - self._last_worker > PATIENCE:
            raise no_worker_error(self._client, PATIENCE)

    def begin(self, number: int, task: Task[Any, Any]) -> None:
        """Take a task; it is sent with others when news is asked for."""
        self._packed[number] = one = _PackedTask(number, *pack_value(task))
        self._waiting.append(one)
        self._left -= 1

    def _send(self) -> None:
        """Send the tasks that wait to the cluster."""
        waiting, self._waiting = self._waiting, []
        several = [one for one in waiting if self._can_be_batched(one)]
        alone = [[one] for one in waiting if not self._can_be_batched(one)]
        size = self._batch_size()
        for tasks in (*alone, *(several[at : at + size] for at in range(0, len(several), size))):
            future = self._call_scheduler(self._submit, tasks)
            numbers = self._together[future] = [one.number for one in tasks]
            self._futures.update(dict.fromkeys(numbers, future))
            future.add_done_callback(self._ended.put)

    def _can_be_batched(self, task: _PackedTask) -> bool:
        return (
            task.number not in self._alone
            and task.number not in self._lacked
            and len(task.content) < LARGE
        )

    def _submit(self, tasks: Sequence[_PackedTask]) -> Any:
        needed = {value.key: value for one in tasks for value in one.needed}
        numbers = [one.number for one in tasks]
        values = {
            key: value.future()
            for key, value in needed.items()
            if self._lacked.intersection(numbers) or not self._workers <= value.holders()
        }
        contents: Any = [one.content for one in tasks]
        if sum(map(len, contents)) > LARGE:
            contents = scatter(self._client, [contents])[0]
        topic = _listener(self._client).topic if self._timed else None
        about = BatchInfo(__version__, os.getcwd(), topic, self._name, numbers, list(needed))
        key = f"{self._name}-{numbers[0]}-{uuid.uuid4().hex[:8]}"
        return self._client.submit(run_batch, values, contents, about, key=key, pure=False)

    def wait(self, seconds: float) -> Iterator[tuple[int, TaskResult[Any] | LostTask]]:
        """The tasks that ended."""
        self._send()
        ended: list[Any] = []
        with contextlib.suppress(queue.Empty):
            ended.append(self._ended.get(timeout=seconds))
            while True:
                ended.append(self._ended.get_nowait())
        if not ended:
            self._count_threads()
        futures = [future for future in ended if future in self._together]  # not those dropped
        found = self._gather(futures)
        for future in futures:
            how = found.get(future) or self._task_ending(future)
            if how is None:  # its result was lost, and is made again
                future.add_done_callback(self._ended.put)
                continue
            numbers = self._together.pop(future)
            if isinstance(how, BatchResult):
                self._took.append(how.seconds / len(numbers))
            if isinstance(how, MissingValues):
                self._lacked.update(numbers)
                self._waiting += [self._packed[number] for number in numbers]
                continue
            for number in numbers:
                one = self._packed.pop(number)
                if isinstance(how, BatchResult):
                    for value in one.needed:
                        value.holders().add(how.worker)
                del self._futures[number]
                self._since.pop(number, None)
            if isinstance(how, LostTask):
                several = len(numbers) > 1
                self._alone.update(numbers)
                lost = LostTask(how.fault, blameless=how.blameless or several)
                yield from ((number, lost) for number in numbers)
            else:
                yield from zip(numbers, map(_explain_absent_file, how.ended), strict=True)

    def _gather(self, futures: Sequence[Any]) -> dict[Any, BatchResult | MissingValues]:
        """The results of those tasks that have one, fetched together; none if one cannot be had."""
        there = [future for future in futures if future.status == "finished"]
        if len(there) < 2:
            return {}
        try:
            results = self._fetch(there)
        except Exception:  # then each is asked for by itself
            self._check_connection()
            return {}
        return {} if results is None else dict(zip(there, results, strict=True))

    def _fetch(self, futures: Sequence[Any]) -> list[BatchResult | MissingValues] | None:
        """The results of tasks; None if they do not come in time."""
        coroutine = self._client.gather(futures, asynchronous=True)
        fetching = asyncio.run_coroutine_threadsafe(coroutine, self._client.loop.asyncio_loop)
        start = time.monotonic()
        while time.monotonic() - start < self._fetching_time and not fetching.done():
            with contextlib.suppress(TimeoutError):
                fetching.exception(PAUSE)
            self._check_connection()
        if fetching.done():
            results: list[BatchResult | MissingValues] = fetching.result()
            return results
        fetching.cancel()
        self._fetching_time *= 2
        return None

    def _task_ending(self, future: Any) -> BatchResult | MissingValues | LostTask | None:
        """How tasks ended; None if they have not, since their result was lost."""
        from distributed import KilledWorker

        try:
            results = self._fetch([future])
        except KilledWorker:
            return LostTask(DIED)
        except (CancelledError, OSError) as error:  # it was lost with a worker, or all is lost
            self._check_connection()
            if isinstance(error, CancelledError) and future.status == "finished":
                return None  # only the fetching was cancelled
            return LostTask(DIED, blameless=True)
        except RankgaugeError:
            raise
        except Exception as error:
            self._check_connection()
            remedy = ""
            if isinstance(error, ImportError):
                remedy = "; install the same version of rankgauge on all workers"
            raise ClusterError(
                f"a worker of {self._address} failed: {type(error).__name__}: {error}{remedy}"
            ) from error
        return None if results is None else results[0]

    def running_seconds(self, number: int) -> float:
        """For how many seconds a worker has been at a task; 0 before it begins and after it ended."""
        since, future = self._since.get(number), self._futures.get(number)
        if since is None or future is None or future.done():
            return 0.0
        return time.monotonic() - since

    def is_blocked(self) -> bool:
        """Whether all threads of the workers are at tasks that were given up."""
        return bool(self._stuck) and len(self._stuck) >= self._threads

    def drop(self, numbers: Iterable[int]) -> None:
        """Take these tasks from the cluster. A task that a worker is at goes on there to its end."""
        numbers = list(numbers)
        self._stuck.update(number for number in numbers if number in self._since)
        self._waiting = [one for one in self._waiting if one.number not in numbers]
        found = {self._futures.pop(number, None) for number in numbers}
        dropped = [future for future in found if future is not None]
        for future in dropped:
            self._together.pop(future, None)
        if dropped and self._client.status == "running":
            with contextlib.suppress(Exception):
                self._client.cancel(dropped, force=True)

    def close(self) -> None:
        """Listen no more to when tasks begin and end."""
        if self._timed:
            _listener(self._client).pools.pop(self._name, None)

    def record_event(self, number: int, begun: bool) -> None:
        """A worker says that it begins, or ends, a task."""
        if begun:
            self._since[number] = time.monotonic()
        else:
            self._stuck.discard(number)

    def _call_scheduler(self, function: Any, *arguments: Any) -> Any:
        """Call the scheduler; ClusterLost if it is gone."""
        try:
            return function(*arguments)
        except RankgaugeError:
            raise
        except Exception as error:
            self._check_connection()
            if isinstance(error, OSError | CancelledError):
                raise self._connection_error() from error
            raise

    def _check_connection(self) -> None:
        if self._client.status != "running":
            raise self._connection_error()

    def _connection_error(self) -> ClusterLost:
        return ClusterLost(
            f"the connection to the Dask scheduler {self._address} is lost; {REMEDY}"
        )


class _PackedTask(Record):
    """A task as bytes, and what it shares with others."""

    number: int
    content: bytes
    needed: list[ScatteredValue[Any]]


def _explain_absent_file(ended: TaskResult[Any]) -> TaskResult[Any]:
    """How a task ended; a file that a worker does not see may be one that this machine sees."""
    if isinstance(ended.result, AbsentFile) and os.path.exists(ended.result.source):
        ended.result = InputError(ended.result.source, ended.result.line, LOCAL_FILE_ONLY)
    return ended


class _Listener:
    """Hears, for all calls of a client, when workers begin and end tasks."""

    def __init__(self, client: Any) -> None:
        self.pools: dict[str, ClusterPool] = {}
        self.topic = f"rankgauge-{client.id}"
        client.subscribe_topic(self.topic, self._on_event)

    def _on_event(self, event: tuple[float, Any]) -> None:
        name, number, begun = event[1]
        pool = self.pools.get(name)
        if pool is not None:
            pool.record_event(number, begun)


_listeners: WeakKeyDictionary[Any, _Listener] = WeakKeyDictionary()


def _listener(client: Any) -> _Listener:
    if client not in _listeners:
        _listeners[client] = _Listener(client)
    return _listeners[client]


def _connect(address: str) -> Any:
    try:
        import distributed
    except ImportError:
        raise missing_package("distributed", "dask") from None
    for name in list(logging.root.manager.loggerDict):  # what goes wrong is told by exceptions
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        connect: Any = distributed.Client
        return connect(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except Exception as error:
        why = str(error) or type(error).__name__
        if isinstance(error, OSError | CancelledError) or not str(error):
            raise ClusterLost(f"no Dask scheduler answers at {address}: {why}") from None
        # An address that Dask does not know, or TLS without certificates.
        raise ClusterError(
            f"Dask cannot use the address {address}: {why}; expected one such as tcp://10.0.0.1:8786; "
            "tls://… needs the TLS settings of Dask"
        ) from None
