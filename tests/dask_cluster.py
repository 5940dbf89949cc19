"""A Dask scheduler and workers on loopback, as processes of their own, so that a test may kill them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

TESTS = str(Path(__file__).parent)
SETTINGS = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
PATHS = [path for path in (os.environ.get("PYTHONPATH"),) if path]


class LoopbackCluster:
    """A scheduler, and workers that each have one thread. `folder` is where they work. If they have a
    nanny, it starts them again after they died, and kills those that need more than `memory`."""

    def __init__(
        self, folder: Path, workers: int = 3, memory: str = "0", *, nanny: bool = False
    ) -> None:
        self.folder, self.memory, self.nanny = folder, memory, nanny
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._started(
            "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port),
            "--no-dashboard",
        )  # fmt: skip
        for _ in range(workers):
            self.add_worker()

    def _started(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        log = open(self.folder / "cluster.log", "ab")  # noqa: SIM115
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=self.folder,
            env={**os.environ, **SETTINGS, "PYTHONPATH": os.pathsep.join((*PATHS, TESTS))},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def add_worker(self) -> None:
        """One more worker."""
        nanny = "--nanny" if self.nanny else "--no-nanny"
        self.workers.append(
            self._started(
                "distributed.cli.dask_worker",
                self.address,
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
        alive = sum(worker.poll() is None for worker in self.workers)
        client.wait_for_workers(alive, timeout=60)
        return client

    def close(self) -> None:
        """End all processes."""
        for process in (*self.workers, self.scheduler):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


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
def on_loopback(folder: Path, workers: int) -> Iterator[Any]:
    """A client of such a cluster; skips the test where Dask is not installed."""
    pytest.importorskip("distributed")
    with loopback_cluster(folder, workers) as cluster:
        client = cluster.client()
        yield client
        client.close()
