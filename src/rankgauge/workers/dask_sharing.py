"""Tasks and shared values on their way to the workers of a Dask cluster, and what runs there.

A shared value is known by its content. It is sent when a task first needs it, and every worker gets it
once. If all workers that had it are gone, it is sent again. A small value goes with each task instead.
So does a value that holds other shared values; those are sent by themselves.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import pickle
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from rankgauge.core.records import Record
from rankgauge.version import __version__
from rankgauge.workers.sharing import (
    MOST_VALUES,
    ClusterError,
    ClusterLost,
    Preparation,
    Shared,
    Task,
    TaskResult,
    make_ready,
    preparations,
    use_folder,
)

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

PATIENCE, WAIT = 300.0, 5.0
"""For how many seconds a cluster may have no worker, and for how many Dask waits for one at a time;
after that a log message, which Python prints to standard error by default, says that we wait."""
RETRY_SECONDS, MOST_TRIES = 0.2, 5
"""After how many seconds values are sent again that did not arrive, and how often at most, if it is not
the connection that failed."""
LARGEST_ATTACHED = 1 << 14
"""Up to how many bytes a value goes with each task."""


# Bytes


class Parcel:
    """A value on its way.

    What each process must do first is done before the value is unpickled: the value may be of a class
    that a plug-in brings.
    """

    def __init__(self, prepared: tuple[Preparation, ...], value: Any, size: int = 0) -> None:
        self.prepared, self.value, self.size = prepared, value, size

    def __reduce__(self) -> tuple[Any, ...]:
        return Parcel, (_ProcessPreparation(self.prepared), self.value, self.size)

    def __sizeof__(self) -> int:
        return self.size  # Dask asks, to know how full a worker is


class _ProcessPreparation(Record):
    """Makes the process ready that unpickles it."""

    prepared: tuple[Preparation, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return make_ready, (self.prepared,)


_packing = threading.local()
"""The shared values in what this thread pickles, by key."""


@contextlib.contextmanager
def _collect_shared() -> Iterator[dict[str, ScatteredValue[Any]]]:
    """The shared values in what is pickled meanwhile."""
    before = getattr(_packing, "shared", None)
    shared: dict[str, ScatteredValue[Any]] = {}
    _packing.shared = shared
    try:
        yield shared
    finally:
        _packing.shared = before


def pack_value(value: Any) -> tuple[bytes, list[ScatteredValue[Any]]]:
    """A task as bytes, and the shared values that it needs, which are not among these bytes."""
    from distributed.protocol import pickle as any_pickle

    dumps: Any = any_pickle.dumps
    with _collect_shared() as shared:
        content = bytes(dumps(value))
    return content, list(shared.values())


def _unpickle(content: bytes) -> Any:
    from distributed.protocol import pickle as any_pickle

    loads: Any = any_pickle.loads
    return loads(content)


class _HashWriter:
    """A file that keeps nothing but a digest of what is written to it."""

    def __init__(self) -> None:
        self.digest, self.size = hashlib.sha256(), 0

    def write(self, content: Any) -> None:
        self.digest.update(content)
        self.size += memoryview(content).nbytes

    def write_array(self, buffer: pickle.PickleBuffer) -> None:
        """The content of an array, which is not copied."""
        self.write(buffer.raw())


class PickleDigest(Record):
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


def digest_of(value: Any) -> PickleDigest:
    """What is known of a value as it is pickled; no copy is made."""
    hashing = _HashWriter()
    with _collect_shared() as shared:
        try:
            pickle.Pickler(hashing, 5, buffer_callback=hashing.write_array).dump(value)
        except Exception:  # cloudpickle will do
            return PickleDigest(uuid.uuid4().hex, hashing.size, False, bool(shared))
    return PickleDigest(hashing.digest.hexdigest(), hashing.size, True, bool(shared))


# Values


_sent: WeakKeyDictionary[Any, OrderedDict[str, tuple[Any, set[str]]]] = WeakKeyDictionary()
"""For each client, the values that it sent last, with the workers that are known to have them. They stay
there for the next call."""


class ScatteredValue(Shared[T]):
    """A value on the workers of a cluster, known by its content."""

    def __init__(self, value: T, client: Client) -> None:
        super().__init__(value, anywhere=True)
        self._client: Any = client
        self._parcel = Parcel(preparations(), value)
        content = digest_of(self._parcel)
        self._parcel.size = content.size
        self.key = f"rankgauge-{content.digest}"
        self._goes_along = content.holds_shared or (
            content.known and content.size <= LARGEST_ATTACHED
        )

    def __reduce__(self) -> tuple[Any, ...]:
        if not self._goes_along:
            _packing.shared[self.key] = self
            return _get_worker_value, (self.key,)
        content, needed = self._packed_parcel
        for value in needed:
            _packing.shared[value.key] = value
        return _load_attached_value, (self.key, content)

    @cached_property
    def _packed_parcel(self) -> tuple[bytes, list[ScatteredValue[Any]]]:
        """The value as it goes with a task, and the shared values that it holds."""
        return pack_value(self._parcel)

    def holders(self) -> set[str]:
        """The addresses of the workers that are known to have the value."""
        known = _sent.get(self._client, OrderedDict()).get(self.key)
        return set() if known is None else known[1]

    def future(self) -> Any:
        """Where the value is; it is sent now if it is nowhere."""
        sent = _sent.setdefault(self._client, OrderedDict())
        future, holders = sent.pop(self.key, (None, set()))
        if future is None or future.status != "finished":
            future = scatter(self._client, {self.key: self._parcel})[self.key]
            with contextlib.suppress(Exception):  # who lacks it fetches it with the first task
                self._client.replicate([future])
        sent[self.key] = future, holders
        while len(sent) > MOST_VALUES:
            sent.popitem(last=False)
        return future


def scatter(client: Any, values: Any) -> Any:
    """Send values to a worker. Other workers fetch them from there, and then from each other."""
    start, tries = time.monotonic(), 0
    while True:
        try:
            return client.scatter(values, hash=False, timeout=WAIT)
        except Exception as error:  # the worker died meanwhile, or there is none, or it refuses
            if client.status != "running":
                raise
            tries += 1
            if tries == 1 and isinstance(error, TimeoutError):
                log_waiting(client)
            late = time.monotonic() - start > PATIENCE
            if late and isinstance(error, TimeoutError):
                raise no_worker_error(client, PATIENCE) from None
            if late or (tries > MOST_TRIES and not isinstance(error, OSError | KeyError)):
                raise ClusterError(
                    f"a worker could not load what it was sent: {error}; all workers need "
                    "the same packages, plug-in files and plug-in variables as this machine"
                ) from error
        time.sleep(RETRY_SECONDS)


def log_waiting(client: Any) -> None:
    """Log that a cluster has no worker."""
    logging.getLogger("rankgauge").warning(
        "note: waiting for workers at %s; the cluster has none", address_of(client)
    )


def no_worker_error(client: Any, seconds: float) -> ClusterLost:
    """The error for a cluster that had no worker for this time."""
    return ClusterLost(
        f"the Dask cluster {address_of(client)} has had no worker for {seconds:g} seconds; "
        "start some workers, then run the same command again"
    )


def address_of(client: Any) -> str:
    """The address of the scheduler."""
    return str(getattr(client.scheduler, "address", None) or "of this client")


# On the workers


class BatchInfo(Record):
    """What a worker is told of tasks: who sends them, and which shared values they need."""

    version: str
    folder: str
    topic: str | None
    call: str
    numbers: list[int]
    keys: list[str]


class BatchResult(Record):
    """How tasks ended, where, and how many seconds they took together."""

    worker: str
    seconds: float
    ended: list[TaskResult[Any]]


class MissingValues(Record):
    """Tasks that were not begun: the worker lacks what they need."""


class _ValueCache:
    """The few values that this worker used last, by key. Dask drops copies of what no task waits for."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Parcel] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Parcel | None:
        with self._lock:
            return self._kept.get(key)

    def keep(self, values: Mapping[str, Parcel]) -> None:
        """Keep these values, which are used now."""
        with self._lock:
            for key, value in values.items():
                self._kept[key] = value
                self._kept.move_to_end(key)
            while len(self._kept) > MOST_VALUES:
                self._kept.popitem(last=False)


