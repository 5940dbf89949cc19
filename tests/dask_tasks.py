"""Work for the workers of a Dask cluster, who find it in this module."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

import rankgauge as rg
from rankgauge.workers import outcomes


class Heavy:
    """Work that is heavy to send. It logs each time it arrives."""

    def __init__(self, log: Path) -> None:
        self.log, self.load = log, np.random.default_rng(0).random(1 << 17)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with self.log.open("a") as stream:
            stream.write(f"{os.getpid()}\n")

    def __call__(self, item: Any) -> float:
        return float(self.load[item])


def by_heavy(item: tuple[Any, int]) -> float:
    return float(item[0].value(item[1]))


def hide(folder: str) -> bool:
    """Make a worker blind for a folder."""
    from rankgauge.io import files

    seen = files.resolve_path

    def place(path: Any) -> Any:
        return "/nowhere" if str(path).startswith(folder) else seen(path)

    files.resolve_path = place
    files._seen = seen
    return True


def show() -> None:
    from rankgauge.io import files

    files.resolve_path = files._seen


def squared(number: int) -> int:
    """A task that takes a little while."""
    time.sleep(0.02)
    return number * number


def starts_processes(number: int) -> int:
    """A task that would have processes of its own."""
    with rg.Workers(2) as workers:
        return len(list(outcomes(squared, [number, number], workers)))


class Deadly:
    """Work whose worker dies on some items, as by SIGKILL."""

    def __init__(self, *deadly: int) -> None:
        self.deadly = deadly

    def __call__(self, number: int) -> int:
        if number in self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return squared(number)


def hungry(megabytes: int) -> int:
    """A task that needs much memory, and says how much it has."""
    content = np.ones(megabytes << 17)
    time.sleep(1.5 if megabytes > 100 else 0.0)
    return int(content.sum()) >> 17


def slow(seconds: float) -> float:
    """A task that takes its time."""
    time.sleep(seconds)
    return seconds


def write_letor(path: Path) -> rg.Folds:
    """Learning-to-rank data of 20 queries in five folds."""
    generator = np.random.default_rng(5)
    lines = [
        f"{int(3 * a)} qid:{query} 1:{a:.4f} 2:{b:.4f} # docid = {query}-{number}"
        for query in range(20)
        for number, (a, b) in enumerate(generator.random((8, 2)))
    ]
    path.write_text("\n".join(lines) + "\n")
    return rg.read_folds(path, 5)
