"""LambdaMART: boosted trees whose gradients come from swaps of documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from rankgauge.core.arrays import Floats, Labels
from rankgauge.core.checks import Choice, Integer, Number
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError
from rankgauge.measures.gains import GainMap, gains
from rankgauge.rankers.base import RankerSettings
from rankgauge.rankers.boosting import LABEL_GAIN, TreeRanker, common_parameters
from rankgauge.rankers.monitoring import Monitor, is_undecided
from rankgauge.rankers.settings import AUTO, GAINS, RATES, Auto, setting

HIGHEST_XENDCG = 30
"""The highest label that xendcg accepts, since its gains are powers of 2."""


MOST_TREES, UNVALIDATED_TREES = 500, 100
"""Maximum number of trees with a validation set, and without one (LightGBM's default)."""


class LambdaMART(TreeRanker):
    """Boosted trees that learn how much swapping two documents would change nDCG (LightGBM).

    With a validation set, training stops when `measure` has not improved for `patience` trees, and
    the trees up to the best value are kept.

    Parameters
    ----------
    preset : {"default", "ranklib"}, default "default"
        The source of settings that are None: "default" for values that work well today, "ranklib"
        for the defaults of RankLib. Where the two differ, RankLib's default is noted below.
    normalize : {"none", "z", "min-max", "query-z", "query-min-max"}, default "none"
        How feature values are normalized: over all training data, or within each query if the name
        starts with "query-".
    measure : measure or str, default "nDCG(gain=exp2)@10"
        The measure used on the validation set, for example to decide when to stop. RankLib:
        "ERR@10".
    seed : int, default 0
        The seed of the random number generator.
    threads : int, default 1
        The number of threads for training and scoring. The trees do not depend on it.
    objective : {"lambdarank", "xendcg"}, default "lambdarank"
        The training objective. "lambdarank": how swaps of documents change nDCG; "xendcg": a cross
        entropy of gains.
    gain : str or dict of int to float, default "exp2"
        The gain of each label, such as "exp2" or {1: 1, 2: 3}. Only "lambdarank" uses it.
    trees : int or "auto", default "auto"
        The maximum number of trees. "auto": 500 with a validation set, 100 without one. RankLib:
        1000.
    learning_rate : float, default 0.05
        The learning rate: the share of each tree that is added, above 0 and at most 1. RankLib:
        0.1.
    leaves : int, default 15
        The maximum number of leaves of a tree. RankLib: 10.
    leaf_documents : int, default 20
        The minimum number of training documents in a leaf. RankLib: 1.
    bins : int, default 255
        The maximum number of distinct values that trees see per feature. RankLib: 256.
    l2 : float, default 0.0
        The L2 penalty on the values of leaves.
    truncation : int, default 30
        Swaps count if one of the two documents has this rank or a better one. Only "lambdarank"
        uses it.
    patience : int, default 50
        Training stops when `measure` has not improved on the validation set for this many trees.
        RankLib: 100.

    Notes
    -----
    Burges 2010, From RankNet to LambdaRank to LambdaMART: an overview.

    Examples
    --------
    >>> from rankgauge.rankers.checks import make_features
    >>> ranker = LambdaMART(trees=20, measure="AP").fit(make_features(40), make_features(20, seed=1))
    >>> ranker.predict(make_features(2)).shape
    (21,)
    """

    summary: ClassVar[str] = "boosted trees that learn how much swapping documents changes nDCG"
    optimizes: ClassVar[str] = "{objective}"
    objectives: ClassVar[Mapping[str, str]] = {
        "lambdarank": "nDCG, through the effect of swapping documents",
        "xendcg": "the cross entropy of gains",
    }
    source: ClassVar[str] = "Burges 2010, From RankNet to LambdaRank to LambdaMART: an overview"

    objective: str | None = setting(
        Choice(tuple(objectives)),
        "The training objective. lambdarank: how swaps change nDCG; xendcg: a cross entropy.",
        default="lambdarank",
    )
    gain: Any = setting(GAINS, "The gain of each label; only for lambdarank.", default="exp2")
    trees: int | str | None = setting(
        Auto(Integer(1)),
        "The maximum number of trees. auto: 500, or 100 without a validation set.",
        default=AUTO,
        ranklib=1000,
    )
    learning_rate: float | None = setting(
        RATES, "The learning rate: the share of each tree that is added.", default=0.05, ranklib=0.1
    )
    leaves: int | None = setting(
        Integer(2, 131_072), "The maximum number of leaves per tree.", default=15, ranklib=10
    )
    leaf_documents: int | None = setting(
        Integer(1), "The minimum number of training documents per leaf.", default=20, ranklib=1
    )
    bins: int | None = setting(
        Integer(2, 65_535),
        "The maximum number of distinct values that trees see per feature.",
        default=255,
        ranklib=256,
    )
    l2: float | None = setting(Number(0.0), "The L2 penalty on leaf values.", default=0.0)
    truncation: int | None = setting(
        Integer(1),
        "Swaps count if one of the two documents has this rank or a better one.",
        default=30,
    )
    patience: int | None = setting(
        Integer(1),
        "Training stops after this many trees without improvement on the validation set.",
        default=50,
        ranklib=100,
    )

    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        labels, worth = self._labels(training.labels, settings)
        monitor = None if validation is None else Monitor(validation, settings["measure"])
        trees = enough = settings["trees"]
        if trees == AUTO:
            trees, enough = MOST_TREES, UNVALIDATED_TREES
            if monitor is None:
                trees = UNVALIDATED_TREES

        def stops(measured: list[float]) -> bool:
            if is_undecided(measured):
                return bool(len(measured) >= enough)
            return monitor is not None and monitor.should_stop(measured, settings["patience"])

        parameters = lightgbm_parameters(settings, worth)
        self.train(parameters, trees, training, labels, monitor, stops)

    def _labels(self, labels: Labels, settings: RankerSettings) -> tuple[Floats, list[float]]:
        """Labels as LightGBM takes them, and the gain of each from 0 on.

        Lambdarank looks at gains only, so documents of equal gain get one label, and labels ascend with
        gains.
        """
        if settings["objective"] == "xendcg":
            highest = int(labels.max())
            if highest > HIGHEST_XENDCG:
                raise RankgaugeError(
                    f"xendcg accepts labels up to {HIGHEST_XENDCG}, and the highest is "
                    f"{highest}; objective='lambdarank' accepts any label"
                )
            return np.maximum(labels, 0).astype(np.float64), []
        return gain_labels(labels, settings["gain"])


def gain_labels(labels: Labels, gain: str | GainMap) -> tuple[Floats, list[float]]:
    """The place of each document's gain among the different gains, and these gains, ascending.

    >>> gain_labels(np.array([0, 3, 1, 0], np.int32), "exp2")
    (array([0., 2., 1., 0.]), [0.0, 1.0, 7.0])
    """
    highest = max(int(labels.max()), 1)
    worth, places = np.unique(gains(gain, labels, highest), return_inverse=True)
    return places.astype(np.float64), worth.tolist()


def lightgbm_parameters(settings: RankerSettings, worth: list[float]) -> dict[str, Any]:
    """The parameters that LightGBM trains with."""
    chosen = {LABEL_GAIN: worth, "lambdarank_truncation_level": settings["truncation"]}
    lambdarank = settings["objective"] == "lambdarank"
    return {
        **common_parameters(settings),
        "objective": "lambdarank" if lambdarank else "rank_xendcg",
        **(chosen if lambdarank else {}),
        "learning_rate": settings["learning_rate"],
        "num_leaves": settings["leaves"],
        "min_data_in_leaf": settings["leaf_documents"],
        "max_bin": settings["bins"],
        "lambda_l2": settings["l2"],
    }
