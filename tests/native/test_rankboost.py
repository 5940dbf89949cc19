"""RankBoost's loops do what a few lines of plain Python do, and refuse arrays that do not fit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge.native import rankboost
from rankgauge.rankings.lists import offsets_of

EXTREMES = st.sampled_from([0.0, 700.0, -700.0, 5000.0, -5000.0])
QUERIES = st.lists(
    st.lists(st.lists(st.floats(-30, 30) | EXTREMES, min_size=1, max_size=4), max_size=4),
    max_size=4,
)


@examples(200)
@given(QUERIES)
def test_potentials_are_sums_over_pairs_however_far_apart_scores_are(
    queries: list[list[list[float]]],
) -> None:
    pairs = [
        (query, low, high, i, j, worse - better)
        for query, labels in enumerate(queries)
        for high in range(len(labels))
        for low in range(high)
        for i, better in enumerate(labels[high])
        for j, worse in enumerate(labels[low])
    ]
    top = max((gap for *_, gap in pairs), default=0.0)
    expected = [[[0.0] * len(group) for group in labels] for labels in queries]
    for query, low, high, i, j, gap in pairs:
        expected[query][high][i] += math.exp(gap - top)
        expected[query][low][j] -= math.exp(gap - top)
    groups = [group for labels in queries for group in labels]
    potentials, total = rankboost.potentials(
        np.array([score for group in groups for score in group], dtype=np.float64),
        offsets_of([len(group) for group in groups]),
        offsets_of([len(labels) for labels in queries]),
        np.full(len(queries), -top),
    )
    weight = math.fsum(math.exp(gap - top) for *_, gap in pairs)
    assert total == pytest.approx(weight, rel=1e-12)
    flat = [value for labels in expected for group in labels for value in group]
    assert potentials == pytest.approx(flat, rel=0, abs=1e-12 * max(weight, 1))


@examples(50)
@given(st.integers(0, 3), st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_weights_are_added_up_by_bin(features: int, rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    bins = rng.integers(0, 256, (features, rows), dtype=np.uint8)
    weights = rng.normal(size=rows)
    sums = rankboost.bin_sums(bins, weights)
    assert sums.shape == (features, 256)
    for own, each in zip(sums, bins, strict=True):
        assert own == pytest.approx(np.bincount(each, weights, 256), abs=1e-12)


def test_more_rows_than_are_added_at_a_time() -> None:
    rng = np.random.default_rng(1)
    bins = rng.integers(0, 9, (2, 40_001), dtype=np.uint8)
    weights = rng.normal(size=40_001)
    sums = rankboost.bin_sums(bins, weights)
    assert sums[1] == pytest.approx(np.bincount(bins[1], weights, 256), abs=1e-9)


@pytest.mark.parametrize(
    ("groups", "queries", "shifts"),
    [
        ([0, 2], [0, 1], 1),
        ([0, 2, 4], [0, 2], 1),
        ([0, 2, 1, 3], [0, 3], 1),
        ([1, 3], [0, 1], 1),
        ([0, 2, 3], [0, 1], 1),
        ([0, 2, 3], [0, 2], 2),
        ([], [0], 0),
    ],
)
def test_documents_in_no_group_and_groups_in_no_query_are_refused(
    groups: list[int], queries: list[int], shifts: int
) -> None:
    with pytest.raises(ValueError, match=r"offsets|shift"):
        rankboost.potentials(
            np.zeros(3),
            np.array(groups, dtype=np.int64),
            np.array(queries, dtype=np.int64),
            np.zeros(shifts),
        )


def test_as_many_weights_as_rows_are_expected() -> None:
    with pytest.raises(ValueError, match="a weight for each column"):
        rankboost.bin_sums(np.zeros((2, 3), dtype=np.uint8), np.zeros(4))
