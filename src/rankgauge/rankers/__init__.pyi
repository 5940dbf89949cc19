# ruff: noqa: I001
from rankgauge.core.plugins import load_plugin as load_plugin
from rankgauge.rankers.base import Ranker as Ranker
from rankgauge.rankers.crossval import (
    CrossValidation as CrossValidation,
    cross_validate as cross_validate,
    cross_validation as cross_validation,
)
from rankgauge.rankers.registry import (
    find_method as find_method,
    methods as methods,
    register as register,
    with_settings as with_settings,
)
from rankgauge.rankers.saving import load as load

# Registered under these names, in the order in which they are listed:
from rankgauge.rankers.lambdamart import LambdaMART as LambdaMART
from rankgauge.rankers.random_forest import RandomForest as RandomForest
from rankgauge.rankers.logistic_regression import LogisticRegression as LogisticRegression
from rankgauge.rankers.ranknet import RankNet as RankNet
from rankgauge.rankers.listnet import ListNet as ListNet
from rankgauge.rankers.rankboost import RankBoost as RankBoost
from rankgauge.rankers.adarank import AdaRank as AdaRank
from rankgauge.rankers.coordinate_ascent import CoordinateAscent as CoordinateAscent
