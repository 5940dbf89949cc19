"""What becomes of work when workers, the scheduler, files or the user go away."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankgauge as rg
from command_line import called
from dask_cluster import LoopbackCluster, loopback_cluster
from dask_tasks import Deadly, hungry, slow, squared, starts_processes, write_letor
from profiles import thorough
from rankgauge.rankers.crossval import cross_validation
from rankgauge.workers import WorkerDied, dask as dask_workers, outcomes

pytest.importorskip("distributed")

SQUARES = [(n, n * n) for n in range(100)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackCluster]:
    """Three workers; whoever kills one puts another in its place."""
    with loopback_cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture(scope="module")
def client(cluster: LoopbackCluster) -> Iterator[Any]:
    made = cluster.client()
    yield made
    made.close()


def until(happens: Callable[[], bool]) -> None:
    """Wait for it."""
    start = time.monotonic()
    while not happens():
        assert time.monotonic() - start < 60
        time.sleep(0.02)


def failures(found: Any) -> dict[Any, str]:
    return {item: str(result) for item, result in found if isinstance(result, Exception)}


# Workers


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory, client: Any) -> tuple[Path, bytes, float]:
    """Files, the scores of their runs as bytes, and how many seconds the cluster takes for them."""
    files = write_files(tmp_path_factory.mktemp("usual"))
    evaluated(files, client)  # the workers import what they need
    start = time.monotonic()
    there = evaluated(files, client)
    seconds = time.monotonic() - start
    assert there == evaluated(files, None)
    return files, there, seconds


def evaluated(files: Path, executor: Any) -> bytes:
    """The scores of runs and of a run in parts; the judgments are new to the workers in every call."""
    judgments = replace(rg.read_qrels(files / "qrels.txt"), source=f"{random.random()}")
    runs = [*sorted((files / "runs").iterdir()), rg.RunParts(files / "runs", "together", True)]
    scores = rg.evaluate(judgments, runs, ["AP", "nDCG@10"], executor=executor)
    return scores.values.tobytes()


@pytest.mark.parametrize("seed", range(10 if thorough() else 4))
def test_a_worker_is_killed_at_a_random_moment(
    seed: int, cluster: LoopbackCluster, client: Any, usual: tuple[Path, bytes, float]
) -> None:
    files, scores, seconds = usual
    moment = random.Random(seed)
    victim = moment.choice([each for each in cluster.workers if each.alive()])

    def kill() -> None:
        time.sleep(moment.random() * seconds)
        victim.kill()
        cluster.add_worker()

    killer = threading.Thread(target=kill)
    killer.start()
    assert evaluated(files, client) == scores
    killer.join()


def test_all_workers_are_killed_at_once(cluster: LoopbackCluster, client: Any) -> None:
    def kill() -> None:
        time.sleep(0.2)
        victims = [each for each in cluster.workers if each.alive()]
        for each in victims:
            each.kill()
        for _ in range(3):
            cluster.add_worker()

    killer = threading.Thread(target=kill)
    killer.start()
    assert list(outcomes(squared, range(100), client)) == SQUARES
    killer.join()


def test_one_item_kills_every_worker_and_is_named(tmp_path: Path) -> None:
    """Workers with nannies, which start them again."""
    with loopback_cluster(tmp_path, 2, memory="1GB", nanny=True) as cluster:
        client = cluster.client()
        found = list(outcomes(Deadly(7), range(100), client, lambda item: f"run {item}"))
        assert [result for _, result in found if isinstance(result, int)] == [
            n * n for n in range(100) if n != 7
        ]
        ((item, text),) = failures(found).items()
        assert item == 7
        assert text.startswith("run 7: the workers that ran it died: they were killed")
        client.close()


def test_too_little_memory_is_the_fault_of_its_item(tmp_path: Path) -> None:
    with loopback_cluster(tmp_path, 2, memory="320MB", nanny=True) as cluster:
        client = cluster.client()
        with rg.Workers(client, retries=0) as workers:
            found = list(outcomes(hungry, [1, 2, 600, 3], workers, lambda item: f"{item} MB"))
        assert [result for _, result in found if isinstance(result, int)] == [1, 2, 3]
        assert "ran out of memory" in failures(found)[600]
        client.close()


def test_processes_of_this_machine_die_too() -> None:
    with rg.Workers(2) as workers:
        for _ in range(2):  # they are replaced
            found = list(outcomes(Deadly(3, 5), range(8), workers))
            assert list(failures(found)) == [3, 5]
            assert "was killed or crashed" in failures(found)[3]


def test_a_script_that_starts_itself_is_told_how_to_begin(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(
        "import rankgauge as rg\n"
        "with rg.Workers(2) as workers:\n"
        "    runs = [{'q': {'d': number}} for number in (1, 2, 3)]\n"
        "    rg.evaluate({'q': {'d': 1}}, runs, 'AP', executor=workers)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert 'put all calls below `if __name__ == "__main__":`' in last
    assert (
        done.stderr.count("freeze_support") <= 4
    )  # Python's own words, from two processes at most


def test_a_worker_does_not_start_processes_of_its_own() -> None:
    with rg.Workers(1) as workers, pytest.raises(rg.RankgaugeError, match="omit the executor"):
        list(outcomes(starts_processes, [1, 2], workers))


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_what_takes_too_long_is_given_up(where: str, client: Any) -> None:
    with rg.Workers(2 if where == "here" else client, timeout=0.6) as workers:
        found = list(outcomes(slow, [0.0, 2.5, 0.1], workers))
    assert failures(found) == {2.5: "2.5: took longer than 0.6 seconds"}
    until(lambda: not any(client.processing().values()))  # a thread on a worker cannot be stopped


def test_workers_that_are_stuck_do_not_stop_the_call_for_ever(tmp_path: Path) -> None:
    with loopback_cluster(tmp_path, 1) as cluster:
        client = cluster.client()
        with rg.Workers(client, timeout=0.5) as workers:
            found = list(outcomes(slow, [0.0, 20.0, 0.2], workers))
        assert found[0] == (0.0, 0.0)
        assert failures(found).keys() == {20.0, 0.2}
        assert (
            "0.2: was not started, because all workers are busy with tasks" in failures(found)[0.2]
        )
        client.close()


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_who_ends_in_time_is_not_late_because_nobody_looked(where: str, client: Any) -> None:
    with rg.Workers(2 if where == "here" else client, timeout=0.5) as workers:
        list(outcomes(slow, [0.0] * 4, workers))  # the processes are there
        for number, (item, result) in enumerate(outcomes(slow, [0.05] * 12, workers)):
            assert result == item
            if number in (0, 5):
                time.sleep(0.9)


def test_the_client_is_closed_midway(cluster: LoopbackCluster) -> None:
    for _ in range(5):
        client = cluster.client()
        found = outcomes(squared, range(100), client)
        assert next(found) == (0, 0)
        client.close()
        with pytest.raises(rg.RankgaugeError, match="is lost"):
            list(found)


# The scheduler


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Judgments and runs."""
    return write_files(tmp_path / "files")


