"""Tests of all pairs of 129 systems on 50 queries: time, memory, and the ratio to a loop over scipy.

    python benchmarks/significance.py [--data ../shared/data] [--sample 50] [--repeat 3]

The scores are the average precisions of the 129 systems of TREC-8: 8,256 pairs. Tests that draw
samples draw 10,000. Each row of the first table is a separate process that calls `compare` with one or
two workers; its matrix products use one thread. Seconds are for the call, the best of the repetitions;
megabytes are the peak of the process, the highest of the repetitions. `start` is a process that
compares only two systems.

The second table has `scipy.stats.permutation_test` on a sample of the pairs, one pair after the other.
It uses 9,999 samples, a vectorized statistic, and the form of call and the batch that are fastest
here. The table also has the greatest difference between the two p-values of a pair. Each p-value is an
estimate, with an error of up to .01.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from evaluate import CLOCK, Cost, cost, show
from scipy.stats import permutation_test

import rankgauge as rg
from rankgauge.comparison.significance import TESTS
from rankgauge.comparison.systems import compare

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
FILE = Path("trec-topic-scores") / "adhoc8_ap.csv"
RATIO = 50.0
"""How many times faster a pair is to be than by scipy."""
SAMPLES = 9_999
START = "start"
CALL = """
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import rankgauge as rg
from rankgauge.comparison.systems import compare
values = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1).T
scores = rg.Scores.from_matrix(values, runs=[str(i) for i in range(len(values))], measure="AP")
test, workers = sys.argv[2], int(sys.argv[3])
two = scores.select(runs=["0", "1"])
compare(two, test="paired-t" if test == "start" else test, samples=20)  # imports what is needed
with ThreadPoolExecutor(workers) as executor:
    start()
    if test != "start":
        compare(scores, test=test, samples=10_000, executor=executor)
    stop()
"""


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    folder = Path(os.environ.get("RANKGAUGE_DATA", BESIDE))
    parser.add_argument("--data", type=Path, default=folder, help="the folder that has its folder")
    parser.add_argument("--sample", type=int, default=50, help="pairs to hold scipy against")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    path = arguments.data / FILE
    if not path.exists():
        sys.exit(f"no scores in {path}, expected --data or RANKGAUGE_DATA to name their folder")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    everything(path, arguments.repeat)
    against_scipy(path, arguments.sample, arguments.repeat)


def measured(path: Path, test: str, workers: int, repeat: int) -> Cost:
    """The cost of a test for all pairs."""
    command = [sys.executable, "-c", CLOCK + CALL, str(path), test, str(workers)]
    return cost(command, repeat, timed=True)


def everything(path: Path, repeat: int) -> None:
    """The table of the cost of each test for all pairs."""
    nothing = measured(path, START, 1, repeat)
    rows: list[tuple[str | float, ...]] = [(START, nothing.call, nothing.peak, "", "", "")]
    for test, about in TESTS.items():
        one = measured(path, test, 1, repeat)
        row: tuple[str | float, ...] = (test, one.call, one.peak)
        if about.drawn:
            two = measured(path, test, 2, repeat)
            row += (two.call, two.peak, one.call / two.call)
        rows.append((*row, *[""] * (6 - len(row))))
    print("All 8,256 pairs, 10,000 samples where drawn; by one worker, and by two\n")
    show(("test", "seconds", "peak MB", "two: seconds", "peak MB", "ratio"), rows)


def against_scipy(path: Path, sample: int, repeat: int) -> None:
    """The table of the time of a pair: ours, among all pairs, and scipy's."""
    values = np.loadtxt(path, delimiter=",", skiprows=1).T
    names = [str(i) for i in range(len(values))]
    scores = rg.Scores.from_matrix(values, runs=names, measure="AP")
    chosen = np.sort(np.random.default_rng(5).choice(len(names) * (len(names) - 1) // 2, sample))
    ours = measured(path, "randomization", 1, repeat).call / (len(names) * (len(names) - 1) / 2)
    comparison = compare(scores, test="randomization", samples=SAMPLES, correction=None)
    theirs, p = fastest_loop(
        [(values[comparison.first[pair]], values[comparison.second[pair]]) for pair in chosen]
    )
    apart = float(np.max(np.abs(comparison.p[0, chosen] - p)))
    ratio = theirs / sample / ours
    verdict = "met" if ratio >= RATIO else "missed"
    print(f"A pair, {sample} of them by scipy, one worker\n")
    columns = ("ours ms", "scipy ms", "ratio", "asked", "", "p apart")
    show(columns, [(1e3 * ours, 1e3 * theirs / sample, ratio, RATIO, verdict, apart)])


def fastest_loop(pairs: list[tuple[Any, Any]]) -> tuple[float, Any]:
    """The time of a loop over scipy's test, called in the way that is fastest on the first pair, and its
    p-values."""
    ways = [(batch, form) for batch in (None, 300, 1000, 3000) for form in (True, False)]
    times = []
    for way in ways:
        started = time.perf_counter()
        by_scipy(*pairs[0], *way)
        times.append(time.perf_counter() - started)
    way = ways[int(np.argmin(times))]
    started = time.perf_counter()
    p = np.array([by_scipy(*pair, *way) for pair in pairs])
    return time.perf_counter() - started, p


def by_scipy(a: Any, b: Any, batch: int | None, differences: bool) -> float:
    """The p-value of a pair by scipy: from its differences with random signs, or from two paired
    samples."""
    data = (a - b,) if differences else (a, b)
    result = permutation_test(
        data,
        _mean if differences else _mean_difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=SAMPLES,
        batch=batch,
        rng=np.random.default_rng(1),
    )
    return float(result.pvalue)


def _mean(x: Any, axis: int) -> Any:
    return x.mean(axis=axis)


def _mean_difference(x: Any, y: Any, axis: int) -> Any:
    return (x - y).mean(axis=axis)


if __name__ == "__main__":
    main()