_scattered_values, _attached_values = _ValueCache(), _ValueCache()
_unpacking = threading.local()
"""The shared values that the task needs which this thread unpacks, by key."""


class _WorkerValue(Record):
    """A shared value on a worker."""

    key: str
    value: Any


def _get_worker_value(key: str) -> _WorkerValue:
    return _WorkerValue(key, _unpacking.values[key].value)


def _load_attached_value(key: str, content: bytes) -> Parcel:
    """A shared value that came with a task; it is unpickled once."""
    value: Parcel = _attached_values.get(key) or _unpickle(content)
    _attached_values.keep({key: value})
    return value


def run_batch(
    given: Mapping[str, Parcel], contents: list[bytes], about: BatchInfo
) -> BatchResult | MissingValues:
    """Do tasks, on a worker."""
    from distributed import get_worker

    worker = get_worker()
    if about.version != __version__:
        raise ClusterError(
            f"the worker {worker.address} has rankgauge {__version__}, expected {about.version} as on "
            "this machine; install the same version on all workers"
        )
    values = {}
    for key in about.keys:
        value = given.get(key) or _scattered_values.get(key)
        if value is None:
            return MissingValues()
        values[key] = value
    _scattered_values.keep(values)
    ended, start = [], time.monotonic()
    for number, content in zip(about.numbers, contents, strict=True):
        if about.topic is not None:
            worker.log_event(about.topic, (about.call, number, True))
        try:
            with use_folder(about.folder):
                ended.append(_unpickle_task(values, content)())
        finally:
            if about.topic is not None:
                worker.log_event(about.topic, (about.call, number, False))
    return BatchResult(worker.address, time.monotonic() - start, ended)


def _unpickle_task(values: Mapping[str, Parcel], content: bytes) -> Task[Any, Any]:
    _unpacking.values = values
    try:
        task: Task[Any, Any] = _unpickle(content)
    finally:
        del _unpacking.values
    return task
