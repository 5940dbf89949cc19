"""The cost of v1 and v2 of ten measures, compared with scoring by the ten measures alone.

    python benchmarks/normalization.py [--queries 1000] [--repeat 9]

There are three cases: a synthetic run from its file, the same run in memory, and ten such runs, for
which chance is computed once. A run has 1,000 documents for each query, 200 of them judged. In each
case, scoring with and without v1 and v2 is timed in turns, and the ratio of the best times is printed.
The budget of the design is a quarter more. The last table has the time of the expected value, the best
and the variance of each measure over all queries.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from evaluate import DOCUMENTS, make, show

import rankgauge as rg
from rankgauge.rankings.alignment import judged_labels
from rankgauge.rankings.lists import JudgedLabels

TEN = ["nDCG@10", "nDCG@100", "AP", "AP@100", "P@10", "RR", "Recall@100", "ERR@20", "RBP", "Rprec"]
ALL = [*TEN, *(f"{form}({measure})" for form in ("v1", "v2") for measure in TEN)]
BUDGET = 1.25


def best_of(repeat: int, *calls: Callable[[], object]) -> list[float]:
    """The best time of each call, in seconds. The calls take turns."""
    best = [float("inf")] * len(calls)
    for _ in range(repeat):
        for i, call in enumerate(calls):
            started = time.perf_counter()
            call()
            best[i] = min(best[i], time.perf_counter() - started)
    return best


def main() -> None:
    """Print the ratios, then the cost of each answer."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=9)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = make(Path(folder), arguments.queries)
        judgments, loaded = rg.read_qrels(qrels), rg.read_run(run)
        cases = {
            "a run file": (qrels, run),
            "a run in memory": (judgments, loaded),
            "ten run files": (qrels, {f"run {i}": run for i in range(10)}),
        }
        rows = []
        for name, (known, runs) in cases.items():
            plain, whole = best_of(
                arguments.repeat,
                lambda known=known, runs=runs: rg.evaluate(known, runs, TEN),
                lambda known=known, runs=runs: rg.evaluate(known, runs, ALL),
            )
            verdict = "met" if whole / plain <= BUDGET else "missed"
            rows.append((name, plain, whole, whole / plain, BUDGET, verdict))
    print(f"{arguments.queries:,} queries × {DOCUMENTS:,} documents\n")
    show(("input", "ten measures s", "and v1, v2 s", "ratio", "budget", ""), rows)
    costs = []
    for text in TEN:
        measure = rg.parse(text)
        answers = (measure.expected_each, measure.ideal_each, measure.variance_each)
        calls = [lambda ask=ask: ask(fresh(judgments)) for ask in answers]
        nothing, *times = best_of(arguments.repeat, lambda: fresh(judgments), *calls)
        costs.append((text, *(1e3 * max(0.0, seconds - nothing) for seconds in times)))
    show(("measure", "expected ms", "ideal ms", "variance ms"), costs)


def fresh(judgments: rg.Judgments) -> JudgedLabels:
    """Judged labels that remember no answers."""
    return judged_labels(judgments)


if __name__ == "__main__":
    main()
