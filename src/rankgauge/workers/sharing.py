"""What all tasks need: a value is sent to each worker as seldom as possible, and plug-ins come along."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

T = TypeVar("T")

Preparation = tuple[Callable[..., Any], tuple[Any, ...]]
_preparations: list[Preparation] = []
_preparing = threading.RLock()


def prepare(function: Callable[..., Any], *arguments: Any) -> None:
    """Make every worker process call this function before its first task. This process called it
    already."""
    if (function, arguments) not in _preparations:
        _preparations.append((function, arguments))


def preparations() -> tuple[Preparation, ...]:
    """What every worker process must call before its first task."""
    return tuple(_preparations)


def make_ready(prepared: Iterable[Preparation]) -> None:
    """Call these functions in a worker process, unless it did so already."""
    with _preparing:
        for function, arguments in prepared:
            if (function, arguments) not in _preparations:
                function(*arguments)
                prepare(function, *arguments)


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
        make_ready(prepared)

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
