"""The tests of a difference, held against scipy, statsmodels, worked examples and their definitions."""

from __future__ import annotations

import itertools
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from profiles import examples
from rankgauge import RankgaugeError, Scores
from rankgauge.comparison.significance import CORRECTIONS, TESTS, Pairs
from rankgauge.comparison.studentized_range import critical_value, upper_tail
from rankgauge.comparison.systems import compare
from rankgauge.core import resampling
from rankgauge.core.notes import note_texts
from rankgauge.core.resampling import SamplingOptions, draw_bootstrap_counts, draw_mean_ranges


@st.composite
def matrices(draw, topics=(2, 60), runs=(2, 5)) -> np.ndarray:
    """Scores of runs on queries: continuous, or of few values, so that there are ties."""
    shape = draw(st.integers(*runs)), draw(st.integers(*topics))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = random.random(shape) + 0.2 * random.random((1, shape[1]))
    digits = draw(st.sampled_from([1, 2, None]))
    return values if digits is None else np.round(values, digits)


def all_pairs(values: np.ndarray, **more) -> Pairs:
    first, second = np.triu_indices(len(values), 1)
    return Pairs(np.asarray(values, dtype=float), first, second, **more)


def rounded(pairs: Pairs) -> np.ndarray:
    """The differences, pair × query."""
    return pairs.each(lambda apart: apart, exactly=True)


@pytest.mark.filterwarnings("ignore:Precision loss")
@given(matrices(), st.sampled_from([0.8, 0.95, 0.99]))
def test_t_tests_and_their_intervals_are_those_of_scipy(values, level):
    pairs = all_pairs(values, level=level)
    a, b = values[pairs.first], values[pairs.second]
    usable = (pairs.spread > 0) & (pairs.variances[pairs.first] + pairs.variances[pairs.second] > 0)
    for name, found in (
        ("paired-t", stats.ttest_rel(a, b, axis=1)),
        ("welch", stats.ttest_ind(a, b, axis=1, equal_var=False)),
        ("student", stats.ttest_ind(a, b, axis=1)),
    ):
        outcome = TESTS[name](pairs)
        interval = found.confidence_interval(level)
        for ours, theirs in (
            (outcome.p, found.pvalue),
            (outcome.low, interval.low),
            (outcome.high, interval.high),
        ):
            np.testing.assert_allclose(ours[usable], theirs[usable], rtol=1e-9, atol=1e-12)


@given(matrices(runs=(2, 3)))  # with ties, scipy tries all signs one by one
def test_wilcoxon_is_that_of_scipy_pair_by_pair(values):
    pairs = all_pairs(values)
    found = TESTS["wilcoxon"](pairs).p
    for ours, row in zip(found, rounded(pairs), strict=True):
        assert ours == pytest.approx(stats.wilcoxon(row).pvalue if row.any() else 1, abs=1e-12)


@given(matrices())
def test_sign_is_the_binomial_test_of_scipy(values):
    pairs = all_pairs(values)
    for ours, row in zip(TESTS["sign"](pairs).p, rounded(pairs), strict=True):
        wins, differ = np.count_nonzero(row > 0), np.count_nonzero(row)
        theirs = stats.binomtest(wins, differ).pvalue if differ else 1.0
        assert ours == pytest.approx(theirs, abs=1e-12)


@given(matrices(topics=(1, 9)))
def test_randomization_on_few_topics_tries_all_signs_as_scipy_does(values):
    pairs = all_pairs(values)
    found = TESTS["randomization"](pairs).p
    for ours, row in zip(found, rounded(pairs), strict=True):
        sums = [abs(np.dot(signs, row)) for signs in itertools.product((1, -1), repeat=len(row))]
        by_definition = np.mean(np.array(sums) >= abs(row.sum()) - 1e-9)
        assert ours == pytest.approx(by_definition, abs=1e-12)
        if abs(row.sum()) > 1e-9 and len(row) > 1:
            theirs = stats.permutation_test(
                (np.rint(row * 1e9),), np.mean, permutation_type="samples", n_resamples=np.inf
            )
            assert ours == pytest.approx(theirs.pvalue, abs=1e-12)


