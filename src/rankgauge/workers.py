"""Work over many things, by threads or any executor: results in order, and a failure is of one thing."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

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


def outcomes(
    work: Callable[[T], R],
    items: Sequence[T],
    executor: Executor | None = None,
    name: Callable[[T], str] = str,
) -> Iterator[tuple[T, R | RankgaugeError]]:
    """Each item with what the work made of it, in order; an InputError or a lack of memory as it is.

    Without an executor, threads do the work. When a process of an executor dies, all that was left
    to it is done again, each item in a process of its own, so that the fault falls on the item
    that has it. Any other exception ends everything.
    """
    if executor is None and len(items) < 2:
        yield from ((item, _settled(work, item, name)) for item in items)
        return
    from concurrent.futures import BrokenExecutor, ThreadPoolExecutor

    pool = ThreadPoolExecutor(min(processors(), len(items))) if executor is None else executor
    futures: list[Future[R | RankgaugeError] | None] = []
    try:
        for item in items:
            try:
                futures.append(pool.submit(_shared, work, item, name))
            except BrokenExecutor:
                futures.append(None)
        for item, future in zip(items, futures, strict=True):
            try:
                yield item, _alone(work, item, name) if future is None else future.result()
            except BrokenExecutor:
                yield item, _alone(work, item, name)
    finally:
        for future in futures:
            if future is not None:
                future.cancel()
        if executor is None:
            pool.shutdown()


def _shared(work: Callable[[T], R], item: T, name: Callable[[T], str]) -> R | RankgaugeError:
    before = getattr(SHARING, "one_of_many", False)
    SHARING.one_of_many = True
    try:
        return _settled(work, item, name)
    finally:
        SHARING.one_of_many = before


def _settled(work: Callable[[T], R], item: T, name: Callable[[T], str]) -> R | RankgaugeError:
    try:
        return work(item)
    except InputError as error:
        return error
    except MemoryError:
        return RankgaugeError(f"{name(item)}: not enough memory")


def _alone(work: Callable[[T], R], item: T, name: Callable[[T], str]) -> R | RankgaugeError:
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor

    with ProcessPoolExecutor(1) as pool:
        try:
            return pool.submit(_settled, work, item, name).result()
        except BrokenExecutor:
            return WorkerDied(f"{name(item)}: the process that worked on it was killed or crashed")
