"""Curves between real runs: predicted is what is evaluated anew, and no grid is better.

This tries a sample of the intervals; `python tests/space/midpoints.py` tries them all.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rankgauge as rg
from profiles import thorough
from space.midpoints import MEASURES, NORMALIZATIONS, PAIRS, Outcome, grid, mean, mixture, one_topic

TOPICS, INTERVALS, MEANS, POINTS = (20, 500, 200, 100_000) if thorough() else (3, 50, 8, 1_000)
"""How many queries, intervals of each, intervals of the mean, and points of a grid are tried."""
DEEP = ("AP", "RBP", "RR", "bpref")

RealData = Callable[[str], Path]


def folder(any_data: RealData, pair: str) -> Path:
    """The folder of the data, which has all files of the pair."""
    qrels, *runs = PAIRS[pair]
    for run in runs:
        any_data(run)
    return any_data(qrels).parents[qrels.count("/")]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("normalize", NORMALIZATIONS)
def test_predicted_is_evaluated_anew_between_real_runs(
    pair: str, normalize: str, any_data: RealData
) -> None:
    segment = mixture(folder(any_data, pair), pair, normalize).segment(*np.eye(2))
    random = np.random.default_rng(1)
    for text in MEASURES:
        if text in DEEP and pair == "Robust 2003" and not thorough():
            continue  # 100 queries of 2,000 documents: a second or two, and much memory
        curve = segment.curve(rg.parse(text))
        for number in random.permutation(len(segment.documents))[:TOPICS].tolist():
            size = len(curve.list_steps(number)[1])
            outcome = one_topic(segment, curve, number, random.permutation(size)[:INTERVALS])
            assert outcome == Outcome(min(size, INTERVALS), outcome.by_rounding, 0), text
        some = random.permutation(len(curve.values))[:MEANS]
        outcome = mean(segment, curve, some)
        assert outcome == Outcome(len(some), outcome.by_rounding, 0), text


@pytest.mark.parametrize("pair", PAIRS)
def test_no_grid_is_better(pair: str, any_data: RealData) -> None:
    segment = mixture(folder(any_data, pair), pair, "min-max").segment(*np.eye(2))
    best, value = grid(segment, rg.nDCG @ 10, POINTS)
    assert value - 0.05 < best <= value + 1e-12
