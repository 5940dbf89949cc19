"""BM25 on the articles of SummEval: all flips over b and k1, held against a grid of 100,001 points, and
a map of both.

    python docs/scripts/space_bm25.py [--figures] [--words 4] [--points 100001]

The documents are 100 news articles. A query is made of words of the reference summary of an article;
this article is relevant, with grade 1, and all others are not. With --words 0 a query is the whole
summary. The data is read from the folder RANKGAUGE_DATA, or from beside the project. With --figures the
files in docs/figures are written; otherwise nothing is written. Nothing is random.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.figures.files import save_figure
from rankgauge.space.bm25 import BM25, BM25Scorer, Parameter, TermStatistics
from rankgauge.space.nonlinear.crossings import ParameterCrossings
from rankgauge.space.nonlinear.term_statistics import tokens

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
FIGURES = Path(__file__).resolve().parents[1] / "figures"
NEAR = 2.0**-40
"""How close to a flip the finer look is taken, as a share of the interval."""
ROWS = 31
"""At how many values of k1 the map has a curve over b."""


def articles(
    words: int = 4,
) -> tuple[dict[str, str], dict[str, str], dict[str, dict[str, int]]]:
    """The queries, the documents and the judgments.

    A query has the first so many words of a summary that have more than three letters and are in 2 to 40
    articles; with 0 words it is the whole summary.
    """
    folder = Path(os.environ.get("RANKGAUGE_DATA", BESIDE))
    with gzip.open(folder / "summeval" / "summeval.json.gz", "rt", encoding="utf-8") as file:
        entries = json.load(file)
    documents = {name: entry["src"] for name, entry in entries.items()}
    queries = {name: entry["ref_summ"] for name, entry in entries.items()}
    if words:
        frequency = Counter(word for text in documents.values() for word in set(tokens(text)))
        for name, text in queries.items():
            chosen = [
                w for w in dict.fromkeys(tokens(text)) if len(w) > 3 and 2 <= frequency[w] <= 40
            ]
            queries[name] = " ".join(chosen[:words])
    return queries, documents, {name: {name: 1} for name in queries}


class GridCheck(NamedTuple):
    """Flips against a grid."""

    pairs: int
    """How many pairs of documents there are."""
    flips: ParameterCrossings
    seen: int
    """How many changes of order the grid sees."""
    rounded: int
    """How many of these are rounding: as fractions, the scores are equal or in the same order."""
    missing: int
    """In how many cells of the grid the orders at both ends do not fit the flips."""
    confirmed: int
    """How many flips a finer look confirms."""


def grid_check(
    model: BM25, statistics: TermStatistics, parameter: Parameter, points: int = 100_001
) -> GridCheck:
    """Compare all flips with the order of all pairs of documents on a grid.

    Between two neighboring points of the grid a pair must be in another order exactly if it has an odd
    number of flips there. Where rounding leaves the order at a point open, fractions decide. The finer
    look compares each pair just before and just after each of its flips, as fractions.
    """
    scorer = model.over(parameter, statistics)
    low, high = scorer.checked_interval(None)
    flips = scorer.crossings(statistics.offsets, low, high)
    grid = np.linspace(low, high, points)
    pairs = seen = rounded = missing = 0
    bounds = np.searchsorted(flips.lists, np.arange(len(statistics.queries) + 1))
    for number, (start, end) in enumerate(itertools.pairwise(statistics.offsets.tolist())):
        rows = np.arange(start, end)
        scores = (
            np.stack([scorer.at(grid, np.full(points, row)) for row in rows]) if len(rows) else []
        )
        own = slice(bounds[number], bounds[number + 1])
        cells: dict[tuple[int, int], list[int]] = {}
        cell = np.searchsorted(grid, flips.position[own], side="right") - 1
        for upper, lower, place in zip(flips.upper[own], flips.lower[own], cell, strict=True):
            pair = (int(min(upper, lower)), int(max(upper, lower)))
            cells.setdefault(pair, []).append(int(place))
        for one in range(end - start):
            for other in range(one + 1, end - start):
                pairs += 1
                apart = scores[one] - scores[other]
                sign = np.sign(apart)
                changes = np.flatnonzero(sign[1:] * sign[:-1] < 0)
                seen += len(changes)
                expected = cells.get((start + one, start + other), [])
                if changes.tolist() != sorted(expected):
                    doubts = _doubts(
                        scorer, (start + one, start + other), grid, set(changes.tolist()), expected
                    )
                    rounded, missing = rounded + doubts[0], missing + doubts[1]
    span = high - low
    confirmed = sum(
        _exact_order(scorer, up, down, position - NEAR * span)
        > 0
        > _exact_order(scorer, up, down, position + NEAR * span)
        for up, down, position in zip(
            flips.upper.tolist(), flips.lower.tolist(), flips.position.tolist(), strict=True
        )
    )
    return GridCheck(pairs, flips, seen, rounded, missing, confirmed)


def _exact_order(scorer: BM25Scorer, one: int, other: int, value: float) -> int:
    """Which of two documents is above the other for a value of the parameter, as fractions."""
    values = []
    for row in (one, other):
        terms = scorer.exact_terms(row, value, value)
        values.append(sum((factor / below for factor, below, _ in terms), Fraction(0)))
    return (values[0] > values[1]) - (values[0] < values[1])


def _doubts(
    scorer: BM25Scorer, pair: tuple[int, int], grid: Floats, changes: set[int], flips: list[int]
) -> tuple[int, int]:
    """Cells where the grid and the flips disagree, as fractions: how many of the changes are rounding,
    and how many cells do not fit the flips. A tie at the very start or end is no flip."""
    odd = {cell for cell, count in Counter(flips).items() if count % 2}
    rounded = wrong = 0
    for cell in changes ^ odd:
        ends = [_exact_order(scorer, *pair, float(grid[cell + side])) for side in (0, 1)]
        tied = (not ends[0] and cell == 0) or (not ends[1] and cell == len(grid) - 2)
        fits = tied or (0 not in ends and (ends[0] != ends[1]) == (cell in odd))
        wrong += not fits
        rounded += fits and cell in changes
    return rounded, wrong


def main() -> None:
    """Print the counts and the curves, and draw the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--figures", action="store_true", help="write the files in docs/figures, too"
    )
    parser.add_argument("--words", type=int, default=4, help="words of a query; 0 for all")
    parser.add_argument("--points", type=int, default=100_001, help="points of the grid")
    asked = parser.parse_args()
    queries, documents, judgments = articles(asked.words)
    statistics = TermStatistics.of_texts(queries, documents)
    print(statistics)
    parameters: tuple[Parameter, ...] = ("b", "k1")
    for parameter in parameters:
        begin = time.perf_counter()
        flips = BM25().flips(statistics, parameter)
        print(f"{parameter}: {flips}; {time.perf_counter() - begin:.2f} s")
        for name, count in flips.ways.items():
            print(f"  {name}: {count:,}")
        begin = time.perf_counter()
        check = grid_check(BM25(), statistics, parameter, asked.points)
        print(
            f"  a grid of {asked.points:,} points sees {check.seen:,} changes of order, {check.rounded} "
            f"by rounding; cells that do not fit: {check.missing}; flips that a finer look confirms: "
            f"{check.confirmed:,} of {len(check.flips):,}; {time.perf_counter() - begin:.1f} s"
        )
        curve = BM25().curve(statistics, judgments, "nDCG@10", parameter=parameter)
        print(repr(curve).splitlines()[0])
        if asked.figures:
            save_figure(curve.figure(), FIGURES / f"space-bm25-{parameter}.svg")
    begin = time.perf_counter()
    both = BM25().map(statistics, judgments, "nDCG@10", at=ROWS)
    print(f"{both}\n{time.perf_counter() - begin:.1f} s")
    if asked.figures:
        save_figure(both.figure(), FIGURES / "space-bm25-map.svg")


if __name__ == "__main__":
    main()
