"""Differences of pairs of rows without an array of them: NumPy's sums, and counts pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge.native.differences import agreements, moments

ROWS = np.array([0, 0, 1, 3, 2]), np.array([1, 3, 2, 0, 2])


@pytest.mark.parametrize(
    "columns", [2, 3, 7, 8, 9, 17, 127, 128, 129, 136, 255, 257, 1000, 1029, 4100]
)
def test_moments_are_those_of_numpy(columns: int) -> None:
    values = np.random.default_rng(columns).random((4, columns))
    apart = values[ROWS[0]] - values[ROWS[1]]
    means, deviations = moments(values, *ROWS)
    assert means.tolist() == pytest.approx(apart.mean(axis=1).tolist(), rel=1e-14, abs=0)
    expected = apart.std(axis=1, ddof=1)
    assert deviations.tolist() == pytest.approx(expected.tolist(), rel=1e-14, abs=0)


def test_one_column_has_no_deviation() -> None:
    means, deviations = moments(np.array([[0.5], [0.25]]), np.array([0]), np.array([1]))
    assert means.tolist() == [0.25]
    assert np.isnan(deviations).all()


def agreed_by_pairs(one, other, first, second, least, fuzziness, width, bins):
    """The definition, split by split and pair by pair."""

    def apart(a: float, b: float, share: float) -> float:
        return 0.0 if abs(a - b) <= max(share * max(abs(a), abs(b)), least) else a - b

    sums, ties = [0] * len(one), 0
    decided, swapped = [0] * bins, [0] * bins
    for s, (x, y) in enumerate(zip(one.tolist(), other.tolist(), strict=True)):
        for i, j in zip(first.tolist(), second.tolist(), strict=True):
            plain = apart(x[i], x[j], 0.0), apart(y[i], y[j], 0.0)
            sums[s] += int(np.sign(plain[0]) * np.sign(plain[1]))
            fuzzy = apart(x[i], x[j], fuzziness), apart(y[i], y[j], fuzziness)
            if 0.0 in fuzzy:
                ties += 1
                continue
            place = min(int(abs(fuzzy[0]) / width), bins - 1)
            decided[place] += 1
            swapped[place] += (fuzzy[0] > 0) != (fuzzy[1] > 0)
    return sums, ties, decided, swapped


@given(st.integers(0, 2**32), st.integers(0, 5), st.sampled_from([0.0, 0.05, 0.5]))
@examples(60)
def test_agreements_pair_by_pair(seed: int, splits: int, fuzziness: float) -> None:
    random = np.random.default_rng(seed)
    one, other = random.integers(-3, 8, (2, splits, 6)) / 7
    first, second = np.triu_indices(6, 1)
    decided, swapped = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    asked = (first, second, 1e-12, fuzziness, 0.2)
    sums, ties = agreements(one, other, *asked, decided, swapped)
    found = (sums.tolist(), ties, decided.tolist(), swapped.tolist())
    assert found == agreed_by_pairs(one, other, *asked, 4)


@pytest.mark.parametrize("row", [-1, 4, 2**40])
def test_rows_that_are_not_there_are_refused(row: int) -> None:
    values, wrong, right = np.zeros((4, 4)), np.array([row]), np.array([0])
    counts = np.zeros(2, dtype=np.int64)
    for pair in ((wrong, right), (right, wrong)):
        with pytest.raises(ValueError, match="not there"):
            moments(values, *pair)
        with pytest.raises(ValueError, match="not there"):
            agreements(values, values, *pair, 0.0, 0.0, 1.0, counts, counts.copy())


def test_sizes_that_do_not_fit_are_refused() -> None:
    values, row, counts = np.zeros((2, 2)), np.array([0]), np.zeros(2, dtype=np.int64)
    with pytest.raises(ValueError, match="as many second rows"):
        moments(values, row, np.array([0, 1]))
    with pytest.raises(ValueError, match="no columns"):
        moments(np.zeros((2, 0)), row, row)
    with pytest.raises(ValueError, match="same splits"):
        agreements(values, np.zeros((1, 2)), row, row, 0.0, 0.0, 1.0, counts, counts.copy())
    for width, swapped in ((0.0, counts.copy()), (float("nan"), counts.copy()), (1.0, counts[:1])):
        with pytest.raises(ValueError, match="sizes to count by"):
            agreements(values, values, row, row, 0.0, 0.0, width, counts, swapped)
