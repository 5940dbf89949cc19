"""The compiled loops do what a few lines of plain Python do, and refuse arrays that do not fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rankgauge.data.model import Ids
from rankgauge.native import ids, segments
from rankgauge.rankings.lists import offsets_of

floats = st.floats(-1e6, 1e6)
segmented = st.lists(st.lists(floats, max_size=6), max_size=6)
names = st.lists(
    st.lists(st.binary(max_size=12) | st.sampled_from([b"a", b"b", b"ab"])), max_size=5
)


def column(groups: list[list[bytes]]) -> tuple[Ids, Any]:
    flat = [raw for group in groups for raw in group]
    data = np.frombuffer(b"".join(flat), dtype=np.uint8)
    bounds = offsets_of([len(group) for group in groups])
    return Ids(data, offsets_of([len(raw) for raw in flat])), bounds


@given(segmented)
def test_sums_and_products_run_strictly_left_to_right(groups: list[list[float]]) -> None:
    flat = np.array([x for group in groups for x in group], dtype=np.float64)
    offsets = offsets_of([len(group) for group in groups])
    assert segments.segment_sum(flat, offsets).tolist() == [left_sum(group) for group in groups]
    running = [left_sum(group[: i + 1]) for group in groups for i in range(len(group))]
    assert segments.segment_cumsum(flat, offsets).tolist() == running
    products = [math.prod(group[:i]) for group in groups for i in range(len(group))]
    assert segments.segment_cumprod(flat, offsets).tolist() == products


@given(
    st.lists(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0, math.inf]) | floats, max_size=80))
    | st.lists(st.lists(st.integers(0, 40).map(float), min_size=60, max_size=200), max_size=2)
)
def test_segments_are_ordered_from_the_highest_value_down(groups: list[list[float]]) -> None:
    flat = np.array([x for group in groups for x in group], dtype=np.float64)
    offsets = offsets_of([len(group) for group in groups])
    expected = [
        start + i
        for start, group in zip(offsets.tolist(), groups, strict=False)
        for i in sorted(range(len(group)), key=lambda i: -group[i])
    ]
    assert segments.segment_order(flat, offsets).tolist() == expected


@pytest.mark.parametrize("offsets", [[1, 3], [0, 2], [0, 4], [0, 2, 1, 3], []])
def test_segments_to_order_cover_the_array(offsets: list[int]) -> None:
    with pytest.raises(ValueError, match=r"offsets|segments"):
        segments.segment_order(np.zeros(3), np.array(offsets, dtype=np.int64))


def left_sum(values: list[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total


@given(names)
def test_numbers_are_given_in_order_of_first_appearance(groups: list[list[bytes]]) -> None:
    flat = [raw for group in groups for raw in group]
    distinct = list(dict.fromkeys(flat))
    table, _ = column(groups)
    numbers, firsts = ids.number(table.data, table.offsets)
    assert numbers.tolist() == [distinct.index(raw) for raw in flat]
    assert firsts.tolist() == [flat.index(raw) for raw in distinct]


@given(names, names, st.randoms(use_true_random=False))
def test_ids_are_matched_within_partner_segments(left: Any, right: Any, random: Any) -> None:
    right = [list(dict.fromkeys(group)) for group in right]
    partner = np.array([random.randrange(-1, len(right)) for _ in left], dtype=np.int64)
    a, a_bounds = column(left)
    b, b_bounds = column(right)
    rows = ids.match(a.data, a.offsets, a_bounds, b.data, b.offsets, b_bounds, partner)
    expected = [
        int(b_bounds[p]) + right[p].index(raw) if p >= 0 and raw in right[p] else -1
        for group, p in zip(left, partner, strict=True)
        for raw in group
    ]
    assert rows.tolist() == expected


@given(names)
def test_repeats_point_at_the_first_of_the_segment(groups: list[list[bytes]]) -> None:
    table, bounds = column(groups)
    expected = [
        int(bounds[g]) + group.index(raw) if raw in group[:i] else -1
        for g, group in enumerate(groups)
        for i, raw in enumerate(group)
    ]
    assert ids.repeats(table.data, table.offsets, bounds).tolist() == expected


prefixed = st.lists(st.lists(st.binary(max_size=20).map(lambda raw: b"prefix" + raw), max_size=30))


@given(names | prefixed)
def test_ids_are_ordered_from_the_greatest_down(groups: list[list[bytes]]) -> None:
    col, bounds = column(groups)
    expected = [
        start + i
        for start, group in zip(bounds.tolist(), groups, strict=False)
        for i in sorted(range(len(group)), key=lambda i: (group[i], -i), reverse=True)
    ]
    assert ids.descending(col.data, col.offsets, bounds).tolist() == expected


@pytest.mark.parametrize("bounds", [[1, 2], [0, 1], [0, 3], [0, 2, 1, 2], []])
def test_segments_of_ids_to_order_cover_the_column(bounds: list[int]) -> None:
    col, _ = column([[b"a", b"b"]])
    with pytest.raises(ValueError, match="segment"):
        ids.descending(col.data, col.offsets, np.array(bounds, dtype=np.int64))


@given(st.binary(max_size=50), st.data())
def test_pieces_are_gathered_in_order(raw: bytes, data: st.DataObject) -> None:
    starts = data.draw(st.lists(st.integers(0, len(raw))))
    lengths = [data.draw(st.integers(0, len(raw) - start)) for start in starts]
    pieces = Ids(
        *ids.gather(
            np.frombuffer(raw, dtype=np.uint8),
            np.array(starts, dtype=np.int64),
            np.array(lengths, dtype=np.int64),
        )
    )
    assert list(pieces) == [raw[a : a + n] for a, n in zip(starts, lengths, strict=True)]


BYTES = np.frombuffer(b"abc", dtype=np.uint8)
WRONG = [np.array(wrong, dtype=np.int64) for wrong in ([], [0, 9], [-1, 2], [2, 1])]


@pytest.mark.parametrize("offsets", WRONG, ids=str)
def test_arrays_that_do_not_fit_are_refused(offsets: Any) -> None:
    good = np.array([0, 3])
    whole = np.array([0, 1])
    for call in (
        lambda: segments.segment_sum(np.ones(3), offsets),
        lambda: segments.segment_cumprod(np.ones(3), offsets),
        lambda: segments.segment_cumsum(np.ones(3), offsets),
        lambda: ids.number(BYTES, offsets),
        lambda: ids.repeats(BYTES, offsets, whole),
        lambda: ids.repeats(BYTES, good, offsets),
        lambda: ids.match(BYTES, offsets, whole, BYTES, good, whole, np.array([0])),
        lambda: ids.match(BYTES, good, whole, BYTES, good, whole, np.array([5])),
        lambda: ids.gather(BYTES, np.array([2]), np.array([2])),
        lambda: ids.gather(BYTES, np.array([-1]), np.array([2])),
    ):
        with pytest.raises(ValueError, match=r"offsets|bounds|partner|piece|segment"):
            call()
