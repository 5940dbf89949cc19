"""Processes of this machine that work on tasks. One that dies is replaced."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from multiprocessing import connection as connections, current_process, get_context
from typing import Any, TypeVar

from rankgauge.errors import RankgaugeError
from rankgauge.workers.sharing import DIED, LostTask, Shared, Task, TaskResult, WorkerDied

T = TypeVar("T")

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that keep the algebra of a process to one thread: the processes share the processors."""


BEGUN = "begun"
NOT_STARTED = (
    "the worker processes cannot be started: the first one ended before it began; in a "
    'script, put all calls below `if __name__ == "__main__":`'
)
NESTED = "a worker process cannot start processes of its own; omit the executor"

_starting = threading.Lock()


class Processes:
    """A number of processes, started when there are tasks for them. They stay from call to call."""

    def __init__(self, count: int) -> None:
        if current_process().daemon:
            raise RankgaugeError(NESTED)
        self.count = count
        self.begun = False
        """Whether any process has begun a task."""
        self.busy: list[_Process] = []
        self._idle: list[_Process] = []

    def assign(self, content: bytes) -> _Process:
        """The process that this task was given to."""
        while self._idle:
            process = self._idle.pop()
            if process.send(content):
                break
            process.end()  # it died while nobody looked
        else:
            process = _Process()
            process.send(content)
        self.busy.append(process)
        return process

    def rest(self, process: _Process) -> None:
        """Let a process wait for its next task."""
        self.busy.remove(process)
        self._idle.append(process)

    def end(self, process: _Process) -> None:
        """End a process that is at a task, or dead."""
        self.busy.remove(process)
        process.end()

    def share(self, value: T) -> Shared[T]:
        """A value that each process reads once, from a file."""
        return Shared(value, anywhere=False)

    def pool(self, tasks: int) -> ProcessPool:
        """The processes, for the tasks of one call, so many."""
        return ProcessPool(self)

    def close(self) -> None:
        """End all processes."""
        for process in (*self.busy, *self._idle):
            process.end()
        self.busy, self._idle = [], []


class ProcessPool:
    """Processes at the tasks of one call. Each has one task at a time."""

    def __init__(self, processes: Processes) -> None:
        self._processes = processes
        self._at_work: dict[int, _Process] = {}
        self._unsent: list[tuple[int, TaskResult[Any]]] = []

    def room(self) -> int:
        """How many tasks this call may have: the processes that no other call has, at least one."""
        others = len(self._processes.busy) - len(self._at_work)
        return max(1, self._processes.count - others)

    def begin(self, number: int, task: Task[Any, Any]) -> None:
        """Give a task to a process."""
        try:
            content = pickle.dumps(task, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # lambdas, open files
            fault = f"cannot be sent to another process: {type(error).__name__}: {error}"
            self._unsent.append((number, task.failure(fault)))
            return
        self._at_work[number] = self._processes.assign(content)

    def wait(self, seconds: float) -> Iterator[tuple[int, TaskResult[Any] | LostTask]]:
        """The tasks that ended."""
        yield from self._unsent
        self._unsent.clear()
        numbers: dict[Any, int] = {
            process.connection: number for number, process in self._at_work.items()
        }
        for ready in connections.wait(list(numbers), seconds):
            number = numbers[ready]
            process = self._at_work.get(number)
            if process is None:  # dropped meanwhile
                continue
            ended = process.result()
            if isinstance(ended, str):  # BEGUN
                process.since = time.monotonic()
                self._processes.begun = True
                continue
            del self._at_work[number]
            if ended is None:
                self._processes.end(process)
                if not self._processes.begun:
                    raise WorkerDied(NOT_STARTED)
                yield number, LostTask(DIED)
            else:
                self._processes.rest(process)
                yield number, ended

    def running_seconds(self, number: int) -> float:
        """For how many seconds a process has been at a task."""
        process = self._at_work.get(number)
        if process is None or process.since is None or process.connection.poll():  # it has ended
            return 0.0
        return time.monotonic() - process.since

    def is_blocked(self) -> bool:
        """Never: a process that takes too long is ended."""
        return False

    def drop(self, numbers: Iterable[int]) -> None:
        """End the processes that are at these tasks."""
        for number in list(numbers):
            process = self._at_work.pop(number, None)
            if process is not None:
                self._processes.end(process)

    def close(self) -> None:
        """Nothing: the processes stay for the next call."""


class _Process:
    """A process, and the connection to it."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self.connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        with _limit_threads():
            self._process.start()
        other.close()
        self.since: float | None = None
        """When it began its task; None while it starts."""

    def send(self, content: bytes) -> bool:
        """Send it a task; False if it is dead."""
        self.since = None
        try:
            self.connection.send_bytes(content)
        except OSError:
            return False
        return True

    def result(self) -> TaskResult[Any] | LostTask | str | None:
        """What it says: that its task begins, or how it ended; None if it died."""
        try:
            content = self.connection.recv_bytes()
        except (EOFError, OSError):
            return None
        said: TaskResult[Any] | LostTask | str = pickle.loads(content)
        return said

    def end(self) -> None:
        """End it now, whatever it does."""
        self.connection.close()
        self._process.kill()
        self._process.join()
        self._process.close()


@contextlib.contextmanager
def _limit_threads() -> Iterator[None]:
    """For processes that are started meanwhile: their algebra has one thread, unless the user said."""
    with _starting:
        unset = [name for name in ONE_THREAD if name not in os.environ]
        os.environ.update(dict.fromkeys(unset, "1"))
        try:
            yield
        finally:
            for name in unset:
                del os.environ[name]


def _serve(connection: connections.Connection) -> None:
    """Work on one task after the other, until the other process closes the connection or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that gives the tasks
    while True:
        try:
            content = connection.recv_bytes()
        except (EOFError, OSError):
            return
        with contextlib.suppress(OSError):
            connection.send_bytes(pickle.dumps(BEGUN))
            connection.send_bytes(_run_task(content))


def _run_task(content: bytes) -> bytes:
    """How a task ended, as it is sent back."""
    try:
        ended = pickle.loads(content)()
    except Exception as error:  # a class that this process does not know
        ended = TaskResult(
            WorkerDied(f"a process could not take a task: {type(error).__name__}: {error}")
        )
    try:
        return pickle.dumps(ended, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        fault = f"its result cannot be sent between processes: {type(error).__name__}: {error}"
        return pickle.dumps(TaskResult(None, WorkerDied(fault)))