def write_files(folder: Path) -> Path:
    """Judgments, and runs large enough to take a while."""
    (folder / "runs").mkdir(parents=True)
    topics = range(100)
    (folder / "qrels.txt").write_text("".join(f"{topic} 0 d7 1\n" for topic in topics))
    lines = "".join(f"{topic} Q0 d{n} 0 {100 - n} r\n" for topic in topics for n in range(100))
    for number in range(30):
        (folder / "runs" / f"r{number:02}.run").write_text(lines)
    return folder


def command(files: Path, runs: str, *more: str) -> subprocess.Popen[str]:
    call = ["evaluate", "qrels.txt", runs, "-o", "out.tsv", *more]
    return subprocess.Popen(
        [sys.executable, "-m", "rankgauge", *call], cwd=files, stderr=subprocess.PIPE, text=True
    )


def wait_until_at_work(cluster: LoopbackCluster) -> None:
    client = cluster.client()
    until(lambda: any(client.processing().values()))
    client.close()


def test_the_scheduler_is_killed(files: Path, tmp_path: Path) -> None:
    os.mkfifo(files / "endless.run")  # the worker stays at work
    with loopback_cluster(tmp_path, 1) as cluster:
        process = command(files, "endless.run", "--workers", cluster.address)
        wait_until_at_work(cluster)
        cluster.scheduler.kill()
        _, text = process.communicate(timeout=60)
    assert process.returncode == 2
    assert f"the connection to the Dask scheduler {cluster.address} is lost" in text
    assert "Traceback" not in text
    assert not (files / "out.tsv").exists()


def test_no_worker_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_workers, "PATIENCE", 1.0)
    monkeypatch.setattr(dask_workers, "COUNT_INTERVAL", 0.2)
    with loopback_cluster(tmp_path, 1) as cluster:
        client = cluster.client()
        found = outcomes(squared, range(12), client)
        assert next(found) == (0, 0)
        cluster.workers[0].kill()
        with pytest.raises(rg.RankgaugeError, match="has had no worker for 1 seconds; start some"):
            list(found)
        client.close()


def test_what_cross_validation_has_finished_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    pytest.importorskip("sklearn")
    folds, kept = write_letor(tmp_path / "letor.txt"), tmp_path / "out"
    done: list[str] = []
    with loopback_cluster(tmp_path, 1) as cluster:

        def kill(what: str) -> None:
            done.append(what)
            if len(done) == 3:
                cluster.scheduler.kill()

        client = cluster.client()
        with pytest.raises(rg.RankgaugeError, match="the connection to the Dask scheduler"):
            cross_validation(
                folds, "logisticregression", "AP", output=kept, executor=client, progress=kill
            )
        client.close()
    finished = sorted(kept.glob("fold-*/*.json"))
    assert len(finished) >= 3
    assert not list(kept.rglob(".rankgauge-*"))
    before = {path: path.stat().st_mtime_ns for path in finished}
    again = cross_validation(folds, "logisticregression", "AP", output=kept)
    assert {path: path.stat().st_mtime_ns for path in finished} == before
    anew = cross_validation(folds, "logisticregression", "AP")
    assert again.scores.values.tobytes() == anew.scores.values.tobytes()


