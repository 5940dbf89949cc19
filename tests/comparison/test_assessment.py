"""Assessing measures: laws over random scores, definitions, bad input, and TREC scores."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

import rankgauge as rg
from oracles import consistency as oracle, correlation as correlations
from profiles import examples
from rankgauge import RankgaugeError, Scores, compare
from rankgauge.comparison.assessed import Assessment, Conflicts, MeasureAssessment, conflicts_of
from rankgauge.comparison.assessment import assess
from rankgauge.comparison.significance import CORRECTIONS, TESTS
from rankgauge.core.notes import note_texts
from rankgauge.errors import MeasureError

CERTAIN = sorted(name for name, test in TESTS.items() if not test.drawn)
SIXTEENTHS = st.integers(0, 16).map(lambda number: number / 16)
"""Sums of these are exact, in any order; and many are equal."""


def tables(runs: tuple[int, int] = (2, 6), topics: tuple[int, int] = (2, 9)) -> Any:
    """Run × query, mostly with ties."""
    shapes = st.tuples(st.integers(*runs), st.integers(*topics))
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=SIXTEENTHS))


def several(count: int) -> Any:
    """So many tables of the same runs and queries."""
    shapes = st.tuples(st.integers(2, 6), st.integers(2, 9))
    return shapes.flatmap(lambda shape: arrays(np.float64, (*shape, count), elements=SIXTEENTHS))


def scores_of(values: np.ndarray, measure: str | Sequence[str] = "AP") -> Scores:
    return Scores.from_matrix(values, runs=[f"run{r}" for r in range(len(values))], measure=measure)


def assessed(values: np.ndarray, measure: str = "AP", **options: Any) -> MeasureAssessment:
    """A table by one measure."""
    found = assess(scores_of(values, measure), **{"splits": 0, "samples": 200, **options})
    return next(iter(found.parts["all"].values()))


def counted(found: MeasureAssessment) -> int:
    return int(np.count_nonzero(found.significant))


# What it is made of


@examples(40)
@given(tables(), st.sampled_from(sorted(TESTS)), st.sampled_from([None, *CORRECTIONS]))
def test_significance_is_that_of_compare(
    values: np.ndarray, test: str, correction: str | None
) -> None:
    options = {"test": test, "correction": correction, "level": 0.9, "samples": 200, "seed": 3}
    found = assessed(values, **options)
    compared = compare(scores_of(values), **options)
    np.testing.assert_array_equal(found.p, compared.p_corrected[0])
    np.testing.assert_array_equal(found.means, compared.means[0])
    np.testing.assert_array_equal(found.better, compared.better[0])
    p = found.p.tolist()
    assert found.asl.tolist() == sorted(p, reverse=True)
    significant = [each <= 0.1 + 1e-9 for each in p]
    differs = [bool(each) for each in compared.difference[0]]
    both = [a and b for a, b in zip(significant, differs, strict=True)]
    assert (found.significant != 0).tolist() == both
    assert found.power == sum(both) / len(p)


@pytest.mark.parametrize(("level", "power"), [(1 - 2 / 2**5, 1), (0.94, 0)])
def test_a_p_value_at_the_limit_counts(level: float, power: float) -> None:
    """The better one on all of five queries: p = 2/2⁵ by the sign test."""
    values = np.array([[0.5, 0.6, 0.7, 0.8, 0.9], [0.4, 0.5, 0.6, 0.7, 0.8]])
    found = assessed(values, test="sign", level=level)
    assert (found.p.tolist(), found.power) == ([2 / 2**5], power)


@given(several(2))
def test_measures_are_held_against_each_other_by_their_means_and_tests(values: np.ndarray) -> None:
    found = assess(scores_of(values, ["AP", "SearchLength"]), splits=0, level=0.7)
    means = values.mean(axis=1)
    (pair,) = found.agreement["all"]
    assert pair == ("AP", "SearchLength")
    alike, conflicts = found.agreement["all"][pair]
    merits = means[:, 0].tolist(), (-means[:, 1]).tolist()
    assert alike.tau == pytest.approx(correlations.tau_a(*merits))
    assert alike.tau_b == pytest.approx(correlations.tau_b(*merits), nan_ok=True)
    assert alike.discordant == correlations.discordant(*merits)
    signs = [found.parts["all"][name].significant.tolist() for name in pair]
    assert tuple(conflicts) == oracle.conflicts(*signs)
    for m, name in enumerate(pair):
        expected = oracle.absolute_difference(means[:, m].tolist(), safe=True)
        assert found.parts["all"][name].safe_pad == pytest.approx(expected)


SIGNS = st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=1, max_size=60)


@given(SIGNS)
def test_conflicts_and_the_counts_of_significant_tests(signs: list[tuple[int, int]]) -> None:
    """conflicts = n₁ + n₂ − 2·(both + opposite): so at least |n₁ − n₂|, and of the same parity, for a
    reversal counts for both measures and is no conflict. Were it counted as one, an odd number of them
    would break the parity."""
    first, second = (np.array(column) for column in zip(*signs, strict=True))
    found = conflicts_of(first, second)
    assert tuple(found) == oracle.conflicts(first.tolist(), second.tolist())
    assert sum(found) == len(signs)
    n1, n2 = np.count_nonzero(first), np.count_nonzero(second)
    assert found.conflicts == found.first + found.second
    assert found.conflicts == n1 + n2 - 2 * (found.both + found.opposite)
    assert found.conflicts >= abs(n1 - n2)
    assert (found.conflicts - abs(n1 - n2)) % 2 == 0
    with_reversals = found.conflicts + found.opposite
    assert (with_reversals - abs(n1 - n2)) % 2 == found.opposite % 2
    turned = conflicts_of(second, first)
    assert turned == found._replace(first=found.second, second=found.first)
    assert conflicts_of(-first, -second) == found


def test_a_reversal_that_breaks_the_parity_if_it_is_counted() -> None:
    found = conflicts_of(np.array([1, 0, 1]), np.array([-1, 1, 0]))
    assert found == Conflicts(both=0, opposite=1, first=1, second=1, neither=0)
    assert (found.conflicts, found.conflicts + found.opposite) == (2, 3)


# Laws


@given(tables(topics=(4, 9)), st.data())
def test_swap_rates_between_sets_of_topics(values: np.ndarray, data: st.DataObject) -> None:
    """swap rate = (1 − τ)/2 where nothing is tied; with ties, τ and both shares make up the whole."""
    scores = scores_of(values)
    cut = data.draw(st.integers(2, len(scores.queries) - 2))
    sets = {"one": scores.queries[:cut], "other": scores.queries[cut:]}
    found = assess(scores, sets=sets, splits=0)
    assert list(found.swaps) == [("all", "one"), ("all", "other"), ("one", "other")]
    alike = found.swaps["one", "other"]["AP"]
    means = values[:, :cut].mean(axis=1).tolist(), values[:, cut:].mean(axis=1).tolist()
    assert alike.discordant == correlations.discordant(*means)
    tied = alike.tied / math.comb(len(values), 2)
    assert alike.swap_rate == pytest.approx((1 - tied - alike.tau) / 2)
    if not alike.tied:
        assert alike.swap_rate == pytest.approx((1 - alike.tau) / 2)


@examples(25)
@pytest.mark.parametrize("test", sorted(TESTS))
@given(
    values=tables(runs=(2, 5)),
    factor=st.floats(0.1, 10),
    added=st.floats(-5, 5),
)
def test_discriminative_power_is_the_same_on_any_linear_scale(
    test: str, values: np.ndarray, factor: float, added: float
) -> None:
    options = {"test": test, "level": 0.8, "samples": 60}
    found = assessed(values, **options)
    scaled = assessed(factor * values + added, **options)
    np.testing.assert_allclose(scaled.p, found.p, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(scaled.asl, found.asl, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(scaled.better, found.better)
    if (np.abs(found.p - 0.2) > 1e-6).all():
        assert scaled.power == found.power


@given(tables(), st.floats(0.1, 10))
def test_pad_is_the_same_for_a_multiple(values: np.ndarray, factor: float) -> None:
    found, scaled = assessed(values), assessed(factor * values)
    assert scaled.pad == pytest.approx(found.pad)
    assert scaled.safe_pad == pytest.approx(found.safe_pad)


def test_pad_is_not_the_same_from_another_origin() -> None:
    """Nothing is added but a constant: the tests say the same, and PAD goes from 56% to 7%."""
    values = np.random.default_rng(4).random((3, 20)) * 0.2 + np.array([[0.1], [0.3], [0.7]])
    found, added = assessed(values), assessed(values + 5)
    np.testing.assert_allclose(added.p, found.p)
    assert found.power == added.power == 1
    assert found.pad > 50
    assert added.pad < 10
    assert added.safe_pad < 10


@given(several(2), st.sampled_from(CERTAIN))
def test_measures_that_order_systems_alike(values: np.ndarray, test: str) -> None:
    """τ = 1, and no test finds one system better by one measure and the other by the other."""
    means = values.mean(axis=1)
    a, b = (np.argsort(means[:, m], kind="stable") for m in (0, 1))
    values = np.stack(
        [values[a, :, 0], values[b, :, 1]], axis=2
    )  # in the order of their means, both
    found = assess(scores_of(values, ["AP", "nDCG"]), splits=0, level=0.6, test=test)
    alike, conflicts = found.agreement["all"]["AP", "nDCG"]
    assert alike.discordant == 0
    assert conflicts.opposite == 0
    if not alike.tied:
        assert alike.tau == 1


@examples(50)
@given(tables(), st.sampled_from(CERTAIN))
def test_a_measure_against_itself(values: np.ndarray, test: str) -> None:
    twice = scores_of(np.stack([values, values], axis=2), ["AP", "AP again"])
    found = assess(twice, splits=0, level=0.6, test=test)
    (pair,) = found.agreement["all"]
    alike, conflicts = found.agreement["all"][pair]
    significant = counted(found.parts["all"]["AP"])
    pairs = math.comb(len(values), 2)
    assert conflicts == Conflicts(significant, 0, 0, 0, pairs - significant)
    assert (alike.discordant, alike.tau) == (0, pytest.approx(1 - alike.tied / pairs))
    assert alike.tau_b == 1 or alike.tied == pairs


@given(several(2), st.sampled_from(CERTAIN))
def test_lower_is_better_is_the_same_as_the_opposite(values: np.ndarray, test: str) -> None:
    options = {"splits": 20, "level": 0.7, "test": test}
    lower = assess(scores_of(values, ["AP", "SearchLength"]), **options)
    opposite = assess(scores_of(values * [1, -1], ["AP", "its opposite"]), **options)
    found, other = (list(each.parts["all"].values())[1] for each in (lower, opposite))
    assert (found.lower, other.lower) == (True, False)
    np.testing.assert_array_equal(found.merits, other.merits)
    np.testing.assert_array_equal(found.p, other.p)
    np.testing.assert_array_equal(found.significant, other.significant)
    assert found.safe_pad == other.safe_pad
    assert found.splits is not None
    assert other.splits is not None
    np.testing.assert_array_equal(found.splits.tau, other.splits.tau)
    np.testing.assert_array_equal(found.splits.decided, other.splits.decided)
    np.testing.assert_array_equal(found.splits.swapped, other.splits.swapped)
    ((alike, conflicts),) = lower.agreement["all"].values()
    assert [(alike, conflicts)] == list(opposite.agreement["all"].values())


@examples(50)
@given(several(2), st.sampled_from(CERTAIN), st.permutations(range(6)), st.permutations(range(9)))
def test_neither_the_order_of_runs_nor_that_of_topics_counts(
    values: np.ndarray, test: str, runs: list[int], topics: list[int]
) -> None:
    """But for what is drawn: queries are drawn by their place."""
    scores = scores_of(values, ["AP", "nDCG"])
    permuted = scores.select(
        [scores.queries[q] for q in topics if q < len(scores.queries)],
        runs=[scores.runs[r] for r in runs if r < len(scores.runs)],
    )
    found, other = (assess(some, splits=0, level=0.7, test=test) for some in (scores, permuted))
    ((alike, conflicts),) = found.agreement["all"].values()
    ((other_alike, other_conflicts),) = other.agreement["all"].values()
    near = False
    for name, one in found.parts["all"].items():
        two = other.parts["all"][name]
        np.testing.assert_allclose(two.asl, one.asl, rtol=1e-9, atol=1e-12)
        assert two.pad == pytest.approx(one.pad)
        np.testing.assert_allclose(np.sort(two.means), np.sort(one.means))
        near = near or bool((np.abs(one.p - 0.3) < 1e-9).any())
        assert near or two.power == one.power
    counts = ("tau", "tau_b", "tau_ap", "concordant", "discordant", "tied")
    for name in counts:
        same = pytest.approx(getattr(alike, name), nan_ok=True)
        assert getattr(other_alike, name) == same
    assert near or conflicts == other_conflicts


@examples(25)
@given(tables(), st.permutations(range(6)))
def test_the_order_of_runs_does_not_count_where_topics_are_drawn(
    values: np.ndarray, order: list[int]
) -> None:
    permuted = values[[run for run in order if run < len(values)]]
    for test in ("randomization", "bootstrap"):
        one, two = (assessed(some, test=test, samples=100) for some in (values, permuted))
        np.testing.assert_allclose(one.asl, two.asl)
    one, two = (assessed(some, splits=30) for some in (values, permuted))
    assert one.splits is not None
    assert two.splits is not None
    assert one.splits.tied == two.splits.tied
    np.testing.assert_array_equal(one.splits.decided, two.splits.decided)
    np.testing.assert_array_equal(one.splits.swapped, two.splits.swapped)


@given(tables(topics=(4, 9)))
def test_all_topics_as_a_set_or_as_another_collection_say_the_same(values: np.ndarray) -> None:
    scores = scores_of(values)
    found = assess(scores, sets={"again": scores.queries}, others={"other": scores}, splits=10)
    for name in ("again", "other"):
        one, two = found.parts["all"]["AP"], found.parts[name]["AP"]
        np.testing.assert_array_equal(one.p, two.p)
        np.testing.assert_array_equal(one.splits.tau, two.splits.tau)
        assert found.swaps["all", name]["AP"].discordant == 0


def test_others_have_their_own_topics_and_any_order_of_runs_and_measures() -> None:
    values = np.random.default_rng(1).random((4, 12, 2))
    scores = scores_of(values[:, :8], ["AP", "nDCG"])
    other = scores_of(values[:, 8:], ["AP", "nDCG"])
    turned = other.select(runs=other.runs[::-1], measures=["nDCG", "AP"])
    found = assess(scores, others={"other": turned}, splits=0)
    assert [found.parts[part]["AP"].queries for part in found.parts] == [8, 4]
    np.testing.assert_allclose(
        found.parts["other"]["nDCG"].means, values[:, 8:, 1].mean(axis=1), rtol=1e-12
    )


# Pooled cutoffs


@pytest.fixture(scope="module")
def cut_offs() -> Scores:
    names = [f"{m}@{k}{')' * m.count('(')}" for m in ("nDCG", "v2(nDCG") for k in (5, 10, 20)]
    values = np.random.default_rng(8).random((8, 15, 6))
    return scores_of(values, names)


def test_a_measure_at_several_cut_offs_is_one(cut_offs: Scores) -> None:
    found = assess(cut_offs, pool_cutoffs=True, splits=20, level=0.8)
    assert found.measures == ("nDCG@5,10,20", "v2(nDCG@5,10,20)")
    alone = assess(cut_offs, splits=20, level=0.8)
    for name, members in zip(found.measures, (alone.measures[:3], alone.measures[3:]), strict=True):
        pooled, parts = found.parts["all"][name], [alone.parts["all"][m] for m in members]
        np.testing.assert_array_equal(pooled.p, np.concatenate([part.p for part in parts]))
        assert counted(pooled) == sum(counted(part) for part in parts)
        assert len(pooled.p) == 28 * 3
        np.testing.assert_allclose(pooled.means, np.mean([part.means for part in parts], axis=0))
    averaged = assessed(cut_offs.values[:, :, :3].mean(axis=2), splits=20)
    np.testing.assert_array_equal(
        found.parts["all"]["nDCG@5,10,20"].splits.tau, averaged.splits.tau
    )
    ((_, conflicts),) = found.agreement["all"].values()
    by_cut_off = [
        alone.agreement["all"][pair][1]
        for pair in zip(alone.measures[:3], alone.measures[3:], strict=True)
    ]
    assert conflicts == Conflicts(*np.sum(by_cut_off, axis=0))
    assert sum(conflicts) == 84


def test_the_order_in_which_cut_offs_come_does_not_count(cut_offs: Scores) -> None:
    mixed = cut_offs.select(measures=[str(cut_offs.measures[m]) for m in (2, 3, 0, 5, 4, 1)])
    found, other = (assess(some, pool_cutoffs=True, splits=9) for some in (cut_offs, mixed))
    assert as_text(found) == as_text(other)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["P@5", "P@10", "AP"], "P@5,10 and AP have different cutoffs; to pool cutoffs"),
        (["P@5", "P@10", "nDCG@5"], "P@5,10 and nDCG@5 have different cutoffs"),
        (["AP", "nDCG@10", "nDCG@5"], "AP and nDCG@5,10 have different cutoffs"),
    ],
)
def test_cut_offs_that_are_not_those_of_all_cannot_be_pooled(
    names: list[str], message: str
) -> None:
    values = np.random.default_rng(8).random((3, 6, len(names)))
    with pytest.raises(RankgaugeError, match=message):
        assess(scores_of(values, names), pool_cutoffs=True)


def test_five_cut_offs_of_eight_systems_are_140_tests() -> None:
    values = np.random.default_rng(8).random((8, 15, 5))
    scores = scores_of(values, [f"P@{k}" for k in (5, 10, 15, 20, 30)])
    (found,) = assess(scores, pool_cutoffs=True, splits=0).parts["all"].values()
    assert (found.name, len(found.p)) == ("P@5,10,15,20,30", 140)


def test_pooled_cut_offs_are_over_the_topics_on_which_all_are_defined() -> None:
    values = np.random.default_rng(8).random((4, 10, 2))
    values[1, 3, 0] = values[2, 6, 1] = np.nan
    scores = scores_of(values, ["P@5", "P@10"])
    (found,) = assess(scores, pool_cutoffs=True, splits=0).parts["all"].values()
    assert found.queries == 8
    kept = np.delete(values, [3, 6], axis=1)
    np.testing.assert_allclose(found.means, kept.mean(axis=(1, 2)))


def test_families_are_of_the_same_parameters() -> None:
    values = np.random.default_rng(8).random((3, 6, 4))
    names = ["P@5", "P(rel=2)@5", "P@10", "P(rel=2)@10"]
    found = assess(scores_of(values, names), pool_cutoffs=True, splits=0)
    assert found.measures == ("P@5,10", "P(rel=2)@5,10")


def test_titles_of_given_scores_are_no_cut_offs() -> None:
    names = ['given("human P@5")', 'given("human P@10")', 'mean(given("human P@5"))']
    values = np.random.default_rng(8).random((3, 6, 3))
    found = assess(scores_of(values, names), pool_cutoffs=True, splits=0)
    assert found.measures == tuple(names)


@pytest.mark.parametrize(
    ("names", "together"),
    [
        (["nDCG@10", "nDCG@5"], "nDCG@5,10"),
        (["v2(nDCG@5)", "v2(nDCG@10)"], "v2(nDCG@5,10)"),
        (["v1(AP@5,reb=independent)", "v1(AP@30,reb=independent)"], "v1(AP@5,30,reb=independent)"),
        (["mean(P(rel=2)@5)", "mean(P(rel=2)@10)"], "mean(P(rel=2)@5,10)"),
        (["mean(v2(nDCG@5))", "mean(v2(nDCG@10))"], "mean(v2(nDCG@5,10))"),
        (["prefix_mean(nDCG@5)", "prefix_mean(nDCG@10)"], "prefix_mean(nDCG@5,10)"),
        (["IPrec@0.5", "IPrec@0", "IPrec@0.25"], "IPrec@0,0.25,0.5"),
        (["RBP(p=0.5)@1000", "RBP(p=0.5)@20"], "RBP(p=0.5)@20,1000"),
    ],
)
def test_a_family_is_named_by_its_cut_offs(names: list[str], together: str) -> None:
    values = np.random.default_rng(8).random((3, 6, len(names)))
    found = assess(scores_of(values, names), pool_cutoffs=True, splits=0)
    assert found.measures == (together,)


def test_measures_of_other_families_are_not_pooled() -> None:
    names = ["P@5", "P(rel=2)@5", "v2(P@5)", "v2(P@5,null=run)", "mean(P@5)", "nDCG@5"]
    values = np.random.default_rng(8).random((3, 6, len(names)))
    found = assess(scores_of(values, names), pool_cutoffs=True, splits=0)
    assert found.measures == tuple(names)


def test_measures_at_one_cut_off_each_are_as_they_are() -> None:
    scores = scores_of(np.random.default_rng(8).random((3, 6, 3)), ["P@5", "nDCG@10", "AP"])
    found, plain = (assess(scores, pool_cutoffs=pool, splits=9) for pool in (True, False))
    assert as_text(replace(found, options=plain.options)) == as_text(plain)


# Reproducible, whoever does the work


def as_text(found: Assessment) -> str:
    return json.dumps(found.to_dict(), allow_nan=False)


@pytest.fixture(scope="module")
def scores() -> Scores:
    return scores_of(np.random.default_rng(3).random((6, 20, 2)), ["AP", "nDCG"])


@pytest.mark.parametrize("test", ["paired-t", "bootstrap"])
def test_the_same_by_threads_and_processes(scores: Scores, test: str) -> None:
    options: dict[str, Any] = {"test": test, "samples": 300, "splits": 50, "seed": 5}
    options["sets"] = {"some": scores.queries[:9]}
    expected = as_text(assess(scores, **options))
    pools: list[Callable[[], Executor]] = [
        lambda: ThreadPoolExecutor(1),
        lambda: ThreadPoolExecutor(2),
        lambda: ProcessPoolExecutor(2),
    ]
    for pool in pools:
        with pool() as executor:
            assert as_text(assess(scores, executor=executor, **options)) == expected


def test_another_seed_draws_other_splits_and_samples(scores: Scores) -> None:
    options: dict[str, Any] = {"test": "bootstrap", "samples": 300, "splits": 50}
    found = {seed: assess(scores, seed=seed, **options).parts["all"]["AP"] for seed in (5, 6)}
    assert not np.array_equal(found[5].p, found[6].p)
    assert not np.array_equal(found[5].splits.tau, found[6].splits.tau)


def test_progress_tells_of_each_measure(scores: Scores) -> None:
    told: list[str] = []
    assess(scores, sets={"some": scores.queries[:9]}, splits=0, progress=told.append)
    assert told == ["AP", "nDCG", "AP", "nDCG"]


# Tables


def test_tables_have_a_row_for_each_set_measure_and_pair(scores: Scores) -> None:
    found = assess(scores, sets={"some": scores.queries[:9]}, splits=50)
    table, pairs, swaps = found.table(), found.pair_table(), found.swap_table()
    assert [row[:3] for row in table.rows] == [
        ("all", "AP", 20), ("all", "nDCG", 20), ("some", "AP", 9), ("some", "nDCG", 9),
    ]  # fmt: skip
    assert [row[:3] for row in pairs.rows] == [("all", "AP", "nDCG"), ("some", "AP", "nDCG")]
    assert [row[:3] for row in swaps.rows] == [("all", "some", "AP"), ("all", "some", "nDCG")]
    for row in table.rows:
        cells = dict(zip(table.columns, row, strict=True))
        each = found.parts[cells["set"]][cells["measure"]]
        assert cells["significant"] / cells["tests"] == cells["power"] == each.power
        assert (cells["swap_rate"], cells["tie_rate"]) == (each.splits.swap_rate, 0)
        assert cells["half_low"] <= cells["half_tau"] <= cells["half_high"]
        assert cells["half_tau"] == pytest.approx(1 - 2 * cells["swap_rate"])
    for row in pairs.rows:
        cells = dict(zip(pairs.columns, row, strict=True))
        alone = cells["only_first"] + cells["only_second"]
        assert cells["conflicts"] == alone
        assert cells["both"] + cells["opposite"] + alone + cells["neither"] == 15
    for row in swaps.rows:
        cells = dict(zip(swaps.columns, row, strict=True))
        assert cells["pairs"] == 15
        assert (
            cells["swap_rate"] == cells["discordant"] / 15 == pytest.approx((1 - cells["tau"]) / 2)
        )
    assert repr(found).startswith("Assessment: 2 measures, 6 runs, 2 sets of queries\nset ")
    assert "<td" in found._repr_html_()


def test_people_get_the_columns_that_decide_and_the_notes_on_them(scores: Scores) -> None:
    found = assess(scores, splits=50)
    header, _, _, _, _, *notes = found.table().render("table").splitlines()
    assert header.split() == ["measure", "power", "significant", "tests", "swap_rate", "half_tau"]
    columns = {note.partition(":")[0] for note in notes if note.split()[0].endswith(":")}
    assert columns == {"power", "significant", "swap_rate", "half_tau"}
    assert any("random halves 50 times" in note for note in notes)
    sets = assess(scores, sets={"some": scores.queries[:9]}, splits=0)
    text = sets.table().render("md")
    assert text.startswith("| set | measure | queries | power | significant | tests |\n")
    assert "halves" not in text
    assert sets.pair_table().render("md").startswith("| set | first | second | tau | conflicts |")
    swaps = sets.swap_table().render("md")
    assert swaps.startswith("| set | other | measure | swap_rate | tau |\n")
    assert "all pairs" in swaps
    assert "pad" in found.table().render("csv")


@pytest.mark.parametrize(
    ("measures", "misleading"),
    [
        (["AP", "nDCG"], []),
        (["AP"], []),
        (["AP", "v2(AP)"], ["pad", "safe_pad"]),
        (["AP", "SearchLength"], ["pad", "safe_pad"]),
        (["v2(AP)"], ["pad"]),
    ],
)
def test_pad_misleads_where_0_means_different_things(
    measures: list[str], misleading: list[str]
) -> None:
    values = np.random.default_rng(4).random((4, 10, len(measures))) + 0.1
    values[..., [name == "v2(AP)" for name in measures]] -= 0.9
    made = Scores.from_matrix(values, runs=[*"abcd"], measure=measures)
    assert list(assess(made, splits=0).misleading_columns) == misleading


def test_the_interval_of_half_tau_holds_95_percent_of_the_splits() -> None:
    found = assess(scores_of(np.random.default_rng(3).random((9, 20))), splits=400)
    row = dict(zip(found.table().columns, found.table().rows[0], strict=True))
    tau = found.parts["all"]["AP"].splits.tau
    assert (tau < row["half_low"]).mean() <= 0.025
    assert (tau > row["half_high"]).mean() <= 0.025
    assert row["half_low"] < row["half_tau"] < row["half_high"]


def test_the_dict_is_strict_json(scores: Scores) -> None:
    found = assess(scores, sets={"some": scores.queries[:9]}, splits=50)
    read = json.loads(as_text(found))
    assert [len(read[name]) for name in ("measures", "pairs", "swaps", "details")] == [4, 2, 2, 4]
    for each in read["details"]:
        part = found.parts[each["set"]][each["measure"]]
        np.testing.assert_array_equal(each["p"], part.p)
        np.testing.assert_array_equal(each["decided"], part.splits.decided)
    without = json.loads(as_text(assess(scores, splits=0)))
    assert "decided" not in without["details"][0]
    assert without["measures"][0]["swap_rate"] is None
    undefined = np.array([[0.0, 0.0], [-1.0, -0.5], [0.0, 0.0]])
    (row, *_) = json.loads(as_text(assess(scores_of(undefined), fuzziness=2)))["measures"]
    assert (row["swap_rate"], row["trusted"], row["pad"]) == (None, None, "inf")


def test_notes_say_how_the_numbers_came_about(scores: Scores) -> None:
    found = assess(
        scores, test="bootstrap", samples=150, seed=2, splits=50, fuzziness=0.05, correction="holm"
    )
    _, significant, _, _, origin, splits, swaps, *_ = found.definitions["measures"]
    assert significant.startswith("significant: p ≤ 0.05; Studentized bootstrap")
    assert significant.endswith("corrected with holm, 150 samples, seed 2")
    assert origin.startswith("pad, safe_pad: these change when a constant is added")
    assert "50 times, seed 2" in splits
    assert "(differences of at most 0.05 of the larger mean count as ties)" in swaps
    whole = assess(scores, splits=0, test="tukey", correction="holm")
    assert not any("splits" in text for text in whole.definitions["measures"])
    assert (
        "already for all pairs of runs together, so not corrected further" in whole.table().notes[1]
    )
    for table in (found.pair_table(), found.swap_table()):
        assert not any("halves" in note or "pad" in note for note in table.notes)
    assert any("the second measure as the reference" in note for note in found.pair_table().notes)


def test_a_topic_counts_once_however_often_a_set_names_it(scores: Scores) -> None:
    few = list(scores.queries[:5])
    found = assess(scores, sets={"twice": few * 2, "once": few}, splits=0)
    for name in found.measures:
        assert found.parts["twice"][name].queries == 5
        np.testing.assert_array_equal(found.parts["twice"][name].p, found.parts["once"][name].p)
    assert found.queries["twice"] == tuple(few)
    with pytest.raises(RankgaugeError, match="the set 'x' is a string, expected a list"):
        assess(scores, sets={"x": "ab"})
    with pytest.raises(RankgaugeError, match=r"sets=\[.*expected a dict with names as keys"):
        assess(scores, sets=[few])  # type: ignore[arg-type]


def test_the_tau_of_halves_knows_no_fuzziness(scores: Scores) -> None:
    plain, fuzzy = (assess(scores, splits=40, fuzziness=share) for share in (0.0, 0.3))
    for name in plain.measures:
        a, b = plain.parts["all"][name].splits, fuzzy.parts["all"][name].splits
        assert a is not None
        assert b is not None
        np.testing.assert_array_equal(a.tau, b.tau)
        assert b.tied >= a.tied


def test_one_object_has_all_that_was_asked(scores: Scores) -> None:
    found = assess(scores, splits=10, sets={"few": scores.queries[:3]}).to_dict()
    assert found["options"]["splits"] == 10
    assert found["topics"]["few"] == list(scores.queries[:3])
    runs = len(scores.runs)
    assert len(found["pairs_of_runs"]) == runs * (runs - 1) // 2
    for each in found["details"]:
        assert len(each["p"]) == len(each["better"]) == len(found["pairs_of_runs"])
        assert len(each["tau"]) == 10


# What is defined at the edge


def test_two_topics_are_a_half_each() -> None:
    found = assessed(np.array([[0.1, 0.9], [0.5, 0.6], [0.2, 0.3]]), splits=30)
    assert found.queries == 2
    assert found.splits.queries == 1
    assert found.splits.swap_rate == 2 / 3  # the first run swaps with either of the others
    assert math.isnan(found.splits.trust_threshold()[0])


@pytest.mark.parametrize("test", sorted(TESTS))
def test_a_measure_constant_over_systems_tells_nothing_apart(test: str) -> None:
    values = np.tile(np.linspace(0.1, 0.7, 7), (4, 1))
    found = assess(scores_of(values), test=test, samples=50, splits=20)
    each = found.parts["all"]["AP"]
    assert each.p.tolist() == [1] * 6
    assert (each.power, each.pad, each.safe_pad) == (0, 0, 0)
    assert each.splits.tie_rate == 1
    assert math.isnan(each.splits.swap_rate)
    assert "AP: the same mean for all runs" in note_texts(found.notes)


def test_a_constant_measure_beside_another() -> None:
    values = np.random.default_rng(0).random((4, 6, 2))
    values[:, :, 1] = 0.5
    found = assess(scores_of(values, ["AP", "nDCG"]), level=0.5, splits=0)
    ((alike, conflicts),) = found.agreement["all"].values()
    assert (alike.tau, alike.tied) == (0, 6)
    assert math.isnan(alike.tau_b)
    assert conflicts.conflicts == conflicts.first == counted(found.parts["all"]["AP"]) > 0


def test_means_that_only_rounding_tells_apart_are_the_same() -> None:
    values = np.array([[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1], [0.2, 0.1, 0.4, 0.3]])
    assert np.ptp(values.mean(axis=1)) > 0
    found = assess(scores_of(values), splits=20)
    assert "AP: the same mean for all runs" in note_texts(found.notes)
    splits = found.parts["all"]["AP"].splits
    assert splits.swap_rate == 1  # whatever one half gives, the other takes away
    assert splits.edges[1] == pytest.approx(1 / 40)


def test_topics_that_a_run_lacks() -> None:
    values = np.random.default_rng(0).random((4, 10))
    values[0, 2] = np.nan
    left_out = assess(scores_of(values), splits=10)
    assert left_out.parts["all"]["AP"].queries == 9
    assert "AP: 1 query excluded for all runs because some run lacks them" in note_texts(
        left_out.notes
    )
    scored = assess(scores_of(values), splits=10, missing="zero")
    assert scored.parts["all"]["AP"].queries == 10
    of_a_set = assess(scores_of(values), splits=0, sets={"few": ["1", "3", "4"]}).notes
    assert "few: AP: 1 query excluded for all runs because some run lacks them" in note_texts(
        of_a_set
    )


def test_one_topic_is_enough_for_tests_that_need_no_spread() -> None:
    found = assess(scores_of(np.array([[0.1], [0.3]])), test="sign", splits=0)
    each = found.parts["all"]["AP"]
    assert (each.queries, each.power, each.splits) == (1, 0, None)
    assert found.table().rows[0][-7:] == (None,) * 7


def test_fuzziness_of_all_is_a_tie(scores: Scores) -> None:
    each = assess(scores, splits=10, fuzziness=2).parts["all"]["AP"]
    assert each.splits.tie_rate == 1


def test_pad_of_means_below_0_is_said_to_be_of_no_use() -> None:
    values = np.random.default_rng(0).random((4, 10))
    note = "pad: meaningless if a mean is 0 or below; use safe_pad"
    assert note not in note_texts(assess(scores_of(values), splits=0).notes)
    assert note in note_texts(assess(scores_of(values - 0.5, "v2(AP)"), splits=0).notes)


# Bad input

VALUES = np.random.default_rng(9).random((4, 10))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"test": "t"}, "test='t', expected one of paired-t, welch"),
        ({"correction": "none"}, "correction='none', expected None or one of holm"),
        ({"level": 95}, "level=95, expected a number strictly between 0 and 1, such as 0.95"),
        ({"missing": "drop"}, "missing='drop', expected one of zero, skip"),
        ({"samples": 0}, "samples=0, expected a whole number from 1"),
        ({"seed": -1}, "seed=-1, expected a whole number from 0"),
        ({"splits": -1}, "splits=-1, expected a whole number from 0 to 1,000,000"),
        ({"splits": 0.5}, "splits=0.5, expected a whole number"),
        ({"splits": None}, "splits=None, expected a whole number"),
        ({"fuzziness": -1}, "fuzziness=-1, expected a number from 0"),
        ({"fuzziness": math.nan}, "fuzziness=nan, expected a number from 0"),
        ({"fuzziness": "5%"}, "fuzziness='5%', expected a number from 0"),
        ({"persistence": 1}, "persistence=1, expected a number strictly between 0 and 1"),
        ({"sets": {"none": []}}, "the set 'none' has no queries, expected at least one"),
        ({"sets": {"easy": ["1", "99"]}}, "no scores for query '99'; did you mean '9'"),
        ({"sets": {"all": ["1"]}}, "two sets have the name 'all', expected different names"),
        ({"sets": {"one": ["1"]}}, "1 query, expected at least 2 for this test"),
    ],
)
def test_what_cannot_be_asked(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(RankgaugeError, match=message):
        assess(scores_of(VALUES), **{"splits": 5, **wrong})


def test_collections_that_do_not_fit() -> None:
    scores = scores_of(VALUES)
    with pytest.raises(
        RankgaugeError, match="two sets have the name 'x', expected different names"
    ):
        assess(scores, sets={"x": ["1", "2"]}, others={"x": scores})
    with pytest.raises(RankgaugeError, match="no scores for run 'run3'"):
        assess(scores, others={"x": scores_of(VALUES[:3])})
    with pytest.raises(RankgaugeError, match="no scores for measure 'AP'"):
        assess(scores, others={"x": scores_of(VALUES, "nDCG")})


def test_too_little_to_assess() -> None:
    with pytest.raises(RankgaugeError, match="1 run, expected at least two to compare"):
        assess(scores_of(VALUES[:1]))
    with pytest.raises(RankgaugeError, match="1 query, expected at least 2 for this test"):
        assess(scores_of(VALUES[:, :1]), splits=0)
    with pytest.raises(RankgaugeError, match="1 query, expected at least two to split them"):
        assess(scores_of(VALUES[:, :1]), test="sign")
    with pytest.raises(RankgaugeError, match="AP: no query has a score for every run"):
        assess(scores_of(np.full((3, 5), np.nan)))
    apart = np.array([[[0.1, np.nan], [np.nan, 0.2]], [[0.3, np.nan], [np.nan, 0.4]]])
    with pytest.raises(RankgaugeError, match="no query has a score for every run"):
        assess(scores_of(apart, ["P@5", "P@10"]), pool_cutoffs=True)


def test_measures_that_rank_no_systems() -> None:
    with pytest.raises(MeasureError, match="NumRet cannot rank systems"):
        assess(scores_of(VALUES, "NumRet"))
    with pytest.raises(RankgaugeError, match="is not an arithmetic mean over queries"):
        assess(scores_of(VALUES, "gm(AP)"))


# From runs, and from TREC


def test_from_runs() -> None:
    """All queries have the same judgments: then `linear` is a linear scale, and changes nothing."""
    qrels = {str(q): {"a": 2, "b": 1, "c": 0, "d": 0} for q in range(8)}
    orders = list(itertools.permutations("abcd"))
    runs = {
        f"every {step}": {
            str(q): {doc: -float(rank) for rank, doc in enumerate(orders[q * step % 24])}
            for q in range(8)
        }
        for step in (1, 3, 5, 11)
    }
    scores = rg.evaluate(qrels, runs, ["nDCG@2", "linear(nDCG@2)", "SearchLength"])
    found = assess(scores, splits=20, level=0.7)
    alike, conflicts = found.agreement["all"]["nDCG@2", "linear(nDCG@2)"]
    assert alike.tau_b == 1
    assert conflicts.both == counted(found.parts["all"]["nDCG@2"]) > 0
    assert conflicts.conflicts == conflicts.opposite == 0
    assert found.parts["all"]["SearchLength"].lower


MATRICES = "trec-topic-scores"


def from_files(folder: Path, **measures: str) -> Scores:
    first, *others = (
        Scores.from_csv(folder / f"{name}.csv", measure) for name, measure in measures.items()
    )
    return first.joined(*others)


def test_trec_8(real_data: Callable[[str], Path]) -> None:
    folder = real_data(MATRICES)
    scores = from_files(folder, adhoc8_ap="AP", adhoc8_p10="P@10", adhoc8_rr="RR")
    odd = scores.queries[::2]
    found = assess(scores, sets={"odd": odd}, splits=100, fuzziness=0.05)
    assert len(found.runs) == 129
    pairs = math.comb(129, 2)
    whole = found.parts["all"]
    for name, each in whole.items():
        assert (each.queries, len(each.p)) == (50, pairs)
        assert found.parts["odd"][name].queries == 25
        assert each.splits.decided.sum() + each.splits.tied == 100 * pairs
        # Fewer queries tell less apart, and large differences swap less often than small ones.
        assert 0 < found.parts["odd"][name].power < each.power < 1
        rates = each.splits.swap_rates[each.splits.decided >= 100]
        assert rates[0] > 0.3 > 0.01 > rates[-1]
        edge, share = each.splits.trust_threshold()
        assert 0 < edge < np.ptp(each.means)
        assert 0 < share < 1
    # AP tells most apart and swaps least, the reciprocal rank the other way round.
    assert whole["AP"].power > whole["P@10"].power > whole["RR"].power
    assert (
        whole["AP"].splits.swap_rate < whole["P@10"].splits.swap_rate < whole["RR"].splits.swap_rate
    )
    for (first, second), (alike, conflicts) in found.agreement["all"].items():
        assert sum(conflicts) == pairs
        n1, n2 = counted(whole[first]), counted(whole[second])
        assert conflicts.conflicts == n1 + n2 - 2 * (conflicts.both + conflicts.opposite)
        assert 0.5 < alike.tau < 1
    assert found.agreement["all"]["AP", "P@10"][0].tau > found.agreement["all"]["AP", "RR"][0].tau


def test_web_2013(real_data: Callable[[str], Path]) -> None:
    """The paired test finds more than the unpaired ones, since queries differ more than systems."""
    folder = real_data(MATRICES)
    scores = from_files(folder, web2013_ndcg20="nDCG@20", web2013_err20="ERR@20")
    paired, welch, student = (
        assess(scores, test=test, splits=50).parts["all"]
        for test in ("paired-t", "welch", "student")
    )
    assert len(scores.runs) == 34
    for name in ("nDCG@20", "ERR@20"):
        assert len(paired[name].p) == math.comb(34, 2)
        assert paired[name].power > welch[name].power
        assert welch[name].power == pytest.approx(student[name].power, abs=0.01)
        assert paired[name].pad == paired[name].safe_pad == welch[name].pad
        np.testing.assert_array_equal(paired[name].splits.tau, welch[name].splits.tau)
    assert paired["nDCG@20"].power > paired["ERR@20"].power
