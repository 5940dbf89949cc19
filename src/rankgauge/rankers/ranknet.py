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
    """A network that learns which of two documents is better, with the logistic loss of pairs.

    A pair consists of two documents of one query with different labels. Its loss is log(1 +
    exp(−d)), where d is the score of the better document minus the score of the other. A NaN value
    counts as the mean of its feature.

    With a validation set, `measure` is computed on it after each epoch. Training stops when the
    measure has not improved for `patience` epochs, and the weights of the best epoch are kept.
    Without a validation set, training runs for all epochs, and the last weights are kept.

    Parameters
    ----------
    preset : {"default", "ranklib"}, default "default"
        The source of settings that are None: "default" for values that work well today, "ranklib"
        for the defaults of RankLib. Where the two differ, RankLib's default is noted below.
    normalize : {"none", "z", "min-max", "query-z", "query-min-max"}, default "query-z"
        How feature values are normalized: over all training data, or within each query if the name
        starts with "query-". RankLib: "none".
    measure : measure or str, default "nDCG(gain=exp2)@10"
        The measure used on the validation set, for example to decide when to stop. RankLib:
        "ERR@10".
    seed : int, default 0
        The seed of the random number generator.
    hidden : sequence of int, default (10,)
        The sizes of the hidden layers, starting from the input. An empty sequence: no hidden
        layers.
    units : {"tanh", "logistic"}, default "tanh"
        The activation of hidden units. With "logistic", the output is logistic too, as in RankLib.
        RankLib: "logistic".
    steps : {"adam", "plain"}, default "adam"
        The optimizer: Adam, or plain gradient descent. RankLib: "plain".
    learning_rate : float, default 0.01
        The learning rate: above 0, at most 1. RankLib: 5e-05.
    epochs : int, default 200
        The maximum number of passes over the training queries. RankLib: 100.
    batch : int or "auto", default "auto"
        The number of queries per step. "auto": all queries. RankLib: 1.
    patience : int, default 50
        Training stops when `measure` has not improved on the validation set for this many epochs.
        RankLib: 100.
    balance : {"queries", "pairs"}, default "queries"
        The units of equal weight: all queries, or all pairs. With all pairs, long lists count
        more. RankLib: "pairs".

    Attributes
    ----------
    history_ : dict of list of float
        One number per epoch. "loss" is the mean loss of the training queries; the loss of a query
        is taken just before the step that learns from it. With a validation set, another column is
        named after the measure and has its value after the epoch.

    Notes
    -----
    With preset="ranklib", RankNet learns as in RankLib: units are logistic, also at the output, and
    each query is a plain step. RankLib's learning rate of 0.00005 is low: on MQ2008 the loss is
    still falling after all epochs.

    Burges et al. 2005, Learning to rank using gradient descent.

    Examples
    --------
    >>> from rankgauge.rankers.checks import make_features
    >>> ranker = RankNet(epochs=20).fit(make_features(40), make_features(20, seed=1))
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
        "The units of equal weight: queries, or pairs, in which case long lists count more.",
        default="queries",
        ranklib="pairs",
    )

    def targets(self, training: Features, settings: RankerSettings) -> Floats:
        return np.maximum(training.labels, 0).astype(np.float64)

    def loss(
        self, outputs: Floats, targets: Floats, bounds: Ints, settings: RankerSettings
    ) -> tuple[float, Floats]:
        return pairwise.logistic_loss(outputs, targets, bounds, settings["balance"] == "queries")
