"""What the exact curve over a fusion weight costs, beside evaluations, grids and searches.

    python benchmarks/tune.py [--data ../shared/data] [--repeat 7]

On real pairs of runs (TREC DL 2021 and TREC-COVID round 1): the curve of nDCG@10 against one evaluation
of the fused pair; AP by what flips change against AP by scoring every list anew; and, where they are
installed, ranx's `optimize_fusion` at steps of .01, warm, and an Optuna search for the weights of five
runs in as much time. CPU milliseconds, the least of the repetitions.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

import rankgauge as rg
from rankgauge.core.tables import Table
from rankgauge.fusion.mixing import LabeledPool, Mixture
from rankgauge.fusion.pool import pool_of
from rankgauge.fusion.searches import ascend_run_weights
from rankgauge.measures.average_precision import AveragePrecision
from rankgauge.space import Curve, Segment

DL, COVID = "trec-dl21/runs/{}.run.gz", "trec-covid/round1/runs/{}.gz"
PAIRS = {
    "DL 2021": ("qrels/qrels.dl21-passage.txt.gz", DL, "p_bm25", "TUW_TAS-B_768"),
    "TREC-COVID": ("qrels/qrels.covid-round1.txt.gz", COVID, "bm25_baseline", "T5R1"),
}
FIVE = ("p_bm25", "TUW_TAS-B_768", "p_tct0", "ielab-uniCOIL", "ihsm_colbert64")
SECONDS = 1.5
"""How long the searches for the weights of five runs take."""


def least(work: Callable[[], object], repeat: int) -> float:
    """The least CPU milliseconds."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def mixture(data: Path, qrels: str, pattern: str, *names: str) -> Mixture:
    """The documents of some runs, with their scores and labels."""
    evaluator = rg.Evaluator(data / qrels, "AP")
    union = pool_of([rg.read_run(data / pattern.format(name)) for name in names])
    labeled = LabeledPool.of(union, evaluator.judgments, evaluator.judged)
    return Mixture.of(union, labeled, "min-max", "minimum")


class Snapshots(AveragePrecision):
    """Average precision that does not know what a flip changes."""

    name = "AP_by_lists"
    knows_flips = False


def curves(data: Path, repeat: int) -> Table:
    """The curves against an evaluation."""
    rows = []
    for name, pair in PAIRS.items():
        rows += [(name, *row) for row in costs(mixture(data, *pair).segment(*np.eye(2)), repeat)]
    columns = ("pair", "measure", "an evaluation ms", "the curve ms", "ratio")
    return Table(columns, tuple(rows))


def costs(segment: Segment, repeat: int) -> Iterator[tuple[str, float, float, float]]:
    """For some measures: an evaluation, the curve, and their ratio."""
    for measure in (rg.nDCG @ 10, rg.P @ 10, rg.ERR @ 20, rg.AP, Snapshots()):
        deep = len(segment.documents.labels) > 20_000
        if deep and isinstance(measure, Snapshots):
            continue  # minutes, and gigabytes
        times = [  # in turns, so that a slow moment of the machine is one of both
            (
                least(partial(segment.mean_at, 0.37, measure), 1),
                least(partial(anew, segment, measure), 1),
            )
            for _ in range(repeat)
        ]
        one, curve = map(min, zip(*times, strict=True))
        yield str(measure), one, curve, curve / one


def anew(segment: Segment, measure: rg.Measure) -> Curve:
    """The curve, with nothing known beforehand."""
    return Segment(segment.documents, segment.start, segment.end).curve(measure)


def five(data: Path) -> Table:
    """The best weights of five runs: ascent against a search by Optuna, in as much time."""
    qrels, pattern, *_ = PAIRS["DL 2021"]
    mixed, measure = mixture(data, qrels, pattern, *FIVE), rg.nDCG @ 10
    rows, random = [], np.random.default_rng(1)
    began, best, starts = time.perf_counter(), 0.0, 0
    while not starts or time.perf_counter() - began < SECONDS:
        first = np.full(5, 0.2) if not starts else random.dirichlet(np.ones(5))
        best, starts = max(best, ascend_run_weights(mixed, measure, first)[1]), starts + 1
    rows.append((f"exact line searches, {starts} starts", time.perf_counter() - began, best))
    try:
        import optuna
    except ImportError:
        return Table(("way", "seconds", "nDCG@10"), tuple(rows), ("optuna is not installed",))
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1))

    def value(trial: optuna.Trial) -> float:
        weights = np.array([trial.suggest_float(name, 0, 1) for name in FIVE])
        return float(mixed.values_at(weights, measure).mean())

    study.optimize(value, timeout=SECONDS)
    rows.append((f"optuna TPE, {len(study.trials)} trials", SECONDS, study.best_value))
    return Table(("way", "seconds", "nDCG@10"), tuple(rows))


def by_topic(table: rg.Run | rg.Judgments, column: str) -> dict[str, dict[str, float]]:
    """The numbers of a column by query and document."""
    documents, numbers = table.documents.texts(), getattr(table, column).tolist()
    bounds = itertools.pairwise(table.bounds.tolist())
    return {
        topic: dict(zip(documents[start:end], numbers[start:end], strict=True))
        for topic, (start, end) in zip(table.queries.texts(), bounds, strict=True)
    }


def against_ranx(data: Path, repeat: int) -> Table:
    """The best weight of the DL 2021 pair: the sweep alone and from files, against ranx's grid."""
    qrels, pattern, *names = PAIRS["DL 2021"]
    files = [data / pattern.format(name) for name in names]
    mixed = mixture(data, qrels, pattern, *names)

    def from_files() -> float:
        found = mixture(data, qrels, pattern, *names)
        return found.segment(*np.eye(2)).curve(rg.nDCG @ 10).value

    sweep = least(lambda: mixed.segment(*np.eye(2)).curve(rg.nDCG @ 10).value, repeat)
    whole = least(from_files, repeat)
    rows: list[tuple[str, float, float | None]] = []
    try:
        from ranx import Qrels, Run, optimize_fusion
    except ImportError:
        rows = [("the sweep", sweep, None), ("from files to the weight", whole, None)]
        return Table(("way", "ms", "times faster"), tuple(rows), ("ranx is not installed",))
    runs = [Run(by_topic(rg.read_run(file), "scores"), name=file.stem) for file in files]
    known = Qrels(by_topic(rg.read_qrels(data / qrels), "grades"))

    def grid() -> object:
        return optimize_fusion(
            qrels=known, runs=runs, norm="min-max", method="wsum", metric="ndcg@10", step=0.01
        )

    grid()
    ranx = least(grid, 2)
    rows = [
        ("the sweep", sweep, ranx / sweep),
        ("from files to the weight", whole, ranx / whole),
        ("ranx, steps of .01, warm", ranx, 1.0),
    ]
    return Table(("way", "ms", "times faster"), tuple(rows))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--repeat", type=int, default=7)
    asked = parser.parse_args()
    print(curves(asked.data, asked.repeat).render("table", digits=2))
    print(five(asked.data).render("table"))
    print(against_ranx(asked.data, asked.repeat).render("table", digits=2))


if __name__ == "__main__":
    main()