@given(matrices(topics=(15, 40)), st.integers(0, 5))
def test_randomization_by_drawing_counts_the_signs_that_were_drawn(values, seed):
    drawing = SamplingOptions(samples=2_500, seed=seed)
    pairs = all_pairs(values, drawing=drawing)
    signs = np.concatenate(
        [
            1.0 - 2 * drawing.random(block).integers(0, 2, (pairs.queries, size), dtype=np.int8).T
            for block, size in enumerate((1000, 1000, 500))
        ]
    )
    sums = np.abs(signs @ rounded(pairs).T)
    count = (sums >= np.abs(rounded(pairs).sum(axis=1)) - 1e-9).sum(axis=0)
    np.testing.assert_allclose(TESTS["randomization"](pairs).p, (count + 1) / 2_501, atol=1e-12)


@given(matrices(topics=(3, 20)), st.integers(0, 5))
def test_the_bootstrap_is_sakais_algorithm(values, seed):
    drawing = SamplingOptions(samples=300, seed=seed)
    pairs = all_pairs(values, drawing=drawing)
    outcome = TESTS["bootstrap"](pairs)
    counts = np.concatenate(list(draw_bootstrap_counts(pairs.queries, drawing))).astype(int)
    assert (counts.sum(axis=1) == pairs.queries).all()
    for pair, row in enumerate(rounded(pairs)):
        if np.ptp(row) == 0:
            continue
        own = _t(row)
        shifted = row - row.mean()
        drawn = np.array([_t(np.repeat(shifted, count)) for count in counts])
        p = (np.count_nonzero(np.abs(drawn) >= abs(own) * (1 - 1e-9)) + 1) / 301
        assert outcome.p[pair] == pytest.approx(p, abs=1e-12)
        error = row.std(ddof=1) / np.sqrt(len(row))
        low, high = np.quantile(drawn, (0.025, 0.975), method="inverted_cdf")
        with np.errstate(invalid="ignore"):
            assert outcome.low[pair] == pytest.approx(row.mean() - high * error, rel=1e-6, abs=1e-9)
            assert outcome.high[pair] == pytest.approx(row.mean() - low * error, rel=1e-6, abs=1e-9)


def _t(sample: np.ndarray) -> float:
    mean, sd = sample.mean(), sample.std(ddof=1)
    if abs(mean) < 1e-9:
        return 0.0
    return (
        float(mean / (sd / np.sqrt(len(sample)))) if sd > 1e-9 else float(np.copysign(np.inf, mean))
    )


# Tukey

WORKED = np.array([[1, 2, 3, 6], [2, 2, 4, 8], [3, 5, 5, 7]])
"""Means 3, 4, 5; queries 2, 3, 4, 7; residuals 0 but for ±1 at two queries of the second and the third
run: sum of squares 4 on 2 · 3 degrees of freedom, mean square 2/3, standard error √(2/3/4)."""


def test_two_way_tukey_on_a_worked_example():
    outcome = TESTS["tukey"](all_pairs(WORKED))
    q = np.array([1, 2, 1]) / np.sqrt(1 / 6)
    np.testing.assert_allclose(outcome.p, stats.studentized_range.sf(q, 3, 6), atol=1e-12)
    half = 4.339 * np.sqrt(1 / 6)  # the 5% point of printed tables for 3 groups and 6 degrees
    np.testing.assert_allclose(outcome.high - outcome.low, 2 * half, atol=1e-3)
    np.testing.assert_allclose(outcome.effect, np.array([-1, -2, -1]) / np.sqrt(2 / 3), atol=1e-12)
    assert (outcome.p <= 0.05).tolist() == [False, True, False]


@examples(50)
@given(matrices(topics=(3, 12), runs=(3, 6)))
def test_two_way_tukey_has_the_residual_variance_of_statsmodels(values):
    ols = pytest.importorskip("statsmodels.api").OLS
    runs, topics = values.shape
    design = np.zeros((values.size, runs + topics - 1))
    for row, (run, topic) in enumerate(np.ndindex(runs, topics)):
        design[row, run] = 1
        if topic:
            design[row, runs + topic - 1] = 1
    error = np.sqrt(ols(values.ravel(), design).fit().mse_resid / topics)
    pairs = all_pairs(values)
    if error > 1e-9:
        q = np.abs(pairs.difference) / error
        theirs = stats.studentized_range.sf(q, runs, (runs - 1) * (topics - 1))
        np.testing.assert_allclose(TESTS["tukey"](pairs).p, theirs, atol=1e-8)


