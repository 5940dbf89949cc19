"""What is sent to a worker: tasks, and what all tasks need."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, cast

from rankgauge.core.records import Record
from rankgauge.errors import InputError, RankgaugeError

T = TypeVar("T")
R = TypeVar("R")

PAUSE = 0.5
"""For how many seconds the end of a task is awaited at a time."""
DIED = "the process that worked on it was killed or crashed"


class WorkerDied(RankgaugeError):
    """A worker ended before its work was done, or took too long."""


class ClusterLost(RankgaugeError):
    """The scheduler of a cluster, or all its workers, cannot be reached."""


class ClusterError(RankgaugeError):
    """The workers of a cluster are not made for this work."""


SHARING = threading.local()
"""Marks the threads that share the processors with other threads of this library."""


def processors() -> int:
    """Return the number of processors that this thread may use.

    Returns
    -------
    int
        The number of processors of this process; 1 in a thread that runs beside other threads of this
        library.

    Examples
    --------
    >>> processors() >= 1
    True
    """
    if getattr(SHARING, "one_of_many", False):
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Where files are

_task_folder = threading.local()


@contextmanager
def use_folder(folder: str) -> Iterator[None]:
    """Meanwhile, names of files in this thread start from this folder, that of who gave the task."""
    before = getattr(_task_folder, "folder", None)
    _task_folder.folder = folder
    try:
        yield
    finally:
        _task_folder.folder = before


def resolve_path(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The path at which to open a file."""
    folder = getattr(_task_folder, "folder", None)
    return path if folder is None else os.path.join(folder, path)


# What all tasks need

Preparation = tuple[Callable[..., Any], tuple[Any, ...]]
_preparations: list[Preparation] = []
_preparing = threading.RLock()


def prepare(function: Callable[..., Any], *arguments: Any) -> None:
    """Make every worker process call a function before its first task.

    Use it for what a process needs before it can work, such as a plug-in that registers measures. Call
    the function in this process too: `prepare` does not.

    Parameters
    ----------
    function : callable
        The function. It must be picklable.
    *arguments : object
        Its arguments, which must be picklable too.

    Examples
    --------
    >>> import warnings
    >>> prepare(warnings.simplefilter, "ignore", FutureWarning)
    """
    if (function, arguments) not in _preparations:
        _preparations.append((function, arguments))


def preparations() -> tuple[Preparation, ...]:
    """What every worker process must call before its first task."""
    return tuple(_preparations)


def make_ready(prepared: Iterable[Preparation]) -> tuple[Preparation, ...]:
    """Call these functions in a worker process, unless it did so already."""
    prepared = tuple(prepared)
    with _preparing:
        for function, arguments in prepared:
            if (function, arguments) not in _preparations:
                function(*arguments)
                prepare(function, *arguments)
    return prepared


class Shared(Generic[T]):
    """A value that all tasks of a call need.

    Create one with `share`.

    Parameters
    ----------
    value : object
        The value.
    anywhere : bool
        Whether an executor may run tasks on other machines. The pickled value then goes with each task.

    Notes
    -----
    Threads use the value as it is. For processes it is pickled at most once, into a file. Each other
    process on this machine reads the file when one of its tasks first needs the value. The file is
    removed when the value is no longer needed here.

    Examples
    --------
    >>> Shared({"a": 1}, anywhere=False).value
    {'a': 1}
    """

    def __init__(self, value: T, *, anywhere: bool) -> None:
        self._value = value
        self._anywhere = anywhere
        self._key = f"{os.getpid()}-{id(self)}-{os.urandom(8).hex()}"
        self._lock = threading.Lock()
        self._pickled: bytes | str | None = None
        self._prepared = preparations()

    @property
    def value(self) -> T:
        """The value itself."""
        return self._value

    def __reduce__(self) -> tuple[Any, ...]:
        import pickle

        with self._lock:
            if self._pickled is None:
                content = pickle.dumps(self._value, protocol=pickle.HIGHEST_PROTOCOL)
                self._pickled = content if self._anywhere else self._write_file(content)
        return _ReceivedValue, (self._key, self._prepared, self._pickled)

    def _write_file(self, content: bytes) -> str:
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


class _ReceivedValue:
    """A `Shared` value in the process that received it."""

    def __init__(self, key: str, prepared: Sequence[Preparation], pickled: bytes | str) -> None:
        self._key, self._prepared, self._pickled = key, prepared, pickled
        # Before anything else of the task is unpickled: it may be of a class that a plug-in brings.
        make_ready(prepared)

    def __reduce__(self) -> tuple[Any, ...]:
        return _ReceivedValue, (self._key, self._prepared, self._pickled)

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


# Tasks


class TaskResult(Generic[R]):
    """How a task ended: with a result, a failure of its item, or an error that ends everything."""

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
        return TaskResult, (self.result, error)


class Task(Generic[T, R]):
    """The work, which all tasks share, on an item; `name` gives the name of the item in messages."""

    def __init__(self, work: Shared[Callable[[T], R]], item: T, name: Callable[[T], str]) -> None:
        self.work, self.item, self.name = work, item, name

    def __reduce__(self) -> tuple[Any, ...]:
        # The work first: it makes the other process ready, which the item may need.
        return Task, (self.work, self.item, self.name)

    def __call__(self, *, beside_others: bool = True) -> TaskResult[R]:
        """Do the work, in the thread that was given it; a failure of the item is its result.

        If other threads work `beside_others`, this thread uses only one processor.
        """
        before = getattr(SHARING, "one_of_many", False)
        SHARING.one_of_many = before or beside_others
        try:
            return TaskResult(self.work.value(self.item))
        except InputError as error:
            return TaskResult(error)
        except MemoryError:
            return self.failure("not enough memory", RankgaugeError)
        except Exception as error:
            return TaskResult(None, error)
        finally:
            SHARING.one_of_many = before

    def failure(self, fault: str, kind: type[RankgaugeError] = WorkerDied) -> TaskResult[R]:
        """How the task ended if it failed for this reason."""
        return TaskResult(kind(f"{self.name(self.item)}: {fault}"))


class LostTask(Record):
    """A task whose worker is gone. `blameless`: another task, or nobody, may be the cause."""

    fault: str
    blameless: bool = False
