"""Logistic regression: how likely a document is to be relevant, from a weighted sum of its features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankgauge.arrays import Floats
from rankgauge.checks import Number, Whole
from rankgauge.data.features import Features
from rankgauge.rankers.base import RankerSettings
from rankgauge.rankers.libraries import imported
from rankgauge.rankers.linear import LinearRanker, check_sizes, feature_means, filled, weighted_sums
from rankgauge.rankers.monitoring import Monitor, undecided
from rankgauge.rankers.settings import AUTO, NORMALIZATIONS, Auto, setting

COSTS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
"""What is tried where the validation set decides."""
USUAL_COST = 1.0
"""What is taken where there is no validation set."""


LARGEST = 1e30
"""Liblinear finds no end where values are larger."""


class LogisticRegression(LinearRanker):
    """Relevant documents against the others, by a weighted sum of the features (L2, liblinear).

    The score of a document is its weighted sum, so the logarithm of its odds to be relevant. A value
    that is NaN counts as the mean of its feature. If all training documents are relevant, or none, all
    scores are equal.

    >>> from rankgauge.rankers.checks import made_features
    >>> ranker = LogisticRegression().fit(made_features(40), made_features(20, seed=1))
    >>> list(ranker.history_)
    ['C', 'nDCG(gain=exp2)@10']
    """

    summary: ClassVar[str] = "relevant documents against the others, by a weighted sum of features"
    optimizes: ClassVar[str] = "the logistic loss of relevant against not, with L2"
    source: ClassVar[str] = "Fan et al. 2008, LIBLINEAR: a library for large linear classification"

    normalize: str | None = setting(
        NORMALIZATIONS,
        "How feature values are normalised: over all training data, or within each query.",
        default="query-z",
        ranklib="none",
    )
    C: float | str | None = setting(
        Auto(Number(0.0, closed=False)),
        "What errors cost, against large weights. auto: the best on the validation set, or else 1.",
        default=AUTO,
        ranklib=USUAL_COST,
    )
    relevant: int | None = setting(Whole(1), "The lowest label that counts as relevant.", default=1)
    iterations: int | None = setting(
        Whole(1), "After how many iterations to stop at the latest.", default=1000
    )

    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        check_sizes(training, LARGEST)
        relevant = training.labels >= settings["relevant"]
        means = feature_means(training.values)
        values = filled(training.values, means)
        costs = COSTS if settings["C"] == AUTO else (settings["C"],)
        if validation is None and settings["C"] == AUTO:
            costs = (USUAL_COST,)
        models = [self._fitted(values, relevant, cost, settings) for cost in costs]
        best = 0
        if validation is not None:
            monitor = Monitor(validation, settings["measure"])
            measured = [
                monitor(weighted_sums(validation.values, means, *model)) for model in models
            ]
            self.history_ = {"C": list(costs), monitor.name: measured}
            best = monitor.best(measured)
            if undecided(measured) and USUAL_COST in costs:
                best = costs.index(USUAL_COST)
        self.C_: float = costs[best]
        self.keep(means, *models[best])

    def _fitted(
        self, values: Floats, relevant: Any, cost: float, settings: RankerSettings
    ) -> tuple[Floats, float]:
        """The weights and the constant of the best sum."""
        if relevant.all() or not relevant.any():
            return np.zeros(values.shape[1]), 0.0
        model = imported("sklearn.linear_model").LogisticRegression(
            C=cost,
            solver="liblinear",
            max_iter=settings["iterations"],
            random_state=settings["seed"],
        )
        model.fit(values, relevant)
        return model.coef_[0].astype(np.float64), float(model.intercept_[0])
