"""`rankgauge.pytrec_eval` against pytrec_eval: dicts in, `{query: {measure: value}}` out.

    python benchmarks/pytrec_eval.py [--repeat 7]

The runs have 50 and 1,000 queries, with 1,000 unsorted documents and 100 judgments for each query. The
measures of BEIR are map_cut, ndcg_cut, recall and P at six cut-offs. The two modules take turns in one
process, and each time is the best of the repetitions. Every value is compared, to the last bit.
"""

from __future__ import annotations

import argparse
import gc
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

# This file has the name of the module that it measures.
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != Path(__file__).parent]

import pytrec_eval as theirs  # noqa: E402

import rankgauge.pytrec_eval as ours  # noqa: E402
from rankgauge.core.tables import Table  # noqa: E402

CUTOFFS = "1,3,5,10,100,1000"
MEASURES = {
    "BEIR's": {f"{name}.{CUTOFFS}" for name in ("map_cut", "ndcg_cut", "recall", "P")},
    "map, ndcg": {"map", "ndcg"},
}
QUERIES = (50, 1000)


def collection(queries: int, documents: int = 1000) -> tuple[Any, Any]:
    """Judgments and a run, as Python dicts."""
    chance = random.Random(2026)
    qrels, run = {}, {}
    for number in range(queries):
        ids = [f"doc-{i}" for i in chance.sample(range(10_000_000), documents + 40)]
        run[f"q{number}"] = {document: chance.random() for document in ids[:documents]}
        judged = chance.sample(ids[:documents], 60) + ids[documents:]
        qrels[f"q{number}"] = {document: chance.choice([0, 0, 1, 2]) for document in judged}
    return qrels, run


def in_turns(pair: list[Callable[[], Any]], repeat: int) -> tuple[list[float], list[Any]]:
    """The best time of each, and its result."""
    best, results = [float("inf")] * len(pair), [None] * len(pair)
    for _ in range(repeat):
        for place, work in enumerate(pair):
            gc.collect()
            started = time.perf_counter()
            results[place] = work()
            best[place] = min(best[place], time.perf_counter() - started)
    return best, results


def works(qrels: Any, run: Any, measures: set[str]) -> dict[str, list[Callable[[], Any]]]:
    """The calls that are timed: the evaluation alone, and with the constructor, each by both modules."""

    def alone(module: ModuleType) -> Callable[[], Any]:
        evaluator = module.RelevanceEvaluator(qrels, measures)
        return lambda: evaluator.evaluate(run)

    def whole(module: ModuleType) -> Callable[[], Any]:
        return lambda: module.RelevanceEvaluator(qrels, measures).evaluate(run)

    return {
        "evaluate": [alone(ours), alone(theirs)],
        "constructor + evaluate": [whole(ours), whole(theirs)],
    }


def main() -> None:
    """Print both times and their ratio, for the evaluation alone and with the constructor."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    rows = []
    for queries in QUERIES:
        qrels, run = collection(queries)
        for name, measures in MEASURES.items():
            for what, pair in works(qrels, run, measures).items():
                (mine, other), results = in_turns(pair, repeat)
                assert results[0] == results[1]
                rows.append(
                    (f"{queries:,} × 1,000", name, what, 1000 * mine, 1000 * other, other / mine)
                )
    columns = ("run", "measures", "work", "rankgauge ms", "pytrec_eval ms", "ratio")
    print(Table(columns, tuple(rows)).render("table", digits=2))


if __name__ == "__main__":
    main()
