"""Halves of the queries and PAD: as defined, on random scores with and without ties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from oracles import consistency as oracle
from profiles import examples
from rankgauge import RankgaugeError
from rankgauge.comparison import consistency
from rankgauge.comparison.consistency import (
    BINS,
    LEAST_DECISIONS,
    Splits,
    _halves,
    absolute_difference,
    split_halves,
)
from rankgauge.core.resampling import SamplingOptions

SIXTEENTHS = st.integers(-4, 16).map(lambda number: number / 16)
"""Sums of these are exact, in any order, so that a tie is a tie; and there are many."""


def tables(least_topics: int = 2) -> st.SearchStrategy[np.ndarray]:
    """Run × query."""
    shapes = st.tuples(st.integers(2, 6), st.integers(least_topics, 9))
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=SIXTEENTHS))


def all_pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(len(values), 1)


def found_by_definition(
    values: np.ndarray, drawing: SamplingOptions, fuzziness: float
) -> list[list[oracle.Decision]]:
    """The decisions of each split."""
    topics = values.shape[1]
    one, other = _halves(topics, topics // 2, range(drawing.samples), drawing)
    return [
        oracle.decisions(
            values.tolist(),
            (np.flatnonzero(one[:, s]).tolist(), np.flatnonzero(other[:, s]).tolist()),
            fuzziness,
        )
        for s in range(drawing.samples)
    ]


@given(tables(), st.integers(0, 2**32), st.sampled_from([0.0, 0.0, 0.05, 0.25, 0.9]))
def test_decisions_swaps_and_tau_are_as_defined(
    values: np.ndarray, seed: int, fuzziness: float
) -> None:
    drawing = SamplingOptions(12, seed)
    found = split_halves(values, *all_pairs(values), drawing, fuzziness)
    by_split = found_by_definition(values, drawing, fuzziness)
    decisions = [decision for split in by_split for decision in split]
    assert found.queries == values.shape[1] // 2
    plain = found_by_definition(values, drawing, 0.0)
    assert found.tau.tolist() == pytest.approx([oracle.tau(values, split) for split in plain])
    assert found.decided.sum() == len(decisions)
    assert found.swapped.sum() == sum(decision.swapped for decision in decisions)
    assert found.tied == 12 * math.comb(len(values), 2) - len(decisions)
    for edge, decided, swapped in zip(
        found.edges, from_here_on(found.decided), from_here_on(found.swapped), strict=True
    ):
        # A difference of the size of an edge may fall on either side of it, by rounding.
        above = [d for d in decisions if d.size > edge + 1e-9]
        at_least = [d for d in decisions if d.size >= edge - 1e-9]
        assert len(above) <= decided <= len(at_least)
        assert sum(d.swapped for d in above) <= swapped <= sum(d.swapped for d in at_least)


def from_here_on(counts: np.ndarray) -> np.ndarray:
    return np.cumsum(counts[::-1])[::-1]


@pytest.mark.parametrize("fuzziness", [0.0, 0.07])
@pytest.mark.parametrize(("runs", "topics"), [(2, 2), (7, 11), (12, 30)])
def test_bins_are_as_defined(runs: int, topics: int, fuzziness: float) -> None:
    values = np.random.default_rng(runs).random((runs, topics))
    drawing = SamplingOptions(60, 5)
    found = split_halves(values, *all_pairs(values), drawing, fuzziness)
    means = [sum(row) / topics for row in values.tolist()]
    greatest = max(means) - min(means)
    edges = [greatest * b / BINS for b in range(BINS)]
    decided, swapped = [0] * BINS, [0] * BINS
    for split in found_by_definition(values, drawing, fuzziness):
        for size, disagree in split:
            place = max(b for b in range(BINS) if edges[b] <= size)
            decided[place] += 1
            swapped[place] += disagree
    np.testing.assert_allclose(found.edges, edges, atol=1e-15)
    assert found.decided.tolist() == decided
    assert found.swapped.tolist() == swapped
    rates = [s / d if d else math.nan for s, d in zip(swapped, decided, strict=True)]
    np.testing.assert_allclose(found.swap_rates, rates)
    assert found.swap_rate == sum(swapped) / sum(decided)


@given(tables(), st.integers(0, 2**32))
def test_swap_rate_and_tau_say_the_same(values: np.ndarray, seed: int) -> None:
    """swap rate = (1 − τ)/2 where nothing is tied; with ties, τ is of all pairs and the rate of those
    decided."""
    found = split_halves(values, *all_pairs(values), SamplingOptions(25, seed))
    pairs = math.comb(len(values), 2)
    assert found.decided.sum() + found.tied == 25 * pairs
    assert (found.swapped <= found.decided).all()
    assert (np.abs(found.tau) <= 1).all()
    assert found.tie_rate == found.tied / (25 * pairs)
    if found.tied == 25 * pairs:
        assert math.isnan(found.swap_rate)
        assert not found.tau.any()
    else:
        untied = 1 - found.tie_rate
        assert found.tau.mean() == pytest.approx(untied * (1 - 2 * found.swap_rate))


@given(st.integers(2, 8), st.integers(2, 20), st.integers(0, 2**32))
def test_swap_rate_is_half_of_1_less_tau_without_ties(runs: int, topics: int, seed: int) -> None:
    values = np.random.default_rng(seed).random((runs, topics))
    found = split_halves(values, *all_pairs(values), SamplingOptions(25, seed))
    assert found.tied == 0
    assert found.swap_rate == pytest.approx((1 - found.tau.mean()) / 2)


@given(tables(), st.sampled_from([0.0, 0.1]), st.permutations(range(6)))
def test_the_order_of_runs_changes_nothing(
    values: np.ndarray, fuzziness: float, order: list[int]
) -> None:
    permuted = values[[run for run in order if run < len(values)]]
    found, other = (
        split_halves(table, *all_pairs(table), SamplingOptions(25, 3), fuzziness)
        for table in (values, permuted)
    )
    np.testing.assert_array_equal(found.edges, other.edges)
    np.testing.assert_array_equal(found.decided, other.decided)
    np.testing.assert_array_equal(found.swapped, other.swapped)
    np.testing.assert_allclose(found.tau, other.tau, atol=1e-15)


@given(tables(), st.floats(0.01, 100), st.floats(-10, 10))
def test_a_linear_scale_changes_no_order(values: np.ndarray, factor: float, added: float) -> None:
    found, scaled = (
        split_halves(table, *all_pairs(table), SamplingOptions(25, 3))
        for table in (values, factor * values + added)
    )
    assert found.tied == scaled.tied
    assert found.swapped.sum() == scaled.swapped.sum()
    np.testing.assert_array_equal(found.tau, scaled.tau)


@given(tables(), st.sampled_from([0.05, 0.2]))
def test_fuzziness_makes_ties(values: np.ndarray, fuzziness: float) -> None:
    plain, fuzzy, all_tied = (
        split_halves(values, *all_pairs(values), SamplingOptions(25, 3), share)
        for share in (0.0, fuzziness, 2.0)
    )
    assert plain.tied <= fuzzy.tied
    assert fuzzy.swapped.sum() <= plain.swapped.sum()
    assert all_tied.tie_rate == 1


def test_fuzziness_by_hand() -> None:
    """Means of .50 and .48 on one half, .40 and .45 on the other: 4% and 11.1% of the greater."""
    values = np.array([[0.50, 0.40], [0.48, 0.45]])
    for fuzziness, decided in ((0.0, 1), (0.03, 1), (0.05, 0), (0.12, 0)):
        found = split_halves(values, *all_pairs(values), SamplingOptions(8, 0), fuzziness)
        assert (found.decided.sum(), found.swapped.sum()) == (8 * decided, 8 * decided)


def test_means_that_only_rounding_tells_apart_are_tied() -> None:
    values = np.array([[0.1 + 0.2, 0.3, 0.1], [0.3, 0.1 + 0.2, 0.1]])
    found = split_halves(values, *all_pairs(values), SamplingOptions(20, 0))
    assert found.tied == 20
    assert found.edges[1] == 1 / BINS


@given(st.integers(2, 15), st.integers(0, 2**32))
def test_halves_have_as_many_topics_and_none_in_common(topics: int, seed: int) -> None:
    one, other = _halves(topics, topics // 2, range(5), SamplingOptions(5, seed))
    assert (one.sum(axis=0) == topics // 2).all()
    assert (other.sum(axis=0) == topics // 2).all()
    assert set(np.unique(one + other)) <= {0.0, 1.0}


def test_all_halves_are_as_likely() -> None:
    """Of four queries there are six first halves: 100 each of 600 splits, give or take."""
    one, _ = _halves(4, 2, range(600), SamplingOptions(600, 1))
    _, counts = np.unique(one, axis=1, return_counts=True)
    assert len(counts) == 6
    assert ((counts - 100) ** 2 / 100).sum() < 20.5  # chi-square, five degrees, p = .001


def test_blocks_of_splits_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).random((5, 9))
    whole = split_halves(values, *all_pairs(values), SamplingOptions(50, 4), 0.02)
    monkeypatch.setattr(consistency, "CELLS", 4 * 10 * 7)  # seven splits of ten pairs at a time
    pieces = split_halves(values, *all_pairs(values), SamplingOptions(50, 4), 0.02)
    assert whole.tied == pieces.tied
    np.testing.assert_array_equal(whole.tau, pieces.tau)
    np.testing.assert_array_equal(whole.decided, pieces.decided)
    np.testing.assert_array_equal(whole.swapped, pieces.swapped)


def test_another_seed_gives_other_halves() -> None:
    values = np.random.default_rng(2).random((5, 9))
    one, again, other = (
        split_halves(values, *all_pairs(values), SamplingOptions(50, seed)) for seed in (4, 4, 5)
    )
    np.testing.assert_array_equal(one.tau, again.tau)
    assert not np.array_equal(one.tau, other.tau)


def test_a_single_topic_has_no_halves() -> None:
    with pytest.raises(RankgaugeError, match="1 query, expected at least two to split"):
        split_halves(np.ones((2, 1)), np.array([0]), np.array([1]), SamplingOptions(5))


# Which sizes of differences can be trusted


@examples(200)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0, 1, LEAST_DECISIONS - 1, LEAST_DECISIONS, 400]), st.floats(0, 0.12)
        ),
        min_size=BINS,
        max_size=BINS,
    ),
    st.sampled_from([0.05, 0.1]),
)
def test_trusted_is_as_defined(bins: list[tuple[int, float]], rate: float) -> None:
    decided = np.array([number for number, _ in bins])
    swapped = np.array([int(number * share) for number, share in bins])
    edges = np.linspace(0, 0.5, BINS, endpoint=False)
    found = Splits(5, np.zeros(1), 0, edges, decided, swapped).trust_threshold(rate)
    expected = oracle.trusted(
        edges.tolist(), decided.tolist(), swapped.tolist(), rate, fewest=LEAST_DECISIONS
    )
    assert found == pytest.approx(expected, nan_ok=True)


def test_trusted_by_hand() -> None:
    def trusted(decided: list[int], swapped: list[int]) -> tuple[float, float]:
        return Splits(
            5,
            np.zeros(1),
            0,
            np.arange(len(decided)) / 10,
            np.array(decided),
            np.array(swapped),
        ).trust_threshold()

    assert trusted([100, 100, 200, 100], [50, 6, 10, 0]) == (0.2, 0.6)  # 5% is at most 5%
    nothing = pytest.approx((math.nan, 0), nan_ok=True)
    assert trusted([100, 100, 200, 99], [5, 5, 10, 99]) == nothing  # 99 count with those below
    assert trusted([1000, 99, 100], [500, 99, 0]) == pytest.approx((0.2, 100 / 1199))
    assert trusted([99, 99, 99, 99], [0, 0, 0, 0]) == (0.0, 1.0)
    assert trusted([50, 0, 100], [0, 0, 0]) == pytest.approx((0.2, 100 / 150))
    assert trusted([0, 0, 100], [0, 0, 0]) == (0.0, 1.0)
    assert trusted([100, 100, 100, 100], [0, 0, 0, 50]) == nothing
    assert trusted([33, 33, 33], [0, 0, 0]) == pytest.approx((math.nan, math.nan), nan_ok=True)


# PAD


@given(st.lists(st.integers(-3, 8).map(lambda number: number / 8), min_size=2, max_size=9))
def test_percentage_absolute_differences_are_as_defined(means: list[float]) -> None:
    for safe in (False, True):
        found = absolute_difference(np.array(means), safe=safe)
        expected = oracle.absolute_difference(means, safe)
        assert found == pytest.approx(expected, nan_ok=True)
    assert 0 <= found <= 200  # the safe one
    if min(means) > 0:
        assert found == absolute_difference(np.array(means)) < 100


@given(st.lists(st.integers(1, 8), min_size=2, max_size=9), st.floats(0.1, 10))
def test_it_is_the_same_on_another_scale(means: list[int], factor: float) -> None:
    for safe in (False, True):
        once = absolute_difference(np.array(means, float), safe=safe)
        assert absolute_difference(factor * np.array(means), safe=safe) == pytest.approx(once)


def test_it_is_not_the_same_from_another_origin() -> None:
    """The same differences between the same systems: 50%, then 2%, then without bounds."""
    means = np.array([0.2, 0.4])
    assert absolute_difference(means) == pytest.approx(50)
    assert absolute_difference(means + 9.6) == pytest.approx(2)
    assert absolute_difference(means - 0.399) == pytest.approx(20_000)
    assert absolute_difference(means - 0.399, safe=True) == pytest.approx(20_000 / 199)
    assert absolute_difference(means - 0.4) == math.inf
    assert absolute_difference(means - 0.5) == pytest.approx(-200)
    assert absolute_difference(means - 0.3, safe=True) == pytest.approx(200)


def test_a_single_system_has_no_difference() -> None:
    assert math.isnan(absolute_difference(np.array([0.5])))
    assert absolute_difference(np.zeros(3)) == 0