@given(matrices(runs=(2, 2)))
def test_with_two_runs_tukey_is_the_paired_t_test(values):
    pairs = all_pairs(values)
    t, tukey = TESTS["paired-t"](pairs), TESTS["tukey"](pairs)
    if pairs.spread[0] > 1e-9:
        np.testing.assert_allclose(tukey.p, t.p, atol=1e-10)
        np.testing.assert_allclose(tukey.low, t.low, atol=1e-8)


def test_randomized_tukey_against_all_ways_to_deal_the_scores():
    values = np.array([[0.1, 0.5, 0.9, 0.4], [0.2, 0.6, 0.7, 0.5], [0.6, 0.9, 1.0, 0.8]])
    ways = [list(itertools.permutations(column)) for column in values.T]
    ranges = np.array([np.ptp(np.mean(dealt, axis=0)) for dealt in itertools.product(*ways)])
    pairs = all_pairs(values, drawing=SamplingOptions(samples=50_000))
    exact = (ranges[:, None] >= np.abs(pairs.difference) - 1e-9).mean(axis=0)
    error = np.sqrt(exact * (1 - exact) / 50_000)
    assert (np.abs(TESTS["tukey-randomized"](pairs).p - exact) <= 4 * error + 1e-4).all()


@examples(50)
@given(st.integers(3, 40), st.integers(1, 400))
def test_the_studentized_range_is_that_of_scipy(groups, df):
    q = np.array([0.0, 0.3, 1.0, 2.5, 4.0, 6.0, 15.0])
    theirs = stats.studentized_range.sf(q, groups, df)
    np.testing.assert_allclose(upper_tail(q, groups, df), theirs, atol=1e-9)


@examples(50)
@given(st.integers(2, 200), st.integers(1, 10_000), st.sampled_from([0.01, 0.05, 0.3]))
def test_a_critical_value_is_reached_as_often_as_it_says(groups, df, share):
    found = upper_tail(np.array([critical_value(share, groups, df)]), groups, df)
    assert found[0] == pytest.approx(share, rel=1e-9)


# Corrections


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_corrections_are_those_of_statsmodels(p):
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    for name, theirs in (("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")):
        np.testing.assert_allclose(
            CORRECTIONS[name](np.array(p)), multipletests(p, method=theirs)[1], atol=1e-12
        )


# What holds for every test


@pytest.mark.parametrize("name", TESTS)
@given(values=matrices(topics=(2, 20)))
def test_laws_of_every_test(name, values):
    pairs = all_pairs(values, drawing=SamplingOptions(samples=200))
    outcome = TESTS[name](pairs)
    assert ((outcome.p >= 0) & (outcome.p <= 1)).all()
    assert (outcome.low <= pairs.difference + 1e-12).all()
    assert (outcome.high >= pairs.difference - 1e-12).all()
    assert (np.sign(outcome.effect) == np.sign(pairs.difference)).all()
    turned = TESTS[name](
        Pairs(values, pairs.second, pairs.first, drawing=SamplingOptions(samples=200))
    )
    np.testing.assert_allclose(turned.p, outcome.p, atol=1e-12)
    np.testing.assert_allclose(turned.effect, -outcome.effect, atol=1e-9)


@pytest.mark.parametrize("name", TESTS)
@given(values=matrices(topics=(2, 20), runs=(3, 5)))
def test_a_test_is_about_differences_whatever_the_scale(name, values):
    moved = 4.0 * values + 1.0
    before = TESTS[name](all_pairs(values, drawing=SamplingOptions(samples=200)))
    after = TESTS[name](all_pairs(moved, drawing=SamplingOptions(samples=200)))
    np.testing.assert_allclose(after.p, before.p, atol=1e-9)


@pytest.mark.parametrize("name", TESTS)
def test_identical_systems_have_a_p_of_1(name):
    values = np.array([[0.1, 0.4, 0.3, 0.9, 0.2]] * 2 + [[0.3, 0.5, 0.1, 0.7, 0.3]])
    outcome = TESTS[name](all_pairs(values))
    assert outcome.p[0] == 1
    assert outcome.effect[0] == 0
    assert outcome.low[0] <= 0 <= outcome.high[0]


