"""Random forest: the mean of trees, each from some of the documents and some of the features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rankgauge.core.checks import Choice, Integer, Number
from rankgauge.data.features import Features
from rankgauge.errors import InputError
from rankgauge.rankers.base import RankerSettings
from rankgauge.rankers.boosting import TreeRanker, common_parameters
from rankgauge.rankers.monitoring import Monitor
from rankgauge.rankers.settings import setting

BAG = 0.632
"""The share of different documents in a bag that is drawn with replacement: 1 - 1/e."""


class RandomForest(TreeRanker):
    """The mean of trees that predict labels, each trained on a part of the documents and features.

    The validation set decides nothing; `history_` has the measure of the whole forest on it.

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
    trees : int, default 300
        The number of trees.
    feature_share : float, default 0.3
        The share of the features that a tree sees.
    bag_share : float, default 0.632
        The share of the documents, or of the queries, that a tree sees.
    bag_of : {"documents", "queries"}, default "documents"
        The units drawn into bags: single documents, or queries with all their documents. RankLib:
        "queries".
    leaves : int, default 255
        The maximum number of leaves of a tree. RankLib: 100.
    leaf_documents : int, default 10
        The minimum number of training documents in a leaf. RankLib: 1.
    bins : int, default 255
        The maximum number of distinct values that trees see per feature. RankLib: 256.

    Notes
    -----
    LightGBM draws bags without replacement. The default share of documents in a bag is the
    expected share when drawing with replacement.

    Breiman 2001, Random forests.

    Examples
    --------
    >>> from rankgauge.rankers.checks import make_features
    >>> ranker = RandomForest(trees=20).fit(make_features(40))
    >>> int(ranker.feature_importances_.argmax())
    0
    """

    summary: ClassVar[str] = (
        "the mean of trees, each trained on a part of the documents and features"
    )
    optimizes: ClassVar[str] = "the squared error of labels"
    source: ClassVar[str] = "Breiman 2001, Random forests"

    trees: int | None = setting(Integer(1), "The number of trees.", default=300)
    feature_share: float | None = setting(
        Number(0.0, 1.0, closed=False, example=0.3),
        "The share of the features that a tree sees.",
        default=0.3,
    )
    bag_share: float | None = setting(
        Number(0.0, 1.0, closed=False, example=BAG),
        "The share of the documents, or of the queries, that a tree sees.",
        default=BAG,
    )
    bag_of: str | None = setting(
        Choice(("documents", "queries")),
        "The units drawn into bags: single documents, or queries with all their documents.",
        default="documents",
        ranklib="queries",
    )
    leaves: int | None = setting(
        Integer(2, 131_072), "The maximum number of leaves per tree.", default=255, ranklib=100
    )
    leaf_documents: int | None = setting(
        Integer(1), "The minimum number of training documents per leaf.", default=10, ranklib=1
    )
    bins: int | None = setting(
        Integer(2, 65_535),
        "The maximum number of distinct values that trees see per feature.",
        default=255,
        ranklib=256,
    )

    def learn(
        self, training: Features, validation: Features | None, settings: RankerSettings
    ) -> None:
        _check_bags(training, settings)
        labels = np.maximum(training.labels, 0).astype(np.float64)
        self.train(lightgbm_parameters(settings), settings["trees"], training, labels)
        if validation is not None:
            monitor = Monitor(validation, settings["measure"])
            self.history_ = {monitor.name: [monitor(self.score(validation.values))]}


def _check_bags(training: Features, settings: RankerSettings) -> None:
    """InputError where bags would be empty."""
    sizes, what = np.diff(training.bounds), settings["bag_of"]
    count = len(training.labels) if what == "documents" else np.count_nonzero(sizes)
    if int(count * settings["bag_share"]) < 1:
        message = f"bags of {what} would be empty, expected more {what}, or a larger bag_share"
        raise InputError(training.source, None, message)


def lightgbm_parameters(settings: RankerSettings) -> dict[str, Any]:
    """The parameters that LightGBM trains with."""
    return {
        **common_parameters(settings),
        "boosting": "rf",
        "objective": "regression",
        "feature_fraction": settings["feature_share"],
        "bagging_fraction": settings["bag_share"],
        "bagging_freq": 1,
        "bagging_by_query": settings["bag_of"] == "queries",
        "num_leaves": settings["leaves"],
        "min_data_in_leaf": settings["leaf_documents"],
        "max_bin": settings["bins"],
    }
