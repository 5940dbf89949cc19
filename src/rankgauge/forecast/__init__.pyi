from rankgauge.forecast.depth_results import JudgingDepth as JudgingDepth
from rankgauge.forecast.depths import judging_depth as judging_depth
from rankgauge.forecast.estimates import TwoPhase as TwoPhase, two_phase as two_phase
from rankgauge.forecast.forecast_results import Forecast as Forecast
from rankgauge.forecast.forecaster import Forecaster as Forecaster, features_of as features_of
from rankgauge.forecast.plans import Plan as Plan, plan as plan
from rankgauge.forecast.pools import PooledJudgments as PooledJudgments, pool as pool
from rankgauge.forecast.stacked import StackedRows as StackedRows
from rankgauge.forecast.topic_choice import choose_queries as choose_queries
from rankgauge.forecast.tracks import (
    FEATURES as FEATURES,
    FeatureJudgments as FeatureJudgments,
    Rows as Rows,
    ScoreTrack as ScoreTrack,
    Track as Track,
    rows_by as rows_by,
    score_rows as score_rows,
)
