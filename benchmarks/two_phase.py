"""Do the intervals of two-phase estimates keep their promise? Coverage, width and error on TREC tracks.

    python benchmarks/two_phase.py [--data ../shared/data] [--draws 500] [--depth 10]

For each track and target, the truth is the mean over all queries under all judgments. The shallow
scores are those under the pool of the first 10 documents of every run. Deep queries are drawn at
random, 500 times for each number m of deep queries. `coverage` is the share of runs and draws whose 95%
interval has the truth, `worst` the coverage of the worst run. Beside it: mean width and mean error of
the estimate, of the deep queries alone and of the shallow scores alone; Kendall's τ with the true
ranking; `pairs`, the coverage of the intervals of differences; `wrong`, the share of draws in which any
pair of runs that is called separable is in the wrong order; and `strata`, the coverage for queries
drawn by `choose_queries`, with the error as a share of the error of queries drawn at random.

The second table is for few runs: how often the interval covers if only so many runs are estimated
together. The third has the plan: a pilot of 5 queries, three wished widths for which 8, 12 and 18
queries would do, and how often the width is reached. `usual` is the width from the mean variance of the
runs; `runs` is the share of all runs whose own interval is as narrow. The last table has the cost:
judgments, error and τ of deeper pools, and of two phases.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from evaluate import show

import rankgauge as rg
from rankgauge.comparison.significance import holm
from rankgauge.core.arrays import Floats, Ints
from rankgauge.forecast.plans import fewest_queries
from rankgauge.forecast.ratio_estimator import RatioEstimate, half_width
from rankgauge.forecast.topic_choice import choose_queries

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
TRACKS = {
    "TREC-8": ("qrels/qrels.adhoc.401-450.txt.gz", "trec8-adhoc/runs"),
    "Robust 2003": ("trec-robust03/qrels.txt.gz", "trec-robust03/runs"),
    "COVID round 1": ("qrels/qrels.covid-round1.txt.gz", "trec-covid/round1/runs"),
    "DL 2021": ("qrels/qrels.dl21-passage.txt.gz", "trec-dl21/runs"),
    "Web 2012": ("trec-web2012/qrels.adhoc.txt", "trec-web2012/runs"),
}
TARGETS = ("nDCG@100", "nDCG@1000")
NOT_DEEP = {("DL 2021", "nDCG@1000")}
"""The runs of DL 2021 have 100 documents for each query."""
NUMBERS = (5, 10, 15, 20)
PILOT, ENOUGH, PILOTS = 5, (8, 12, 18), 400
FEW = (1, 2, 3, 5, 10)
DEPTHS = (20, 30, 50)
LEVEL = 0.95


class Cell(NamedTuple):
    """A track and a target: shallow and deep scores, run × query; relevant documents found; and how
    many documents are judged in the pool and in all."""

    track: str
    target: str
    shallow: Floats
    deep: Floats
    relevant: dict[str, int]
    judged: int
    all_judged: int


def cells(folder: Path, depth: int) -> Iterator[Cell]:
    """The tracks that are there, with each target."""
    for track, (qrels_file, runs_folder) in TRACKS.items():
        if not (folder / qrels_file).exists() or not (folder / runs_folder).exists():
            print(f"{track}: not in {folder}", file=sys.stderr)
            continue
        qrels = rg.read_qrels(folder / qrels_file)
        runs = [rg.read_run(file) for file in sorted((folder / runs_folder).iterdir())]
        names = {f"{number}": run for number, run in enumerate(runs)}
        shallow_qrels = rg.pool(qrels, names, depth)
        highest = int(qrels.grades.max())
        counts = shallow_qrels.counts.relevant
        relevant = dict(zip(qrels.queries.texts(), counts.tolist(), strict=True))
        targets = [target for target in TARGETS if (track, target) not in NOT_DEEP]
        deep = rg.evaluate(qrels, names, targets, max_grade=highest)
        shallow = rg.evaluate(shallow_qrels, names, targets, max_grade=highest)
        assert deep.queries == shallow.queries == tuple(relevant)
        judged = shallow_qrels.counts.total["judged"], int(np.count_nonzero(qrels.judged))
        empty = int(np.count_nonzero(counts == 0))
        print(
            f"{track}, depth {depth}: {len(runs)} runs, {len(relevant)} queries ({empty} with nothing "
            f"relevant), {judged[0]:,} of {judged[1]:,} judgments",
            file=sys.stderr,
        )
        for t, target in enumerate(targets):
            values = shallow.values[:, :, t], deep.values[:, :, t]
            yield Cell(track, target, *values, relevant, *judged)


def taus(estimates: Floats, truth: Floats) -> float:
    """The mean of Kendall's τ of each row with the truth."""
    first, second = np.triu_indices(len(truth), 1)
    signs = np.sign(truth[first] - truth[second])
    each = [(np.sign(row[first] - row[second]) * signs).mean() for row in estimates]
    return float(np.mean(each))


