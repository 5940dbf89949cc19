"""What all tasks need, on its way to the workers of a Dask cluster.

A value is known by its content. It is sent when a task first needs it, and every worker gets it once. If
all workers that had it are gone, it is sent again. A small value goes with each task instead. So does a
value that holds other shared values; those go apart.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections import OrderedDict
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from rankgauge.workers.on_workers import taken_along, unpacked
from rankgauge.workers.packing import Parcel, digest_of, note_shared, packed
from rankgauge.workers.sharing import MOST_VALUES, Shared, preparations
from rankgauge.workers.tasks import ClusterError, ClusterLost

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

PATIENCE, WAIT = 300.0, 5.0
"""For how many seconds a cluster may have no worker, and for how many Dask waits for one at a time;
after that a log message, which Python prints to standard error by default, says that we wait."""
AGAIN, MOST_TRIES = 0.2, 5
"""After how many seconds values are sent again that did not arrive, and how often at most, if it is not
the connection that failed."""
SMALL = 1 << 14
"""Up to how many bytes a value goes with each task."""

_sent: WeakKeyDictionary[Any, OrderedDict[str, tuple[Any, set[str]]]] = WeakKeyDictionary()
"""For each client, the values that it sent last, with the workers that are known to have them. They stay
there for the next call."""


class Scattered(Shared[T]):
    """A value on the workers of a cluster, known by its content."""

    def __init__(self, value: T, client: Client) -> None:
        super().__init__(value, anywhere=True)
        self._client: Any = client
        self._parcel = Parcel(preparations(), value)
        content = digest_of(self._parcel)
        self._parcel.size = content.size
        self.key = f"rankgauge-{content.digest}"
        self._goes_along = content.holds_shared or (content.known and content.size <= SMALL)

    def __reduce__(self) -> tuple[Any, ...]:
        if not self._goes_along:
            note_shared(self.key, self)
            return unpacked, (self.key,)
        content, needed = self._along
        for value in needed:
            note_shared(value.key, value)
        return taken_along, (self.key, content)

    @cached_property
    def _along(self) -> tuple[bytes, list[Scattered[Any]]]:
        """The value as it goes with a task, and the shared values that it holds."""
        return packed(self._parcel)

    def holders(self) -> set[str]:
        """The addresses of the workers that are known to have the value."""
        known = _sent.get(self._client, OrderedDict()).get(self.key)
        return set() if known is None else known[1]

    def future(self) -> Any:
        """Where the value is; it is sent now if it is nowhere."""
        sent = _sent.setdefault(self._client, OrderedDict())
        future, holders = sent.pop(self.key, (None, set()))
        if future is None or future.status != "finished":
            future = scattered(self._client, {self.key: self._parcel})[self.key]
            with contextlib.suppress(Exception):  # who lacks it fetches it with the first task
                self._client.replicate([future])
        sent[self.key] = future, holders
        while len(sent) > MOST_VALUES:
            sent.popitem(last=False)
        return future


def scattered(client: Any, values: Any) -> Any:
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
                say_waiting(client)
            late = time.monotonic() - start > PATIENCE
            if late and isinstance(error, TimeoutError):
                raise no_worker(client, PATIENCE) from None
            if late or (tries > MOST_TRIES and not isinstance(error, OSError | KeyError)):
                raise ClusterError(
                    f"a worker could not take what it was sent: {error}; all workers need the packages, "
                    "and the files and variables of plug-ins, that this machine has"
                ) from error
        time.sleep(AGAIN)


def say_waiting(client: Any) -> None:
    """Log that a cluster has no worker."""
    logging.getLogger("rankgauge").warning(
        "note: waiting for workers at %s; the cluster has none", address_of(client)
    )


def no_worker(client: Any, seconds: float) -> ClusterLost:
    """The error for a cluster that had no worker for this time."""
    return ClusterLost(
        f"the Dask cluster {address_of(client)} has had no worker for {seconds:g} seconds; start some "
        "workers, and then the same command again"
    )


def address_of(client: Any) -> str:
    """The address of the scheduler."""
    scheduler = client.scheduler
    return str(getattr(scheduler, "address", None) or "of this client")
