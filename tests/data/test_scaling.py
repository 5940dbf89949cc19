"""Scaled feature values: the definitions, constant features, NaN, and what is saved."""

from __future__ import annotations

import json
import math
import statistics
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rankgauge import Features, RankgaugeError
from rankgauge.data.model import Ids
from rankgauge.data.scaling import Scaling, ScalingKind

numbers = st.one_of(
    st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, width=32), st.just(math.nan)
)


@st.composite
def make_features(draw: st.DrawFn, width: int | None = None) -> Features:
    """Queries of one to six documents."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    width = draw(st.integers(1, 3)) if width is None else width
    rows = draw(
        st.lists(
            st.lists(numbers, min_size=width, max_size=width),
            min_size=sum(sizes),
            max_size=sum(sizes),
        )
    )
    return Features(
        Ids.of(f"q{number}" for number in range(len(sizes))),
        np.cumsum([0, *sizes]).astype(np.int64),
        np.zeros(sum(sizes), dtype=np.int32),
        np.array(rows, dtype=np.float32),
    )


def by_hand(kind: str, known: list[float], column: list[float]) -> list[float]:
    """A column scaled by the values of another, in plain Python."""
    there = [value for value in known if not math.isnan(value)]
    if not there or max(there) == min(there):
        return [math.nan if math.isnan(value) else 0.0 for value in column]
    if kind == "min-max":
        return [(value - min(there)) / (max(there) - min(there)) for value in column]
    mean = statistics.fmean(there)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in there) / len(there))
    return [(value - mean) / deviation for value in column]


@given(make_features(), st.sampled_from(["z", "min-max"]))
def test_a_query_is_scaled_for_itself(features: Features, kind: ScalingKind) -> None:
    scaled = Scaling.of(kind).apply(features)
    assert scaled.values.dtype == np.float32
    for start, end in zip(features.bounds[:-1], features.bounds[1:], strict=True):
        for feature in range(features.values.shape[1]):
            column = features.values[start:end, feature].tolist()
            expected = by_hand(kind, column, column)
            np.testing.assert_allclose(scaled.values[start:end, feature], expected, 1e-4, 1e-4)


@given(make_features(2), make_features(2), st.sampled_from(["z", "min-max"]))
def test_all_queries_are_scaled_by_the_training_data(
    train: Features, test: Features, kind: ScalingKind
) -> None:
    scaling = Scaling.of(kind, per_query=False).fit(train)
    scaled = scaling.apply(test)
    for feature in range(2):
        known, column = train.values[:, feature].tolist(), test.values[:, feature].tolist()
        expected = by_hand(kind, known, column)
        np.testing.assert_allclose(scaled.values[:, feature], expected, 1e-4, 1e-4)
    again = Scaling.from_dict(json.loads(json.dumps(scaling.to_dict(), allow_nan=False)))
    assert again == scaling
    assert np.array_equal(again.apply(test).values, scaled.values, equal_nan=True)


@given(make_features(), st.sampled_from(["z", "min-max"]), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_other_queries_change_no_bit(
    features: Features, kind: ScalingKind, random: Any
) -> None:
    scaled = Scaling.of(kind).apply(features).values
    number = random.randrange(len(features.queries))
    start, end = (int(bound) for bound in features.bounds[number : number + 2])
    order = random.sample(range(start, end), end - start)
    alone = Features(
        Ids.of(["q"]),
        np.array([0, end - start]),
        features.labels[order],
        features.values[order],
    )
    apart = Scaling.of(kind).apply(alone).values
    assert apart.tobytes() == scaled[order].tobytes()


def test_nothing_is_scaled_by_none() -> None:
    made = Features(Ids.of(["q"]), np.array([0, 1]), np.zeros(1, np.int32), np.ones((1, 2)))
    for per_query in (False, True):
        scaling = Scaling.of("none", per_query=per_query)
        assert scaling.fit(made).apply(made) is made
        assert Scaling.from_dict(scaling.to_dict()) == scaling


def test_tiny_and_huge_differences_are_not_lost() -> None:
    values = np.array([[1e-200, 1e300], [3e-200, -1e300]])
    made = Features(Ids.of(["q"]), np.array([0, 2]), np.zeros(2, np.int32), values)
    assert Scaling.of("z").apply(made).values.tolist() == [[-1, 1], [1, -1]]


def test_an_unfitted_scaling_and_other_features_are_refused() -> None:
    made = Features(Ids.of(["q"]), np.array([0, 1]), np.zeros(1, np.int32), np.ones((1, 2)))
    wide = Features(Ids.of(["q"]), np.array([0, 1]), np.zeros(1, np.int32), np.ones((1, 3)))
    scaling = Scaling.of("z", per_query=False)
    with pytest.raises(RankgaugeError, match="not fitted; call fit"):
        scaling.apply(made)
    with pytest.raises(RankgaugeError, match="3 features, expected 2"):
        scaling.fit(made).apply(wide)
    with pytest.raises(RankgaugeError, match="kind='zz', expected one of z, min-max, none"):
        Scaling.of("zz")  # type: ignore[arg-type]


FITTED = {"kind": "z", "per_query": False, "center": [0.0], "scale": [1.0]}


@pytest.mark.parametrize(
    "saved",
    [
        [],
        {},
        {"kind": "z"},
        {"kind": ["z"], "per_query": True},
        {"kind": "z", "per_query": 1},
        FITTED | {"per_query": True},
        FITTED | {"kind": "none"},
        FITTED | {"more": 1},
        FITTED | {"center": "0"},
        FITTED | {"center": [0.0, 1.0]},
        FITTED | {"scale": [-1.0]},
        FITTED | {"scale": [math.nan]},
        FITTED | {"scale": [10**400]},
        FITTED | {"scale": [True]},
        {"kind": "z", "per_query": False, "center": [0.0]},
    ],
    ids=str,
)
def test_what_was_not_saved_is_refused(saved: Any) -> None:
    assert Scaling.from_dict(FITTED).to_dict() == FITTED
    with pytest.raises(RankgaugeError):
        Scaling.from_dict(saved)


def test_a_value_far_outside_of_the_training_data_stays_finite() -> None:
    near, far = (
        Features(
            Ids.of(["q"]),
            np.array([0, 3]),
            np.zeros(3, np.int32),
            np.array([[0.0], [1e-40], [top]], np.float32),
        )
        for top in (2e-40, 3e38)
    )
    kinds: tuple[ScalingKind, ...] = ("z", "min-max")
    for kind in kinds:
        scaled = Scaling.of(kind, per_query=False).fit(near).apply(far)
        assert np.isfinite(scaled.values).all()
        assert scaled.values[2, 0] == np.finfo(np.float32).max
