"""Settings follow scikit-learn's conventions, and presets fill in what is not given."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import rankgauge as rg
from rankgauge import MeasureError, RankgaugeError, rankers
from rankgauge.errors import NotFitted
from rankgauge.rankers import (
    LambdaMART,
    LogisticRegression,
    RandomForest,
    Ranker,
    RankNet,
    registry,
)
from rankgauge.rankers.checks import make_features

METHODS = [rankers.find_method(name) for name in registry.METHODS.homes]


@pytest.mark.parametrize("method", METHODS)
def test_scikit_learns_clone_works(method: type[Ranker]) -> None:
    ranker = method(seed=3, measure=rg.AP, normalize="z")
    ranker.fit(make_features(40))
    copy = clone(ranker)
    assert type(copy) is method
    assert copy is not ranker
    assert copy.get_params() == ranker.get_params()
    with pytest.raises(NotFitted, match=f"{method.__name__} is not trained yet"):
        copy.predict(make_features())


@pytest.mark.parametrize("method", METHODS)
def test_scikit_learn_knows_which_rankers_are_fitted(method: type[Ranker]) -> None:
    with pytest.raises(NotFittedError, match=method.__name__):
        check_is_fitted(method())
    ranker = method().fit(make_features(40))
    check_is_fitted(ranker)
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(ranker))
    assert get_tags(ranker).input_tags.allow_nan
    assert not get_tags(ranker).estimator_type


@pytest.mark.parametrize("method", METHODS)
def test_arrays_in_the_place_of_features_are_refused(method: type[Ranker]) -> None:
    features = make_features(40)
    ranker = method().fit(features)
    array: Any = features.values
    for call in (
        lambda: ranker.predict(array),
        lambda: method().fit(array),
        lambda: method().fit(features, array),
    ):
        with pytest.raises(RankgaugeError, match="got ndarray, expected Feat"):
            call()


@pytest.mark.parametrize("method", METHODS)
def test_a_ranker_can_be_sent_to_another_process(method: type[Ranker]) -> None:
    features = make_features()
    ranker = method().fit(features)
    before = ranker.predict(features)
    assert pickle.loads(pickle.dumps(ranker)).predict(features).tolist() == before.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_settings_have_names_kinds_and_meanings(method: type[Ranker]) -> None:
    assert list(inspect.signature(method).parameters) == list(method.parameters())
    assert method.summary
    assert method.source
    for name, field in method.parameters().items():
        assert field.metadata["meaning"].endswith("."), name
        for value in field.metadata.get("presets", {}).values():
            field.metadata["kind"].check(value)


@pytest.mark.parametrize("rate", [0, -0.5, 1.5, float("nan"), "much", True])
def test_a_learning_rate_is_above_0_and_at_most_1(rate: Any) -> None:
    whole = LambdaMART(learning_rate=1, trees=3)
    assert whole.settings()["learning_rate"] == 1
    whole.fit(make_features())
    with pytest.raises(MeasureError, match=r"learning_rate: .* above 0, and at most 1"):
        LambdaMART(learning_rate=rate).settings()


def test_a_setting_is_what_is_given_or_else_as_the_preset_has_it() -> None:
    assert LambdaMART().settings()["trees"] == "auto"
    classical = LambdaMART(preset="ranklib").settings()
    expected = {
        "trees": 1000,
        "leaves": 10,
        "learning_rate": 0.1,
        "bins": 256,
        "leaf_documents": 1,
        "patience": 100,
    }
    assert {name: classical[name] for name in expected} == expected
    assert str(classical["measure"]) == "ERR@10"
    assert LambdaMART(preset="ranklib", trees=500).settings()["trees"] == 500
    assert LambdaMART(preset="ranklib").get_params()["trees"] is None
    forest = RandomForest(preset="ranklib").settings()
    assert (forest["trees"], forest["bag_of"], forest["leaves"]) == (300, "queries", 100)
    assert LogisticRegression().settings()["normalize"] == "query-z"
    assert LogisticRegression(preset="ranklib").settings()["normalize"] == "none"


def test_settings_are_kept_as_given_and_refused_when_they_are_needed() -> None:
    ranker = LambdaMART(trees=-1)
    assert ranker.get_params()["trees"] == -1
    with pytest.raises(MeasureError, match="LambdaMART: trees: -1 does not fit, expected a whole"):
        ranker.fit(make_features())
    with pytest.raises(MeasureError, match="preset: 'old' does not fit, expected one of default"):
        LambdaMART(preset="old").fit(make_features())
    with pytest.raises(MeasureError, match=r"measure: NumRel.* does not fit, expected a measure"):
        LambdaMART(measure=rg.measures.NumRel).settings()
    with pytest.raises(MeasureError, match="measure: there is no measure 'nothing'"):
        LambdaMART(measure="nothing").settings()
    with pytest.raises(MeasureError, match=r"trees: 'many' does not fit.*number from 1, or .auto."):
        LambdaMART(trees="many").settings()
    with pytest.raises(MeasureError, match="C: 0 does not fit, expected a number strictly"):
        LogisticRegression(C=0).settings()


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(TypeError, match=r"LambdaMART has the fields .*trees.*, not tres"):
        LambdaMART(tres=3)  # type: ignore[call-arg]
    with pytest.raises(RankgaugeError, match="LambdaMART has no setting 'tres'; it has preset"):
        LambdaMART().set_params(tres=3)
    assert LambdaMART().set_params(trees=3).trees == 3


def test_a_ranker_prints_the_settings_that_differ_from_the_default() -> None:
    assert repr(LambdaMART()) == "LambdaMART()"
    assert repr(LambdaMART(trees=10, seed=2)) == "LambdaMART(seed=2, trees=10)"


@pytest.mark.parametrize("sizes", ["10,5", "10, 5", [10, 5], (10, 5)])
def test_the_sizes_of_layers_may_be_a_text(sizes: Any) -> None:
    assert RankNet(hidden=sizes).settings()["hidden"] == (10, 5)
    assert RankNet(hidden=10).settings()["hidden"] == (10,)


@pytest.mark.parametrize(
    "sizes",
    ["", "10,", "10;5", "-1", "1e1", "٣", "0", "5000", "9" * 5000, True, 1.5, ["5"], "1," * 9],
)
def test_what_is_no_list_of_sizes_is_refused(sizes: Any) -> None:
    with pytest.raises(MeasureError, match=r"hidden: .* at most 8 whole numbers"):
        RankNet(hidden=sizes).settings()


OBJECTIVES = {
    "lambdamart": ("nDCG, through the effect of swapping documents", "preset ranklib", None),
    "randomforest": ("the squared error of labels", "fixed by the method (Breiman 2001)", None),
    "coordinateascent": ("AP on the training data", "setting objective", "AP"),
    "adarank": ("ERR@10, through an exponential loss over queries", "preset ranklib", "ERR@10"),
}


def test_each_method_says_what_its_training_makes_best() -> None:
    settings = {"preset": "ranklib", "measure": "P@5", "CoordinateAscent.objective": "AP"}
    made = registry.with_settings(list(OBJECTIVES), settings)
    for ranker, expected in zip(made, OBJECTIVES.values(), strict=True):
        objective = ranker.training_objective()
        assert (objective.text, objective.origin, objective.measure) == expected
    assert made[2].settings()["search"] == "steps"  # the rest is that of the preset


def test_a_choice_of_objectives_has_words_for_each_choice() -> None:
    assert LambdaMART.all_objectives() == (
        "nDCG, through the effect of swapping documents; or the cross entropy of gains"
    )
    chosen = LambdaMART(objective="xendcg").training_objective()
    assert str(chosen) == "the cross entropy of gains (setting objective)"


def test_coordinate_ascent_climbs_its_objective_and_not_the_measure_that_validates() -> None:
    ranker = rankers.CoordinateAscent(preset="ranklib", objective="AP", restarts=1, rounds=2)
    ranker.fit(make_features(20), make_features(10, seed=8))
    assert list(ranker.history_) == ["start", "training AP", "ERR@10"]
