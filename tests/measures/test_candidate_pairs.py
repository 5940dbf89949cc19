"""The candidate pairs of correct pairs: all of them, and their share is the score."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from oracles.preference import correct_pairs
from profiles import examples
from rankgauge.measures import CorrectPairs


def test_pairs_are_listed_with_ranks_and_orders() -> None:
    listed = (CorrectPairs @ 2).pairs([0, -1, 2], judged=[2, 0, 1, 0])
    assert [
        (pair.better_label, pair.better_rank, pair.worse_label, pair.worse_rank, pair.right)
        for pair in listed.pairs
    ] == [
        (2, None, 1, None, 0.5),
        (2, None, 0, 1, 0.0),
        (2, None, 0, None, 0.5),
        (1, None, 0, 1, 0.0),
        (1, None, 0, None, 0.5),
    ]
    assert [row[-1] for row in listed.table().rows] == ["not ranked", "wrong"] * 2 + ["not ranked"]
    assert listed.share == 0.3


@given(
    ranking=st.lists(st.integers(-2, 3), max_size=7),
    more=st.lists(st.integers(0, 3), max_size=4),
    cutoff=st.none() | st.integers(1, 8),
)
@examples(150)
def test_their_share_is_the_score(ranking: list[int], more: list[int], cutoff: int | None) -> None:
    judged = [label for label in ranking if label >= 0] + more
    measure = CorrectPairs if cutoff is None else CorrectPairs @ cutoff
    listed = measure.pairs(ranking, judged)
    expected = correct_pairs(ranking, judged, 3, cutoff)
    assert listed.share == pytest.approx(expected, nan_ok=True)
    assert listed.share == pytest.approx(measure.score(ranking, judged), nan_ok=True)
    pairs = sum(a > b for a in judged for b in judged)
    assert len(listed.pairs) == pairs
    assert pairs > 0 or math.isnan(listed.share)