def test_a_method_that_fails_on_a_fold_is_left_out_and_named(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    pytest.importorskip("sklearn")
    from deadly_ranker import DeadlyRanker

    folds = write_letor(tmp_path / "letor.txt")
    usual = cross_validation(folds, "logisticregression", "AP")
    with rg.Workers(2, retries=0) as workers:
        found = cross_validation(
            folds, [DeadlyRanker(), "logisticregression"], "AP", executor=workers
        )
    assert found.scores.values.tobytes() == usual.scores.values.tobytes()
    assert found.scores.runs == usual.scores.runs
    without = [f"fold {fold.number}, " for fold in folds if "7" not in fold.train.queries.texts()]
    assert [text[: text.index("Deadly")] for text in found.failed] == without != []
    assert all(
        "DeadlyRanker: the process that worked on it was killed" in text for text in found.failed
    )


def test_no_scheduler_is_there(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_workers, "CONNECT_TIMEOUT", 0.5)
    monkeypatch.chdir(files)
    there = called("evaluate", "qrels.txt", "runs", "--workers", "tcp://127.0.0.1:9")
    assert there.code == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in there.err


# The user


def test_the_user_interrupts(files: Path, cluster: LoopbackCluster, client: Any) -> None:
    path = files / "endless.run"
    os.mkfifo(path)
    process = command(files, path.name, "--workers", cluster.address)
    wait_until_at_work(cluster)
    process.send_signal(signal.SIGINT)
    _, text = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGINT
    assert text.strip().endswith("interrupted")
    assert not (files / "out.tsv").exists()
    # The task on the worker ends, whether it has opened the pipe by now, or comes to it later.
    pipe = os.open(path, os.O_RDWR)
    path.unlink()
    os.close(pipe)
    assert list(outcomes(squared, range(100), client)) == SQUARES  # the cluster is free again


# Files


def delete_midway(monkeypatch: pytest.MonkeyPatch, path: Path, task: int) -> None:
    """Delete a file when the tasks before this one are under way, or done."""
    begin = dask_workers.ClusterPool.begin

    def begun(pool: dask_workers.ClusterPool, number: int, given: Any) -> None:
        if number == task:
            path.unlink(missing_ok=True)
        begin(pool, number, given)

    monkeypatch.setattr(dask_workers.ClusterPool, "begin", begun)


def test_a_run_is_deleted_midway(files: Path, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    deleted = files / "runs" / "r29.run"
    delete_midway(monkeypatch, deleted, 29)
    scores = rg.evaluate(
        files / "qrels.txt", files / "runs", "AP", failures="skip", executor=client
    )
    assert len(scores.runs) == 29
    assert scores.failed == (f"{deleted}: cannot be read: No such file or directory",)
    assert np.isfinite(scores.values).all()


def test_a_part_is_deleted_midway(
    files: Path, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (files / name).mkdir()
        for number in range(10):
            source = files / "runs" / f"r{number:02}.run"
            lines = source.read_text().splitlines(keepends=True)
            (files / name / f"part-{number}").write_text("".join(lines[number * 1000 :][:1000]))
    deleted = files / "two" / "part-7"
    delete_midway(monkeypatch, deleted, 1 + 10 + 7)
    scores = rg.evaluate(
        files / "qrels.txt",
        [files / "runs" / "r00.run", rg.RunParts(files / "one"), rg.RunParts(files / "two")],
        "AP",
        failures="skip",
        executor=rg.Workers(client),
    )
    assert scores.runs == ("r00", "one")
    assert scores.failed == (f"{deleted}: cannot be read: No such file or directory",)
    assert scores.values[0].tobytes() == scores.values[1].tobytes()


def test_workers_that_fail_are_named_by_the_command(files: Path) -> None:
    """Exit code 3, and the rest is there."""
    plugin = files / "plugin.py"
    plugin.write_text(PLUGIN)
    (files / "runs" / "r03.run").write_text("0 Q0 deadly 0 1 r\n0 Q0 d7 0 0.5 r\n")
    process = command(files, "runs", "--plugin", "plugin.py", "-m", "Deadly", "--workers", "2")
    _, text = process.communicate(timeout=90)
    assert process.returncode == 3
    assert "r03: the process that worked on it was killed or crashed" in text
    assert "1 run of 30 not evaluated" in text
    assert len((files / "out.tsv").read_text().splitlines()) == 30


PLUGIN = """
import os
import numpy as np
import rankgauge as rg

class Deadly(rg.measures.Binary):
    name = "Deadly"
    summary = "Kills its process on lists of two documents."

    def _score(self, lists):
        if (np.diff(lists.offsets) == 2).any():
            os.kill(os.getpid(), 9)
        return np.ones(len(lists))

rg.measures.register(Deadly())
"""


def test_failures_of_workers_are_errors_of_their_own() -> None:
    assert issubclass(WorkerDied, rg.RankgaugeError)
