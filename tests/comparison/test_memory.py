"""Comparing and assessing many runs takes memory in proportion to the scores, not to pairs × queries."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from rankgauge.comparison import consistency, significance
from rankgauge.comparison.assessment import assess
from rankgauge.comparison.systems import compare
from rankgauge.core.resampling import _SignFlipCounter
from rankgauge.scores.model import Scores

RUNS, TOPICS, MEASURES = 120, 2_000, ("AP", "RR", "nDCG@10", "P@10")
HELD = 200_000
"""How many numbers are held at a time here: few beside the scores, which are 960,000 numbers."""


@pytest.fixture(scope="module")
def scores() -> Scores:
    random = np.random.default_rng(1)
    values = random.random((RUNS, TOPICS, len(MEASURES)))
    values += np.linspace(0, 0.2, RUNS)[:, None, None]
    values[3, :5] = np.nan
    names = [f"run{number}" for number in range(RUNS)]
    return Scores.from_matrix(np.minimum(values, 1), runs=names, measure=MEASURES)


@pytest.fixture(autouse=True)
def little_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (significance, consistency):
        monkeypatch.setattr(module, "CELLS", HELD)
    monkeypatch.setattr(f"{_SignFlipCounter.__module__}.CELLS", HELD)


def peak(work: Callable[[], object]) -> int:
    """The most bytes that were held at once, beyond those before."""
    work()  # what is imported and kept once is no part of it
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_each_pair_and_topic_would_be_far_more_than_the_bound(scores: Scores) -> None:
    assert 10 * scores.values.nbytes < RUNS * (RUNS - 1) // 2 * TOPICS * 8


BOUNDS = {"paired-t": 1.5, "welch": 1.5, "sign": 1.5, "randomization": 2.0}
"""Of each test, how many times the memory of the scores it may take; samples take some of it."""


@pytest.mark.parametrize("test", BOUNDS)
def test_comparing_with_one_run(scores: Scores, test: str) -> None:
    bound = BOUNDS[test] * scores.values.nbytes
    assert peak(lambda: compare(scores, baseline="run0", test=test, samples=1_000)) < bound


@pytest.mark.parametrize("test", BOUNDS)
def test_assessing(scores: Scores, test: str) -> None:
    bound = BOUNDS[test] * scores.values.nbytes
    assert peak(lambda: assess(scores, test=test, splits=200, samples=500)) < bound


def test_the_memory_of_splits_does_not_grow_with_their_number(scores: Scores) -> None:
    """Threads that happen to work at the same time hold a fifth more."""
    few, many = (peak(lambda n=n: assess(scores, splits=n)) for n in (100, 400))
    assert many < 1.4 * few
