"""What runs on the workers of a cluster: tasks, and the values that many of them need."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

from rankgauge.core.records import Record
from rankgauge.version import __version__
from rankgauge.workers.packing import Parcel
from rankgauge.workers.places import working_for
from rankgauge.workers.sharing import MOST_VALUES
from rankgauge.workers.tasks import ClusterError, Ended, Task


class About:
    """What a worker is told of tasks."""

    def __init__(
        self,
        version: str,
        folder: str,
        topic: str | None,
        call: str,
        numbers: list[int],
        keys: list[str],
    ) -> None:
        self.version, self.folder, self.keys = version, folder, keys
        self.topic, self.call, self.numbers = topic, call, numbers


class Done(Record):
    """How tasks ended, where, and how many seconds they took together."""

    worker: str
    seconds: float
    ended: list[Ended[Any]]


class Lacking(Record):
    """Tasks that were not begun: the worker lacks what they need."""


_held: OrderedDict[str, Parcel] = OrderedDict()
"""The values that this worker used last. Dask drops copies of what no task waits for; these stay."""
_holding = threading.Lock()


def _values(given: Mapping[str, Parcel], keys: Iterable[str]) -> dict[str, Parcel] | None:
    """The values of these keys, as they were given or are held; None if one is not there."""
    with _holding:
        for key in keys:
            if key not in given and key not in _held:
                return None
        values = {key: given[key] if key in given else _held[key] for key in keys}
        _keep_last(_held, values)
    return values


def _keep_last(kept: OrderedDict[str, Parcel], used: Mapping[str, Parcel]) -> None:
    """Keep the values that are used now, and the few that were used last."""
    for key, value in used.items():
        kept[key] = value
        kept.move_to_end(key)
    while len(kept) > MOST_VALUES:
        kept.popitem(last=False)


_unpacking = threading.local()
"""The values that the task needs which this thread unpacks."""


class _Given:
    """A shared value on a worker."""

    def __init__(self, key: str, value: Any) -> None:
        self.key, self.value = key, value


def unpacked(key: str) -> _Given:
    return _Given(key, _unpacking.values[key].value)


_along: OrderedDict[str, Parcel] = OrderedDict()
"""The last values that came with tasks, so that each is unpickled once."""


def taken_along(key: str, content: bytes) -> Parcel:
    """A shared value that came with a task."""
    with _holding:
        known = _along.get(key)
    if known is None:
        known = _loaded(content)
    with _holding:
        _keep_last(_along, {key: known})
    return known


def performed(given: Mapping[str, Parcel], contents: list[bytes], about: About) -> Done | Lacking:
    """Do tasks, on a worker."""
    from distributed import get_worker

    worker = get_worker()
    if about.version != __version__:
        raise ClusterError(
            f"the worker {worker.address} has rankgauge {__version__}, expected {about.version} as on "
            "this machine; install the same version on all workers"
        )
    values = _values(given, about.keys)
    if values is None:
        return Lacking()
    ended, start = [], time.monotonic()
    for number, content in zip(about.numbers, contents, strict=True):
        if about.topic is not None:
            worker.log_event(about.topic, (about.call, number, True))
        try:
            with working_for(about.folder):
                ended.append(_task(values, content)())
        finally:
            if about.topic is not None:
                worker.log_event(about.topic, (about.call, number, False))
    return Done(worker.address, time.monotonic() - start, ended)


def _task(values: Mapping[str, Parcel], content: bytes) -> Task[Any, Any]:
    """A task that was packed, with what it shares with others."""
    _unpacking.values = values
    try:
        task: Task[Any, Any] = _loaded(content)
    finally:
        del _unpacking.values
    return task


def _loaded(content: bytes) -> Any:
    """What was packed."""
    from distributed.protocol import pickle as any_pickle

    loads: Any = any_pickle.loads
    return loads(content)
