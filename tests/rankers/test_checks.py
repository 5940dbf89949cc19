"""All methods pass the common checks, and a ranker that breaks one is caught."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import RankgaugeError, rankers
from rankgauge.core.arrays import Floats, Values
from rankgauge.core.checks import Number
from rankgauge.core.parameters import parameter
from rankgauge.data.features import Features
from rankgauge.rankers import Ranker, registry
from rankgauge.rankers.base import RankerSettings
from rankgauge.rankers.checks import CheckFailed
from rankgauge.rankers.settings import MEASURES, setting
from rankgauge.testing import check_ranker

METHODS = sorted(registry.METHODS.homes)
FEW: dict[str, dict[str, Any]] = {
    "LambdaMART": {"trees": 20},
    "RandomForest": {"trees": 20},
    "RankNet": {"epochs": 20},
    "ListNet": {"epochs": 20},
    "RankBoost": {"rounds": 40},
    "AdaRank": {"rounds": 40},
    "CoordinateAscent": {"restarts": 1, "rounds": 3},
}
"""RankerSettings that make a method fast."""


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("preset", ["default", "ranklib"])
def test_every_method_passes_the_checks(name: str, preset: str) -> None:
    check_ranker(rankers.find_method(name)(preset=preset, **FEW.get(name, {})))


@pytest.mark.parametrize("normalize", ["none", "z", "min-max", "query-z", "query-min-max"])
def test_every_normalization_passes_the_checks(normalize: str) -> None:
    check_ranker(rankers.LogisticRegression(normalize=normalize, C=1))


def test_the_other_settings_of_trees_pass_the_checks() -> None:
    check_ranker(rankers.LambdaMART(objective="xendcg", trees=20))
    check_ranker(rankers.LambdaMART(gain={1: 2, 2: 5.5}, trees=20, measure="RR"))
    check_ranker(rankers.LambdaMART(normalize="query-z", trees=20, measure="SearchLength"))
    check_ranker(rankers.RandomForest(bag_of="queries", trees=20))


def test_the_other_settings_of_boosted_features_pass_the_checks() -> None:
    check_ranker(rankers.RankBoost(directions="both", weighting="pairs", bins=2, rounds=40))
    check_ranker(rankers.AdaRank(select="ensemble", directions="both", objective="AP"))
    check_ranker(rankers.AdaRank(objective="SearchLength", normalize="query-z", rounds=10))


PLUGIN = '''
import numpy as np
from rankgauge.core.checks import Number
from rankgauge.core.parameters import parameter
from rankgauge.rankers import Ranker, register

@register
class Covariance(Ranker):
    """Weighs each feature by its covariance with the label."""

    power: float = parameter(Number(0.0), "The power of the weights.", default=1.0)

    def learn(self, training, validation, settings):
        values = np.nan_to_num(training.values.astype(float))
        labels = training.labels - training.labels.mean()
        weights = labels @ (values - values.mean(axis=0)) / len(labels)
        self.weights_ = np.sign(weights) * np.abs(weights) ** settings["power"]
        self.feature_importances_ = np.abs(self.weights_)

    def score(self, values):
        return (np.nan_to_num(values.astype(float)) * self.weights_).sum(axis=1)
'''


def test_a_method_of_ones_own_is_found_checked_saved_and_loaded(tmp_path: Path) -> None:
    file = tmp_path / "covariance.py"
    file.write_text(PLUGIN, encoding="utf-8")
    rankers.load_plugin(file)
    try:
        method = rankers.find_method("COVARIANCE")
        assert rankers.methods()["Covariance"] is method
        check_ranker(method)
        check_ranker(method(power=2, normalize="z"))
        assert repr(method(power=2)) == "Covariance(power=2)"
        with pytest.raises(RankgaugeError, match="the name Covariance is taken"):
            rankers.register(type("Covariance", (Ranker,), {}))
    finally:
        registry.METHODS.entries.pop("Covariance", None)


def test_methods_of_installed_packages_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        def __init__(self, value: str, loaded: Any) -> None:
            self.value, self.loaded = value, loaded

        def load(self) -> Any:
            if isinstance(self.loaded, Exception):
                raise self.loaded
            return self.loaded

    points = [Point("good:Sum", Sum), Point("bad:Ranker", ImportError("no such module"))]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: points)
    monkeypatch.setattr(registry.METHODS, "discovered", False)
    monkeypatch.setattr(registry.METHODS, "broken", [])
    monkeypatch.setattr(registry.METHODS, "entries", dict(registry.METHODS.entries))
    assert rankers.find_method("sum") is Sum
    assert list(rankers.methods())[: len(METHODS)] == list(registry.METHODS.homes)
    with pytest.raises(RankgaugeError, match="bad:Ranker cannot be loaded: no such module"):
        rankers.find_method("nothing")


def test_names_of_methods_ignore_case_and_unknown_ones_are_listed() -> None:
    assert rankers.find_method("lambdamart") is rankers.LambdaMART
    with pytest.raises(
        RankgaugeError, match=r"no method 'ranknot'.*LambdaMART, RandomForest"
    ) as no:
        rankers.find_method("ranknot")
    assert str(no.value).count("LambdaMART") == 1
    with pytest.raises(RankgaugeError, match="the name LAMBDAMART is taken by rankgauge"):
        rankers.register(type("LAMBDAMART", (Ranker,), {}))
    with pytest.raises(RankgaugeError, match="not a method"):
        rankers.register(dict)  # type: ignore[type-var]


class Sum(Ranker):
    """The sum of the features: it learns nothing, and passes the checks."""

    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        self.weights_: Floats = np.ones(training.values.shape[1])
        self.feature_importances_ = self.weights_

    def score(self, values: Values) -> Floats:
        return (np.nan_to_num(values.astype(float)) * self.weights_).sum(axis=1)


class Reversed(Sum):
    def score(self, values: Values) -> Floats:
        return -super().score(values)


class Forgetful(Sum):
    scale: float = parameter(Number(0.0), "Changed when the ranker is made.", default=1.0)

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.scale = float(self.scale) + 1


class Drawn(Sum):
    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        super().learn(training, validation, settings)
        self.weights_ = np.random.default_rng().random(training.values.shape[1])


class ByBatch(Sum):
    def score(self, values: Values) -> Floats:
        return super().score(values) - len(values)


class ByOrder(Sum):
    def score(self, values: Values) -> Floats:
        return super().score(values) + 0.001 * (np.append(values[1:, 0], 9) > values[:, 0])


class ByPlace(Sum):
    def score(self, values: Values) -> Floats:
        same = len(values) > 1 and bool((values == values[:1]).all())
        return np.arange(len(values)) * 1.0 if same else super().score(values)


class NotANumber(Sum):
    def score(self, values: Values) -> Floats:
        return super().score(values) * np.nan


class NoImportances(Sum):
    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        super().learn(training, validation, settings)
        self.feature_importances_ = -self.weights_


class KeepsSecrets(Sum):
    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        super().learn(training, validation, settings)
        self._secret = 1.0

    def score(self, values: Values) -> Floats:
        return super().score(values) + getattr(self, "_secret", 0.0)


class Fragile(Sum):
    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        if not training.labels.any():
            raise ZeroDivisionError("nothing relevant")
        super().learn(training, validation, settings)


class Careless(Sum):
    def save(self, folder: Any) -> None:
        for file in Path(folder).glob("*"):
            file.unlink()
        super().save(folder)


class Unfit(Sum):
    def predict(self, features: Features) -> Floats:
        return np.zeros(len(features.labels))


BROKEN = {
    Reversed: "easy data",
    Forgetful: "settings",
    Drawn: "learning again",
    ByBatch: "each query alone",
    ByOrder: "each query alone",
    ByPlace: "constant features",
    NotANumber: "learned attributes",
    NoImportances: "learned attributes",
    KeepsSecrets: "save and load",
    Fragile: "equal labels",
    Careless: "interrupted save",
    Unfit: "predicting before learning",
}


def test_a_ranker_that_does_as_it_should_passes() -> None:
    check_ranker(Sum)


@pytest.mark.parametrize("method", BROKEN, ids=lambda method: method.__name__)
def test_a_ranker_that_breaks_a_check_is_caught(method: type[Ranker]) -> None:
    with pytest.raises(CheckFailed) as caught:
        check_ranker(method)
    assert caught.value.check == BROKEN[method]


def test_only_rankers_are_checked() -> None:
    with pytest.raises(RankgaugeError, match="expected a ranker"):
        check_ranker(dict)  # type: ignore[arg-type]


def test_an_objective_that_is_not_named_is_caught() -> None:
    class Silent(Sum):
        objective: Any = setting(MEASURES, "What is climbed.", default="AP")

    class Boastful(Sum):
        optimizes = "{objective} itself"

    for method, why in (
        (Silent, "does not contain {objective}"),
        (Boastful, "there is no such setting"),
    ):
        with pytest.raises(CheckFailed, match=why) as caught:
            check_ranker(method)
        assert caught.value.check == "training objective"
    assert Sum().training_objective().text == "not stated by the method"
