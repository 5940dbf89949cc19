"""RankNet: a network that learns which of two documents is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Choice
from rankgauge.data.features import Features
from rankgauge.native import pairwise
from rankgauge.rankers.base import RankerSettings
from rankgauge.rankers.networks import NetworkRanker
from rankgauge.rankers.settings import setting, setting_from


class RankNet(NetworkRanker):
    """A network that learns which of two documents of a query is better, by the logistic loss of pairs.

    A pair is two documents of one query with different labels. Its loss is log(1 + exp(−d)), where d is
    the score of the better document minus the score of the other. Values that are NaN count as the mean
    of their feature.

    With a validation set, `measure` is computed on it after each epoch. Learning stops when the measure
    has not become better for `patience` epochs, and the weights of the best epoch are kept. Without a
    validation set, all epochs are learned, and the last weights are kept.

    `history_` has a number for each epoch. `loss` is the mean loss of the training queries; the loss of
    a query is taken just before the step that learns from it. With a validation set, another column has
    the name of the measure: the measure after the epoch.

    `rankgauge ltr methods ranknet` lists the settings and what they mean.

    `preset="ranklib"` learns as RankLib does: logistic units, also at the output, and a plain step for
    each query. RankLib's rate of 0.00005 is low: on MQ2008 the loss is still falling after all epochs.

    >>> from rankgauge.rankers.checks import made_features
    >>> ranker = RankNet(epochs=20).fit(made_features(40), made_features(20, seed=1))
    >>> list(ranker.history_)
    ['nDCG(gain=exp2)@10', 'loss']
    """

    summary: ClassVar[str] = "a network that learns which of two documents is better"
    optimizes: ClassVar[str] = "the logistic loss of pairs"
    source: ClassVar[str] = "Burges et al. 2005, Learning to rank using gradient descent"

    hidden: Sequence[int] | int | str | None = setting_from(NetworkRanker, "hidden", default=(10,))
    learning_rate: float | None = setting_from(NetworkRanker, "learning_rate", ranklib=5e-5)
    epochs: int | None = setting_from(NetworkRanker, "epochs", ranklib=100)
    patience: int | None = setting_from(NetworkRanker, "patience", ranklib=100)
    balance: str | None = setting(
        Choice(("queries", "pairs")),
        "What counts equally: all queries, or all pairs, so that long lists count more.",
        default="queries",
        ranklib="pairs",
    )

    def targets(self, training: Features, settings: RankerSettings) -> Floats:
        return np.maximum(training.labels, 0).astype(np.float64)

    def loss(
        self, outputs: Floats, targets: Floats, bounds: Ints, settings: RankerSettings
    ) -> tuple[float, Floats]:
        return pairwise.logistic_loss(outputs, targets, bounds, settings["balance"] == "queries")
