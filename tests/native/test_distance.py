"""The compiled loops of distances refuse arrays that do not fit, and never reach beyond them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge.native import distance as native

LISTS: dict[str, Any] = {
    "documents": np.array([0, 1, 2, 1, 0], dtype=np.int32),
    "offsets": np.array([0, 3, 5]),
    "first": np.array([0]),
    "second": np.array([1]),
    "weights": np.array([1.0, 0.5, 0.25]),
    "is_free": np.array([1, 0, 1], dtype=np.uint8),
    "gains": np.array([0.0, 1.0, 0.0]),
}
WEIGHTED = {**LISTS, "most": 1.0}
NORMALIZED = {
    **LISTS,
    "thickness": np.array([1.0]),
    "costs": np.cumsum(np.ones((1, 7)), axis=1),
    "fixed": 0.0,
}
STAIRCASE: dict[str, Any] = {
    "rank_y": np.array([0, 2, 3]),
    "rank_z": np.array([0, 3, 1]),
    "free_y": np.array([0, 1, 1], dtype=np.uint8),
    "free_z": np.array([0, 1, 1], dtype=np.uint8),
    "known_y": np.zeros(3, dtype=np.uint8),
    "known_z": np.zeros(3, dtype=np.uint8),
    "reward_y": np.ones((3, 5)),
    "reward_z": np.ones((3, 5)),
    "trace": True,
}


def test_what_fits() -> None:
    assert native.weighted(**WEIGHTED).tolist() == [[0.25, 0.5]]
    ahead, reached = native.normalized(**NORMALIZED)
    assert ahead.tolist() == [[0.25 / 3, 0.5]]
    assert reached.tolist() == [[[2], [0]]]
    assert native.staircase(**STAIRCASE)[0].tolist()[0] == 0.0


def test_a_list_that_is_always_behind() -> None:
    """The second document is worth so much that the first list stays behind, least with all relevant."""
    far = {**NORMALIZED, "gains": np.array([0.0, 3.0, 0.0])}
    ahead, reached = native.normalized(**far)
    assert ahead.tolist() == [[-0.75 / 3, 1.5]]
    assert reached.tolist() == [[[2], [0]]]


@pytest.mark.parametrize("function", [native.weighted, native.normalized])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("documents", np.array([0, 1, 3, 1, 0], dtype=np.int32)),
        ("documents", np.array([0, 1, -1, 1, 0], dtype=np.int32)),
        ("documents", np.array([0, 1, 1, 1, 0], dtype=np.int32)),
        ("documents", np.array([0, 1], dtype=np.int32)),
        ("documents", np.array([0, 1, 2, 1, 0], dtype=np.int64)),
        ("offsets", np.array([], dtype=np.int64)),
        ("offsets", np.array([-1, 3, 5])),
        ("offsets", np.array([0, 3, 6])),
        ("offsets", np.array([3, 0, 5])),
        ("offsets", np.array([0, 1 << 40, 5])),
        ("offsets", np.array([0, 5, 5])),
        ("first", np.array([2])),
        ("first", np.array([-1])),
        ("first", np.array([0, 1])),
        ("second", np.array([2])),
        ("second", np.array([1 << 60])),
        ("weights", np.array([1.0, 0.5])),
        ("weights", np.array([])),
        ("is_free", np.array([1, 0], dtype=np.uint8)),
        ("gains", np.array([0.0, 1.0])),
        ("gains", np.array([0, 1, 0])),
    ],
)
def test_lists_that_do_not_fit(function: Any, name: str, value: Any) -> None:
    arguments = WEIGHTED if function is native.weighted else NORMALIZED
    with pytest.raises(ValueError, match=r"expected|must"):
        function(**{**arguments, name: value})


def test_offsets_within_weights_and_beyond_the_documents() -> None:
    """The end of a list is held against the documents before any of them is looked at."""
    with pytest.raises(ValueError, match="within the documents"):
        native.weighted(
            **{**WEIGHTED, "offsets": np.array([0, 100_000, 5]), "weights": np.ones(100_000)}
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("thickness", np.array([1.0, 1.0])),
        ("costs", np.ones((2, 7))),
        ("costs", np.ones((1, 6))),
        ("costs", np.ones((0, 7))),
    ],
)
def test_layers_that_do_not_fit(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match="expected"):
        native.normalized(**{**NORMALIZED, name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rank_y", np.array([], dtype=np.int64)),
        ("rank_y", np.array([0, 2])),
        ("rank_y", np.array([0, 0, 3])),
        ("rank_y", np.array([0, 2, 4])),
        ("rank_z", np.array([0, -1, 3])),
        ("rank_z", np.array([0, 1 << 50, 3])),
        ("rank_z", np.array([0, 1, 3, 2])),
        ("free_y", np.zeros(2, dtype=np.uint8)),
        ("free_z", np.zeros(4, dtype=np.uint8)),
        ("known_y", np.zeros(0, dtype=np.uint8)),
        ("known_z", np.zeros(2, dtype=np.uint8)),
        ("free_y", np.array([0, 255, 255], dtype=np.uint8)),
        ("reward_y", np.ones((3, 4))),
        ("reward_z", np.ones((3, 0))),
        ("reward_y", np.ones((2, 5))),
        ("reward_z", np.ones((4, 5))),
    ],
)
def test_staircases_that_do_not_fit(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match="expected"):
        native.staircase(**{**STAIRCASE, name: value})


@given(data=st.data())
@examples(200)
def test_places_that_contradict_each_other(data: st.DataObject) -> None:
    """Such as two documents at one place: nonsense comes out, of the right size."""
    k = data.draw(st.integers(0, 8))

    def some(low: int, high: int, kind: Any) -> Any:
        values = data.draw(st.lists(st.integers(low, high), min_size=k, max_size=k))
        return np.array([0, *values], dtype=kind)

    flags = {name: some(0, 1, np.uint8) for name in ("free_y", "free_z", "known_y", "known_z")}
    ranks = {name: some(1, k + 1, np.int64) for name in ("rank_y", "rank_z")}
    most = int(flags["free_y"].sum() + (flags["free_z"] & (ranks["rank_z"] == k + 1)).sum())
    rewards = {name: np.ones((k + 1, most + 2)) for name in ("reward_y", "reward_z")}
    best, bits, width = native.staircase(**flags, **ranks, **rewards, trace=True)
    assert len(best) == most + 1
    assert width == most + 2
    assert 8 * len(bits) >= (k + 2) ** 2 * width
    plain, _, _ = native.staircase(**flags, **ranks, **rewards, trace=False)
    assert plain.tolist() == best.tolist()
