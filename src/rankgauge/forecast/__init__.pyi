from rankgauge.forecast.depth_results import JudgingDepth as JudgingDepth
from rankgauge.forecast.depths import judging_depth as judging_depth
from rankgauge.forecast.estimates import TwoPhase as TwoPhase
from rankgauge.forecast.estimates import two_phase as two_phase
from rankgauge.forecast.forecast_results import Forecast as Forecast
from rankgauge.forecast.forecaster import Forecaster as Forecaster
from rankgauge.forecast.forecaster import features_of as features_of
from rankgauge.forecast.plans import Plan as Plan
from rankgauge.forecast.plans import plan as plan
from rankgauge.forecast.pools import PooledJudgments as PooledJudgments
from rankgauge.forecast.pools import pool as pool
from rankgauge.forecast.stacked import StackedRows as StackedRows
from rankgauge.forecast.topic_choice import choose_queries as choose_queries
from rankgauge.forecast.tracks import (
    FEATURES as FEATURES,
)
from rankgauge.forecast.tracks import (
    FeatureJudgments as FeatureJudgments,
)
from rankgauge.forecast.tracks import (
    Rows as Rows,
)
from rankgauge.forecast.tracks import (
    ScoreTrack as ScoreTrack,
)
from rankgauge.forecast.tracks import (
    Track as Track,
)
from rankgauge.forecast.tracks import (
    rows_by as rows_by,
)
from rankgauge.forecast.tracks import (
    score_rows as score_rows,
)
