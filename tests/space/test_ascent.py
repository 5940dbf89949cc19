"""Ascent: it reports what the weights score, and no line that it searched has anything better."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from laws.strategies import HIGHEST, MEASURES, versions
from profiles import examples
from rankgauge.errors import MeasureError, RankgaugeError, Unsupported
from rankgauge.rankings.lists import Rankings
from rankgauge.space import add_jitter, optima
from rankgauge.space.ascent import ascend
from rankgauge.space.inputs import features_of, lists_of
from rankgauge.space.lines import mean_of


@st.composite
def documents(draw: st.DrawFn, features: int = 2, most: int = 6) -> tuple:
    """Documents of one to three queries, with small whole feature values: many are tied or meet."""
    sizes = draw(st.lists(st.integers(1, most), min_size=1, max_size=3))
    size = sum(sizes)
    labels = draw(st.lists(st.integers(0, HIGHEST), min_size=size, max_size=size))
    cells = st.lists(st.integers(-2, 3), min_size=size * features, max_size=size * features)
    values = np.array(draw(cells), dtype=float).reshape(size, features)
    return values, labels, np.cumsum([0, *sizes])


def value_at(case: tuple, weights, measure) -> float:
    """The mean with these weights, in exact numbers: rank by score, then as the documents stand."""
    values, _, bounds = case
    lists = lists_of(features_of(case))
    exact = [Fraction(float(weight)) for weight in weights]
    score = [
        sum(Fraction(value) * weight for value, weight in zip(row, exact, strict=True))
        for row in values.tolist()
    ]
    order = []
    for first, last in itertools.pairwise(bounds):
        order += sorted(range(first, last), key=lambda row: (-score[row], row))
    ranked = Rankings(lists.labels[order], lists.offsets, lists.query, lists.judged)
    return mean_of(measure.score_each(ranked), measure)


def best_of_one_weight(case: tuple, measure) -> float:
    """The best value for weights (1, x) over all x but those at which documents are tied."""
    values, _, bounds = case
    breaks = set()
    for first, last in itertools.pairwise(bounds):
        for a in range(first, last):
            for b in range(a):
                constant, slope = (Fraction(float(x)) for x in values[a] - values[b])
                if slope:
                    breaks.add(-constant / slope)
    points = sorted(breaks) or [Fraction(0)]
    tried = [points[0] - 1, points[-1] + 1]
    tried += [(a + b) / 2 for a, b in itertools.pairwise(points)]
    found = [value_at(case, (1, x), measure) for x in tried]
    return max(found) if measure.direction == "higher" else min(found)


@pytest.mark.parametrize("name", ["AP", "nDCG@3", "RR", "P@2", "SearchLength(j=1)", "ERR"])
@examples(60)
@given(case=documents())
def test_with_one_free_weight_every_start_reaches_the_best_value_of_all(name, case):
    measure = rg.parse(name)
    expected = best_of_one_weight(case, measure)
    if np.isnan(expected):
        with pytest.raises(RankgaugeError, match="is not defined for these documents"):
            optima(case, measure, fixed=1)
        return
    found = optima(case, measure, fixed=1, restarts=3)
    sign = 1 if measure.direction == "higher" else -1
    # A start at which documents are tied may be better than all points around it.
    assert (sign * found.values >= sign * expected - 1e-12).all()
    for value, weights in zip(found.values, found.weights, strict=True):
        if not tied(case, weights):
            assert value == pytest.approx(expected, abs=1e-12)


def tied(case: tuple, weights) -> bool:
    """Whether two different documents of a query have the same score."""
    exact = [Fraction(float(weight)) for weight in weights]
    for first, last in itertools.pairwise(case[2]):
        rows = {tuple(row) for row in case[0][first:last].tolist()}
        scores = {sum(Fraction(x) * w for x, w in zip(row, exact, strict=True)) for row in rows}
        if len(scores) < len(rows):
            return True
    return False


@pytest.mark.parametrize("name", sorted(MEASURES))
@examples(8)
@given(st.data())
def test_what_is_reported_is_evaluated_anew_by_every_measure(name, data):
    measure = data.draw(versions(name))
    if measure.direction == "none":
        return
    case = data.draw(documents(features=3))
    fixed = data.draw(st.sampled_from([None, 1, 3]))
    try:
        found = optima(case, measure, fixed=fixed, restarts=3, directions=2, rounds=3)
    except (MeasureError, Unsupported):
        return
    except RankgaugeError as error:
        if "is not defined" not in str(error):
            raise
        return
    assert found.found.sum() == 3
    assert np.bincount(found.reached).tolist() == found.found.tolist()
    sign = 1 if measure.direction == "higher" else -1
    assert (np.diff(sign * found.values) <= 0).all()
    for value, weights in zip(found.values, found.weights, strict=True):
        if fixed is None:
            assert np.linalg.norm(weights) == pytest.approx(1)
        else:
            assert weights[fixed - 1] == 1
        assert value == pytest.approx(_rounded(case, weights, measure), abs=1e-12)
    start = np.ones(3) / (np.sqrt(3) if fixed is None else 1)
    first = found.values[found.reached[0]]
    assert sign * first >= sign * _rounded(case, start, measure) - 1e-12


def _rounded(case: tuple, weights, measure) -> float:
    """The mean with these weights in floating point, the sum from the first feature to the last."""
    scores = []
    for row in np.asarray(case[0]).tolist():
        total = 0.0
        for value, weight in zip(row, weights.tolist(), strict=True):
            total += value * weight
        scores.append(total)
    lists = lists_of(features_of(case))
    order = []
    for first, last in itertools.pairwise(case[2]):
        order += sorted(range(first, last), key=lambda row: (-scores[row], row))
    ranked = Rankings(lists.labels[order], lists.offsets, lists.query, lists.judged)
    return mean_of(measure.score_each(ranked), measure)


@pytest.mark.parametrize("fixed", [None, 2])
@examples(30)
@given(case=documents(features=3, most=7))
def test_no_single_weight_leads_to_a_better_value(fixed, case):
    measure = rg.parse("AP")
    found = optima(case, measure, fixed=fixed, restarts=2, directions=0)
    steps = np.concatenate([-np.geomspace(1e-3, 100, 25), np.geomspace(1e-3, 100, 25)])
    for value, weights in zip(found.values, found.weights, strict=True):
        for feature in range(3):
            if fixed is not None and feature == fixed - 1:
                continue
            for step in steps + np.pi * 1e-7:  # no point at which documents are tied
                tried = weights + step * np.eye(3)[feature]
                assert value_at(case, tried, measure) <= value + 1e-12


def many_optima() -> tuple:
    random = np.random.default_rng(4)
    return random.random((60, 5)), random.integers(0, 3, 60), np.arange(0, 61, 10)


def test_optima_are_different_the_best_first_and_counted():
    found = optima(many_optima(), "nDCG@3", restarts=12, directions=2, seed=1)
    assert len(found.values) > 1
    assert found.found.sum() == 12
    assert found.values.tolist() == sorted(found.values.tolist(), reverse=True)
    assert found.value == found.values[0]
    assert found.best.tolist() == found.weights[0].tolist()
    table = found.table()
    assert table.columns[:3] == ("value", "found", "weight 1")
    assert table.rows[0][:2] == (found.value, found.found[0])
    assert "12 starts" in table.notes[0]


def test_starts_that_reach_the_same_ranking_are_one_optimum():
    """Two documents: whichever weights rank the relevant one first are the same optimum."""
    found = optima(([[1, 0], [0, 1]], [0, 1], [0, 2]), "AP", restarts=9)
    assert (found.values.tolist(), found.found.tolist()) == ([1.0], [9])
    assert found.notes[0].kind == "9 starts, 1 optimum; the best value was reached from 9 starts"


def test_what_a_measure_does_not_look_at_makes_no_other_optimum():
    """The labels below rank 1 differ between the starts, P@1 does not see them."""
    values, labels = [[3, 0], [0, 3], [1, 1], [0, 1]], [1, 1, 0, 0]
    assert len(optima((values, labels, [0, 4]), "P@1", restarts=9).values) == 1


def test_the_seed_decides_and_who_works_does_not():
    case = many_optima()
    found = [optima(case, "AP", restarts=4, seed=seed) for seed in (7, 7, 8)]
    assert found[0].weights.tolist() == found[1].weights.tolist()
    assert found[0].weights.tolist() != found[2].weights.tolist()
    with ThreadPoolExecutor(1) as executor:
        alone = optima(case, "AP", restarts=4, seed=7, executor=executor)
    assert alone.weights.tolist() == found[0].weights.tolist()


def test_jitter_is_added_to_the_scores_and_not_to_the_weights():
    case = many_optima()
    found = optima(case, "AP", restarts=2, jitter=0.5, seed=3)
    assert found.weights.shape[1] == 5
    with_jitter = add_jitter(case, 0.5, seed=3)
    parts = (with_jitter.values, case[1], case[2])
    for value, weights in zip(found.values, found.weights, strict=True):
        assert value == _rounded(parts, np.append(weights, 1.0), rg.parse("AP"))


def test_more_rounds_are_asked_for_where_an_ascent_is_not_at_its_end():
    found = optima(many_optima(), "AP", restarts=3, rounds=1)
    assert any("raise `rounds`" in str(note) for note in found.notes)
    assert not any("rounds" in str(note) for note in optima(many_optima(), "AP", restarts=3).notes)


def test_a_climb_takes_only_steps_that_are_better():
    """A search that promises much and gives little moves nothing; one that keeps its word does."""
    steps = [lambda weights, value: weights - 1, lambda weights, value: weights + 1]
    reached = ascend(np.zeros(1), lambda w: min(float(w[0]), 3.0), lambda: steps, higher=True)
    assert (reached.weights.tolist(), reached.value, reached.ended) == ([3.0], 3.0, True)
    short = ascend(np.zeros(1), lambda w: float(w[0]), lambda: steps, higher=True, rounds=2)
    assert (short.value, short.ended) == (2.0, False)
    down = ascend(np.zeros(1), lambda w: max(float(w[0]), -2.0), lambda: steps, higher=False)
    assert down.value == -2


@pytest.mark.parametrize(
    ("measure", "options", "message"),
    [
        ("NumRet", {}, "neither higher nor lower values are better"),
        ("AP", {"fixed": 3}, "fixed=3, expected a whole number from 1 to 2"),
        ("AP", {"restarts": 0}, "restarts=0"),
        ("AP", {"directions": -1}, "directions=-1"),
        ("AP", {"jitter": 0}, "jitter=0"),
        ("AP", {"seed": -1}, "seed=-1"),
    ],
)
def test_what_cannot_be_searched_is_refused(measure, options, message):
    with pytest.raises(RankgaugeError, match=message):
        optima(([[1, 0], [0, 1]], [0, 1], [0, 2]), measure, **options)


def test_the_figure_has_a_point_for_each_optimum():
    pytest.importorskip("matplotlib")
    found = optima(many_optima(), "nDCG@3", restarts=6)
    upper, lower = found.figure().axes
    points = np.asarray(upper.collections[0].get_offsets())
    assert points[:, 1].tolist() == found.values.tolist()
    assert [bar.get_height() for bar in lower.patches] == found.found.tolist()


def test_weights_of_real_features_are_better_than_any_feature_alone(any_data):
    features = rg.read_letor(any_data("mq2008/S1.txt.gz"))
    found = optima(features, "nDCG@10", restarts=1, directions=0, rounds=2)
    measure, lists = rg.parse("nDCG@10"), lists_of(features)
    case = (features.values, features.labels, features.bounds)
    assert found.value == pytest.approx(_rounded(case, found.best, measure), abs=1e-12)
    for feature in range(features.values.shape[1]):
        alone = np.eye(features.values.shape[1])[feature]
        assert found.value > _rounded(case, alone, measure)
    assert len(lists) == 157