@pytest.mark.parametrize("name", TESTS)
def test_nothing_but_one_constant_has_a_p_of_1(name):
    outcome = TESTS[name](all_pairs(np.full((3, 4), 0.3)))
    np.testing.assert_array_equal(outcome.p, 1)
    np.testing.assert_array_equal(outcome.effect, 0)
    np.testing.assert_array_equal([outcome.low, outcome.high], 0)


@pytest.mark.parametrize("name", TESTS)
def test_the_same_difference_everywhere_is_never_by_chance_but_for_few_topics(name):
    values = np.array([[0.1, 0.4, 0.3, 0.7, 0.2], [0.3, 0.6, 0.5, 0.9, 0.4]])
    outcome = TESTS[name](all_pairs(values))
    least = {"wilcoxon": 1 / 16, "sign": 1 / 16, "randomization": 1 / 16, "bootstrap": 1 / 10_001}
    if name in ("paired-t", "tukey"):
        assert outcome.p[0] < 1e-12
    elif name in least:
        assert outcome.p[0] == pytest.approx(least[name])
    assert not np.isnan(outcome.p).any()


@pytest.mark.parametrize("name", TESTS)
def test_a_single_topic_has_a_defined_result_or_a_message(name):
    scores = Scores.from_matrix([[0.4], [0.7]], runs=["a", "b"], measure="AP")
    if TESTS[name].least_queries == 1:
        found = compare(scores, test=name)
        assert found.p.tolist() == [[1.0]]
        assert (found.wins, found.losses) == (np.array([[0]]), np.array([[1]]))
    else:
        with pytest.raises(RankgaugeError, match="1 query, expected at least 2"):
            compare(scores, test=name)


@pytest.mark.parametrize("name", [name for name, test in TESTS.items() if test.drawn])
def test_one_seed_one_result_whoever_does_the_work(name):
    values = np.random.default_rng(0).random((6, 25))
    scores = Scores.from_matrix(values, runs=list("abcdef"), measure="AP")
    alone = compare(scores, test=name, samples=3_000, seed=7)
    assert f"seed {alone.seed}" in "".join(note_texts(alone.notes))
    for workers in (ThreadPoolExecutor(1), ThreadPoolExecutor(2), ProcessPoolExecutor(2)):
        with workers as executor:
            again = compare(scores, test=name, samples=3_000, seed=7, executor=executor)
        np.testing.assert_array_equal(again.p, alone.p)
        np.testing.assert_array_equal(again.low, alone.low)
    assert (compare(scores, test=name, samples=3_000, seed=8).p != alone.p).any()


def test_ranges_and_counts_take_bounded_memory(monkeypatch):
    """In pieces of any size the result is the same."""
    values = np.random.default_rng(1).random((5, 12))
    drawing = SamplingOptions(samples=1_500)
    whole = (
        draw_mean_ranges(values, drawing),
        TESTS["bootstrap"](all_pairs(values, drawing=drawing)),
    )
    monkeypatch.setattr(resampling, "CELLS", 3_000)
    pieces = (
        draw_mean_ranges(values, drawing),
        TESTS["bootstrap"](all_pairs(values, drawing=drawing)),
    )
    np.testing.assert_array_equal(pieces[0], whole[0])
    np.testing.assert_allclose(pieces[1], whole[1], rtol=1e-12)


def test_signs_are_drawn_a_few_at_a_time(monkeypatch):
    """With more queries than fit at once the p is near the same."""
    values = np.random.default_rng(1).random((3, 30))
    whole = TESTS["randomization"](all_pairs(values)).p
    monkeypatch.setattr(resampling, "CELLS", 3_000)
    few = TESTS["randomization"](all_pairs(values)).p
    np.testing.assert_allclose(few, whole, atol=0.02)
    tried = all_pairs(values[:, :9])
    np.testing.assert_array_equal(TESTS["randomization"](tried).p * 512 % 1, 0)


@pytest.mark.parametrize("level", [1e-9, 0.5, 1 - 1e-9])
@pytest.mark.parametrize("groups", [2, 3])
def test_critical_values_of_odd_levels(level, groups):
    found = critical_value(1 - level, groups, 2)
    assert upper_tail(np.array([found]), groups, 2)[0] == pytest.approx(1 - level, rel=1e-6)
