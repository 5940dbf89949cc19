"""Power: held against statsmodels, and against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import rankgauge as rg
from rankgauge import RankgaugeError, Scores
from rankgauge.comparison.power import PairedT, TukeyRandomized
from rankgauge.comparison.significance import TESTS, Pairs
from rankgauge.core.resampling import SamplingOptions


@given(st.floats(0, 1.2), st.integers(2, 60), st.sampled_from([0.9, 0.95, 0.99]))
def test_the_power_of_the_paired_t_test_is_that_of_statsmodels(effect, topics, level):
    solver = pytest.importorskip("statsmodels.stats.power").TTestPower()
    theirs = solver.power(effect, topics, 1 - level)
    assume(not np.isnan(theirs))
    assert PairedT(level).power(effect * 0.2, 0.2, topics) == pytest.approx(theirs, abs=1e-9)


@given(st.floats(0.02, 3), st.floats(0.01, 2), st.floats(0.3, 0.95))
def test_topics_needed_are_the_fewest(difference, sd, power):
    needed = rg.queries_needed(difference, sd, power)
    assert PairedT().power(difference, sd, int(needed)) >= power
    if needed > 2:
        assert PairedT().power(difference, sd, int(needed) - 1) < power


@given(st.floats(0.01, 2), st.integers(2, 500), st.floats(0.3, 0.95))
def test_the_detectable_difference_is_detected_with_that_power(sd, topics, power):
    for test in (PairedT(), TukeyRandomized(0.1, 50)):
        smallest = rg.detectable_difference(sd, topics, power, test=test)
        if smallest:
            assert test.power(smallest, sd, topics) == pytest.approx(power, abs=1e-6)
        assert test.power(2 * smallest + 0.01, sd, topics) >= power


def test_edges():
    assert rg.queries_needed(0, 0.1) == float("inf")
    assert rg.queries_needed(0.1, 0) == 2
    assert rg.detectable_difference(0, 50) == 0
    assert TukeyRandomized(0.1, 50).smallest(0, 50, 0.8) == 0.1
    for wrong in (
        lambda: rg.queries_needed(0.1, -1),
        lambda: rg.queries_needed(float("nan"), 0.1),
        lambda: rg.queries_needed(0.1, 0.1, 0.01),
        lambda: rg.detectable_difference(0.1, 1),
        lambda: rg.detectable_difference(0.1, 50, level=1.5),
    ):
        with pytest.raises(RankgaugeError, match="expected"):
            wrong()


def test_detectable_for_runs():
    random = np.random.default_rng(3)
    values = random.random((3, 40)) + np.array([[0], [0.05], [0.2]])
    scores = Scores.from_matrix(values, runs=["a", "b", "c"], measure="AP")
    frame = rg.detectable(scores, baseline="a").to_polars()
    for row in frame.iter_rows(named=True):
        assert row["topics"] == 40
        assert row["needed"] == rg.queries_needed(row["difference"], row["sd"])
        assert row["detectable"] == pytest.approx(rg.detectable_difference(row["sd"], 40))
        # A difference that needs more queries than there are is smaller than the detectable one.
        assert (row["needed"] > 40) == (abs(row["difference"]) < row["detectable"])
    wanted = rg.detectable(scores, difference=0.01, test="tukey-randomized", samples=500)
    assert wanted.to_polars()["needed"].min() > 1_000
    same = Scores.from_matrix(values[[0, 0]], runs=["a", "b"], measure="AP")
    assert rg.detectable(same).to_polars()["needed"].to_list() == [None]


def test_the_power_of_randomized_tukey_is_near_what_simulation_finds():
    """Ten systems alike but for queries and noise, one of them better by so much."""
    random = np.random.default_rng(5)
    runs, topics, noise, better = 10, 50, 0.1, 0.08
    found, critical = 0, []
    for _ in range(150):
        values = random.random((1, topics)) + noise * random.standard_normal((runs, topics))
        values[0] += better
        pairs = Pairs(values, np.array([0]), np.array([1]), drawing=SamplingOptions(samples=1_000))
        outcome = TESTS["tukey-randomized"](pairs)
        found += int(outcome.p[0] <= 0.05)
        critical.append((outcome.high - outcome.low)[0] / 2)
    sd = noise * np.sqrt(2)
    predicted = TukeyRandomized(float(np.mean(critical)), topics).power(better, sd, topics)
    error = np.sqrt(predicted * (1 - predicted) / 150)
    assert abs(found / 150 - predicted) <= 3.5 * error
