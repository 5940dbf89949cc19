"""Intervals of means: by Student's t and by the bootstrap, against definitions and scipy."""

from __future__ import annotations

import math
from fractions import Fraction
from inspect import signature
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats

import rankgauge as rg
from rankgauge import AP, RankgaugeError, Scores
from rankgauge.core import resampling
from rankgauge.core.resampling import SamplingOptions, draw_bootstrap_counts
from rankgauge.measures import Aggregate, gm
from rankgauge.scores.intervals import mean_interval

Floats = NDArray[np.float64]

SIXTEENTHS = st.integers(0, 16).map(lambda number: number / 16)
LEVELS = st.sampled_from([0.5, 0.9, 0.95, 0.99])


def rows_of(seed: int, runs: int, topics: int) -> Floats:
    """Skewed scores, many of them near 0, as those of AP are."""
    return np.random.default_rng(seed).beta(0.4, 1.2, (runs, topics))


def bca(row: list[float], counts: Floats, level: float) -> tuple[float, float]:
    """The interval by its definition, from these samples, in exact numbers as far as they go."""
    scores = [Fraction(score) for score in row]
    n = len(scores)
    mean = sum(scores) / n
    sampled = sorted(
        sum((int(c) * x for c, x in zip(count, scores, strict=True)), Fraction()) / n
        for count in counts
    )
    below = sum(m < mean for m in sampled) + sum(m == mean for m in sampled) / 2
    normal = NormalDist()
    bias = normal.inv_cdf(below / len(sampled))
    without = [(sum(scores) - x) / (n - 1) for x in scores]
    apart = [float(sum(without) / n - x) for x in without]
    acceleration = math.fsum(d**3 for d in apart) / (6 * math.fsum(d**2 for d in apart) ** 1.5)
    ends = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        z = bias + normal.inv_cdf(share)
        at = normal.cdf(bias + z / (1 - acceleration * z)) * (len(sampled) - 1)
        low = sampled[math.floor(at)]
        high = sampled[min(math.floor(at) + 1, len(sampled) - 1)]
        ends.append(float(low) + (at - math.floor(at)) * float(high - low))
    return ends[0], ends[1]


# By Student's t


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(2, 60), LEVELS)
def test_t_is_that_of_scipy(seed: int, runs: int, topics: int, level: float) -> None:
    values = rows_of(seed, runs, topics)
    expected = stats.t.interval(level, topics - 1, values.mean(axis=1), stats.sem(values, axis=1))
    np.testing.assert_allclose(mean_interval(values, level), expected, rtol=1e-10, atol=1e-12)


# By the bootstrap


@given(
    st.lists(SIXTEENTHS, min_size=2, max_size=12).filter(lambda row: len(set(row)) > 1),
    LEVELS,
    st.integers(0, 1000),
)
def test_bca_is_what_its_definition_makes_of_the_same_samples(
    row: list[float], level: float, seed: int
) -> None:
    samples = 300
    counts = np.concatenate(list(draw_bootstrap_counts(len(row), SamplingOptions(samples, seed))))
    low, high = mean_interval([row], level, "bootstrap", samples, seed)
    assert (low[0], high[0]) == pytest.approx(bca(row, counts, level), abs=1e-9)


@pytest.mark.parametrize("topics", [10, 50])
def test_bca_is_that_of_scipy_but_for_what_is_drawn(topics: int) -> None:
    values = rows_of(7, 4, topics)
    low, high = mean_interval(values, kind="bootstrap", samples=100_000, seed=1)
    for row, *ends in zip(values, low, high, strict=True):
        drawing = "rng" if "rng" in signature(stats.bootstrap).parameters else "random_state"
        theirs = stats.bootstrap(
            (row,),
            np.mean,
            n_resamples=100_000,
            method="BCa",
            **{drawing: np.random.default_rng(2)},
        ).confidence_interval
        # An end is a quantile of 100,000 means: its error is some hundredth of their deviation.
        error = stats.sem(row)
        assert ends == pytest.approx(list(theirs), abs=0.05 * error)


def test_a_skewed_sample_has_a_skewed_interval() -> None:
    row = [0.0] * 20 + [1.0] * 3
    (low,), (high,) = mean_interval([row], kind="bootstrap")
    mean = np.mean(row)
    assert high - mean > 1.2 * (mean - low)


def test_the_seed_decides_and_nothing_else() -> None:
    values = rows_of(3, 5, 20)
    first = mean_interval(values, kind="bootstrap", samples=500, seed=4)
    assert np.array_equal(first, mean_interval(values, kind="bootstrap", samples=500, seed=4))
    assert not np.array_equal(first, mean_interval(values, kind="bootstrap", samples=500, seed=5))
    alone = [mean_interval(row[None], kind="bootstrap", samples=500, seed=4) for row in values]
    np.testing.assert_allclose(first, np.concatenate(alone, axis=1), rtol=1e-12)


