"""Lists that are already labels: one call of `Evaluator.score_labels` against one call for each list.

    python benchmarks/labels.py [--lists 10000] [--length 100] [--repeat 5]

Each list ranks the judged documents of one of 50 queries in its own order. Rankers, parameter sweeps and
forecasts make thousands of such lists. For comparison, `measure.score` is called once for each list and
measure; the numbers are the same. Times are the best of the repetitions.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

import rankgauge as rg
from rankgauge.core.tables import Table

QUERIES = 50
MEASURES = ["nDCG@10", "AP", "RR", "ERR@20"]
R = TypeVar("R")


def timed(work: Callable[[], R], repeat: int) -> tuple[float, R]:
    """The best time, and the result."""
    best = float("inf")
    for _ in range(repeat):
        started = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - started)
    return best, result


def main() -> None:
    """Print both times and their ratio for each measure, and for all together."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lists", type=int, default=10_000)
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    random = np.random.default_rng(2026)
    grades = random.choice(4, p=[0.6, 0.2, 0.15, 0.05], size=(QUERIES, asked.length))
    qrels = {
        f"q{q}": {f"d{d}": int(grade) for d, grade in enumerate(row)}
        for q, row in enumerate(grades)
    }
    queries = random.integers(0, QUERIES, asked.lists)
    labels = random.permuted(grades[queries], axis=1)
    offsets = np.arange(asked.lists + 1) * asked.length
    top = int(grades.max())
    rows = []
    for names in [*([name] for name in MEASURES), MEASURES]:
        evaluator = rg.Evaluator(qrels, names)
        together, scores = timed(
            lambda e=evaluator: e.score_labels(labels.ravel(), offsets, queries),  # type: ignore[misc]
            asked.repeat,
        )
        measures = [rg.parse(name) for name in names]

        def each(measures: list[rg.Measure] = measures) -> list[list[float]]:  # type: ignore[assignment]
            known = grades.tolist()
            return [
                [measure.score(list_, known[query], max_grade=top) for measure in measures]
                for list_, query in zip(labels.tolist(), queries.tolist(), strict=True)
            ]

        alone, found = timed(each, 1)
        np.testing.assert_array_equal(scores, found)
        rows.append((", ".join(names), 1000 * together, 1000 * alone, alone / together))
    columns = ("measure", "score_labels ms", f"{asked.lists:,} calls ms", "ratio")
    print(Table(columns, tuple(rows)).render("table", digits=1))


if __name__ == "__main__":
    main()
