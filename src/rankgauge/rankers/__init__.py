"""Learning to rank: methods that learn from features with labels, by scikit-learn's conventions.

A method is a class with settings, `fit(features, validation)` and `predict(features)`. `save` writes
what was learnt into a folder, and `load` reads it. `methods` lists all methods, `find_method` finds one
by name, and `register` makes a method of one's own known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.core.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.core.plugins import load_plugin
    from rankgauge.rankers.adarank import AdaRank
    from rankgauge.rankers.base import Ranker
    from rankgauge.rankers.coordinate_ascent import CoordinateAscent
    from rankgauge.rankers.crossval import CrossValidation, cross_validate, cross_validation
    from rankgauge.rankers.lambdamart import LambdaMART
    from rankgauge.rankers.listnet import ListNet
    from rankgauge.rankers.logistic_regression import LogisticRegression
    from rankgauge.rankers.random_forest import RandomForest
    from rankgauge.rankers.rankboost import RankBoost
    from rankgauge.rankers.ranknet import RankNet
    from rankgauge.rankers.registry import find_method, methods, register
    from rankgauge.rankers.saving import load

__all__ = [
    "AdaRank",
    "CoordinateAscent",
    "CrossValidation",
    "LambdaMART",
    "ListNet",
    "LogisticRegression",
    "RandomForest",
    "RankBoost",
    "RankNet",
    "Ranker",
    "cross_validate",
    "cross_validation",
    "find_method",
    "load",
    "load_plugin",
    "methods",
    "register",
]

_HOMES = {
    "AdaRank": "rankgauge.rankers.adarank",
    "CoordinateAscent": "rankgauge.rankers.coordinate_ascent",
    "CrossValidation": "rankgauge.rankers.crossval",
    "LambdaMART": "rankgauge.rankers.lambdamart",
    "ListNet": "rankgauge.rankers.listnet",
    "LogisticRegression": "rankgauge.rankers.logistic_regression",
    "RandomForest": "rankgauge.rankers.random_forest",
    "RankBoost": "rankgauge.rankers.rankboost",
    "RankNet": "rankgauge.rankers.ranknet",
    "Ranker": "rankgauge.rankers.base",
    "cross_validate": "rankgauge.rankers.crossval",
    "cross_validation": "rankgauge.rankers.crossval",
    "find_method": "rankgauge.rankers.registry",
    "load": "rankgauge.rankers.saving",
    "load_plugin": "rankgauge.core.plugins",
    "methods": "rankgauge.rankers.registry",
    "register": "rankgauge.rankers.registry",
}
if not TYPE_CHECKING:  # which would take any name for one of these
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
