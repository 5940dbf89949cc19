"""Curves along lines: predicted and evaluated anew are the same, on every interval, by every measure."""

from __future__ import annotations

import itertools

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


def check(segment: Segment, measure, share=0.5) -> None:
    """Compare the curve with the score at a point of every interval, by default in its middle."""
    curve = segment.curve(measure)
    edges = curve.edges
    points = edges[:-1] + share * np.diff(edges)
    for position, value in zip(points, curve.values, strict=True):
        expected = segment.mean_at(float(position), measure)
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True), position


@pytest.mark.parametrize("name", sorted(MEASURES | WRAPPERS))
@examples(30)
@given(st.data())
def test_predicted_is_evaluated_anew_on_every_interval(name, data):
    measure = data.draw(versions(name))
    segment = data.draw(moving())
    try:
        check(segment, measure)
    except (MeasureError, Unsupported):
        return


@pytest.mark.parametrize("measure", ["gm(AP)", "mean(nDCG@3)", "gm(v2(nDCG@2))"])
@examples(60)
@given(moving())
def test_aggregates_are_swept_by_what_is_inside(measure, segment):
    from rankgauge import parse

    check(segment, parse(measure))


@pytest.mark.parametrize("measure", ["AP", "nDCG", "RR", "ERR", "Q", "Rprec", "RBP", "Recall@60"])
@examples(60)
@given(st.integers(0, 2**32))
def test_following_some_documents_is_as_exact_as_following_all(measure, seed):
    """Many lines through few points, so that many documents meet in one."""
    from rankgauge import parse

    random = np.random.default_rng(seed)
    labels = random.choice([-1, 0, 0, 1, 2], (2, 40)).astype(np.int32)
    judged = JudgedLabels.of(*(np.maximum(own, 0) for own in labels), max_grade=HIGHEST)
    lists = Rankings(labels.ravel(), np.array([0, 40, 80]), np.arange(2), judged)
    ends = (random.integers(0, 7, 80) / 7.0 for _ in range(2))
    # Not in the middle: there many documents may meet without a change of the score on either side.
    check(Segment(lists, *ends), parse(measure), share=0.5**0.5)


@pytest.mark.parametrize("depth", [1, 3, 10, 39, 60])
@examples(60)
@given(st.integers(0, 2**32))
def test_both_sweeps_find_the_same_curve(depth, seed):
    from rankgauge import nDCG
    from rankgauge.space import lines

    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, 40).astype(np.int32)
    segment = Segment(Rankings.of(labels), *(random.integers(0, 9, 40) / 9.0 for _ in range(2)))
    found = []
    for shallow in (0, 100):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lines, "SHALLOW", shallow)
            found.append(segment.curve(nDCG @ depth))
    edges = np.unique(np.concatenate([curve.edges for curve in found]))
    for low, high in itertools.pairwise(edges):
        if high - low > 1e-9:
            one, other = (curve.at((low + high) / 2) for curve in found)
            assert one == pytest.approx(other, abs=1e-12)


def test_a_line_of_weights_of_features(tmp_path):
    from rankgauge import nDCG, read_letor

    file = tmp_path / "letor.txt"
    file.write_text("0 qid:1 1:1 2:0\n1 qid:1 1:0 2:1\n2 qid:1 1:0.25 2:0.5\n")
    curve = line(read_letor(file), [1.0, 0.0], [-1.0, 1.0], nDCG @ 1)
    assert curve.breaks.tolist() == [0.5]
    assert curve.values.tolist() == [0, 0.5]
    assert (curve.start, curve.end) == (0, 0.5)
    assert curve.best == [(0.5, 1)]


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        ([1.0], [1.0, 2.0], "start: 1 scores for 2 documents"),
        ([1.0, 2.0], [1.0, np.inf], "end: a score is not finite"),
        ([1.0, np.nan], [1.0, 2.0], "start: a score is not finite"),
    ],
)
def test_scores_that_make_no_line_are_refused(start, end, message):
    with pytest.raises(RankgaugeError, match=message):
        line(Rankings.of([1, 0]), start, end, "AP")
