"""Work done elsewhere: what is sent, how often, and what becomes of failures."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import rankgauge as rg
from rankgauge.workers import WorkerDied, outcomes, share


class Heavy:
    """Counts, a line in a file each, how often it is unpickled and where."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        with self.log.open("a") as stream:
            stream.write(f"{os.getpid()}\n")

    def __call__(self, item: int) -> int:
        return item * 2


def squared(item: int) -> int:
    return item**2


def test_threads_get_the_work_itself(tmp_path: Path) -> None:
    work = Heavy(tmp_path / "log")
    with ThreadPoolExecutor(2) as pool:
        assert list(outcomes(work, range(20), pool)) == [(i, 2 * i) for i in range(20)]
    assert not work.log.exists()
    assert share(work).value is work


def test_a_process_is_sent_the_work_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work, spool = Heavy(tmp_path / "log"), tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spool))  # no other program writes there
    with ProcessPoolExecutor(2) as pool:
        assert list(outcomes(work, range(40), pool)) == [(i, 2 * i) for i in range(40)]
    processes = work.log.read_text().split()
    assert 1 <= len(processes) == len(set(processes)) <= 2
    assert os.getpid() not in map(int, processes)
    assert list(spool.iterdir()) == []


def test_what_items_share_is_sent_once_too(tmp_path: Path) -> None:
    heavy = Heavy(tmp_path / "log")
    with ProcessPoolExecutor(2) as pool:
        shared = share(heavy, pool)
        items = [(shared, i) for i in range(30)]
        found = [result for _, result in outcomes(_double, items, pool, _second)]
    assert found == [2 * i for i in range(30)]
    processes = heavy.log.read_text().split()
    assert len(processes) == len(set(processes))


def _double(item: tuple[Any, int]) -> int:
    shared, number = item
    return int(shared.value(number))


def _second(item: tuple[Any, int]) -> str:
    return str(item[1])


class Odd(Exception):
    """An error that cannot be sent between processes."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def _odd(item: int) -> int:
    if item == 3:
        raise Odd(item, 4)
    return item


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_error_of_the_work_ends_everything_and_says_what_it_is(kind: Any) -> None:
    with kind(2) as pool, pytest.raises((Odd, rg.RankgaugeError), match="3 and 4"):
        list(outcomes(_odd, range(5), pool))


class Failing(Executor):
    """An executor on which some tasks are lost, each in a way of its own."""

    def __init__(self, failure: Exception) -> None:
        self.failure, self.count = failure, 0

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **more: Any) -> Future[Any]:
        self.count += 1
        if self.count == 4:
            raise self.failure
        future: Future[Any] = Future()
        if self.count % 2:
            future.set_exception(self.failure)
        else:
            future.set_result(function(*arguments, **more))
        return future


@pytest.mark.parametrize(
    "failure",
    [
        ConnectionError("lost"),
        KeyError("killed worker"),
        RuntimeError("shut down"),
        OSError("gone"),
    ],
)
def test_whatever_an_executor_raises_costs_nothing_but_time(failure: Exception) -> None:
    found = list(outcomes(squared, range(6), Failing(failure)))
    assert found == [(i, i**2) for i in range(6)]


def test_what_no_process_can_be_sent_is_named() -> None:
    (one, two) = outcomes(lambda item: item, [1, 2], Failing(ConnectionError("lost")))
    assert isinstance(one[1], WorkerDied)
    assert "1: its worker process could not be started or failed" in str(one[1])
    assert two == (2, 2)


PLUGIN = """
import numpy as np
import rankgauge as rg

class Mine(rg.measures.Binary):
    name = "MineInSpawned"
    summary = "Whether anything relevant was found."

    def _score(self, lists):
        return (lists.count(lists.relevant(self.rel)) > 0).astype(np.float64)

rg.measures.register(Mine())
"""


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_plugin_reaches_processes_of_every_kind(tmp_path: Path, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no processes by {method} here")
    file = tmp_path / "mine_in_spawned.py"
    file.write_text(PLUGIN)
    rg.measures.load_plugin(file)
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {"x": {"q1": {"a": 1.0}}, "y": {"q1": {"c": 1.0}, "q2": {"b": 1.0}}}
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        scores = rg.evaluate(qrels, runs, "MineInSpawned", executor=pool)
    assert scores.values[:, :, 0].tolist() == [[1.0, 0.0], [0.0, 1.0]]
