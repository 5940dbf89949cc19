"""Curves between real runs against evaluations: in the middle of every interval, and on a grid.

    python tests/space/midpoints.py --data ../shared/data [--jobs 2] [--queries 10] [--means 10000]

For each pair of runs, normalization and measure, three checks. The score of each query in the middle of
every interval of its own curve is what the curve says. The same holds for the mean over queries in the
middle of the intervals of the mean; of more than `--means` intervals so many are drawn. And no point of
a grid has a better mean than the curve. Intervals are wider than 1e-12, and scores equal to 1e-12.

Where a score differs, the documents are ranked anew by exact fractions: in a very narrow interval the
rounding of two scores can be more than their difference. The tests try a sample; the script tries all.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np

import rankgauge as rg
from rankgauge.fusion.mixing import LabeledPool, Mixture
from rankgauge.fusion.pool import pool_of
from rankgauge.native import segments
from rankgauge.rankings.lists import Rankings
from rankgauge.space import Curve, Segment

PAIRS = {
    "DL 2021": (
        "qrels/qrels.dl21-passage.txt.gz",
        "trec-dl21/runs/p_bm25.run.gz",
        "trec-dl21/runs/TUW_TAS-B_768.run.gz",
    ),
    "TREC-COVID": (
        "qrels/qrels.covid-round1.txt.gz",
        "trec-covid/round1/runs/bm25_baseline.gz",
        "trec-covid/round1/runs/T5R1.gz",
    ),
    "Robust 2003": (
        "trec-robust03/qrels.txt.gz",
        "trec-robust03/runs/input.SABIR03BASE.gz",
        "trec-robust03/runs/input.pircRBa1.gz",
    ),
}
NORMALIZATIONS = ("min-max", "z", "sum", "rank")
MEASURES = ("nDCG@10", "AP", "RR", "ERR@20", "RBP", "P@10", "bpref")
EQUAL = 1e-12
GRID = 100_000
MOST_MEANS = 10_000
"""Of how many intervals of the mean the middle is evaluated, where nothing else is asked for."""
MANY = 100_000
"""With more intervals than that, over all queries, some queries may be drawn."""
CELLS = 300_000
"""How many documents are ranked at a time."""


@dataclass(frozen=True)
class Outcome:
    """How many intervals were checked, and in how many the scores differ: where the scores of documents
    are rounded, and where they are exact."""

    checked: int = 0
    by_rounding: int = 0
    mismatches: int = 0

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.checked + other.checked,
            self.by_rounding + other.by_rounding,
            self.mismatches + other.mismatches,
        )


@cache
def mixture(data: Path, pair: str, normalize: str) -> Mixture:
    """The documents of a pair of runs."""
    qrels, *runs = (data / name for name in PAIRS[pair])
    evaluator = rg.Evaluator(qrels, "AP")
    union = pool_of([rg.read_run(run) for run in runs])
    labeled = LabeledPool.of(union, evaluator.judgments, evaluator.judged)
    return Mixture.of(union, labeled, normalize, "minimum")


def middles(breaks: np.ndarray) -> np.ndarray:
    """The middle of every interval between two breaks, and the ends."""
    edges = np.concatenate(([0.0], breaks, [1.0]))
    return (edges[1:] + edges[:-1]) / 2


def one_topic(
    segment: Segment, curve: Curve, number: int, chosen: np.ndarray | None = None
) -> Outcome:
    """The score of one query in the middle of its intervals, or of some of them."""
    breaks, values = curve.list_steps(number)
    points = middles(breaks)
    if chosen is not None:
        some = chosen[chosen < len(points)]
        points, values = points[some], values[some]
    lists = segment.documents
    first, last = lists.offsets[number : number + 2].tolist()
    labels, start, end = (
        lists.labels[first:last],
        segment.start[first:last],
        segment.end[first:last],
    )
    outcome, step = Outcome(), max(1, CELLS // max(1, last - first))
    for at in range(0, len(points), step):
        part = points[at : at + step, np.newaxis]
        scores = (1 - part) * start + part * end
        offsets = np.arange(len(part) + 1) * len(labels)
        rows = segments.segment_order(np.ascontiguousarray(scores.ravel()), offsets) % max(
            1, len(labels)
        )
        query = np.full(len(part), lists.query[number])
        anew = curve.measure.score_each(Rankings(labels[rows], offsets, query, lists.judged))
        bad = np.flatnonzero(differ(anew, values[at : at + step]))
        wrong = 0
        for place in bad.tolist():
            order = exact_order(start, end, float(part[place, 0]))
            one = Rankings(labels[order], np.array([0, len(labels)]), query[:1], lists.judged)
            wrong += bool(differ(curve.measure.score_each(one), values[at + place]).any())
        outcome += Outcome(len(part), len(bad), wrong)
    return outcome


def mean(segment: Segment, curve: Curve, chosen: np.ndarray) -> Outcome:
    """The mean over queries in the middle of some intervals."""
    points, measure = middles(curve.breaks)[chosen], rg.parse(str(curve.measure))
    anew = np.array([segment.mean_at(float(point), measure) for point in points])
    bad = np.flatnonzero(differ(anew, curve.values[chosen]))
    wrong = 0
    for place in bad.tolist():
        exact = exactly_ranked(segment, float(points[place]))
        wrong += bool(differ(measure.score_each(exact).mean(), curve.values[chosen[place]]))
    return Outcome(len(points), len(bad), wrong)


def differ(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Which scores are not equal; undefined ones are."""
    return ~((np.abs(one - other) <= EQUAL) | (np.isnan(one) & np.isnan(other)))


