"""Time and memory to assess 30 measures on the 143 runs of TREC-COVID, with one worker and with two.

    python benchmarks/assessment.py [--data ../shared/data] [--repeat 3] [--tests paired-t bootstrap]

There are ten measures, each with its v1 and v2; 10,153 pairs of runs; 30 queries; 1,000 splits into
halves; and 435 pairs of measures. Each number comes from a separate process, whose matrix products use
one thread. Seconds are for the step alone; megabytes are the peak of the process until its end.
`everything` is all steps in one process, with the first test, from the files of the runs to all tables.
The budget is for `everything` with two workers.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from evaluate import CLOCK, Cost, cost, show

from rankgauge.comparison.significance import TESTS

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
FOLDER = Path("trec-covid") / "round1"
BUDGET = 120.0
"""Seconds for everything, by two workers."""
STEPS = ("evaluation", "assessment", "pairs", "everything")
CALL = """
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import scipy.special  # so that importing it is no part of a step
import rankgauge as rg
folder, test, step, workers = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
names = "nDCG@10 nDCG@20 AP AP@100 P@5 P@10 RR Recall@100 ERR@20 RBP".split()
measures = [text for name in names for text in (name, f"v1({name})", f"v2({name})")]
qrels, runs = folder / "qrels" / "qrels-rnd1.txt", sorted((folder / "runs").iterdir())
with ThreadPoolExecutor(workers) as executor:
    if step in ("evaluation", "everything"):
        start()
    scores = rg.evaluate(qrels, runs, measures, executor=executor)
    if step == "assessment":
        start()
    if step != "evaluation":
        found = rg.assess(scores, test=test, executor=executor)
    if step == "pairs":
        start()
    if step in ("pairs", "everything"):
        found.table(), found.pair_table(), found.to_dict()
    stop()
"""


def main() -> None:
    """Print two tables: the cost of each step, and the cost of the assessment by each test."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    folder = Path(os.environ.get("RANKGAUGE_DATA", BESIDE))
    parser.add_argument("--data", type=Path, default=folder, help="the folder that has its folder")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--tests", nargs="+", choices=list(TESTS), default=list(TESTS))
    arguments = parser.parse_args()
    folder = arguments.data / FOLDER
    if not folder.exists():
        sys.exit(f"no runs in {folder}, expected --data or RANKGAUGE_DATA to name their folder")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    test = arguments.tests[0]
    steps = {
        step: [measured(folder, test, step, workers, arguments.repeat) for workers in (1, 2)]
        for step in STEPS
    }
    print(f"30 measures, 143 runs, {test}; by one worker, and by two\n")
    columns = ("seconds", "peak MB", "two: seconds", "peak MB", "ratio")
    show(("step", *columns), [(step, *row(*costs)) for step, costs in steps.items()])
    seconds = steps["everything"][1].call
    verdict = "met" if seconds <= BUDGET else "missed"
    show(("everything", "budget", ""), [(seconds, BUDGET, verdict)])
    print("The assessment by each test, 10,000 samples where drawn\n")
    others = [
        (
            name,
            *row(*(measured(folder, name, "assessment", n, arguments.repeat) for n in (1, 2))),
        )
        for name in arguments.tests
    ]
    show(("test", *columns), others)


def measured(folder: Path, test: str, step: str, workers: int, repeat: int) -> Cost:
    """The cost of a step."""
    words = [str(folder), test, step, str(workers)]
    return cost([sys.executable, "-c", CLOCK + CALL, *words], repeat, timed=True)


def row(one: Cost, two: Cost) -> tuple[float, ...]:
    return one.call, one.peak, two.call, two.peak, one.call / two.call


if __name__ == "__main__":
    main()
