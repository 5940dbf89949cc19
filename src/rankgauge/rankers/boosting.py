"""Trees of LightGBM: what the methods that stand on it share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats, Values
from rankgauge.core.checks import Integer
from rankgauge.core.parameters import parameter
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError
from rankgauge.rankers.base import Ranker, RankerSettings
from rankgauge.rankers.libraries import import_library
from rankgauge.rankers.monitoring import Monitor
from rankgauge.rankers.search_engines import tree_model
from rankgauge.rankers.tree_text import forest_of, trim_model_text

GAIN = "gain"
LABEL_GAIN = "label_gain"


class ValueLock:
    """A value that all threads of a process share.

    Threads that hold the same value run together; others wait.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._value, self._holders = "", 0

    @contextmanager
    def hold(self, value: str) -> Iterator[None]:
        """Hold a value as long as the context lasts."""
        with self._changed:
            self._changed.wait_for(lambda: not self._holders or self._value == value)
            self._value, self._holders = value, self._holders + 1
        try:
            yield
        finally:
            with self._changed:
                self._holders -= 1
                self._changed.notify_all()


LABEL_GAIN_LOCK = ValueLock()
"""LightGBM keeps one list of label gains per process, so concurrent trainings with different gains
interfere."""


class TreeRanker(Ranker):
    """A ranker whose score is a sum, or a mean, of trees that LightGBM trained."""

    threads: int = parameter(
        Integer(1),
        ("The number of threads for training and scoring; the trees do not depend on it."),
        default=1,
    )

    def train(
        self,
        parameters: Mapping[str, Any],
        rounds: int,
        training: Features,
        labels: Floats,
        monitor: Monitor | None = None,
        stops: Callable[[list[float]], bool] = lambda _: False,
    ) -> None:
        """Train trees, and keep them with the importances of features and what was monitored.

        Parameters
        ----------
        parameters
            Parameters of LightGBM.
        rounds
            The number of trees.
        training, labels
            The documents, and their labels in LightGBM's form.
        monitor, stops
            Decides how many trees are kept, and, from its values after each tree, when to stop.
        """
        lightgbm = import_library("lightgbm")
        data = lightgbm.Dataset(
            training.values, labels, group=_sizes(training), params=dict(parameters)
        )
        measured: list[float] = []
        more: dict[str, Any] = {}
        if monitor is not None:
            watched, name, higher = monitor.features, monitor.name, monitor.higher_is_better
            valid = lightgbm.Dataset(
                watched.values, np.zeros(len(watched.labels)), reference=data, group=_sizes(watched)
            )
            more = {
                "valid_sets": [valid],
                "valid_names": ["validation"],
                "feval": lambda scores, _: (name, monitor(scores), higher),
                "callbacks": [partial(_record_measure, stops, measured)],
            }
        try:
            with LABEL_GAIN_LOCK.hold(repr(parameters.get(LABEL_GAIN))):
                booster = lightgbm.train(dict(parameters), data, num_boost_round=rounds, **more)
        except lightgbm.basic.LightGBMError as error:
            raise RankgaugeError(f"{type(self).__name__}: LightGBM reports: {error}") from None
        best = None if monitor is None else monitor.round_to_keep(measured) + 1
        # The trees, in LightGBM's text form.
        self.trees_: str = trim_model_text(booster.model_to_string(num_iteration=best))
        self.feature_importances_ = booster.feature_importance(GAIN, iteration=best).astype(float)
        self.history_ = {} if monitor is None else {monitor.name: measured}

    def score(self, values: Values) -> Floats:
        if not len(values):
            return np.zeros(0)
        scores = self._model().predict(values, num_threads=self.threads)
        return np.asarray(scores, dtype=np.float64)

    def _model(self) -> Any:
        """LightGBM's model, made from the text once."""
        text, model = vars(self).get("_made", (None, None))
        if text is not self.trees_:
            model = import_library("lightgbm").Booster(model_str=self.trees_)
            self._made = self.trees_, model
        return model

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_made"}

    def check_learnt(self) -> None:
        if not isinstance(self.trees_, str):
            raise RankgaugeError("trees_ is not text")
        if forest_of(self.trees_).features != self.n_features_in_:
            raise RankgaugeError("the trees have a different number of features")

    def to_search_engine(
        self, names: Sequence[str] | None = None, *, name: str = "rankgauge"
    ) -> dict[str, Any]:
        self.check_fitted()
        return tree_model(forest_of(self.trees_), self.scaling_, names, name)


def _record_measure(
    stops: Callable[[list[float]], bool], measured: list[float], state: Any
) -> None:
    """Note the measure after a tree, and tell LightGBM when to stop."""
    results = state.evaluation_result_list
    measured.append(float(results[0][2]))
    if stops(measured):
        raise import_library("lightgbm").EarlyStopException(len(measured) - 1, results)


def common_parameters(settings: RankerSettings) -> dict[str, Any]:
    """The parameters of LightGBM that all methods share: the same data gives the same trees."""
    return {
        "verbosity": -1,
        "metric": "None",
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": settings["threads"],
        "seed": settings["seed"],
    }


def _sizes(features: Features) -> Any:
    """How many documents each query has, queries without documents left out."""
    sizes = np.diff(features.bounds)
    return sizes[sizes > 0]
