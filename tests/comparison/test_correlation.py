"""Rank correlations and the concordance of measures: definitions, SciPy, published values, bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, strategies as st

import rankgauge as rg
from oracles import correlation as oracle
from profiles import examples
from rankgauge.comparison.correlation import (
    PAIRWISE_LIMIT,
    concordance,
    concordance_of,
    count_smaller_before,
    count_swapped_pairs,
    kendall_tau,
    kendall_tau_b,
    spearman,
    swap_rate_of,
    tau_ap,
)
from rankgauge.comparison.overlap import rbo
from rankgauge.errors import MeasureError, RankgaugeError

CORRELATIONS: list[Callable[..., float]] = [kendall_tau, kendall_tau_b, tau_ap, spearman]


def vectors(most: int, least: int = 2) -> st.SearchStrategy[tuple[list[int], list[int]]]:
    """Two vectors of the same length, mostly with ties."""
    pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=least, max_size=most)
    return pairs.map(lambda rows: ([a for a, _ in rows], [b for _, b in rows]))


def same(value: float) -> Any:
    return pytest.approx(value, abs=1e-12, nan_ok=True)


@given(st.lists(st.integers(-3, 12), max_size=80))
def test_counting_the_smaller_ones_before(keys: list[int]) -> None:
    expected = [sum(1 for other in keys[:i] if other < key) for i, key in enumerate(keys)]
    assert count_smaller_before(np.array(keys, dtype=np.int64)).tolist() == expected


@given(vectors(30))
def test_correlations_are_as_defined(rows: tuple[list[int], list[int]]) -> None:
    x, y = rows
    assert kendall_tau(x, y) == same(oracle.tau_a(x, y))
    assert kendall_tau_b(x, y) == same(oracle.tau_b(x, y))
    assert spearman(x, y) == same(oracle.rho(x, y))
    assert tau_ap(x, y, ties="b") == same(oracle.tau_ap_b(x, y))


@given(vectors(5))
def test_ap_correlation_is_the_mean_over_all_ways_to_break_ties(
    rows: tuple[list[int], list[int]],
) -> None:
    assert tau_ap(*rows) == same(oracle.tau_ap_a(*rows))


@given(st.integers(2, 40).flatmap(lambda n: st.permutations(range(n))))
def test_ap_correlation_without_ties(y: list[int]) -> None:
    n = len(y)
    best_first = sorted(range(n), key=lambda i: -y[i])
    expected = oracle.tau_ap_of_orders(list(range(n))[::-1], best_first)
    assert tau_ap(range(n), y) == same(expected)


@pytest.mark.parametrize("spread", [5, 1_000, 10**9])
def test_long_vectors_as_scipy(spread: int) -> None:
    random = np.random.default_rng(7)
    x = random.integers(0, spread, 3_000)
    y = x + random.integers(0, spread, 3_000)
    assert kendall_tau_b(x, y) == same(scipy.stats.kendalltau(x, y, variant="b").statistic)
    assert spearman(x, y) == same(scipy.stats.spearmanr(x, y).statistic)


@given(vectors(12))
def test_laws(rows: tuple[list[int], list[int]]) -> None:
    """In range; symmetric but for AP correlation; a strictly increasing function changes nothing; the
    reverse has the opposite sign."""
    x, y = rows
    for correlation in CORRELATIONS:
        value = correlation(x, y)
        assert math.isnan(value) or -1 <= value <= 1
        assert correlation([math.exp(v) for v in x], y) == same(value)
        assert correlation(x, [-v for v in y]) == same(-value)
        if correlation is not tau_ap:
            assert correlation(y, x) == same(value)
    assert tau_ap(x, y, ties="b") == same(tau_ap(y, x, ties="b"))


@given(st.lists(st.integers(0, 5), min_size=2, max_size=12))
def test_a_ranking_with_itself(x: list[int]) -> None:
    """1 where ties are corrected for; else as much as there are no ties."""
    constant = len(set(x)) == 1
    for value in (kendall_tau_b(x, x), spearman(x, x), tau_ap(x, x, ties="b")):
        assert math.isnan(value) if constant else value == same(1)
    tied = len(set(x)) < len(x)
    assert (kendall_tau(x, x) < 1) == (tau_ap(x, x) < 1 - 1e-12) == tied


PUBLISHED = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        (0.8519, 0.7454, 0.8333, 0.7321),
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        (0.2504, 0.2692, 0.2880, 0.2970),
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        (-0.6971, -0.5558, -0.6680, -0.7047),
    ),
]
"""What the R package of Urbano and Marrero gives for these, the second judged by the first: plain, with
ties by rounding in the second ("a"), in neither ("b") and in both ("b")."""


@pytest.mark.parametrize(("truth", "estimate", "expected"), PUBLISHED)
def test_ap_correlations_of_its_authors(
    truth: list[float], estimate: list[float], expected: tuple[float, ...]
) -> None:
    # 0.25 goes to 0.2 there too.
    rough_truth, rough = [[round(v, 1) for v in scores] for scores in (truth, estimate)]
    found = (
        tau_ap(estimate, truth),
        tau_ap(rough, truth),
        tau_ap(estimate, truth, ties="b"),
        tau_ap(rough, rough_truth, ties="b"),
    )
    assert found == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("correlation", CORRELATIONS)
def test_every_form_of_a_ranking(correlation: Callable[..., float]) -> None:
    x, y = {"a": 0.9, "b": 0.5, "c": 0.5, "d": 0.1}, {"d": 3, "b": 2, "a": 4, "c": 1}
    expected = correlation([0.9, 0.5, 0.5, 0.1], [4, 2, 1, 3])
    assert expected not in (0, 1, -1)
    assert correlation(x, y) == same(expected)
    assert correlation(np.array([0.9, 0.5, 0.5, 0.1], np.float32), (4, 2, 1, 3)) == same(expected)
    assert correlation(["a", ("b", "c"), "d"], ["a", "d", "b", "c"]) == same(expected)
    assert correlation([1, {3, 2}, 4], [1, 4, 2, 3]) == same(expected)
    assert correlation(np.array(["a", "b"]), ["a", "b"]) == 1
    assert correlation(iter([0.9, 0.5, 0.5, 0.1]), (4, 2, 1, 3)) == same(expected)
    assert correlation(x.values(), {"a": 4, "b": 2, "c": 1, "d": 3}.values()) == same(expected)
    assert correlation((name for name in "abcd"), list("adbc")) == correlation(
        list("abcd"), list("adbc")
    )


def test_numbers_of_an_iterator_are_scores() -> None:
    numbers, others = [3, 2, 1, 4], [1, 4, 2, 3]  # as ids they would be in another order
    expected = oracle.tau_a(numbers, others)
    assert kendall_tau((n for n in numbers), (n for n in others)) == same(expected)
    assert kendall_tau(numbers, iter(others)) == same(expected)
    assert kendall_tau([[n] for n in numbers], [[n] for n in others]) != same(expected)


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("items", [[], [1.0], {}, {"a": 1.0}, ["a"]])
def test_fewer_than_two_items_have_no_correlation(
    correlation: Callable[..., float], items: Any
) -> None:
    assert math.isnan(correlation(items, items))


def test_a_single_tie() -> None:
    constant, x = [1, 1, 1], [1, 2, 3]
    for one, other in ((constant, x), (x, constant), (constant, constant)):
        assert kendall_tau(one, other) == 0
        assert tau_ap(one, other) == 0
        assert math.isnan(kendall_tau_b(one, other))
        assert math.isnan(spearman(one, other))
        assert math.isnan(tau_ap(one, other, ties="b"))


@pytest.mark.parametrize("correlation", [*CORRELATIONS, concordance_of])
@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1.0, math.nan], [1.0, 2.0], "x has NaN at position 1, expected a number"),
        ({"a": 1.0, "b": 2.0}, {"b": math.nan, "a": 1.0}, "y has NaN for 'b'"),
        ([1, 2, 3], [1, 2], "x has 3 scores and y 2, expected scores of the same items"),
        ({"a": 1, "b": 2}, {"a": 1}, "'b' is in x and not in y, expected the same"),
        (["a"], ["a", "c"], "'c' is in y and not in x"),
        ([0.5, 0.4], ["a", "b"], "0.5 is in x and not in y"),
        (["a", "a"], ["a", "b"], "x has 'a' twice"),
        ({"a": 1.0}, ["a"], "x is dict, expected a list"),
        ({"a": 1.0}, {"a": "high"}, "some scores of y are not numbers"),
        ([1, 2], np.ones((2, 2)), "y has array.*, expected ids"),
        ("ab", ["a", "b"], "x is str"),
        ({1, 2}, [1, 2], "x is set"),
        (3, [1, 2], "x is int"),
    ],
)
def test_bad_input(correlation: Callable[..., float], x: Any, y: Any, message: str) -> None:
    with pytest.raises(RankgaugeError, match=message):
        correlation(x, y)


def test_unknown_ties_are_refused() -> None:
    with pytest.raises(RankgaugeError, match="ties='w', expected one of a, b"):
        tau_ap([1, 2], [1, 2], ties="w")  # type: ignore[arg-type]


# Concordance


def by_rank(scores: list[int]) -> list[list[int]]:
    values = sorted(set(scores), reverse=True)
    return [[i for i, score in enumerate(scores) if score == value] for value in values]


@given(vectors(12), st.floats(0.1, 0.9))
def test_concordance_has_all_correlations_and_counts(
    rows: tuple[list[int], list[int]], p: float
) -> None:
    x, y = rows
    found = concordance_of(x, y, p)
    assert found.tau == same(oracle.tau_a(x, y))
    assert found.tau_b == same(oracle.tau_b(x, y))
    assert found.tau_ap == same(tau_ap(x, y))
    assert found.spearman == same(oracle.rho(x, y))
    assert found.rbo == rbo(by_rank(x), by_rank(y), p)
    pairs = len(x) * (len(x) - 1) // 2
    assert found.concordant == oracle.concordant(x, y)
    assert found.discordant == oracle.discordant(x, y)
    assert found.concordant + found.discordant + found.tied == pairs
    assert found.swap_rate == found.discordant / pairs
    assert swap_rate_of(x, y) == found.swap_rate


@given(st.integers(0, 2**32), st.sampled_from([PAIRWISE_LIMIT, PAIRWISE_LIMIT + 1, 150]))
@examples(40)
def test_swapped_pairs_of_many_items(seed: int, size: int) -> None:
    x, y = np.random.default_rng(seed).integers(0, 40, (2, size)).tolist()
    assert count_swapped_pairs(x, y) == oracle.discordant(x, y)


@given(vectors(12), st.sampled_from([1e-300, 1e-5, 1.0, 1e300]), st.integers(0, 2**32))
def test_rounding_errors_break_no_tie(
    rows: tuple[list[int], list[int]], scale: float, seed: int
) -> None:
    x, y = rows
    noise = 1 + 4e-16 * np.random.default_rng(seed).integers(-2, 3, len(x))
    found, expected = concordance_of(np.array(x) * scale * noise, y), concordance_of(x, y)
    assert repr(found) == repr(expected)
    assert (found.rbo, found.tied) == (expected.rbo, expected.tied)


def test_nothing_to_compare() -> None:
    found = concordance_of([1.0], [2.0])
    assert found.systems == 1
    assert (found.concordant, found.discordant, found.tied) == (0, 0, 0)
    assert math.isnan(found.swap_rate)
    assert math.isnan(found.tau)


QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1, "d": 0}}
RUNS = {
    "best": {"q1": {"c": 3.0, "a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "d": 1.0}},
    "middle": {"q1": {"c": 3.0, "b": 2.0, "a": 1.0}, "q2": {"d": 2.0, "a": 1.0}},
    "worst": {"q1": {"b": 3.0, "x": 2.0}, "q2": {"d": 2.0}},
    "late": {"q1": {"b": 3.0, "a": 2.0, "c": 1.0}, "q2": {"a": 2.0, "d": 1.0}},
}


def test_concordance_of_two_measures_of_the_scores() -> None:
    scores = rg.evaluate(
        QRELS, RUNS, [rg.AP, rg.P @ 1, rg.measures.SearchLength, rg.measures.gm(rg.AP)]
    )
    means = scores.mean()
    columns = {
        str(measure): [means[run][measure] for run in scores.runs] for measure in scores.measures
    }
    found = concordance(scores, "map", rg.P @ 1, persistence=0.8)
    assert (found.first, found.second, found.systems) == ("AP", "P@1", 4)
    assert found.tau == oracle.tau_a(columns["AP"], columns["P@1"])
    assert found.tau_ap == same(tau_ap(columns["AP"], columns["P@1"]))
    assert found.rbo == concordance_of(columns["AP"], columns["P@1"], 0.8).rbo
    assert found.tied > 0
    lower_is_better = concordance(scores, "AP", rg.measures.SearchLength)
    assert lower_is_better.tau == oracle.tau_a(
        columns["AP"], [-v for v in columns[str(rg.measures.SearchLength)]]
    )
    assert concordance(scores, rg.measures.SearchLength, rg.measures.SearchLength).tau_b == 1
    assert concordance(scores, rg.AP, rg.measures.gm(rg.AP)).second == "gm(AP)"


def test_a_concordance_is_shown_as_a_table() -> None:
    scores = rg.evaluate(QRELS, RUNS, ["AP", "nDCG"])
    found = concordance(scores, "AP", "nDCG")
    title, head, _, row = repr(found).splitlines()
    assert title == "Concordance: 4 systems"
    assert head.split()[:4] == ["first", "second", "systems", "tau"]
    assert row.split()[:3] == ["AP", "nDCG", "4"]
    assert "<td" in found._repr_html_()
    assert found.table().rows[0][-1] == found.swap_rate


def test_measures_that_rank_no_systems() -> None:
    scores = rg.evaluate(QRELS, RUNS, ["AP", "NumRet"])
    with pytest.raises(RankgaugeError, match="no scores for nDCG, expected one of: AP, NumRet"):
        concordance(scores, "AP", "nDCG")
    with pytest.raises(MeasureError, match="NumRet cannot rank systems"):
        concordance(scores, "NumRet", "AP")
    empty = scores.select([])
    with pytest.raises(RankgaugeError, match="AP of run 'best' is undefined, expected a mean"):
        concordance(empty, "AP", "AP")
