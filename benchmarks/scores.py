"""Saves and loads the scores of many runs. NumPy saves and loads only the numbers, for comparison.

    python benchmarks/scores.py [--runs 1000] [--queries 10000] [--measures 8] [--repeat 3]

Each step is a separate process, so that its memory can be measured. `resident` is the peak memory of
the step; `decoder` is the peak memory of the process that decodes Parquet. The numbers look like real
scores: some are 0, the others have many digits, and they differ between measures. Loading checks
everything in the file; NumPy's file has only the values. Times are for the call, the best of the
repetitions.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from rankgauge.core.tables import Table

COMMON = """
import json, resource, sys, time
import numpy as np
import rankgauge as rg
folder, runs, queries, measures = sys.argv[1], *map(int, sys.argv[2:])

def done(started, file):
    taken = time.perf_counter() - started
    unit = 1 if sys.platform == "darwin" else 1024
    most = [resource.getrusage(who).ru_maxrss * unit / 1e6
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps([taken, *most]))
"""

MAKE = """
random = np.random.default_rng(2026)
values = random.random((runs, queries, measures))
for block in values:
    block[random.random(block.shape) < 0.3] = 0.0
names = [f"nDCG@{5 * (m + 1)}" for m in range(measures)]
"""

SCORES = """
scores = rg.Scores(
    runs=tuple(f"run{r}" for r in range(runs)),
    queries=tuple(f"query{q}" for q in range(queries)),
    measures=tuple(map(rg.parse, names)),
    values=values,
    present=np.ones((runs, queries), dtype=bool),
    judged_at_10=random.integers(0, 11, (runs, queries)) / 10,
    relevant=np.ones(queries, dtype=np.int64),
    nothing_relevant=np.zeros((measures, queries), dtype=bool),
)
import polars
"""

STEPS = {
    "Scores.save": MAKE + SCORES + "at = time.perf_counter(); scores.save(folder + '/scores')",
    "Scores.load": "at = time.perf_counter(); scores = rg.Scores.load(folder + '/scores')",
    "numpy.save": MAKE + "at = time.perf_counter(); np.save(folder + '/values.npy', values)",
    "numpy.load": "at = time.perf_counter(); np.load(folder + '/values.npy')",
}
FILES = {"Scores": "scores", "numpy": "values.npy"}


def measured(step: str, folder: str, *sizes: int) -> list[float]:
    """Seconds, and megabytes of the process and of the processes that it started."""
    code = COMMON + STEPS[step] + "\ndone(at, folder)"
    command = [sys.executable, "-c", code, folder, *map(str, sizes)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(number) for number in json.loads(done.stdout)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--measures", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    sizes = (asked.runs, asked.queries, asked.measures)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for step in STEPS:
            seconds, resident, decoder = map(
                min,
                zip(*(measured(step, folder, *sizes) for _ in range(asked.repeat)), strict=True),
            )
            size = (Path(folder) / FILES[step.split(".")[0]]).stat().st_size / 1e6
            rows.append((step, seconds, size, resident, decoder if decoder > 1 else None))
    count = asked.runs * asked.queries * asked.measures
    print(f"{count:,} numbers, {8 * count / 1e6:,.0f} MB in memory")
    columns = ("step", "seconds", "file MB", "resident MB", "decoder MB")
    print(Table(columns, tuple(rows)).render("table", digits=1))


if __name__ == "__main__":
    main()
