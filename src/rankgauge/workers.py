"""Work on many items, by threads or any executor. Results come in order; an item may fail alone."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from rankgauge.data.errors import InputError, RankgaugeError

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

T = TypeVar("T")
R = TypeVar("R")


class WorkerDied(RankgaugeError):
    """A worker process ended before its work was done."""


SHARING = threading.local()
"""Marks the threads that share the processors with other threads of this library."""


def processors() -> int:
    """How many processors this thread may use."""
    if getattr(SHARING, "one_of_many", False):
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# What all tasks need


Preparation = tuple[Callable[..., Any], tuple[Any, ...]]
_preparations: list[Preparation] = []


def prepare(function: Callable[..., Any], *arguments: Any) -> None:
    """Make every worker process call this function before its first task. This process called it
    already."""
    if (function, arguments) not in _preparations:
        _preparations.append((function, arguments))


class Shared(Generic[T]):
    """A value that many tasks need. Threads share it as it is; a process is sent it once.

    The value is pickled at most once, into a file. Each other process on this machine reads the file
    when one of its tasks first asks for the value. The file is removed when the value is no longer
    needed here. If an executor may work on other machines, the bytes go with each task instead.
    """

    def __init__(self, value: T, *, anywhere: bool) -> None:
        self._value = value
        self._anywhere = anywhere
        self._key = f"{os.getpid()}-{id(self)}-{os.urandom(8).hex()}"
        self._lock = threading.Lock()
        self._pickled: bytes | str | None = None
        self._prepared = tuple(_preparations)

    @property
    def value(self) -> T:
        """The value itself."""
        return self._value

    def __reduce__(self) -> tuple[Any, ...]:
        import pickle

        with self._lock:
            if self._pickled is None:
                content = pickle.dumps(self._value, protocol=pickle.HIGHEST_PROTOCOL)
                self._pickled = content if self._anywhere else self._written(content)
        return _Received, (self._key, self._prepared, self._pickled)

    def _written(self, content: bytes) -> str:
        """The name of a file with this content; the file is removed with this object."""
        import tempfile
        import weakref

        handle, name = tempfile.mkstemp(prefix="rankgauge-")
        weakref.finalize(self, _remove, name, os.getpid())
        with open(handle, "wb") as stream:
            stream.write(content)
        return name


def _remove(name: str, owner: int) -> None:
    # A forked process has a copy of the object that made the file, and must leave the file alone.
    if os.getpid() == owner and os.path.exists(name):
        os.remove(name)


_values: dict[str, Any] = {}
"""The last few values that this process received, by key."""
MOST_VALUES = 4


class _Received:
    """A `Shared` value in the process that received it."""

    def __init__(self, key: str, prepared: Sequence[Preparation], pickled: bytes | str) -> None:
        self._key, self._prepared, self._pickled = key, prepared, pickled
        # Before anything else of the task is unpickled: it may be of a class that a plug-in brings.
        for function, arguments in prepared:
            if (function, arguments) not in _preparations:
                function(*arguments)
                prepare(function, *arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Received, (self._key, self._prepared, self._pickled)

    @property
    def value(self) -> Any:
        """The value; it is unpickled when this process first asks for it."""
        if self._key not in _values:
            import pickle

            if isinstance(self._pickled, str):
                with open(self._pickled, "rb") as stream:
                    value = pickle.load(stream)
            else:
                value = pickle.loads(self._pickled)
            while len(_values) >= MOST_VALUES:
                del _values[next(iter(_values))]
            _values[self._key] = value
        return _values[self._key]


def share(value: T, executor: Executor | None = None) -> Shared[T]:
    """A value that all tasks need, sent as seldom as possible. Tasks get it with `.value`.

    Threads get the value itself. Each local process reads it once. Any other executor gets it with every
    task.
    """
    if executor is None:
        return Shared(value, anywhere=False)
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    local = isinstance(executor, ProcessPoolExecutor | ThreadPoolExecutor)
    return Shared(value, anywhere=not local)


# Tasks


class Ended(Generic[R]):
    """How a task ended: with a result, with a failure of its item, or with an error that ends
    everything."""

    def __init__(self, result: R | RankgaugeError | None, error: Exception | None = None) -> None:
        self.result, self.error = result, error

    def outcome(self) -> R | RankgaugeError:
        """The result or the failure; raises the error if there is one."""
        if self.error is not None:
            raise self.error
        return cast("R | RankgaugeError", self.result)

    def __reduce__(self) -> tuple[Any, ...]:
        error = self.error
        if error is not None:
            import pickle

            try:
                pickle.loads(pickle.dumps(error))
            except Exception:  # not every error can be sent between processes
                error = RankgaugeError(f"{type(error).__name__}: {error}")
        return Ended, (self.result, error)


def outcomes(
    work: Callable[[T], R],
    items: Sequence[T],
    executor: Executor | None = None,
    name: Callable[[T], str] = str,
) -> Iterator[tuple[T, R | RankgaugeError]]:
    """Each item with its result, in order. An InputError or a lack of memory is the result of its item.

    Without an executor, threads do the work. All tasks share the work function (`share`). If the
    executor fails, for example because a process died, the item is done again in a process of its own.
    So only the item that caused the failure fails. Any other error in the work ends everything.
    """
    if executor is None and len(items) < 2:
        yield from ((item, _ended(work, item, name).outcome()) for item in items)
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(min(processors(), len(items))) if executor is None else executor
    shared, wait = share(work, executor), True
    futures: list[Future[Ended[R]] | None] = []
    try:
        for item in items:
            try:
                futures.append(pool.submit(_one_of_many, shared, item, name))
            except Exception:  # it is broken, or was shut down, or cannot reach its machines
                futures.append(None)
        for item, future in zip(items, futures, strict=True):
            ended = None if future is None else _received(future)
            if ended is None and executor is None:  # no thread could be started
                ended = _ended(work, item, name)
            yield item, (ended or _alone(shared, item, name)).outcome()
    except KeyboardInterrupt:
        wait = False
        raise
    finally:
        for future in futures:
            if future is not None:
                future.cancel()
        if executor is None:
            pool.shutdown(wait)


def _received(future: Future[Ended[R]]) -> Ended[R] | None:
    """How a task ended; None if the executor failed."""
    try:
        return future.result()
    except Exception:
        return None


def _one_of_many(shared: Shared[Callable[[T], R]], item: T, name: Callable[[T], str]) -> Ended[R]:
    before = getattr(SHARING, "one_of_many", False)
    SHARING.one_of_many = True
    try:
        return _ended(lambda one: shared.value(one), item, name)
    finally:
        SHARING.one_of_many = before


def _ended(work: Callable[[T], R], item: T, name: Callable[[T], str]) -> Ended[R]:
    """Do the work on an item; a failure of the item is its result."""
    try:
        return Ended(work(item))
    except InputError as error:
        return Ended(error)
    except MemoryError:
        return Ended(RankgaugeError(f"{name(item)}: not enough memory"))
    except Exception as error:
        return Ended(None, error)


def _alone(shared: Shared[Callable[[T], R]], item: T, name: Callable[[T], str]) -> Ended[R]:
    """Do a task in a process of its own."""
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    with ProcessPoolExecutor(1) as pool:
        try:
            return pool.submit(_one_of_many, shared, item, name).result()
        except BrokenExecutor:
            fault = "the process that worked on it was killed or crashed"
        except Exception as error:
            fault = f"its worker process could not be started or failed: {type(error).__name__}: {error}"
    return Ended(WorkerDied(f"{name(item)}: {fault}"))