def estimated(cell: Cell, chosen: Ints, runs: Ints | None = None) -> RatioEstimate:
    """The estimate from these deep queries, of all runs or of some."""
    shallow, deep = cell.shallow, cell.deep
    if runs is not None:
        shallow, deep = shallow[runs], deep[runs]
    return RatioEstimate(shallow, deep[:, chosen], chosen, LEVEL, limits=(0.0, 1.0))


def coverage(cell: Cell, m: int, draws: int) -> tuple[object, ...]:
    """A row of the first table."""
    random = np.random.default_rng([m, len(cell.target)])
    topics, truth = cell.deep.shape[1], cell.deep.mean(axis=1)
    first, second = np.triu_indices(len(truth), 1)
    apart = truth[first] - truth[second]
    error, alone, by_strata, strata_covered = [], [], [], []
    means, alone_means = [], []
    covered, widths, alone_covered, alone_widths, pair_covered, wrong = [], [], [], [], [], []
    names = list(cell.relevant)
    place = {name: number for number, name in enumerate(names)}
    for draw in range(draws):
        chosen = np.sort(random.choice(topics, m, replace=False))
        estimate = estimated(cell, chosen)
        mean, low, high, _ = estimate.runs()
        means.append(mean)
        error.append(np.abs(mean - truth))
        covered.append((low <= truth) & (truth <= high))
        widths.append((high - low).mean())
        mean, low, high, _ = estimate.deep_alone()
        alone_means.append(mean)
        alone.append(np.abs(mean - truth))
        alone_covered.append((low <= truth) & (truth <= high))
        alone_widths.append((high - low).mean())
        difference, low, high, p = estimate.pairs(first, second)
        pair_covered.append(((low <= apart) & (apart <= high)).mean())
        wrong.append(((holm(p) <= 1 - LEVEL) & (difference * apart < 0)).any())
        strata = choose_queries(cell.relevant, m, seed=draw)
        other = estimated(cell, np.sort([place[name] for name in strata]))
        mean, low, high, _ = other.runs()
        by_strata.append(np.abs(mean - truth))
        strata_covered.append((low <= truth) & (truth <= high))
    each, of_strata = np.mean(covered, axis=0), np.mean(strata_covered, axis=0)
    return (
        cell.track, cell.target, m, each.mean(), each.min(), np.mean(widths), np.mean(error),
        taus(np.array(means), truth), np.mean(alone_covered), np.mean(alone_widths), np.mean(alone),
        taus(np.array(alone_means), truth), np.abs(cell.shallow.mean(axis=1) - truth).mean(),
        taus(cell.shallow.mean(axis=1)[None], truth), np.mean(pair_covered), np.mean(wrong),
        of_strata.mean(), of_strata.min(), np.mean(by_strata) / np.mean(error),
    )  # fmt: skip


def of_few_runs(cell: Cell, m: int, draws: int) -> tuple[object, ...]:
    """A row of the second table."""
    random = np.random.default_rng([m, len(cell.target), 2])
    topics, truth = cell.deep.shape[1], cell.deep.mean(axis=1)
    shares: list[object] = []
    for few in FEW:
        if few > len(truth):
            shares.append("")
            continue
        covered = []
        for _ in range(draws):
            chosen = random.choice(topics, m, replace=False)
            runs = random.choice(len(truth), few, replace=False)
            _, low, high, _ = estimated(cell, chosen, runs).runs()
            covered.append(((low <= truth[runs]) & (truth[runs] <= high)).mean())
        shares.append(np.mean(covered))
    return cell.track, cell.target, m, *shares


