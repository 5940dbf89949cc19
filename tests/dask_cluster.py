"""A Dask scheduler and workers on loopback, as processes of their own, so that a test may kill them."""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
SETTINGS = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver",  # for nannies
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
}
PATHS = [path for path in (os.environ.get("PYTHONPATH"),) if path]


def environment() -> dict[str, str]:
    """What the processes of a cluster are started with."""
    return {**os.environ, **SETTINGS, "PYTHONPATH": os.pathsep.join((*PATHS, str(TESTS)))}


@cache
def starter() -> subprocess.Popen[str]:
    """The process that all processes of clusters are forked from; it ends with this one."""
    process = subprocess.Popen(
        [sys.executable, TESTS / "dask_starter.py"],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    atexit.register(process.communicate)
    return process


def told(**given: object) -> str:
    """What the starter answers."""
    process = starter()
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(given) + "\n")
    process.stdin.flush()
    return process.stdout.readline()


def import_at_once(*libraries: str) -> None:
    """Import libraries once, for all processes that are started from now on."""
    told(libraries=libraries)


class ClusterProcess:
    """A process of a cluster, at work in a folder."""

    def __init__(self, folder: Path, module: str, *arguments: str) -> None:
        self.pid = int(
            told(folder=str(folder), module=module, arguments=arguments, environment=environment())
        )

    def alive(self) -> bool:
        """Whether it has not ended."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def kill(self) -> None:
        """Kill it and no other, and wait for its end."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        while self.alive():
            time.sleep(0.001)

    def kill_all(self) -> None:
        """Kill it and those that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.kill()


class LoopbackCluster:
    """A scheduler, and workers that each have one thread. `folder` is where they work. If they have a
    nanny, one for all, it starts them again after they died, and kills those that need more than
    `memory`."""

    def __init__(
        self, folder: Path, workers: int = 3, memory: str = "0", *, nanny: bool = False
    ) -> None:
        self.folder, self.memory, self.nanny = folder, memory, nanny
        self.at_once = workers if nanny else 1
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers: list[ClusterProcess] = []
        self.scheduler = ClusterProcess(
            folder, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port",
            str(self.port), "--no-dashboard",
        )  # fmt: skip
        for _ in range(workers // self.at_once):
            self.add_worker()

    def add_worker(self) -> None:
        """One more worker, or one more nanny."""
        nanny = "--nanny" if self.nanny else "--no-nanny"
        self.workers.append(
            ClusterProcess(
                self.folder,
                "distributed.cli.dask_worker",
                self.address,
                "--nworkers",
                str(self.at_once),
                "--nthreads",
                "1",
                "--no-dashboard",
                "--host",
                "127.0.0.1",
                "--memory-limit",
                self.memory,
                nanny,
                "--local-directory",
                str(self.folder),
            )
        )

    def client(self) -> Any:
        """A client, once all workers are there."""
        from distributed import Client

        client = Client(self.address, timeout=30, set_as_default=False)
        alive = sum(worker.alive() for worker in self.workers) * self.at_once
        client.wait_for_workers(alive, timeout=60)
        return client

    def close(self) -> None:
        """End all processes."""
        for process in (*self.workers, self.scheduler):
            if process.alive():
                process.kill_all()


@contextmanager
def loopback_cluster(
    folder: Path, workers: int = 3, memory: str = "0", *, nanny: bool = False
) -> Iterator[LoopbackCluster]:
    """A cluster that is ended with the block."""
    cluster = LoopbackCluster(folder, workers, memory, nanny=nanny)
    try:
        yield cluster
    finally:
        cluster.close()


@contextmanager
def on_loopback(folder: Path, workers: int, libraries: Sequence[str] = ()) -> Iterator[Any]:
    """A client of such a cluster; skips the test where Dask is not installed. Workers have these
    libraries from the start: some take longer to import than all the work."""
    pytest.importorskip("distributed")
    import_at_once(*libraries)
    with loopback_cluster(folder, workers) as cluster:
        client = cluster.client()
        yield client
        client.close()
