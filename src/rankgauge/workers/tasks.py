"""A task: the work on one item, and how it ended."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

from rankgauge.errors import InputError, RankgaugeError
from rankgauge.workers.sharing import Shared

T = TypeVar("T")
R = TypeVar("R")

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
    """How many processors this thread may use."""
    if getattr(SHARING, "one_of_many", False):
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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


class Task(Generic[T, R]):
    """The work, which all tasks share, on an item; `name` gives the name of the item in messages."""

    def __init__(self, work: Shared[Callable[[T], R]], item: T, name: Callable[[T], str]) -> None:
        self.work, self.item, self.name = work, item, name

    def __reduce__(self) -> tuple[Any, ...]:
        # The work first: it makes the other process ready, which the item may need.
        return Task, (self.work, self.item, self.name)

    def __call__(self, *, beside_others: bool = True) -> Ended[R]:
        """Do the work, in the thread that was given it; a failure of the item is its result.

        If other threads work `beside_others`, this thread uses only one processor.
        """
        before = getattr(SHARING, "one_of_many", False)
        SHARING.one_of_many = before or beside_others
        try:
            return Ended(self.work.value(self.item))
        except InputError as error:
            return Ended(error)
        except MemoryError:
            return self.failed("not enough memory", RankgaugeError)
        except Exception as error:
            return Ended(None, error)
        finally:
            SHARING.one_of_many = before

    def failed(self, fault: str, kind: type[RankgaugeError] = WorkerDied) -> Ended[R]:
        """How the task ended if it failed for this reason."""
        return Ended(kind(f"{self.name(self.item)}: {fault}"))