def planned(cell: Cell) -> Iterator[tuple[object, ...]]:
    """Rows of the third table."""
    random = np.random.default_rng([len(cell.target), 3])
    topics = cell.deep.shape[1]
    every = np.arange(topics)
    variance = estimated(cell, every).pooled_variance
    for enough in ENOUGH:
        width = 2 * float(half_width(np.array(variance), enough, topics, LEVEL))
        needed, reached, runs = [], [], []
        for _ in range(PILOTS):
            order = random.permutation(topics)
            pilot = estimated(cell, order[:PILOT]).pooled_variance
            m = fewest_queries(pilot, width, PILOT, topics, LEVEL)
            estimate = estimated(cell, order[:m])
            usual = 2 * half_width(np.array(estimate.pooled_variance), m, topics, LEVEL)
            _, low, high, _ = estimate.runs()
            needed.append(m)
            reached.append(float(usual) <= width)
            runs.append((high - low <= width).mean())
        yield (
            cell.track, cell.target, width, enough, np.median(needed), np.mean(reached), np.mean(runs)
        )  # fmt: skip


def costs(
    folder: Path, depth: int, found: list[Cell], rows: list[tuple[Any, ...]]
) -> Iterator[tuple[object, ...]]:
    """Rows of the last table; `rows` are those of the first."""
    deeper = [cell for more in DEPTHS if more > depth for cell in cells(folder, more)]
    for cell in found:
        name = (cell.track, cell.target)
        pools = [cell, *(other for other in deeper if (other.track, other.target) == name)]
        for pool, of_depth in zip(pools, [depth, *(d for d in DEPTHS if d > depth)], strict=True):
            means, truth = pool.shallow.mean(axis=1), pool.deep.mean(axis=1)
            error = np.abs(means - truth).mean()
            yield *name, f"depth {of_depth}", pool.judged, error, taus(means[None], truth)
        topics = cell.deep.shape[1]
        for row in rows:
            if row[:2] == name:
                judged = cell.judged + row[2] * (cell.all_judged - cell.judged) / topics
                yield *name, f"two phases, m = {row[2]}", round(judged), row[6], row[7]


def main() -> None:
    """Print three tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    folder = Path(os.environ.get("RANKGAUGE_DATA", BESIDE))
    parser.add_argument("--data", type=Path, default=folder, help="the folder of the tracks")
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--depth", type=int, default=10)
    arguments = parser.parse_args()
    found = list(cells(arguments.data, arguments.depth))
    if not found:
        sys.exit(f"no tracks in {arguments.data}, expected --data or RANKGAUGE_DATA to name them")
    columns = (
        "track", "target", "m", "coverage", "worst", "width", "error", "τ", "deep: coverage", "width",
        "error", "τ", "shallow: error", "τ", "pairs", "wrong", "strata: coverage", "worst", "error",
    )  # fmt: skip
    rows = [coverage(cell, m, arguments.draws) for cell in found for m in NUMBERS]
    show(columns, rows)
    means = [row[3] for row in rows]
    worst = [row[4] for row in rows]
    print(f"coverage {min(means):.3f} to {max(means):.3f}; the worst run {min(worst):.3f}\n")
    few = [of_few_runs(cell, m, arguments.draws) for cell in found for m in (5, 10)]
    show(("track", "target", "m", *(f"{number} runs" for number in FEW)), few)
    plans = [row for cell in found for row in planned(cell)]
    show(("track", "target", "width", "enough", "planned", "usual", "runs"), plans)
    for enough in ENOUGH:
        shares = [row[5] for row in plans if row[3] == enough]
        text = f"where {enough} would do: width reached by {np.mean(shares):.3f} of the pilots"
        print(f"{text}, {min(shares):.3f} on the worst track")
    print(f"in all: {np.mean([row[5] for row in plans]):.3f}\n")
    cost = list(costs(arguments.data, arguments.depth, found, rows))
    show(("track", "target", "judged", "judgments", "error", "τ"), cost)


if __name__ == "__main__":
    main()
