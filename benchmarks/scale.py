"""A run in parts on a Dask cluster on loopback: overhead, scaling, memory, and what they project.

    python benchmarks/scale.py [--folder DIR] [--lines 50000000] [--parts 64]

It makes a run of 50 M lines in DIR, 1,000 documents for each of 50,000 queries, cut into 64 parts
without regard to queries, and judgments for 50 documents of each query. Each row is a process that calls
`evaluate` six times, with nDCG@10 and AP. `first` is the first call, in which the judgments are sent
to the workers; `seconds` is the best of the next five. `here` is the best of as many calls without the
cluster, in turn with the others, by as many threads as the row has processors: one for each worker, as
far as there are so many. Workers are processes with one thread each.

The first table is for the same run and more workers; `overhead` compares `seconds` and `here`. The
second has as many lines for each worker. The third has a run of a quarter of the lines in 16 to 1,024
parts, with the greatest memory that the client and the scheduler had. The last lines fit the times by
`fixed + lines / workers * a + parts * b` and say what 10^10 lines on 200 workers would take: that is a
projection, since nobody here has 200 workers. Rows with more workers than processors are not fitted.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from evaluate import show

import rankgauge as rg

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from dask_cluster import loopback_cluster  # beside the tests, which use it too

TOPIC = 1_000
"""How many documents a query has."""
JUDGED = 50
MEASURES = ["nDCG@10", "AP"]
REPEATS = 5
AHEAD = {"lines": 1e10, "workers": 200, "parts": 12_800}


# The data


def write_run(folder: Path, lines: int, parts: int) -> None:
    """A run, best first, cut into parts of the same number of lines."""
    folder.mkdir()
    generator = np.random.default_rng(1)
    cuts = np.linspace(0, lines, parts + 1).astype(np.int64)
    ends = {int(cut) for cut in cuts[1:]}
    part, stream = 0, open(folder / "part-00000", "w")  # noqa: SIM115
    scores = [f"{TOPIC - rank}.5" for rank in range(TOPIC)]
    for start in range(0, lines, TOPIC):
        topic = start // TOPIC
        documents = generator.permutation(4 * TOPIC)[:TOPIC]
        rows = [
            f"{topic} Q0 D{document:06} {rank} {score} made\n"
            for rank, (document, score) in enumerate(zip(documents.tolist(), scores, strict=True))
        ]
        done = 0
        for cut in sorted(end - start for end in ends if start < end <= start + TOPIC):
            stream.write("".join(rows[done:cut]))
            stream.close()
            done, part = cut, part + 1
            if part < parts:
                stream = open(folder / f"part-{part:05}", "w")  # noqa: SIM115
        stream.write("".join(rows[done:])) if done < len(rows) else None
    stream.close()


def write_qrels(path: Path, topics: int) -> None:
    generator = np.random.default_rng(2)
    with open(path, "w") as stream:
        for topic in range(topics):
            documents = generator.permutation(4 * TOPIC)[:JUDGED].tolist()
            grades = generator.integers(0, 3, JUDGED).tolist()
            stream.write(
                "".join(f"{topic} 0 D{d:06} {g}\n" for d, g in zip(documents, grades, strict=True))
            )


def made(folder: Path, lines: int, parts: int) -> tuple[Path, Path]:
    """The judgments and the run of so many lines in so many parts; made unless they are there."""
    run, qrels = folder / f"run-{lines}-{parts}", folder / f"qrels-{lines}"
    if not qrels.exists():
        write_qrels(qrels, lines // TOPIC)
    if not run.exists():
        unfinished = folder / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        write_run(unfinished, lines, parts)
        unfinished.rename(run)
    return qrels, run


# One process


def call(qrels: str, run: str, address: str, threads: str) -> None:
    """Evaluate on a cluster, and in turn by so many threads here, unless none; print seconds, memory and
    means."""
    from concurrent.futures import ThreadPoolExecutor

    judgments = rg.read_qrels(qrels)
    cluster = rg.Workers(address)
    cluster.start()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    executors: dict[str, Any] = {"there": cluster}
    if threads != "0":
        executors["here"] = ThreadPoolExecutor(int(threads))
    seconds: dict[str, list[float]] = {name: [] for name in executors}
    means = {}
    for _ in range(1 + REPEATS):
        for name, executor in executors.items():
            start = time.perf_counter()
            scores = rg.evaluate(judgments, rg.RunParts(run), MEASURES, executor=executor)
            seconds[name].append(time.perf_counter() - start)
            (means[name],) = scores.mean().values()
    assert means["there"] == means.get("here", means["there"]), "the cluster gives other means"
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {name: min(own[1:]) for name, own in seconds.items()}
    print(json.dumps({**found, "first": seconds["there"][0], "before": before, "most": most}))


def on_cluster(qrels: Path, run: Path, workers: int, threads: int = 0) -> dict[str, Any]:
    """What a process printed that evaluated on a new cluster, and the greatest memory of the cluster."""
    with (
        tempfile.TemporaryDirectory() as folder,
        loopback_cluster(Path(folder), workers) as cluster,
    ):
        cluster.client().close()
        words = (str(qrels), str(run), cluster.address, str(threads))
        printed = subprocess.run(
            [sys.executable, __file__, "--call", *words], check=True, capture_output=True, text=True
        ).stdout
        found: dict[str, Any] = json.loads(printed.splitlines()[-1])
        found["scheduler"] = peak(cluster.scheduler.pid)
        found["worker"] = max(peak(worker.pid) for worker in cluster.workers)
        return found


def peak(process: int) -> int:
    """The greatest memory that a process had, in KiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


