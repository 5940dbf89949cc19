"""Rankers whose score is a weighted sum of the features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats, Values
from rankgauge.data.features import Features
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.native import layers
from rankgauge.rankers.base import Ranker
from rankgauge.rankers.saving import check_array
from rankgauge.rankers.search_engines import linear_model


class LinearRanker(Ranker):
    """A ranker whose score is a weighted sum of the features, plus a constant.

    `learn` calls `keep`. A value that is NaN counts as the mean of its feature in the training data.
    """

    def keep(self, means: Floats, coefficients: Floats, intercept: float = 0.0) -> None:
        """Keep what was learned: the means of the features, their weights, and the constant."""
        self.means_: Floats = means
        self.coefficients_: Floats = coefficients
        self.intercept_: float = intercept
        self.feature_importances_ = np.abs(coefficients)

    def score(self, values: Values) -> Floats:
        return weighted_sums(values, self.means_, self.coefficients_, self.intercept_)

    def to_search_engine(
        self, names: Sequence[str] | None = None, *, name: str = "rankgauge"
    ) -> dict[str, Any]:
        self.check_fitted()
        return linear_model(self.coefficients_, self.scaling_, names, name)

    def check_learnt(self) -> None:
        check_array(self, "coefficients_", (self.n_features_in_,))
        check_array(self, "means_", (self.n_features_in_,))
        if type(self.intercept_) is not float:
            raise RankgaugeError("intercept_ is not a number")


def check_sizes(features: Features, largest: float) -> None:
    """InputError where the size of a value is larger. NaN is passed over."""
    values = features.values
    low, high = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
    if max(-float(low), float(high)) > largest:
        raise InputError(
            features.source,
            None,
            (
                f"a value beyond {largest:g}, expected smaller ones; use normalize='query-z' to "
                "rescale them"
            ),
        )


def feature_means(values: Values) -> Floats:
    """The mean of each feature over the values that are known; 0 where none is known."""
    known = ~np.isnan(values)
    sums = np.sum(values, axis=0, where=known, dtype=np.float64)
    means: Floats = sums / np.maximum(known.sum(axis=0), 1)
    return means


def fill_missing(values: Values, means: Floats) -> Floats:
    """The values in double precision, with the mean of its feature for each value that is NaN."""
    doubles = np.array(values, dtype=np.float64, order="C")
    rows, columns = np.nonzero(np.isnan(doubles))
    doubles[rows, columns] = means[columns]
    return doubles


def weighted_sums(values: Values, means: Floats, weights: Floats, constant: float) -> Floats:
    """The weighted sum of each row. Rows do not change each other's sums, not even the last bit."""
    sums = layers.layer_sums(plain_values(values), means, weights[:, None], np.array([constant]))
    return sums[:, 0]


def plain_values(values: Values) -> Values:
    """The values, row by row, in single or double precision, as compiled code reads them."""
    kind = np.float32 if values.dtype == np.float32 else np.float64
    return np.ascontiguousarray(values, dtype=kind)
