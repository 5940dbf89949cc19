"""How deep must one judge? Pools, two-phase estimates, forecasts of costly measures from cheap ones."""

from __future__ import annotations

from rankgauge.forecast.depth_results import JudgingDepth
from rankgauge.forecast.depths import judging_depth
from rankgauge.forecast.estimates import TwoPhase, two_phase
from rankgauge.forecast.forecast_results import Forecast
from rankgauge.forecast.forecaster import Forecaster, features_of
from rankgauge.forecast.plans import Plan, plan
from rankgauge.forecast.pools import PooledJudgments, pool
from rankgauge.forecast.stacked import StackedRows
from rankgauge.forecast.topic_choice import choose_topics
from rankgauge.forecast.tracks import (
    FEATURES,
    FeatureJudgments,
    Rows,
    ScoreTrack,
    Track,
    rows_by,
    score_rows,
)

__all__ = [
    "FEATURES",
    "FeatureJudgments",
    "Forecast",
    "Forecaster",
    "JudgingDepth",
    "Plan",
    "PooledJudgments",
    "Rows",
    "ScoreTrack",
    "StackedRows",
    "Track",
    "TwoPhase",
    "choose_topics",
    "features_of",
    "judging_depth",
    "plan",
    "pool",
    "rows_by",
    "score_rows",
    "two_phase",
]
