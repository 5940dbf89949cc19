"""Coordinate ascent: it never goes down, and no value of a single weight is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from profiles import examples, some
from rankgauge import Features
from rankgauge.data.model import Ids
from rankgauge.rankers import CoordinateAscent
from rankgauge.rankers.checks import make_features
from rankgauge.rankers.coordinate_ascent import TrialStepSearches
from rankgauge.space import scorers
from rankgauge.space.scorers import LinearScorer

OBJECTIVES = (
    *("nDCG(gain=exp2)@10", "AP", "ERR@10", "v2(nDCG@10)"),
    *("linear(AP)", "gm(AP)", "RBP", "bpref"),
)
GRID = np.tan(np.linspace(-np.pi / 2, np.pi / 2, 10_003)[1:-1])
"""10,001 values from far below to far above, denser about 0."""


@st.composite
def small_features(draw: st.DrawFn) -> Features:
    """Queries with few documents and few different values, so with many ties."""
    lists = draw(
        st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=4)
    )
    width = draw(st.integers(1, 3))
    rows = sum(map(len, lists))
    values = draw(st.lists(st.integers(-2, 2), min_size=rows * width, max_size=rows * width))
    names = Ids.of(str(number) for number in range(len(lists)))
    labels = np.array([label for own in lists for label in own], dtype=np.int32)
    bounds = np.cumsum([0, *map(len, lists)])
    return Features(names, bounds, labels, np.array(values, dtype=float).reshape(rows, width))


def mean(features: Features, scores: np.ndarray, measure: str) -> float:
    """What an evaluator makes of the scores."""
    made = rg.Evaluator(features.judgments, measure).score_features(features, scores).mean()
    (value,) = made["run"].values()
    return value


def training(ranker: CoordinateAscent) -> list[float]:
    (name,) = [name for name in ranker.history_ if name.startswith("training ")]
    return ranker.history_[name]


@pytest.mark.parametrize("search", ["exact", "steps"])
@examples(40)
@given(small_features(), st.sampled_from(OBJECTIVES))
def test_it_never_goes_down_and_an_evaluator_sees_the_same(
    search: str, features: Features, objective: str
) -> None:
    ranker = CoordinateAscent(
        objective=objective, search=search, restarts=2, normalize="none", steps=5
    ).fit(features)
    start = mean(features, features.values.sum(axis=1), objective)
    values, starts = np.array(training(ranker)), np.array(ranker.history_["start"])
    for number in np.unique(starts):
        assert (np.diff(values[starts == number]) >= 0).all()
    if len(values) and not np.isnan(start):
        assert values[0] >= start - 1e-12
        found = mean(features, ranker.predict(features), objective)
        assert found == pytest.approx(values.max(), abs=1e-12)


@examples(15)
@given(small_features(), st.sampled_from(OBJECTIVES[:4]))
def test_no_value_of_a_weight_is_better(features: Features, objective: str) -> None:
    ranker = CoordinateAscent(objective=objective, tolerance=0.0, restarts=1, normalize="none")
    weights = ranker.fit(features).coefficients_
    scorer = LinearScorer.of(features.in_tie_order())
    parsed = rg.parse(objective)
    reached = scorer.mean_at(weights, parsed)
    if np.isnan(reached):
        return
    for number in range(len(weights)):
        for value in GRID[::50]:
            moved = weights.copy()
            moved[number] = value
            if not moved.any():
                continue  # all documents tied: no ranking at all
            assert scorer.mean_at(moved, parsed) <= reached + 1e-9


def test_no_single_weight_makes_any_data_better(any_data: Callable[[str], Path]) -> None:
    """Fifteen queries of MQ2008, three of its features, and thousands of values of each weight."""
    features = rg.read_folds(any_data("mq2008"))[0].train.select(range(15))
    narrow = Features(
        features.queries, features.bounds, features.labels, features.values[:, [38, 22, 14]]
    )
    measure = rg.parse("nDCG(gain=exp2)@10")
    ranker = CoordinateAscent(tolerance=0.0, restarts=1, normalize="none").fit(narrow)
    scorer = LinearScorer.of(narrow.in_tie_order())
    reached, weights = scorer.mean_at(ranker.coefficients_, measure), ranker.coefficients_
    assert reached == pytest.approx(max(training(ranker)), abs=1e-12)
    for number in range(3):
        others = np.where(np.arange(3) == number, 0.0, weights)
        base, column = scorer.scores(others), scorer.values[:, number]
        best = max(
            scorer.mean_of_scores(base + value * column, measure) for value in some(GRID, 2_001)
        )
        assert best <= reached + 1e-12


def test_the_validation_set_chooses_among_rounds_and_starts() -> None:
    ranker = CoordinateAscent(restarts=3, measure="AP").fit(
        make_features(40), make_features(20, seed=1)
    )
    assert list(ranker.history_) == ["start", "training nDCG(gain=exp2)@10", "AP"]
    validation = make_features(20, seed=1)
    found = mean(validation, ranker.predict(validation), "AP")
    assert found == pytest.approx(max(ranker.history_["AP"]), abs=1e-12)


def test_a_feature_that_orders_nothing_has_no_weight() -> None:
    features = make_features(20)
    constant = replace(
        features, values=np.hstack((features.values, np.ones((len(features.labels), 1))))
    )
    for search in ("exact", "steps"):
        ranker = CoordinateAscent(search=search, restarts=2, rounds=2, normalize="z").fit(constant)
        assert ranker.coefficients_[-1] == ranker.feature_importances_[-1] == 0.0
        ranker.to_search_engine()
    nothing = replace(features, values=np.ones_like(features.values))
    assert not CoordinateAscent().fit(nothing).predict(nothing).any()


def test_a_measure_that_is_better_if_low_goes_down() -> None:
    features = make_features(30)
    ranker = CoordinateAscent(objective="SearchLength", restarts=1, tolerance=0.0).fit(features)
    assert (np.diff(training(ranker)) <= 0).all()
    assert training(ranker)[-1] < mean(features, np.zeros(len(features.labels)), "SearchLength")


def test_trial_steps_go_both_ways_and_small_weights_move_by_small_steps() -> None:
    steps = TrialStepSearches(None, None, steps=3, step=0.05, growth=2.0)  # type: ignore[arg-type]
    assert steps.candidate_values(0.0) == pytest.approx(
        [0.05, 0.15, 0.35, -0.05, -0.15, -0.35, 0.0]
    )
    assert steps.candidate_values(-0.5) == pytest.approx(
        [-0.45, -0.35, -0.15, -0.55, -0.65, -0.85, 0.0]
    )
    moved = [0.001, 0.003, 0.007, -0.001, -0.003, -0.007, -0.02]
    assert steps.candidate_values(0.02) == pytest.approx([0.02 + by for by in moved], abs=1e-15)


@pytest.mark.parametrize("measure", ["ERR@10", "AP", "gm(AP)", "linear(nDCG@5)", "SearchLength"])
def test_scores_that_are_ranked_together_have_the_same_means(measure: str, monkeypatch) -> None:
    scorer = LinearScorer.of(make_features(30))
    scores = np.random.default_rng(2).integers(0, 4, (9, len(scorer.values))).astype(np.float64)
    alone = [scorer.mean_of_scores(own, rg.parse(measure)) for own in scores]
    for together in (1, 3 * len(scorer.values), 1 << 15):
        monkeypatch.setattr(scorers, "DOCUMENTS_AT_A_TIME", together)
        assert list(scorer.means_of_scores(iter(scores), rg.parse(measure))) == alone