# The tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--lines", type=int, default=50_000_000)
    parser.add_argument("--parts", type=int, default=64)
    parser.add_argument("--call", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.call:
        call(*asked.call)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        report(folder, asked.lines, asked.parts)


def report(folder: Path, lines: int, parts: int) -> None:
    cores = len(os.sched_getaffinity(0))
    fitted: list[tuple[float, float, float, float]] = []

    def timed(size: int, cut: int, workers: int, threads: int = 0) -> dict[str, Any]:
        found = on_cluster(*made(folder, size, cut), workers, threads)
        if workers <= cores:
            fitted.append((size, workers, cut, found["there"]))
        return found

    rows, alone = [], 0.0
    for workers in (1, 2, 4):
        found = timed(lines, parts, workers, min(workers, cores))
        alone = alone or found["there"]
        rows.append(
            (workers, found["first"], found["there"], found["here"], found["there"] / found["here"] - 1,
             alone / found["there"], found["worker"] / 1024)
        )  # fmt: skip
    print(f"\n{lines:,} lines in {parts} parts, {cores} processors")
    columns = ("workers", "first", "seconds", "here", "overhead", "speed-up", "worker MiB")
    show(columns, rows)

    rows = []
    for workers in (1, 2, 4):
        found = timed(lines // 4 * workers, parts // 4 * workers, workers)
        rows.append((workers, lines // 4 * workers, found["there"]))
    print("\nas many lines for each worker")
    show(("workers", "lines", "seconds"), rows)

    rows = []
    for cut in (16, 64, 256, 1024):
        found = timed(lines // 4, cut, min(2, cores))
        rows.append(
            (cut, found["there"], found["most"] / 1024, (found["most"] - found["before"]) / 1024,
             found["scheduler"] / 1024)
        )  # fmt: skip
    print(f"\n{lines // 4:,} lines in more and more parts, {min(2, cores)} workers; memory in MiB")
    show(("parts", "seconds", "client", "client in the call", "scheduler"), rows)
    project(np.array(fitted))


def project(cells: Any) -> None:
    """Fit the times, and say what they project."""
    size, workers, parts, seconds = cells.T
    terms = np.stack([np.ones(len(size)), size / workers, parts], axis=1)
    # Relative errors count, so that short calls say as much as long ones.
    factors, *_ = np.linalg.lstsq(terms / seconds[:, None], np.ones(len(size)), rcond=None)
    fixed, a, b = factors
    error = np.abs(terms @ factors / seconds - 1)
    print(
        f"\nmodel: {fixed:.2f} s + lines / workers * {a * 1e6:.3f} s a million + "
        f"parts * {b * 1e3:.2f} ms; "
        f"it misses the {len(size)} times it was fitted to by {error.mean():.0%} on average, "
        f"{error.max():.0%} at most"
    )
    far = fixed + AHEAD["lines"] / AHEAD["workers"] * a + AHEAD["parts"] * b
    print(
        f"projection, not a measurement: {AHEAD['lines']:.0e} lines in {AHEAD['parts']:,} parts on "
        f"{AHEAD['workers']} workers: {far:.0f} s"
    )


if __name__ == "__main__":
    main()
