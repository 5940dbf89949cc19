"""Curves along lines: predicted and evaluated anew are the same, on every interval, by every measure."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from laws.strategies import HIGHEST, MEASURES, WRAPPERS, versions
from profiles import examples
from rankgauge.errors import MeasureError, RankgaugeError, Unsupported
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.space import Segment, line
from space.strategies import each_list, moving


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


@pytest.mark.parametrize(
    "measure", ["AP", "nDCG", "RR", "ERR", "Q", "Rprec", "RBP", "Recall@60", "bpref"]
)
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


def test_uncut_bpref_follows_judged_documents_alone(monkeypatch):
    from rankgauge.space import lines

    random = np.random.default_rng(1)
    labels = random.choice([-2, -1, -1, -1, 0, 0, 1, 2], 60).astype(np.int32)
    segment = Segment(Rankings.of(labels), random.random(60), random.random(60))
    expected = segment.curve("bpref@60")
    monkeypatch.setattr(lines.native, "sweep_all", None)
    curve = segment.curve("bpref")
    assert len(curve.breaks) > 20
    assert curve.breaks == pytest.approx(expected.breaks, abs=1e-15)
    assert curve.values == pytest.approx(expected.values, abs=1e-12)


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
        ([1.0], [1.0, 2.0], "start: 1 score for 2 documents"),
        ([1.0, 2.0], [1.0, 1e308], "end: a score has the magnitude 1e\\+308, expected at most 1.1"),
        (
            [-1e308, 2.0],
            [1.0, 2.0],
            "start: a score has the magnitude 1e\\+308, .*divide all scores",
        ),
        (["a", "b"], [1.0, 2.0], "start: not a list of numbers"),
        (1.0, [1.0, 2.0], "start: not a list of numbers"),
        ([[1.0, 2.0], [1.0]], [1.0, 2.0], "start: scores of 2 lists for documents of 1 list"),
        ([[1.0]], [1.0, 2.0], "start, list 1: 1 score for 2 documents"),
        ([1.0, 2.0], [1.0, np.inf], "end: a score is not finite"),
        ([1.0, np.nan], [1.0, 2.0], "start: a score is not finite"),
    ],
)
def test_scores_that_make_no_line_are_refused(start, end, message):
    with pytest.raises(RankgaugeError, match=message):
        line(Rankings.of([1, 0]), start, end, "AP")


def test_the_largest_scores_are_compared_as_any():
    most = 2.0**1020
    curve = line([1, 0, 2], [most, 0, -most], [-most, 0, most], "nDCG@1")
    assert curve.breaks.tolist() == [0.5]
    small = line([1, 0, 2], [1, 0, -1], [-1, 0, 1], "nDCG@1")
    assert curve.values.tolist() == small.values.tolist()


# Labels as users write them


@examples(60)
@given(moving())
def test_plain_labels_are_lists_too(segment):
    lists = segment.documents
    own = Rankings.of(*each_list(lists, lists.labels))
    expected = line(own, segment.start, segment.end, "nDCG")
    plain = [labels.tolist() for labels in each_list(lists, lists.labels)]
    start, end = (
        [own.tolist() for own in each_list(lists, x)] for x in (segment.start, segment.end)
    )
    for scores in ((segment.start, segment.end), (start, end), (start, segment.end.tolist())):
        curve = line(plain, *scores, "nDCG")
        assert curve.breaks.tolist() == expected.breaks.tolist()
        assert curve.values.tolist() == expected.values.tolist()


def test_one_list_of_labels_is_one_list():
    curve = line([1, 0, 2], [3, 2, 1], [1, 2, 4], "nDCG@1")
    assert (curve.breaks.tolist(), curve.values.tolist()) == ([0.4], [0.5, 1.0])
    as_arrays = line(np.array([1, 0, 2]), np.array([3, 2, 1]), (1, 2, 4), "nDCG@1")
    assert as_arrays.values.tolist() == curve.values.tolist()
    table = line(np.array([[1, 0], [0, 2]]), np.eye(2), 1 - np.eye(2), "RR")
    assert (table.breaks.tolist(), table.values.tolist()) == ([0.5], [1.0, 0.5])


@pytest.mark.parametrize(
    ("labels", "scores"),
    [([], []), ([[]], [[]]), ([[], []], []), ([2], [1.0]), ([[], [2], []], [[], [1.0], []])],
)
@pytest.mark.parametrize("measure", ["AP", "nDCG@10", "bpref", "ERR", "CorrectPairs", "gm(AP)"])
def test_lists_with_nothing_to_flip_have_no_break(labels, scores, measure):
    curve = line(labels, scores, scores, measure)
    assert not len(curve.breaks)
    assert curve.values[0] == pytest.approx(curve.start, nan_ok=True)
    assert curve.at(0.3) == pytest.approx(curve.end, nan_ok=True)


def test_where_no_list_has_a_score_nothing_is_best():
    curve = line(Rankings.of(), [], [], "AP")
    assert np.isnan(curve.value)
    assert curve.best == curve.within(0.005) == []
    with pytest.raises(RankgaugeError, match="no list has a score"):
        _ = curve.point


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ("10", "documents: str, expected labels, lists of labels, or features"),
        (None, "documents: NoneType, expected labels"),
        ({"q": [1, 0]}, "documents: dict, expected labels"),
        ([1.5, 0], "labels in a ranking are whole numbers from -2"),
        ([[1, [0]], [1]], "labels in a ranking are whole numbers from -2"),
        ([1, [0]], "labels in a ranking are whole numbers from -2"),
    ],
)
def test_what_is_no_list_of_labels_is_refused(documents, message):
    with pytest.raises(RankgaugeError, match=message):
        line(documents, [1, 2], [2, 1], "AP")


def test_a_segment_of_labels_says_how_it_is_made():
    with pytest.raises(RankgaugeError, match=r"expected Rankings; Segment\.of takes labels"):
        Segment([1, 0], np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    assert Segment.of([1, 0], [1, 0], [0, 1]).curve("RR").breaks.tolist() == [0.5]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "weights: 1 number for 2 features, expected one per feature"),
        ([1.0, np.nan], "weights: a number is not finite"),
        ([1e308, 1e308], "start: a score"),
    ],
)
def test_weights_that_rank_nothing_are_refused(weights, message, tmp_path):
    from rankgauge import read_letor

    file = tmp_path / "letor.txt"
    file.write_text("0 qid:1 1:1 2:9\n1 qid:1 1:0 2:1\n")
    with pytest.raises(RankgaugeError, match=message):
        line(read_letor(file), weights, [0.0, 0.0], "AP")
