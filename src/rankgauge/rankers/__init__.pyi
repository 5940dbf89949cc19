# ruff: noqa
# fmt: off
# Made by docs/stubs.py from the names in __init__.py.

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
from rankgauge.rankers.registry import find_method, methods, register, with_settings
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
    "with_settings",
]
