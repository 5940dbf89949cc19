"""The models of forecasts: least squares, support vectors and trees, each of which JSON can keep."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankgauge.comparison.correlation import kendall_tau
from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.records import Record
from rankgauge.errors import RankgaugeError
from rankgauge.rankers.libraries import import_library
from rankgauge.rankers.tree_text import forest_of, trim_model_text

GROUPS = 5
"""Number of parts into which queries are split to measure errors on held-out queries."""
MOST_LEAVES = 8
BOOSTING: Mapping[str, Any] = {
    "learning_rate": 0.1,
    "max_depth": 3,
    "num_leaves": MOST_LEAVES,
    "min_data_in_leaf": 1,
    "min_sum_hessian_in_leaf": 0.0,
}
"""The settings of scikit-learn's GradientBoostingRegressor, which the paper leaves at their defaults."""
POOLED: Mapping[str, Any] = {
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_data_in_leaf": 40,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "feature_fraction": 0.8,
}
"""For a single model of all tracks, which has more training rows."""
MOST_SUBSET_FEATURES = 14
"""All subsets of the features are tried, and each additional feature doubles their number."""
FEW_ROWS = 50
TREES = {"boosting": 100, "pooled": 200}


class Weights(Record):
    """A constant and a weight for each of some features."""

    columns: tuple[int, ...]
    constant: float
    weights: tuple[float, ...]

    def predict(self, features: Floats) -> Floats:
        """A number for each row."""
        chosen = features[:, list(self.columns)]
        return np.asarray(self.constant + chosen @ np.array(self.weights))


class Trees(Record):
    """Trees of LightGBM, in its text form."""

    trees: str

    def predict(self, features: Floats) -> Floats:
        """A number for each row."""
        if not len(features):
            return np.zeros(0)
        model = import_library("lightgbm").Booster(model_str=self.trees)
        return np.asarray(model.predict(features, num_threads=1), dtype=np.float64)


class Average(Record):
    """The mean of several models, all of the same weight."""

    models: tuple[Weights | Trees, ...]

    def predict(self, features: Floats) -> Floats:
        """A number for each row."""
        return np.asarray(np.mean([model.predict(features) for model in self.models], axis=0))


def model_of(content: Any, width: int) -> Weights | Trees:
    """The model that JSON kept; RankgaugeError where it is none for so many features."""
    if isinstance(content, dict) and set(content) == {"trees"}:
        if not isinstance(content["trees"], str):
            raise RankgaugeError("the trees are not text")
        if forest_of(content["trees"]).features != width:
            raise RankgaugeError("the trees have a different number of features")
        return Trees(content["trees"])
    if not isinstance(content, dict) or set(content) != {"columns", "constant", "weights"}:
        raise RankgaugeError("a model with neither weights nor trees")
    columns, weights = content["columns"], content["weights"]
    whole = isinstance(columns, list) and all(type(column) is int for column in columns)
    if not whole or not all(0 <= column < width for column in columns):
        raise RankgaugeError("weights for other features")
    numbers = [content["constant"], *weights] if isinstance(weights, list) else []
    known = all(type(number) in (int, float) and math.isfinite(number) for number in numbers)
    if not known or len(numbers) != len(columns) + 1:
        raise RankgaugeError("weights that are not numbers")
    return Weights(tuple(columns), float(content["constant"]), tuple(map(float, weights)))


def least_squares(
    features: Floats, target: Floats, columns: Sequence[int], weights: Floats | None = None
) -> Weights:
    """The line with the least squared error, by these features; that of the least slopes of several."""
    chosen = features[:, list(columns)]
    weights = np.ones(len(target)) if weights is None else weights
    center, level = np.average(chosen, axis=0, weights=weights), np.average(target, weights=weights)
    root = np.sqrt(weights)
    design, aim = (chosen - center) * root[:, None], (target - level) * root
    slopes = np.linalg.lstsq(design, aim, rcond=None)[0]
    return Weights(tuple(columns), float(level - center @ slopes), tuple(slopes.tolist()))


def support_vectors(features: Floats, target: Floats, columns: Sequence[int]) -> Weights:
    """Support vector regression with a linear kernel, as scikit-learn has it."""
    model = (
        import_library("sklearn.svm").SVR(kernel="linear").fit(features[:, list(columns)], target)
    )
    return Weights(tuple(columns), float(model.intercept_[0]), tuple(model.coef_[0].tolist()))


def fit_trees(
    features: Floats, target: Floats, method: str, seed: int, weights: Floats | None = None
) -> Trees:
    """Trees that are added to lower the squared error; `method` is boosting or pooled."""
    lightgbm = import_library("lightgbm")
    settings = {
        "objective": "regression",
        "verbosity": -1,
        "metric": "None",
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": seed,
        **(BOOSTING if method == "boosting" else POOLED),
    }
    if len(target) < FEW_ROWS:  # a share of them might be none
        settings |= {"bagging_fraction": 1.0, "bagging_freq": 0}
    data = lightgbm.Dataset(features, target, weight=weights, params=settings)
    booster = lightgbm.train(
        settings, data, num_boost_round=TREES[method], keep_training_booster=True
    )
    return Trees(trim_model_text(booster.model_to_string()))


def subsets(count: int) -> Iterator[tuple[int, ...]]:
    """All choices of at least one of so many features, small ones first."""
    for size in range(1, count + 1):
        yield from itertools.combinations(range(count), size)


def best_subset(features: Floats, target: Floats, groups: Ints | None = None) -> tuple[int, ...]:
    """The features whose line of least squares has the least squared error.

    Without `groups` on the rows it is fitted to: then all features are chosen, but for ties. With
    `groups`, a number for each row such as that of its query, on groups it was not fitted to.
    """
    design = np.column_stack((np.ones(len(target)), features))
    parts = np.zeros(len(target), dtype=np.int64) if groups is None else groups
    groupwise = [(design[parts == part], target[parts == part]) for part in np.unique(parts)]
    squares = [(own.T @ own, own.T @ values, float(values @ values)) for own, values in groupwise]
    gram = np.sum([own_gram for own_gram, _, _ in squares], axis=0)
    moment = np.sum([own_moment for _, own_moment, _ in squares], axis=0)
    best = math.inf
    chosen: tuple[int, ...] = (0,)
    for columns in subsets(features.shape[1]):
        rows = [0, *(column + 1 for column in columns)]
        square = np.ix_(rows, rows)
        error = 0.0
        for own_gram, own_moment, own_square in squares:
            left = 0.0 if groups is None else 1.0
            solved = np.linalg.lstsq(
                (gram - left * own_gram)[square], (moment - left * own_moment)[rows], rcond=None
            )[0]
            error += own_square - 2 * solved @ own_moment[rows]
            error += solved @ own_gram[square] @ solved
        if error < best - 1e-12 * max(1.0, abs(best) if math.isfinite(best) else 1.0):
            best, chosen = error, columns
    return chosen


def best_subset_by_tau(
    features: Floats, target: Floats, fit: Callable[[Floats, Floats, Sequence[int]], Weights]
) -> tuple[int, ...]:
    """The features whose line ranks the rows it is fitted to best, by Kendall's τ.

    Of several, the one with the fewest features.

    Gupta et al. 2019 judge forecasts of systems by τ. The squared error of these rows would choose all
    features.
    """
    best = -math.inf
    chosen: tuple[int, ...] = (0,)
    for columns in subsets(features.shape[1]):
        tau = kendall_tau(target, fit(features, target, columns).predict(features))
        if tau > best + 1e-12:
            best, chosen = tau, columns
    return chosen
