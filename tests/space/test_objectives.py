"""Objectives on scores are smooth, and move with the scale of the scores; rank measures are neither."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from laws.strategies import MEASURES, versions
from profiles import examples
from rankgauge.errors import MeasureError, RankgaugeError, Unsupported
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.space import (
    Segment,
    objective_curve,
    objectives,
    pairwise_loss,
    rank_objective,
    swets,
)

POSITIONS = np.linspace(0, 1, 41)
MAPS = {
    "cube": lambda x: x**3,
    "exp": np.exp,
    "line": lambda x: 5 * x - 2,
    "arctan": np.arctan,
}
"""Strictly increasing, also in floating point, for the small whole numbers that are mapped here."""


@st.composite
def scored(draw: st.DrawFn, least: int = 0) -> tuple[Rankings, np.ndarray]:
    """Some lists with labels, some of them unjudged, and a small whole score of each document."""
    labels = draw(
        st.lists(st.lists(st.integers(-2, 3), min_size=least, max_size=7), min_size=1, max_size=3)
    )
    size = sum(map(len, labels))
    scores = draw(st.lists(st.integers(-6, 6), min_size=size, max_size=size))
    judged = JudgedLabels.of(*([own for own in each if own >= 0] for each in labels), max_grade=3)
    flat = np.array(list(itertools.chain(*labels)), dtype=np.int32)
    offsets = np.cumsum([0, *map(len, labels)])
    lists = Rankings(flat, offsets, np.arange(len(labels)), judged)
    return lists, np.array(scores, dtype=float)


def parts(lists: Rankings, scores) -> list[list[tuple[int, float]]]:
    """The labels and scores of each list."""
    bounds = itertools.pairwise(lists.offsets.tolist())
    rows = list(zip(np.maximum(lists.labels, 0).tolist(), scores.tolist(), strict=True))
    return [rows[slice(*own)] for own in bounds]


@examples(100)
@given(scored())
def test_the_pairwise_loss_is_what_its_definition_says(case):
    means = []
    for rows in parts(*case):
        losses = [
            math.log1p(math.exp(-(s - t)))
            for (a, s), (b, t) in itertools.product(rows, rows)
            if a > b
        ]
        means += [sum(losses) / len(losses)] if losses else []
    expected = sum(means) / len(means) if means else math.nan
    assert pairwise_loss(*case) == pytest.approx(expected, rel=1e-12, nan_ok=True)


@examples(50)
@given(scored(), st.booleans())
def test_scores_are_one_list_or_a_list_for_each_query(case, by_query):
    lists, scores = case
    labels, nested = (
        [part.tolist() for part in np.split(values, lists.offsets[1:-1])]
        for values in (lists.labels, scores)
    )
    for objective in (pairwise_loss, partial(swets, by_query=by_query)):
        value = pytest.approx(objective(lists, scores), nan_ok=True)
        assert objective(lists, nested) == value
        assert objective(labels, nested) == value
        assert objective(labels, scores) == value


def test_scores_for_another_number_of_lists_are_refused():
    for objective in (pairwise_loss, swets):
        with pytest.raises(RankgaugeError, match="scores of 1 list for documents of 2 lists"):
            objective([[1, 0], [0, 1]], [[1.0, 2.0]])
        with pytest.raises(RankgaugeError, match="list 2: 1 score for 2 documents"):
            objective([[1, 0], [0, 1]], [[1.0, 2.0], [3.0]])


def separation(rows: list[tuple[int, float]]) -> float:
    kinds = [[s for label, s in rows if (label >= 1) is relevant] for relevant in (True, False)]
    if not all(kinds):
        return math.nan
    means = [sum(own) / len(own) for own in kinds]
    variances = [
        sum((s - mean) ** 2 for s in own) / len(own) for own, mean in zip(kinds, means, strict=True)
    ]
    spread = sum(math.sqrt(each) for each in variances) / 2
    return (means[0] - means[1]) / spread if spread > 1e-9 else math.nan


@examples(100)
@given(scored())
def test_swets_measure_is_what_its_definition_says(case):
    own = [each for each in map(separation, parts(*case)) if not math.isnan(each)]
    everything = separation(list(itertools.chain(*parts(*case))))
    assert swets(*case) == pytest.approx(everything, rel=1e-9, abs=1e-12, nan_ok=True)
    expected = sum(own) / len(own) if own else math.nan
    assert swets(*case, by_query=True) == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)


def test_swets_measure_is_the_distance_in_standard_deviations():
    """Two normal distributions that are 1.5 standard deviations apart."""
    random = np.random.default_rng(0)
    labels = np.repeat([1, 0], 50_000)
    scores = random.normal(np.where(labels, 1.5, 0.0), 1.0)
    assert swets(Rankings.of(labels), scores) == pytest.approx(1.5, abs=0.02)
    graded = Rankings.of(labels + 1)
    assert swets(graded, scores, rel=2) == swets(Rankings.of(labels), scores)
    assert math.isnan(swets(graded, scores, rel=1))


def line_of(seed: int, lists: int = 4, documents: int = 8) -> Segment:
    """Documents on a random line; each score is a small number with a few decimals."""
    random = np.random.default_rng(seed)
    labels = [random.integers(0, 3, documents) for _ in range(lists)]
    ends = (random.integers(-30, 31, lists * documents) / 10 for _ in range(2))
    return Segment(Rankings.of(*labels), *ends)


@examples(60)
@given(st.integers(0, 2**32))
def test_the_pairwise_loss_is_convex_along_a_line(seed):
    second = np.diff(objective_curve(line_of(seed), pairwise_loss, POSITIONS), n=2)
    assert (second >= -1e-12).all()


def test_rank_measures_and_swets_measure_are_not_convex_along_a_line():
    for objective in (rank_objective("AP"), rank_objective("nDCG@3"), swets):
        second = np.diff(objective_curve(line_of(1), objective, POSITIONS), n=2)
        assert (second < -1e-6).any()
        assert (second > 1e-6).any()


@pytest.mark.parametrize("name", sorted(MEASURES))
@examples(20)
@given(st.data())
def test_no_rank_measure_sees_an_increasing_map_of_the_scores(name, data):
    measure = data.draw(versions(name))
    lists, scores = data.draw(scored())
    try:
        objective = rank_objective(measure)
        value = objective(lists, scores)
    except (MeasureError, Unsupported):
        return
    for increasing in MAPS.values():
        assert objective(lists, increasing(scores)) == pytest.approx(value, abs=0, nan_ok=True)


def best(values, lowest: bool = False) -> float:
    return float(POSITIONS[np.argmin(values) if lowest else np.argmax(values)])


@pytest.mark.parametrize(
    ("objective", "lowest"), [(pairwise_loss, True), (swets, False)], ids=["pairwise", "swets"]
)
def test_the_best_point_by_scores_moves_with_a_map_and_that_by_ranks_does_not(objective, lowest):
    moved = dict.fromkeys(("cube", "exp"), 0)
    for seed in range(20):
        segment = line_of(seed)
        straight = best(objective_curve(segment, objective, POSITIONS), lowest)
        ranked = objective_curve(segment, rank_objective("AP"), POSITIONS)
        for name in moved:
            mapped = objective_curve(segment, objective, POSITIONS, MAPS[name])
            moved[name] += best(mapped, lowest) != straight
            same = objective_curve(segment, rank_objective("AP"), POSITIONS, MAPS[name])
            # A map may merge scores that differ in the last bits alone: where documents meet.
            assert np.count_nonzero(np.abs(ranked - same) > 1e-12) <= 2
            assert same.max() == pytest.approx(ranked.max(), abs=1e-12)
    assert all(times >= 10 for times in moved.values()), moved


@examples(60)
@given(st.integers(0, 2**32))
def test_a_constant_added_to_a_query_moves_swets_measure_alone(seed):
    segment = line_of(seed)
    lists = segment.documents
    shift = lists.each_row(np.random.default_rng(seed).integers(-9, 10, len(lists)).astype(float))
    shifted = Segment(lists, segment.start + shift, segment.end + shift)
    invariant = [pairwise_loss, partial(swets, by_query=True), rank_objective("nDCG")]
    # Between positions at which scores are tied up to rounding.
    positions = POSITIONS[1:-1] + 1e-4
    for objective in invariant:
        before, after = (objective_curve(own, objective, positions) for own in (segment, shifted))
        assert after == pytest.approx(before, abs=1e-9)
    if np.ptp(shift):
        before, after = (objective_curve(own, swets, positions) for own in (segment, shifted))
        assert np.abs(before - after).max() > 1e-6


def test_large_differences_of_scores_neither_overflow_nor_vanish():
    lists = Rankings.of([1, 0])
    assert pairwise_loss(lists, [0.0, 2000.0]) == 2000
    assert pairwise_loss(lists, [0.0, -2000.0]) == 0


@pytest.mark.parametrize(
    ("scores", "message"),
    [([1.0], "1 score for 2 documents"), ([1.0, np.inf], "a score is not finite")],
)
def test_scores_that_do_not_fit_are_refused(scores, message):
    for objective in (pairwise_loss, swets):
        with pytest.raises(RankgaugeError, match=message):
            objective(Rankings.of([1, 0]), scores)


def test_too_many_pairs_and_points_outside_the_line_are_refused(monkeypatch):
    with pytest.raises(RankgaugeError, match="from 0 to 1"):
        objective_curve(line_of(1), swets, [0.5, 1.5])
    monkeypatch.setattr(objectives, "MOST_PAIRS", 3)
    with pytest.raises(RankgaugeError, match="more than 3 pairs"):
        pairwise_loss(Rankings.of([1, 1, 0, 0]), np.zeros(4))
    assert pairwise_loss(Rankings.of([1, 1, 1, 0]), np.zeros(4)) == pytest.approx(math.log(2))


def test_the_figure_marks_the_best_point_of_each_line():
    pytest.importorskip("matplotlib")
    from rankgauge.figures.space import objectives_figure

    loss = {"x": [3.0, 1.0, 2.0], "x³": [3.0, 2.0, 1.0]}
    figure = objectives_figure(
        [0.0, 0.5, 1.0], {"AP": [0.1, 0.4, 0.2]}, {"loss": loss}, lower_is_better=["loss"]
    )
    upper, lower = figure.axes
    assert upper.lines[1].get_xdata().tolist() == [0.5]
    assert [own.get_xdata().tolist() for own in lower.lines[1::2]] == [[0.5], [1.0]]
    assert lower.lines[0].get_ydata().tolist() == [0, 1, 0.5]


def test_on_real_features_the_loss_is_convex_and_its_best_point_moves(any_data):
    from rankgauge.space.scorers import LinearScorer

    scorer = LinearScorer.of(rg.read_letor(any_data("mq2008/S1.txt.gz")))
    ends = np.eye(scorer.width)
    segment = scorer.segment(ends[24], ends[38])
    positions = np.linspace(0, 1, 21)
    loss = objective_curve(segment, pairwise_loss, positions)
    assert (np.diff(loss, n=2) >= -1e-12).all()
    mapped = objective_curve(segment, pairwise_loss, positions, lambda x: np.exp(3 * x))
    assert np.argmin(loss) != np.argmin(mapped)