def exact_order(start: np.ndarray, end: np.ndarray, point: float) -> np.ndarray:
    """The documents in rank order by scores that are not rounded."""
    t = Fraction(point)
    pairs = zip(start.tolist(), end.tolist(), strict=True)
    scores = [(1 - t) * Fraction(a) + t * Fraction(b) for a, b in pairs]
    return np.array(sorted(range(len(scores)), key=lambda row: (-scores[row], row)), dtype=np.int64)


def exactly_ranked(segment: Segment, point: float) -> Rankings:
    """The lists by scores that are not rounded."""
    bounds = itertools.pairwise(segment.documents.offsets.tolist())
    rows = [a + exact_order(segment.start[a:b], segment.end[a:b], point) for a, b in bounds]
    return segment.ranked(np.concatenate(rows))


def grid(segment: Segment, measure: rg.Measure, points: int = GRID) -> tuple[float, float]:
    """The best mean on a grid, and the best mean of the curve.

    Only documents that can be among the first k are ranked: others have k documents above them that
    score at least as much at both ends.
    """
    lists, depth = segment.documents, measure.depth
    assert depth is not None
    kept = []
    for a, b in itertools.pairwise(lists.offsets.tolist()):
        start, end = segment.start[a:b], segment.end[a:b]
        order = np.lexsort((np.arange(b - a), -end, -start))
        highest: list[float] = []
        for row in order.tolist():
            if len(highest) < depth or end[row] > highest[-1]:
                kept.append(a + row)
                highest = sorted([*highest, end[row]], reverse=True)[:depth]
    rows = np.sort(np.array(kept))
    offsets = np.searchsorted(rows, lists.offsets)
    few = Segment(
        replace(lists, labels=lists.labels[rows], offsets=offsets, rows=None),
        segment.start[rows],
        segment.end[rows],
    )
    spots = (np.arange(points) + 0.5) / points
    best = max(few.mean_at(float(spot), measure) for spot in spots)
    return best, segment.curve(measure).value


def work(
    data: Path, pair: str, normalize: str, text: str, topics: int | None, most_means: int
) -> str:
    """Check the curve of a measure, and say how it went."""
    began, random = time.perf_counter(), np.random.default_rng(1)
    segment, measure = mixture(data, pair, normalize).segment(*np.eye(2)), rg.parse(text)
    curve = segment.curve(measure)
    numbers, total = np.arange(len(segment.documents)), len(curve.steps.position)
    if topics is not None and total > MANY:
        numbers = np.sort(random.permutation(len(numbers))[:topics])
    each = sum((one_topic(segment, curve, number) for number in numbers.tolist()), Outcome())
    intervals = len(curve.values)
    chosen = np.sort(random.permutation(intervals)[:most_means])
    means = mean(segment, curve, chosen)
    return "\t".join(
        map(
            str,
            (
                pair,
                normalize,
                text,
                f"{len(numbers)} of {len(segment.documents)}",
                each.checked,
                each.by_rounding,
                each.mismatches,
                f"{means.checked} of {intervals}",
                means.by_rounding,
                means.mismatches,
                f"{time.perf_counter() - began:.0f} s",
            ),
        )
    )


def on_grid(data: Path, pair: str) -> str:
    """Compare the curve of nDCG@10 with a grid, and say how it went."""
    began = time.perf_counter()
    best, value = grid(mixture(data, pair, "min-max").segment(*np.eye(2)), rg.nDCG @ 10)
    verdict = "better" if best > value + EQUAL else "not better"
    seconds = f"{time.perf_counter() - began:.0f} s"
    return f"{pair}\tgrid of {GRID:,}: {best!r}, {verdict} than the curve, {value!r}\t{seconds}"


def main() -> None:
    """Print a line for each pair, normalization and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--queries", type=int, help="draw so many queries of the deepest curves")
    parser.add_argument("--means", type=int, default=MOST_MEANS, help="so many intervals of means")
    parser.add_argument("--pair", choices=PAIRS, action="append")
    parser.add_argument("--normalize", choices=NORMALIZATIONS, action="append")
    parser.add_argument("--measure", choices=MEASURES, action="append")
    parser.add_argument("--no-grid", action="store_true")
    asked = parser.parse_args()
    pairs = asked.pair or list(PAIRS)
    chosen = (pairs, asked.normalize or NORMALIZATIONS, asked.measure or MEASURES)
    jobs = list(itertools.product(*chosen))
    print(
        "pair normalize measure queries intervals by_rounding mismatches means … …".replace(
            " ", "\t"
        )
    )
    with ProcessPoolExecutor(asked.jobs) as pool:
        futures = [pool.submit(work, asked.data, *job, asked.queries, asked.means) for job in jobs]
        if not asked.no_grid:
            futures += [pool.submit(on_grid, asked.data, pair) for pair in pairs]
        for future in as_completed(futures):
            print(future.result(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
