"""Many runs, little memory, and what goes wrong meanwhile: the rest is evaluated, the failure named."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import rankgauge as rg
from rankgauge.io.trec import RunFile
from rankgauge.workers import WorkerDied

resource = pytest.importorskip("resource", reason="limits on memory need a Unix")

MEASURES = ["nDCG@10", "AP"]
TOPICS, DOCUMENTS, RUNS, DIFFERENT = 250, 1000, 200, 4


@dataclass(frozen=True)
class Track:
    """A qrels file and a folder of runs."""

    qrels: Path
    runs: Path


@pytest.fixture(scope="module")
def track(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Track]:
    """200 runs of 250 queries × 1,000 documents, 2.7 GB to read; links to four files spare the disk."""
    folder = tmp_path_factory.mktemp("track")
    track = Track(folder / "qrels.txt", folder / "runs")
    track.runs.mkdir()
    draw = random.Random(2026)
    docnos = [f"clueweb09-en{n % 134:04d}-{n % 100:02d}-{n:05d}" for n in range(100_000)]
    with track.qrels.open("w") as lines:
        for topic in range(TOPICS):
            for docno in draw.sample(docnos, 100):
                lines.write(f"{topic} 0 {docno} {draw.randrange(3)}\n")
    for number in range(DIFFERENT):
        with (folder / f"base{number}").open("w") as lines:
            for topic in range(TOPICS):
                found = enumerate(draw.sample(docnos, DOCUMENTS), 1)
                lines.writelines(f"{topic} Q0 {d} {r} {1 / r:.9f} sys{number}\n" for r, d in found)
    for number in range(RUNS):
        os.link(folder / f"base{number % DIFFERENT}", track.runs / f"run{number:03d}")
    yield track
    shutil.rmtree(folder)


def limited(megabytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def evaluated(*arguments: object, megabytes: int = 512, **options: Any) -> Any:
    """`rankgauge evaluate` in a process of its own that may not take more memory than this."""
    return subprocess.run(
        [sys.executable, "-m", "rankgauge", "evaluate", *map(str, arguments)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: limited(megabytes),
        **options,
    )


def records(out: str) -> dict[str, dict[str, Any]]:
    return {row["run"]: row for row in map(json.loads, out.splitlines())}


def test_two_hundred_runs_fit_into_little_memory(track: Track) -> None:
    asked = ["--format", "jsonl", "-m", "nDCG@10", "-m", "AP"]
    done = evaluated(track.qrels, track.runs, *asked)
    assert (done.returncode, done.stderr) == (0, "")
    rows = records(done.stdout)
    assert list(rows) == [f"run{number:03d}" for number in range(RUNS)]
    for number in range(DIFFERENT):
        alone = rg.evaluate(track.qrels, track.runs / f"run{number:03d}", MEASURES).mean()
        for same in range(number, RUNS, DIFFERENT):
            row = rows[f"run{same:03d}"]
            assert {m: row[m] for m in MEASURES} == alone[f"run{number:03d}"]


@pytest.fixture
def few(track: Track, tmp_path: Path) -> Track:
    """Some of these runs, in a folder that may be changed."""
    for number in range(12):
        os.link(track.runs / f"run{number:03d}", tmp_path / f"run{number:03d}")
    return Track(track.qrels, tmp_path)


def spoil(path: Path, how: str) -> str:
    """Make a run that cannot be evaluated; what is said of it."""
    path.unlink()
    if how == "dangling":
        path.symlink_to(path.parent / "nothing")
        return f"{path}: cannot be read: No such file or directory"
    if how == "damaged":
        path.write_bytes(b"\x1f\x8b\x08\x00garbage")
        return f"{path}: damaged or truncated gzip data"
    if how == "too large":  # a hole: nothing is on the disk
        with path.open("wb") as stream:
            stream.truncate(9 << 30)
        return f"{path}: holds more than 8,589,934,592 bytes"
    with path.open("wb") as stream:
        stream.truncate(2 << 30)
    return "run005: not enough memory"


@pytest.mark.parametrize("how", ["dangling", "damaged", "too large", "binary and huge"])
def test_a_file_that_cannot_be_evaluated_is_named_and_the_rest_done(few: Track, how: str) -> None:
    message = spoil(few.runs / "run005", how)
    done = evaluated(few.qrels, few.runs, "--format", "jsonl")
    assert done.returncode == 3
    assert list(records(done.stdout)) == [f"run{n:03d}" for n in range(12) if n != 5]
    assert done.stderr.startswith(message), done.stderr
    assert done.stderr.endswith("1 run of 12 not evaluated\n")


def test_a_file_that_is_pulled_away_meanwhile(few: Track) -> None:
    last = few.runs / "run011"
    scores = rg.evaluate(
        few.qrels,
        few.runs,
        MEASURES,
        failures="skip",
        progress=lambda _: last.unlink(missing_ok=True),
    )
    assert scores.runs == tuple(f"run{number:03d}" for number in range(11))
    assert scores.failed == (f"{last}: cannot be read: No such file or directory",)


def test_a_failure_is_raised_unless_it_is_to_be_skipped(few: Track) -> None:
    message = spoil(few.runs / "run005", "dangling")
    with pytest.raises(rg.InputError, match=message.replace("\\", "\\\\")):
        rg.evaluate(few.qrels, few.runs, MEASURES)


# Workers


@dataclass(frozen=True)
class Killed:
    """A run that its process does not survive."""

    label: str = "killed"

    def __call__(self) -> rg.Run:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError


def test_a_killed_worker_costs_its_own_run_alone(few: Track) -> None:
    files = [RunFile(path) for path in sorted(few.runs.iterdir())]
    with ProcessPoolExecutor(2) as pool:
        scores = rg.evaluate(
            few.qrels, [*files[:3], Killed(), *files[3:]], MEASURES, executor=pool, failures="skip"
        )
    assert scores.runs == tuple(file.label for file in files)
    assert scores.failed == ("killed: the process that worked on it was killed or crashed",)
    with ProcessPoolExecutor(2) as pool, pytest.raises(WorkerDied, match="killed or crashed"):
        rg.evaluate(few.qrels, [files[0], Killed()], MEASURES, executor=pool)


@pytest.mark.parametrize("kind", [ProcessPoolExecutor, ThreadPoolExecutor])
def test_any_executor_gives_the_same(few: Track, kind: type[Executor]) -> None:
    expected = rg.evaluate(few.qrels, few.runs, MEASURES)
    with kind(2) as pool:  # type: ignore[call-arg]
        scores = rg.evaluate(few.qrels, few.runs, MEASURES, executor=pool)
    assert scores.runs == expected.runs
    assert (scores.values == expected.values).all()


def test_what_a_source_raises_is_not_swallowed(few: Track) -> None:
    def broken() -> rg.Run:
        raise ZeroDivisionError

    for runs in ([broken], [broken, few.runs / "run000"]):
        with pytest.raises(ZeroDivisionError):
            rg.evaluate(few.qrels, runs, MEASURES, failures="skip")


# The way out


def test_an_interrupt_leaves_nothing_half_written(track: Track, tmp_path: Path) -> None:
    outputs = ["-o", tmp_path / "means.tsv", "--save", tmp_path / "scores.json"]
    child = subprocess.Popen(
        [sys.executable, "-m", "rankgauge", "evaluate", "-", track.runs, *outputs],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdin is not None
    child.stdin.write(track.qrels.read_bytes())  # more than a pipe holds: now the command reads
    child.stdin.close()
    child.send_signal(signal.SIGINT)
    child.wait(timeout=60)
    assert child.stderr is not None
    assert (child.returncode, child.stderr.read().strip()) == (130, b"interrupted")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system that holds 8 kB."""
    mount = shutil.which("mount")
    place = tmp_path / "disk"
    place.mkdir()
    size = ["-t", "tmpfs", "-o", "size=8k", "tmpfs"]
    if mount is None or subprocess.run([mount, *size, place], capture_output=True).returncode:
        pytest.skip("mounting a small disk needs rights that are not there")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize("option", ["-o", "--save"])
def test_a_full_disk_is_named_and_nothing_half_written(
    few: Track, small_disk: Path, option: str
) -> None:
    target = small_disk / "result"
    target.write_text("before")
    done = evaluated(few.qrels, few.runs, "-q", option, target, megabytes=2048)
    assert done.returncode == 2
    assert done.stderr == f"{target}: cannot be written: No space left on device\n"
    assert [(path.name, path.read_text()) for path in small_disk.iterdir()] == [
        ("result", "before")
    ]
