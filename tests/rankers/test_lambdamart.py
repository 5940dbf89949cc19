"""LambdaMART is what LightGBM trains, and it stops by our measures."""

from __future__ import annotations

from dataclasses import replace

import lightgbm
import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge import MeasureError, RankgaugeError
from rankgauge.rankers import LambdaMART, RandomForest
from rankgauge.rankers.checks import make_features
from rankgauge.rankers.lambdamart import gain_labels
from rankgauge.rankers.tree_text import trim_model_text

FEATURES, VALIDATION = make_features(40), make_features(20, seed=8)
QUIET = {
    "verbosity": -1,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "seed": 0,
}


def test_the_trees_are_those_of_lightgbm_called_directly() -> None:
    parameters = {
        **QUIET,
        "objective": "lambdarank",
        "metric": "None",
        "label_gain": [0, 1, 3],
        "learning_rate": 0.05,
        "num_leaves": 15,
        "min_data_in_leaf": 20,
    }
    data = lightgbm.Dataset(
        FEATURES.values, FEATURES.labels, group=np.diff(FEATURES.bounds), params=parameters
    )
    booster = lightgbm.train(parameters, data, 50)
    ranker = LambdaMART(trees=50).fit(FEATURES)
    assert ranker.trees_ == trim_model_text(booster.model_to_string())
    expected = booster.predict(VALIDATION.values)
    assert ranker.predict(VALIDATION).tolist() == np.asarray(expected).tolist()
    assert ranker.feature_importances_.tolist() == booster.feature_importance("gain").tolist()


def test_the_forest_is_that_of_lightgbm_called_directly() -> None:
    parameters = {
        **QUIET,
        "objective": "regression",
        "boosting": "rf",
        "metric": "None",
        "feature_fraction": 0.3,
        "bagging_fraction": 0.632,
        "bagging_freq": 1,
        "num_leaves": 255,
        "min_data_in_leaf": 10,
    }
    data = lightgbm.Dataset(FEATURES.values, FEATURES.labels, params=parameters)
    booster = lightgbm.train(parameters, data, 50)
    ranker = RandomForest(trees=50).fit(FEATURES)
    expected = booster.predict(VALIDATION.values)
    assert ranker.predict(VALIDATION).tolist() == np.asarray(expected).tolist()


def test_bags_of_queries_are_other_bags() -> None:
    by_document, by_query = (
        RandomForest(trees=10, bag_of=what).fit(FEATURES) for what in ("documents", "queries")
    )
    assert by_document.trees_ != by_query.trees_


@pytest.mark.parametrize("measure", ["nDCG(gain=exp2)@10", "AP", "RR", "gm(AP)", "SearchLength"])
def test_training_stops_by_any_measure_as_the_evaluator_has_it(measure: str) -> None:
    # Some queries have nothing relevant: our measures count 0 there, LightGBM would count 1.
    labels = VALIDATION.labels.copy()
    labels[: VALIDATION.bounds[5]] = 0
    # The first feature is left out: with it the first tree is as good as all.
    training = replace(FEATURES, values=FEATURES.values[:, 1:])
    validation = replace(VALIDATION, labels=labels, values=VALIDATION.values[:, 1:])
    ranker = LambdaMART(trees=60, patience=5, measure=measure).fit(training, validation)
    (values,) = ranker.history_.values()
    assert list(ranker.history_) == [measure]
    evaluator = rg.Evaluator(validation.judgments, measure)

    def evaluated(trees: int) -> float:
        scores = LambdaMART(trees=trees).fit(training).predict(validation)
        return next(iter(evaluator.score_features(validation, scores).mean()["run"].values()))

    assert values[:3] == [evaluated(trees) for trees in (1, 2, 3)]
    best = values.index(min(values) if measure == "SearchLength" else max(values)) + 1
    assert len(set(values)) > 1
    assert len(values) in (best + 5, 60)
    assert ranker.trees_ == LambdaMART(trees=best).fit(training).trees_


def test_a_measure_that_decides_nothing_leaves_as_many_trees_as_without_validation() -> None:
    nothing = replace(VALIDATION, labels=np.zeros_like(VALIDATION.labels))
    ranker = LambdaMART().fit(FEATURES, nothing)
    assert ranker.trees_ == LambdaMART().fit(FEATURES).trees_
    assert ranker.history_ == {"nDCG(gain=exp2)@10": [0.0] * 100}
    few = LambdaMART(trees=8, patience=3).fit(FEATURES, nothing)
    assert few.trees_ == LambdaMART(trees=8).fit(FEATURES).trees_


def test_there_are_fewer_trees_where_nothing_says_when_to_stop() -> None:
    assert LambdaMART().fit(FEATURES).trees_ == LambdaMART(trees=100).fit(FEATURES).trees_
    training = replace(FEATURES, values=FEATURES.values[:, 1:])
    validation = replace(VALIDATION, values=VALIDATION.values[:, 1:])
    both = (
        LambdaMART(trees=trees, patience=1000).fit(training, validation).history_
        for trees in ("auto", 500)
    )
    assert next(both) == next(both)


def test_any_gain_is_learnt_from() -> None:
    assert (
        LambdaMART(trees=5).fit(FEATURES).trees_
        != LambdaMART(trees=5, gain="linear").fit(FEATURES).trees_
    )
    # Where label 2 is worth nothing and label 1 much, the best documents have label 1.
    ranker = LambdaMART(trees=30, gain={1: 3, 2: 0}).fit(FEATURES)
    scores = ranker.predict(FEATURES)
    means = [scores[FEATURES.labels == label].mean() for label in range(3)]
    assert means[1] == max(means)


@examples(30)
@given(
    st.lists(st.integers(-2, 6), min_size=1, max_size=20),
    st.one_of(
        st.sampled_from(["exp2", "linear", "fraction"]),
        st.dictionaries(st.integers(1, 6), st.integers(0, 5).map(float), min_size=1).map(
            lambda gains: tuple(sorted(gains.items()))
        ),
    ),
)
def test_labels_for_lightgbm_stand_for_the_gains(
    labels: list[int], gain: str | tuple[tuple[int, float], ...]
) -> None:
    places, worth = gain_labels(np.array(labels, np.int32), gain)
    highest = max(*labels, 1)
    expected = {
        "exp2": lambda label: 2.0**label - 1,
        "linear": float,
        "fraction": lambda label: label / highest,
    }
    for label, place in zip(labels, places, strict=True):
        grade = max(label, 0)
        own = expected[gain](grade) if isinstance(gain, str) else dict(gain).get(grade, grade)
        assert worth[int(place)] == own
    assert worth == sorted(set(worth))


def test_high_labels_are_taken_or_refused_with_the_remedy() -> None:
    labels = np.where(FEATURES.labels == 2, 100_000, FEATURES.labels).astype(np.int32)
    high = replace(FEATURES, labels=labels)
    LambdaMART(trees=3, gain="linear").fit(high)
    with pytest.raises(MeasureError, match="use gain=linear"):
        LambdaMART(trees=3).fit(high)
    with pytest.raises(
        RankgaugeError, match=r"labels up to 30.*objective='lambdarank' accepts any"
    ):
        LambdaMART(trees=3, objective="xendcg").fit(high)


def test_the_number_of_threads_does_not_change_the_trees() -> None:
    assert (
        LambdaMART(trees=20, threads=2).fit(FEATURES).trees_
        == LambdaMART(trees=20).fit(FEATURES).trees_
    )
