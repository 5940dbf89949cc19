"""Curves along lines: predicted and evaluated anew are the same, on every interval, by every measure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws.strategies import HIGHEST, MEASURES, WRAPPERS, versions
from profiles import examples
from rankgauge.data.errors import MeasureError, RankgaugeError, Unsupported
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.space import Segment, line

SCORES = st.integers(0, 4).map(float) | st.floats(-1, 1).map(lambda x: round(x, 6))
"""Ties, duplicates and crossings in one point are frequent."""


@st.composite
def moving(draw: st.DrawFn, most: int = 7) -> Segment:
    """Some lists with labels, a start and an end of each document."""
    lists = draw(st.lists(st.lists(st.integers(-2, HIGHEST), max_size=most), min_size=1, max_size=3))
    known = [[label for label in labels if label >= 0] for labels in lists]
    known = [labels + draw(st.lists(st.integers(0, HIGHEST), max_size=2)) for labels in known]
    judged = JudgedLabels.of(*known, max_grade=HIGHEST)
    flat = np.array([label for labels in lists for label in labels], dtype=np.int32)
    offsets = np.concatenate(([0], np.cumsum([len(labels) for labels in lists])))
    rankings = Rankings(flat, offsets, np.arange(len(lists)), judged)
    ends = (draw(st.lists(SCORES, min_size=len(flat), max_size=len(flat))) for _ in range(2))
    return Segment(rankings, *(np.array(scores) for scores in ends))


def check(segment: Segment, measure, curve=None) -> int:
    """Compare the curve with the score at the midpoint of every interval; how many there were."""
    curve = segment.curve(measure) if curve is None else curve
    edges = curve.edges
    middles = (edges[1:] + edges[:-1]) / 2
    for position, value in zip(middles, curve.values, strict=True):
        expected = segment.mean_at(float(position), measure)
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True), position
    return len(middles)


@pytest.mark.parametrize("name", sorted(MEASURES | WRAPPERS))
@examples(80)
@given(st.data())
def test_predicted_is_evaluated_anew_on_every_interval(name, data):
    measure = data.draw(versions(name))
    segment = data.draw(moving())
    try:
        check(segment, measure)
    except (MeasureError, Unsupported):
        return


@pytest.mark.parametrize("measure", ["gm(AP)", "mean(nDCG@3)", "gm(v2(nDCG@2))"])
@examples(100)
@given(moving())
def test_aggregates_are_swept_by_what_is_inside(measure, segment):
    from rankgauge import parse

    check(segment, parse(measure))
