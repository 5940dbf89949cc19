"""Work over many things, by threads or any executor: results in order, and a failure is of one thing."""

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
    """A process that worked for us ended before its work did."""


SHARING = threading.local()
"""Marks the threads that share the processors with others of ours."""


def processors() -> int:
    """How many processors are for this thread to use."""
    if getattr(SHARING, "one_of_many", False):
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# What all tasks need


Preparation = tuple[Callable[..., Any], tuple[Any, ...]]
_preparations: list[Preparation] = []


def prepare(function: Callable[..., Any], *arguments: Any) -> None:
    """Have every other process call this function before it works for us, as this one has done."""
    if (function, arguments) not in _preparations:
        _preparations.append((function, arguments))


class Shared(Generic[T]):
    """A value that many tasks need. Threads share it as it is; a process is sent it once.

    It is pickled at most once, into a file that other processes of this machine read, each the first
    time that a task of its asks for the value. The file goes when the value is no longer needed here.
    For an executor that may work on other machines, the bytes go with each task instead.
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
        """The name of a file with this content, which goes with this object."""
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
"""The values that this process was sent, by key: the last few."""
MOST_VALUES = 4


class _Received:
    """What a `Shared` is in the process that it was sent to."""

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
        """The value, unpickled the first time it is asked for in this process."""
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
    """A value that all tasks need, to be handed to them as seldom as the executor allows.

    Threads get the value itself, local processes read it once each, and any other executor gets it
    with every task. Tasks ask for it by `.value`.
    """
    if executor is None:
        return Shared(value, anywhere=False)
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    local = isinstance(executor, ProcessPoolExecutor | ThreadPoolExecutor)
    return Shared(value, anywhere=not local)


# Tasks


class Ended(Generic[R]):
    """What came of a task: a result, the failure of its one item, or an error that ends everything."""

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
    """Each item with what the work made of it, in order; an InputError or a lack of memory as it is.

    Without an executor, threads do the work. The work is shared by all tasks (`share`). Whatever an
    executor raises is its own failure, such as a process that died: the item is done again in a
    process of its own, so that the fault falls on the item that has it. Any other error that the work
    raises ends everything.
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
    """What came of a task; None where the executor failed, in whichever way."""
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
    """What the work makes of an item, its own failures as values."""
    try:
        return Ended(work(item))
    except InputError as error:
        return Ended(error)
    except MemoryError:
        return Ended(RankgaugeError(f"{name(item)}: not enough memory"))
    except Exception as error:
        return Ended(None, error)


def _alone(shared: Shared[Callable[[T], R]], item: T, name: Callable[[T], str]) -> Ended[R]:
    """What comes of a task in a process of its own."""
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    with ProcessPoolExecutor(1) as pool:
        try:
            return pool.submit(_one_of_many, shared, item, name).result()
        except BrokenExecutor:
            fault = "the process that worked on it was killed or crashed"
        except Exception as error:
            fault = f"no process could be asked to work on it: {type(error).__name__}: {error}"
    return Ended(WorkerDied(f"{name(item)}: {fault}"))
