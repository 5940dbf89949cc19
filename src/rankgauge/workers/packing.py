"""Tasks on their way to a cluster: as bytes, without what they share with others, which goes apart."""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import threading
import uuid
from collections.abc import Iterator
from typing import Any

from rankgauge.core.records import Record
from rankgauge.workers.sharing import Preparation, make_ready

_packing = threading.local()
"""What the thread that packs a task has found in it."""


def note_shared(key: str, value: Any) -> None:
    """While something is packed: here is a value that it shares with others."""
    _packing.found[key] = value


class Parcel:
    """A value on its way. What each process must do first is done before the value is unpickled: the
    value may be of a class that a plug-in brings."""

    def __init__(self, prepared: tuple[Preparation, ...], value: Any, size: int = 0) -> None:
        self.prepared, self.value, self.size = prepared, value, size

    def __reduce__(self) -> tuple[Any, ...]:
        return _parcel, (_Ready(self.prepared), self.value, self.size)

    def __sizeof__(self) -> int:
        return self.size  # Dask asks, to know how full a worker is


class _Ready:
    """Makes the process ready that unpickles it."""

    def __init__(self, prepared: tuple[Preparation, ...]) -> None:
        self.prepared = prepared

    def __reduce__(self) -> tuple[Any, ...]:
        return _ready, (self.prepared,)


def _ready(prepared: tuple[Preparation, ...]) -> _Ready:
    make_ready(prepared)
    return _Ready(prepared)


def _parcel(ready: _Ready, value: Any, size: int) -> Parcel:
    return Parcel(ready.prepared, value, size)


class _Hashing:
    """A file that keeps nothing but a digest of what is written to it."""

    def __init__(self) -> None:
        self.found, self.size = hashlib.sha256(), 0

    def write(self, content: Any) -> None:
        self.found.update(content)
        self.size += memoryview(content).nbytes

    def take(self, buffer: pickle.PickleBuffer) -> None:
        """The content of an array, which is not copied."""
        self.write(buffer.raw())


class Pickled(Record):
    """What is known of a value as it is pickled.

    Parameters
    ----------
    digest
        A digest of its bytes; of a value that only cloudpickle can pickle, one that nothing else has.
    size
        How many bytes it has, as far as they are known.
    known
        Whether they are.
    holds_shared
        Whether it holds values that it shares with others. They do not count.
    """

    digest: str
    size: int
    known: bool
    holds_shared: bool


def digest_of(value: Any) -> Pickled:
    """What is known of a value as it is pickled; no copy is made."""
    hashing = _Hashing()
    with _found_in_it() as found:
        try:
            pickle.Pickler(hashing, 5, buffer_callback=hashing.take).dump(value)
        except Exception:  # cloudpickle will do
            return Pickled(uuid.uuid4().hex, hashing.size, False, bool(found))
    return Pickled(hashing.found.hexdigest(), hashing.size, True, bool(found))


@contextlib.contextmanager
def _found_in_it() -> Iterator[dict[str, Any]]:
    """What is found, while something is pickled, of what all tasks need."""
    before = getattr(_packing, "found", None)
    found: dict[str, Any] = {}
    _packing.found = found
    try:
        yield found
    finally:
        _packing.found = before


def packed(value: Any) -> tuple[bytes, list[Any]]:
    """A task, or what goes with it, as bytes, without what it shares with others; and that."""
    from distributed.protocol import pickle as any_pickle

    dumps: Any = any_pickle.dumps
    with _found_in_it() as found:
        content = bytes(dumps(value))
    return content, list(found.values())
