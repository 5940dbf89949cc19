"""Random documents on their way from one score to another."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from laws.strategies import HIGHEST
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.space import Segment

SCORES = st.integers(0, 4).map(float) | st.floats(-1, 1).map(lambda x: round(x, 6))
"""Ties, duplicates and crossings in one point are frequent."""


@st.composite
def moving(draw: st.DrawFn, most: int = 7) -> Segment:
    """Some lists with labels, a start and an end of each document."""
    lists = draw(
        st.lists(st.lists(st.integers(-2, HIGHEST), max_size=most), min_size=1, max_size=3)
    )
    known = [[label for label in labels if label >= 0] for labels in lists]
    known = [labels + draw(st.lists(st.integers(0, HIGHEST), max_size=2)) for labels in known]
    judged = JudgedLabels.of(*known, max_grade=HIGHEST)
    flat = np.array([label for labels in lists for label in labels], dtype=np.int32)
    offsets = np.concatenate(([0], np.cumsum([len(labels) for labels in lists])))
    rankings = Rankings(flat, offsets, np.arange(len(lists)), judged)
    ends = (draw(st.lists(SCORES, min_size=len(flat), max_size=len(flat))) for _ in range(2))
    return Segment(rankings, *(np.array(scores) for scores in ends))


def each_list(lists: Rankings, rows: np.ndarray) -> list[np.ndarray]:
    """What the rows of each list have."""
    return np.split(rows, lists.offsets[1:-1])