def test_little_memory_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = rows_of(3, 5, 20)
    whole = mean_interval(values, kind="bootstrap", samples=1500, seed=4)
    monkeypatch.setattr(resampling, "CELLS", 70)
    monkeypatch.setattr("rankgauge.scores.intervals.CELLS", 3000)
    in_pieces = mean_interval(values, kind="bootstrap", samples=1500, seed=4)
    np.testing.assert_allclose(whole, in_pieces, rtol=1e-12)


@pytest.mark.parametrize("kind", ["t", "bootstrap"])
def test_so_many_intervals_hold_the_mean_of_all_topics(kind: Any) -> None:
    # 1,000 samples of 30 queries from one population: the share has a standard error of 0.7%.
    values = np.random.default_rng(11).beta(2, 3, (1000, 30))
    low, high = mean_interval(values, kind=kind, samples=2000)
    held = np.mean((low <= 2 / 5) & (high >= 2 / 5))
    assert held == pytest.approx(0.95, abs=0.03)


# What has no spread


@pytest.mark.parametrize("kind", ["t", "bootstrap"])
def test_equal_scores_have_themselves_for_an_interval(kind: Any) -> None:
    low, high = mean_interval([[0.1] * 3, [0.0] * 3], kind=kind)
    assert low == pytest.approx([0.1, 0])
    assert np.array_equal(low, high)


@pytest.mark.parametrize("kind", ["t", "bootstrap"])
@pytest.mark.parametrize("row", [[], [0.5], [np.nan, 0.5], [np.nan, np.nan]])
def test_fewer_than_two_topics_have_no_interval(kind: Any, row: list[float]) -> None:
    assert np.isnan(mean_interval([row], kind=kind)).all()


@pytest.mark.parametrize("kind", ["t", "bootstrap"])
def test_a_topic_without_a_score_is_as_if_it_were_not_there(kind: Any) -> None:
    values = rows_of(5, 4, 12)
    gaps = values.copy()
    gaps[1, [0, 4]] = gaps[3, [0, 4]] = np.nan
    whole, holed = mean_interval(values, kind=kind), mean_interval(gaps, kind=kind)
    without = mean_interval(np.delete(values, [0, 4], axis=1), kind=kind)
    np.testing.assert_allclose(np.array(holed)[:, [0, 2]], np.array(whole)[:, [0, 2]])
    np.testing.assert_allclose(np.array(holed)[:, [1, 3]], np.array(without)[:, [1, 3]])


@given(
    st.lists(SIXTEENTHS, min_size=2, max_size=6),
    st.sampled_from([1e-9, 0.5, 1 - 1e-15]),
    st.integers(1, 5),
)
def test_any_level_and_number_of_samples_give_ends_among_the_scores(
    row: list[float], level: float, samples: int
) -> None:
    (low,), (high,) = mean_interval([row], level, "bootstrap", samples)
    assert min(row) - 1e-12 <= low <= high + 1e-12 <= max(row) + 2e-12


@pytest.mark.parametrize("odd", [0.0, 1.0])
def test_of_an_extreme_level_and_skewness_the_interval_still_holds_the_mean(odd: float) -> None:
    # Here 1 − a z is below 0, where the formula of BCa would turn the ends around.
    row = [odd] + [1 - odd] * 39
    (low,), (high,) = mean_interval([row], 1 - 1e-15, "bootstrap")
    assert low < np.mean(row) < high


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "normal"}, r"kind='normal', expected one of t, bootstrap"),
        ({"level": 1}, r"level=1, expected a number strictly between 0 and 1, such as 0.95"),
        ({"samples": 10**9}, r"samples=1000000000, expected a whole number from 1 to 1,000,000"),
    ],
)
def test_what_makes_no_interval_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(RankgaugeError, match=message):
        mean_interval([[0.1, 0.2]], **options)


def test_values_are_runs_by_topics() -> None:
    with pytest.raises(
        RankgaugeError, match="values of 1 dimensions, expected two: runs × queries"
    ):
        mean_interval([0.1, 0.2])


# Of scores

QRELS = {f"q{number}": {"a": 1, "b": 0} for number in range(6)}
BEST = {"a": 2.0, "b": 1.0}
WORST = {"a": 1.0, "b": 2.0}
RUNS = {
    "mixed": {query: BEST if place % 2 else WORST for place, query in enumerate(QRELS)},
    "short": {"q0": BEST, "q1": WORST, "q2": WORST, "q3": BEST},
    "single": {"q4": BEST},
}


def ends(row: list[float], **options: Any) -> tuple[float, float]:
    low, high = mean_interval([row], **options)
    return low[0], high[0]


