"""Numbers that differ only by rounding are made equal."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from rankgauge.core.rounding import ROUNDING, merge_close_values, round_values


@given(st.floats(0, 1e308), st.floats(-1, 1))
@example(5e-324, 1.0)
@example(1e-320, -0.7)
@example(1e308, 1.0)
def test_a_value_becomes_the_nearest_multiple_of_a_small_power_of_two(
    greatest: float, part: float
) -> None:
    value = part * greatest
    found = float(round_values(value, greatest))
    if greatest == 0:
        assert found == value
        return
    power = -1074
    while Fraction(2) ** (power + 40) < Fraction(greatest):
        power += 1
    unit = Fraction(2) ** power
    assert Fraction(found) % unit == 0
    assert abs(Fraction(found) - Fraction(value)) <= unit / 2
    assert power == -1074 or 0.9 * ROUNDING < unit / Fraction(greatest) < 2 * ROUNDING


def test_sums_in_another_order_are_equal_and_others_are_not() -> None:
    sums = [0.1 + 0.2, 0.3, 0.3 + 4e-12]
    assert len(set(sums)) == 3
    found = round_values(sums, 0.3)
    assert found[0] == found[1] != found[2]
    assert round_values(found, 0.3).tolist() == found.tolist()
    assert round_values(sums, 0.0).tolist() == sums


def test_each_column_has_a_greatest_of_its_own() -> None:
    values = np.array([[0.1 + 0.2, 1e-20, 0.7], [0.3, 3e-20, math.inf]])
    found = round_values(values, [1.0, 0.0, 1e6])
    assert found[0, 0] == found[1, 0] == pytest.approx(0.3, abs=1e-12)
    assert found[:, 1].tolist() == [1e-20, 3e-20]
    assert found[0, 2] == pytest.approx(0.7, abs=1e-6)
    assert found[0, 2] != 0.7
    assert found[1, 2] == math.inf


@given(
    st.lists(st.tuples(st.integers(-20, 20), st.integers(-3, 3)), max_size=30),
    st.integers(-9, 9).map(lambda power: 10.0**power),
)
def test_merged_values_are_equal_where_only_rounding_differs(
    numbers: list[tuple[int, int]], scale: float
) -> None:
    values = np.array([(number / 7 + steps * 1e-14) * scale for number, steps in numbers])
    found = merge_close_values(values, np.full(len(values), 3 * scale))
    assert (abs(found - values) <= 1e-13 * scale).all()
    order = np.argsort([number for number, _ in numbers], kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    for (one, _), a in zip(numbers, found, strict=True):
        for (two, _), b in zip(numbers, found, strict=True):
            assert (a == b) == (one == two)


def test_values_are_merged_by_the_greater_of_their_terms() -> None:
    assert merge_close_values([1.0, 1.0 + 1e-9, 2.0], [1.0, 1e4, 1.0]).tolist() == [1.0, 1.0, 2.0]
    assert merge_close_values([1.0, 1.0 + 1e-9, 2.0], 1.0).tolist() == [1.0, 1.0 + 1e-9, 2.0]
    assert merge_close_values([2.0, math.inf, -math.inf], 1.0).tolist() == [
        2.0,
        math.inf,
        -math.inf,
    ]
