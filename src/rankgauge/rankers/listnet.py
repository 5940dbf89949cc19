"""ListNet: a network that learns how likely each document is to be the best of its query."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.data.features import Features
from rankgauge.measures.gains import gains
from rankgauge.rankers.base import RankerSettings
from rankgauge.rankers.networks import NetworkRanker
from rankgauge.rankers.settings import GAINS, setting, setting_from


class ListNet(NetworkRanker):
    """A network that learns how likely each document is to be the best of its query.

    The gains of the labels of a query give each document a probability: exp(gain), divided by the
    sum over the query. The scores give probabilities in the same way. The loss is the cross
    entropy of the two. A NaN value counts as the mean of its feature.

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
    hidden : sequence of int, default ()
        The sizes of the hidden layers, starting from the input. An empty sequence: no hidden
        layers.
    units : {"tanh", "logistic"}, default "tanh"
        The activation of hidden units. With "logistic", the output is logistic too, as in RankLib.
        RankLib: "logistic".
    steps : {"adam", "plain"}, default "adam"
        The optimizer: Adam, or plain gradient descent. RankLib: "plain".
    learning_rate : float, default 0.01
        The learning rate: above 0, at most 1. RankLib: 1e-05.
    epochs : int, default 200
        The maximum number of passes over the training queries. RankLib: 1500.
    batch : int or "auto", default "auto"
        The number of queries per step. "auto": all queries. RankLib: 1.
    patience : int, default 50
        Training stops when `measure` has not improved on the validation set for this many epochs.
        RankLib: 1500.
    gain : str or dict of int to float, default "linear"
        The gain of each label, such as "linear" or {1: 1, 2: 3}.

    Attributes
    ----------
    history_ : dict of list of float
        One number per epoch. "loss" is the mean loss of the training queries; the loss of a query
        is taken just before the step that learns from it. With a validation set, another column is
        named after the measure and has its value after the epoch.

    Notes
    -----
    With preset="ranklib", ListNet learns as in RankLib: weights start at random, the output is
    logistic, its slope is ignored, and each query is a plain step. RankLib's learning rate of
    0.00001 is low: on MQ2008 the loss is still falling after all 1,500 epochs.

    Cao et al. 2007, Learning to rank: from pairwise approach to listwise approach.

    Examples
    --------
    >>> from rankgauge.rankers.checks import make_features
    >>> ranker = ListNet(epochs=20).fit(make_features(40), make_features(20, seed=1))
    >>> list(ranker.history_)
    ['nDCG(gain=exp2)@10', 'loss']
    """

    summary: ClassVar[str] = (
        "a network that learns which document of a query is most likely the best"
    )
    optimizes: ClassVar[str] = "the cross entropy of the top-one probabilities"
    source: ClassVar[str] = (
        "Cao et al. 2007, Learning to rank: from pairwise approach to listwise approach"
    )
    straight_output: ClassVar[bool] = True

    gain: Any = setting(GAINS, "The gain of each label.", default="linear")
    learning_rate: float | None = setting_from(NetworkRanker, "learning_rate", ranklib=1e-5)
    epochs: int | None = setting_from(NetworkRanker, "epochs", ranklib=1500)
    patience: int | None = setting_from(NetworkRanker, "patience", ranklib=1500)

    def targets(self, training: Features, settings: RankerSettings) -> Floats:
        highest = max(int(training.labels.max()), 1)
        worth = gains(settings["gain"], training.labels, highest)
        return np.exp(_log_chances(worth, np.unique(training.bounds)))

    def loss(
        self, outputs: Floats, targets: Floats, bounds: Ints, settings: RankerSettings
    ) -> tuple[float, Floats]:
        logarithms = _log_chances(outputs, bounds)
        return -float(targets @ logarithms), np.exp(logarithms) - targets


def _log_chances(worth: Floats, bounds: Ints) -> Floats:
    """The logarithm of exp(worth), divided by its sum over the query. No query is empty."""
    starts, sizes = bounds[:-1], np.diff(bounds)
    below = worth - np.repeat(np.maximum.reduceat(worth, starts), sizes)
    logarithms: Floats = below - np.repeat(np.log(np.add.reduceat(np.exp(below), starts)), sizes)
    return logarithms