@pytest.mark.parametrize("kind", ["t", "bootstrap"])
def test_scores_have_the_intervals_of_their_means(kind: Any) -> None:
    scores = rg.evaluate(QRELS, RUNS, ["AP", "RR"])
    found = scores.interval(kind, level=0.9, samples=500, seed=3)
    options: dict[str, Any] = {"kind": kind, "level": 0.9, "samples": 500, "seed": 3}
    mixed = [0.5, 1, 0.5, 1, 0.5, 1]
    assert list(found) == ["mixed", "short", "single"]
    assert found["mixed"]["MAP"] == found["mixed"][AP] == pytest.approx(ends(mixed, **options))
    assert found["short"]["RR"] == pytest.approx(ends([1, 0.5, 0.5, 1, 0, 0], **options))


def test_topics_that_the_mean_leaves_out_are_left_out_of_its_interval() -> None:
    scores = rg.evaluate(QRELS, RUNS, ["AP"], missing="skip")
    found = scores.interval()
    assert found["short"]["AP"] == pytest.approx(ends([1, 0.5, 0.5, 1]))
    assert all(math.isnan(end) for end in found["single"]["AP"])


@pytest.mark.parametrize("kind", ["t", "bootstrap"])
def test_the_interval_of_gm_is_that_of_the_logarithms_taken_back(kind: Any) -> None:
    values = rows_of(9, 2, 15)
    scores = Scores.from_matrix(values, runs=["a", "b"], measure=gm(AP, least=0.01))
    logs = mean_interval(np.log(np.maximum(values, 0.01)), kind=kind)
    found = scores.interval(kind)
    for run, low, high in zip(("a", "b"), *np.exp(logs), strict=True):
        assert found[run]["gm(AP,least=0.01)"] == pytest.approx((low, high))
        assert low < scores.mean()[run]["gm(AP,least=0.01)"] < high


def test_the_interval_of_mean_is_that_of_the_measure() -> None:
    scores = rg.evaluate(QRELS, RUNS, ["AP", "mean(AP)"])
    found = scores.interval()["mixed"]
    assert found["mean(AP)"] == found["AP"]


class Highest(Aggregate):
    """An aggregate that is no mean on any scale."""

    name = "highest"
    examples = ("highest(AP)",)

    def combine(self, scores: Floats) -> float:
        return float(scores.max())


def test_an_aggregate_that_is_no_mean_has_no_interval_and_a_note() -> None:
    scores = Scores.from_matrix([[0.1, 0.4, 0.3]], runs=["a"], measure=Highest(AP))
    table = scores.table(interval="t")
    assert table.rows[0][-3] == 0.4
    assert all(math.isnan(end) for end in table.rows[0][-2:])
    assert "highest(AP): no interval, because it is not a mean over queries" in table.notes


@pytest.mark.parametrize(
    ("measure", "spoilt"), [("v2(AP@10)", False), ("v2(AP@10,empty=nan)", True)]
)
def test_a_mean_that_an_undefined_topic_spoils_has_no_interval(measure: str, spoilt: bool) -> None:
    values = np.full((2, 4, 2), 0.5)
    values[:, :, 1] = [[0.1, np.nan, 0.3, 0.6], [0.1, 0.2, 0.3, 0.6]]
    scores = Scores.from_matrix(values, runs=["a", "b"], measure=["RR", measure])
    found = scores.interval()
    assert math.isnan(scores.mean()["a"][measure]) == spoilt
    assert np.isnan(found["a"][measure]).all() == spoilt
    assert found["b"][measure] == pytest.approx(ends([0.1, 0.2, 0.3, 0.6]))


# In tables


def test_a_table_has_the_ends_after_each_mean_under_either_treatment_of_missing_topics() -> None:
    scores = rg.evaluate(QRELS, RUNS, ["AP", "RR"])
    plain, table = scores.table(), scores.table(interval="t", level=0.9)
    assert table.columns == (
        *plain.columns[:6],
        *("AP", "AP low", "AP high", "RR", "RR low", "RR high"),
    )
    rows = {row[:2]: row[6:9] for row in table.rows}
    assert rows["short", "all"][1:] == pytest.approx(ends([1, 0.5, 0.5, 1, 0, 0], level=0.9))
    assert rows["short", "answered"][1:] == pytest.approx(ends([1, 0.5, 0.5, 1], level=0.9))
    assert [row[6] for row in plain.rows] == [row[6] for row in table.rows]
    assert all(math.isnan(end) for end in rows["single", "answered"][1:])


def test_the_notes_say_how_the_intervals_came_about() -> None:
    scores = rg.evaluate(QRELS, RUNS, ["AP"])
    assert scores.table(interval="t", level=0.9).notes == (
        "low, high: 90% interval of the mean over queries, Student's t",
        "AP: no interval for a mean over a single query",
    )
    assert scores.table(interval="bootstrap", samples=2000, seed=7).notes[0] == (
        "low, high: 95% interval of the mean over queries, bootstrap (BCa), 2,000 samples, seed 7"
    )
